package sketch_test

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/testsupport/keytrace"
	"github.com/keyheat/keyheat/sample"
)

const (
	seed      = 0x5eed
	start     = int64(1_763_690_400) // an event time, Unix seconds
	writeOver = sample.Milli(1000_000)
	readOver  = sample.Milli(3000_000)
)

// TestBounds holds the sketch of every stream, spread over several collectors
// that commit every two seconds, against exact counts.
func TestBounds(t *testing.T) {
	t.Parallel()
	for name, stream := range streams() {
		for _, collectors := range []int{1, 4, 8} {
			if testing.Short() && collectors == 4 {
				continue
			}
			t.Run(fmt.Sprintf("%s over %d", name, collectors), func(t *testing.T) {
				t.Parallel()
				exact := exactCounts{}
				merged := run(stream(), collectors, exact)
				report := exact.compare(t, merged)
				if report.proven != report.hot {
					t.Errorf("%d of %d key-seconds over a limit are proven", report.proven, report.hot)
				}
				if report.unplaced.Read+report.unplaced.Write != 0 {
					t.Errorf("%v of a second have no place", report.unplaced)
				}
				t.Logf("%d key-seconds, %d hot, %d proven, %d possible; unseen at most %v WCU",
					report.keys, report.hot, report.proven, report.possible, report.unseen/1000)
			})
		}
	}
}

// streams returns the inputs, by name. With -short they end after a fifth of their seconds.
func streams() map[string]func() iter.Seq[sample.Record] {
	part := 1
	if testing.Short() {
		part = 5
	}
	return map[string]func() iter.Seq[sample.Record]{
		"zipf 1.01":           func() iter.Seq[sample.Record] { return zipf(1.01, 0) },
		"zipf 1.2":            func() iter.Seq[sample.Record] { return zipf(1.2, 0) },
		"uniform and planted": func() iter.Seq[sample.Record] { return zipf(0, 8) },
		"trace":               func() iter.Seq[sample.Record] { return fromTrace(20_000, 1_000_000/part) },
		"dense trace":         func() iter.Seq[sample.Record] { return fromTrace(200_000, 2_000_000/part) },
		"trace with bursts":   func() iter.Seq[sample.Record] { return bursts(fromTrace(20_000, 2_500_000/part), 125/part, 200/part) },
	}
}

// zipf makes 10 seconds of 30,000 requests over 100,000 keys, evenly for an
// exponent of 0, with some keys planted at 1,100 writes a second.
func zipf(exponent float64, planted int) iter.Seq[sample.Record] {
	return func(yield func(sample.Record) bool) {
		random := rand.New(rand.NewPCG(seed, 1))
		next := func() int { return random.IntN(100_000) }
		if exponent > 0 {
			z := rand.NewZipf(random, exponent, 1, 100_000)
			next = func() int { return int(z.Uint64()) }
		}
		for second := range int64(10) {
			for range 30_000 {
				key := next()
				if planted > 0 && random.IntN(30_000) < 1_150*planted {
					key = -1 - random.IntN(planted)
				}
				r := write(start+second, fmt.Sprint("key#", key), 1)
				if random.IntN(4) == 0 {
					r.Op, r.WCU, r.RCU = sample.GetItem, 0, sample.Milli(500*(1+random.IntN(8)))
				}
				if !yield(r) {
					return
				}
			}
		}
	}
}

func write(second int64, key string, wcu sample.Milli) sample.Record {
	return sample.Record{
		Time: second * 1000, Table: "orm", PK: sample.KeyString(key), Op: sample.UpdateItem,
		WCU: wcu * 1000, Rate: 1, N: 1,
	}
}

func fromTrace(perSecond, most int) iter.Seq[sample.Record] {
	return func(yield func(sample.Record) bool) {
		file, err := os.Open("../internal/testsupport/keytrace/testdata/orm-busy.trace.zst")
		if err != nil {
			panic(err)
		}
		defer file.Close()
		for r, err := range records(file, perSecond, most) {
			if err != nil {
				panic(err)
			}
			if !yield(r) {
				return
			}
		}
	}
}

// bursts adds one-second bursts of 1,010 writes of one unit, each on a key of
// its own that is not in the stream, spread over its second.
func bursts(stream iter.Seq[sample.Record], seconds, count int) iter.Seq[sample.Record] {
	return func(yield func(sample.Record) bool) {
		random := rand.New(rand.NewPCG(seed, 2))
		due := map[int64][]string{}
		for i := range count {
			at := start + int64(random.IntN(seconds))
			due[at] = append(due[at], fmt.Sprint("burst#", i))
		}
		inSecond, at := 0, int64(0)
		for r := range stream {
			if second := r.Time / 1000; second != at {
				at, inSecond = second, 0
			}
			if !yield(r) {
				return
			}
			// 1,010 requests a burst over the 20,000 places of the second.
			for _, key := range due[at] {
				for range inSecondShare(inSecond, 1010, 20_000) {
					if !yield(write(at, key, 1)) {
						return
					}
				}
			}
			inSecond++
		}
	}
}

// inSecondShare returns how many of `parts` fall to place i of n when they are laid
// evenly.
func inSecondShare(i, parts, n int) int { return (i+1)*parts/n - i*parts/n }

func records(file *os.File, perSecond, most int) iter.Seq2[sample.Record, error] {
	config := keytrace.Config{Start: time.Unix(start, 0), PerSecond: perSecond, Seed: seed, Limit: most}
	stream, err := keytrace.Read(file, config)
	if err != nil {
		panic(err)
	}
	return stream
}
