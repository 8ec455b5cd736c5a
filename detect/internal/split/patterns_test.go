package split_test

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
)

// pattern is how the sort keys of a hot key's requests follow from their time.
type pattern struct {
	name  string
	units float64 // a second, when it is on
	on    func(second int) bool
	// sk is the sort key of a request `at` so many seconds.
	sk        func(r *rand.Rand, at float64) sample.Key
	want      detect.SplitVerdict
	direction string // any when empty
	// slow reports whether it moves so slowly that a minute may not show it; folded whether a
	// client sends what it has once a second, a record a sort key, in any order.
	slow, folded bool
}

func text(form string, of ...any) sample.Key { return sample.KeyString(fmt.Sprintf(form, of...)) }
func integer(n int64) sample.Key             { return sample.Key{Type: "N", Text: fmt.Sprint(n)} }

// one draws a key of its own for a share of the requests, and others for the rest.
func one(share float64, rest func(*rand.Rand, float64) sample.Key) func(*rand.Rand, float64) sample.Key {
	return func(r *rand.Rand, at float64) sample.Key {
		if r.Float64() < share {
			return sample.KeyString("the-one")
		}
		return rest(r, at)
	}
}

func uuid(r *rand.Rand, _ float64) sample.Key { return text("%016x%016x", r.Uint64(), r.Uint64()) }

func timestamp(_ *rand.Rand, at float64) sample.Key { return text("2025-11-21T%012.6f", 1000+at) }

// late returns a time up to so many seconds ago.
func late(r *rand.Rand, at, by float64) float64 { return at - by*r.Float64() }

// patterns are those of the field: what a table would do with each by itself is known.
var patterns = []pattern{
	{name: "uuid", units: 1300, sk: uuid, want: detect.SplitHelps},
	{name: "uuid, 5,000", units: 5000, sk: uuid, want: detect.SplitHelps},
	{name: "three items of 500", units: 1500, sk: func(r *rand.Rand, _ float64) sample.Key { return text("item-%d", r.IntN(3)) }, want: detect.SplitHelps},
	{name: "ten items", units: 3000, sk: func(r *rand.Rand, _ float64) sample.Key { return text("status-%d", r.IntN(10)) }, want: detect.SplitHelps},
	{name: "Zipf over 1,000 items", units: 1500, sk: func(r *rand.Rand, _ float64) sample.Key {
		return text("user-%08x", uint32(math.Exp(r.Float64()*math.Log(1000)))*2654435761)
	}, want: detect.SplitHelps},
	{name: "random numbers", units: 2000, sk: func(r *rand.Rand, _ float64) sample.Key { return integer(r.Int64N(2_000_000) - 1_000_000) }, want: detect.SplitHelps},
	{name: "random binaries", units: 2000, sk: func(r *rand.Rand, _ float64) sample.Key {
		return sample.KeyBinary([]byte{byte(r.Uint32()), byte(r.Uint32()), 7})
	}, want: detect.SplitHelps},
	{name: "latest state of 200 devices", units: 1600, sk: func(r *rand.Rand, _ float64) sample.Key { return text("device-%03d#latest", r.IntN(200)) }, want: detect.SplitHelps},
	{name: "history of 200 devices", units: 1600, sk: func(r *rand.Rand, at float64) sample.Key {
		return text("device-%03d#%012.3f", r.IntN(200), at)
	}, want: detect.SplitHelps},
	{name: "device and time as two attributes", units: 1600, sk: func(r *rand.Rand, at float64) sample.Key {
		return sample.JoinKeys(text("device-%03d", r.IntN(50)), integer(int64(at*1000)))
	}, want: detect.SplitHelps},
	{name: "time behind one of 16 prefixes", units: 2500, sk: func(r *rand.Rand, at float64) sample.Key { return text("%x#%012.6f", r.IntN(16), at) }, want: detect.SplitHelps},
	{name: "two items of 700", units: 1600, sk: func(r *rand.Rand, at float64) sample.Key {
		if r.Float64() < 0.875 {
			return text("big-%d", r.IntN(2))
		}
		return uuid(r, at)
	}, want: detect.SplitHelps},
	{name: "an item of 650 beside others", units: 1500, sk: one(0.433, uuid), want: detect.SplitHelps},
	{name: "reversed ids", units: 1500, sk: func(r *rand.Rand, at float64) sample.Key {
		return text("%03d%06d", int(at*1e5)%1000, int(at))
	}, want: detect.SplitHelps},
	{name: "around a place", units: 1500, sk: func(r *rand.Rand, _ float64) sample.Key { return text("geo-%06d", 500_000+int(r.NormFloat64()*50_000)) }, want: detect.SplitHelps},
	{name: "round robin over 500 items", units: 1500, sk: func(_ *rand.Rand, at float64) sample.Key { return text("row-%03d", int(at*1500)%500) }, want: detect.SplitHelps},

	{name: "one item", units: 1500, sk: func(*rand.Rand, float64) sample.Key { return sample.KeyString("profile") }, want: detect.SplitHotItem},
	{name: "an item of 1,500 beside others", units: 2200, sk: one(0.68, uuid), want: detect.SplitHotItem},
	{name: "a counter beside a log", units: 3000, sk: one(0.6, timestamp), want: detect.SplitHotItem},

	{name: "a timestamp", units: 1300, sk: timestamp, want: detect.SplitMoving, direction: detect.Rising},
	{name: "epoch milliseconds", units: 2000, sk: func(_ *rand.Rand, at float64) sample.Key { return integer(1763690400000 + int64(at*1000)) }, want: detect.SplitMoving, direction: detect.Rising},
	{name: "ULID", units: 1500, sk: func(r *rand.Rand, at float64) sample.Key { return text("%012x%016x", int64(at*1000)+1<<40, r.Uint64()) }, want: detect.SplitMoving, direction: detect.Rising},
	{name: "newest first", units: 1300, sk: func(_ *rand.Rand, at float64) sample.Key { return integer(99999999999 - int64(at*1000)) }, want: detect.SplitMoving, direction: detect.Falling},
	{name: "a timestamp with 300 ms of jitter", units: 1300, sk: func(r *rand.Rand, at float64) sample.Key { return timestamp(r, late(r, at, 0.3)) }, want: detect.SplitMoving, direction: detect.Rising},
	{name: "a timestamp with 20 ms of jitter", units: 1400, sk: func(r *rand.Rand, at float64) sample.Key { return timestamp(r, late(r, at, 0.02)) }, want: detect.SplitMoving, direction: detect.Rising},
	{name: "flushed once a second, in any order", units: 1500, sk: func(r *rand.Rand, at float64) sample.Key { return timestamp(r, math.Floor(at)-r.Float64()) }, want: detect.SplitMoving, direction: detect.Rising},
	{name: "epoch seconds, folded", units: 1500, folded: true, sk: func(_ *rand.Rand, at float64) sample.Key { return integer(1763690400 + int64(at)) }, want: detect.SplitMoving, direction: detect.Rising},
	{name: "tenths of a second, folded, with jitter", units: 1500, folded: true, sk: func(r *rand.Rand, at float64) sample.Key {
		return integer(17636904000 + int64(10*late(r, at, 0.3)))
	}, want: detect.SplitMoving, direction: detect.Rising},
	{name: "10 seconds#uuid", units: 1500, sk: func(r *rand.Rand, at float64) sample.Key { return text("%06d#%016x", int(at/10), r.Uint64()) }, want: detect.SplitMoving, direction: detect.Rising},
	{name: "minute#uuid", units: 1500, sk: func(r *rand.Rand, at float64) sample.Key { return text("%06d#%016x", int(at/60), r.Uint64()) }, want: detect.SplitMoving, slow: true},
	{name: "a queue, written and deleted 5 s later", units: 1600, sk: func(r *rand.Rand, at float64) sample.Key { return timestamp(r, at-5*float64(r.IntN(2))) }, want: detect.SplitMoving, direction: detect.Rising},
	{name: "ten hosts in turn", units: 1500, sk: func(_ *rand.Rand, at float64) sample.Key { return text("host-%d#%012.3f", int(at/4)%10, at) }, want: detect.SplitMoving, slow: true},
	{name: "a window that jumps", units: 1500, sk: func(r *rand.Rand, at float64) sample.Key {
		return text("%08x#%08x", uint32(at/7)*2654435761, r.Uint32())
	}, want: detect.SplitMoving},
	{name: "a sorted import", units: 2500, sk: func(_ *rand.Rand, at float64) sample.Key { return text("customer-%010d", 500_000+int(at*2500)) }, want: detect.SplitMoving, direction: detect.Rising},

	{name: "3 s of 20", units: 4500, on: func(second int) bool { return second%20 < 3 }, sk: uuid, want: detect.SplitBursts},
}

// queue is one whose head and tail are so many seconds apart. Whether splits help it
// depends on where they are made: what is behind reaches the split after that time.
func queue(lag, units float64) pattern {
	return pattern{name: fmt.Sprintf("a queue of %g s", lag), units: units, sk: func(r *rand.Rand, at float64) sample.Key {
		return text("%012d", int((at+1000-lag*float64(r.IntN(2)))*550))
	}}
}

// sent returns the requests of a second as the producer sends them.
func (p *pattern) sent(r *rand.Rand, all []sample.Record) []sample.Record {
	if !p.folded {
		return all
	}
	bySortKey := map[sample.Key]int{}
	folded := all[:0]
	for _, record := range all {
		i, found := bySortKey[record.SK]
		if found {
			folded[i].N++
			continue
		}
		bySortKey[record.SK] = len(folded)
		record.Time += 999 - record.Time%1000
		folded = append(folded, record)
	}
	r.Shuffle(len(folded), func(i, j int) { folded[i], folded[j] = folded[j], folded[i] })
	return folded
}

func (p *pattern) isOn(second int) bool { return p.on == nil || p.on(second) }
