package sketch_test

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/sketch/internal/gather"
)

// orders is a table with all parts of its target known.
var orders = sample.Target{Account: "123456789012", Region: "eu-west-1", Table: "orders", Index: "by-status"}

// part draws a part of a second as a shard could have sealed it.
func part(t *rapid.T) sketch.Window {
	amount := rapid.Int64Range(0, 5_000_000)
	load := func(name string) sketch.Load {
		return sketch.Load{
			Read:  sample.Milli(amount.Draw(t, name+" read")),
			Write: sample.Milli(amount.Draw(t, name+" write")),
		}
	}
	w := sketch.Window{Target: orders, Second: start, Unseen: load("unseen"), Arrivals: arrivals(t)}
	hashes := rapid.SliceOfNDistinct(rapid.Uint64Range(1, 20), 0, 10, rapid.ID).Draw(t, "hashes")
	slices.Sort(hashes)
	for _, h := range hashes {
		w.Keys = append(w.Keys, sketch.KeyLoad{
			Hash: h, Key: sample.KeyString(string(rune('a' + h))), Requests: 1,
			Low: load("low"), Err: load("err"), Throttled: load("throttled"),
			WriteSpread: sketch.Spread{Variance: float64(h % 3 * 1024), Largest: float64(h % 3)},
			Draws:       sketch.Draws{Estimated: int64(h % 5), Assumed: int64(h % 3), RateLow: float64(h%3) / 4, RateHigh: float64(h%3) / 2},
		})
		if h%2 == 0 {
			w.Keys[len(w.Keys)-1].Evidence = evidence(t)
		}
		w.Total.Load = w.Total.Plus(w.Keys[len(w.Keys)-1].Low)
		w.Total.Requests++
	}
	for at := range rapid.SliceOfNDistinct(rapid.Uint16Range(0, 1<<sketch.CellBits-1), 0, 6, rapid.ID).Draw(t, "cells") {
		w.Cells = append(w.Cells, sketch.Cell{At: uint16(700 * at), Read: 1 + sample.Milli(amount.Draw(t, "cell"))})
		w.Total.Read += w.Cells[at].Read
	}
	return w
}

// arrivals draws the times of some requests, some of them decided.
func arrivals(t *rapid.T) sketch.Arrivals {
	count := rapid.Uint64Range(1, 1000)
	a := sketch.Arrivals{Flushed: count.Draw(t, "flushed"), FlushedAt: count.Draw(t, "at")}
	for caller := range rapid.Uint64Range(0, 3).Draw(t, "callers") {
		p := gather.Producer{Caller: caller}
		for at := range rapid.Uint8Range(1, gather.Count).Draw(t, "bins") {
			p.Bins = append(p.Bins, gather.Bin{Weight: count.Draw(t, "weight"), Calls: uint16(count.Draw(t, "calls")), At: at})
		}
		a.Producers = append(a.Producers, p)
	}
	return a
}

// evidence draws the evidence that a shard could have gathered for one key.
func evidence(t *rapid.T) *sketch.Evidence {
	count := rapid.Int64Range(0, 1000)
	e := &sketch.Evidence{
		Seen: 1 + count.Draw(t, "seen"), Records: 1 + count.Draw(t, "records"), Load: sketch.Load{Write: sample.Milli(count.Draw(t, "load"))},
		Rises: count.Draw(t, "rises"), Falls: count.Draw(t, "falls"),
		Arrivals: arrivals(t), Edited: count.Draw(t, "edited"), GrownBytes: -count.Draw(t, "shrunk"),
	}
	e.Refused[sample.KeyRange] = count.Draw(t, "refused")
	for _, op := range []sample.Op{sample.PutItem, sample.UpdateItem} {
		if rapid.Bool().Draw(t, op.String()) {
			e.Ops = append(e.Ops, sketch.OpLoad{Op: op, Requests: 1, Load: e.Load})
		}
	}
	if e.Sorted = count.Draw(t, "sorted"); e.Sorted > 0 {
		e.SortKeys[7] = 3
	}
	for _, w := range rapid.SliceOfN(rapid.Uint64Range(1, 1000), 0, 5).Draw(t, "places") {
		of := []sketch.Place{{Priority: float32(w) * 1.5, Weight: w, Write: w%2 == 0, Order: string(rune(w))}}
		e.Places = gather.UnionPlaces(e.Places, of, 128)
	}
	e.Items.Missing = uint64(count.Draw(t, "missing"))
	for _, h := range rapid.SliceOfNDistinct(rapid.Uint64Range(1, 30), 0, 8, rapid.ID).Draw(t, "items") {
		e.Items.Entries = append(e.Items.Entries, sketch.Entry{Hash: h, Text: string(rune('a' + h)), Weight: h})
	}
	slices.SortFunc(e.Items.Entries, func(a, b sketch.Entry) int { return cmp.Compare(a.Hash, b.Hash) })
	return e
}

func TestMergeInAnyOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		parts := make([]sketch.Window, rapid.IntRange(1, 5).Draw(t, "parts"))
		for i := range parts {
			parts[i] = part(t)
		}
		forward, shuffled := parts[0], sketch.Window{Target: orders, Second: start}
		for i := range parts[1:] {
			forward.Merge(&parts[1+i])
		}
		for _, i := range rand.Perm(len(parts)) {
			shuffled.Merge(&parts[i])
		}
		if len(forward.Keys) == 0 {
			forward.Keys, shuffled.Keys = nil, nil
		}
		if !reflect.DeepEqual(forward, shuffled) {
			t.Fatalf("in order %+v, shuffled %+v", forward, shuffled)
		}
	})
}

// TestTrimKeepsTheBounds checks that a window still bounds the keys that Trim dropped, also
// after further merges.
func TestTrimKeepsTheBounds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		whole, later := part(t), part(t)
		trimmed := whole
		floor := sketch.Load{Read: 2_000_000, Write: 1_000_000}
		place := rapid.Bool().Draw(t, "place")
		trimmed.Trim(floor, rapid.IntRange(0, 10).Draw(t, "most"), place)
		whole.Merge(&later)
		trimmed.Merge(&later)
		for _, k := range whole.Keys {
			got, _ := trimmed.Key(k.Hash)
			if got.Low.Write > k.Low.Write || got.Low.Read > k.Low.Read {
				t.Fatalf("key %d: proven %v after Trim, %v before", k.Hash, got.Low, k.Low)
			}
			if h, was := got.High(), k.High(); h.Write < was.Write || h.Read < was.Read {
				t.Fatalf("key %d: at most %v after Trim, %v before", k.Hash, h, was)
			}
		}
		if cells := trimmed.Cells; !place && len(later.Cells) < len(cells) || place && trimmed.Remainder() != whole.Remainder() {
			t.Fatalf("%v unplaced after Trim, %v before, %d cells", trimmed.Remainder(), whole.Remainder(), len(cells))
		}
		if trimmed.Total != whole.Total {
			t.Fatalf("Trim changed the total")
		}
	})
}

func TestWindowRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := part(t)
		if len(w.Keys) > 0 {
			w.Keys[0].Cut = true
		}
		body, err := w.MarshalBinary()
		must.Succeed(t, err)
		var read sketch.Window
		must.Succeed(t, read.UnmarshalBinary(body))
		if !reflect.DeepEqual(w, read) {
			t.Fatalf("wrote %+v, read %+v", w, read)
		}
	})
}

// TestDamage changes and cuts a summary everywhere: no part of it is believed.
func TestDamage(t *testing.T) {
	t.Parallel()
	shard := sketch.NewShard(sketch.Config{Seed: seed, Sets: 16})
	shard.PlaceKeys(everywhere)
	for r := range fromTrace(20_000, 500) {
		must.Succeed(t, shard.Add(&r))
	}
	delta := sketch.NewDelta(sketch.Config{Seed: seed})
	shard.Seal(delta)
	body, err := delta.MarshalBinary()
	if err != nil || len(delta.Windows[0].Cells) == 0 {
		t.Fatalf("no cells are written: %v", err)
	}
	for i := range body {
		damaged := slices.Clone(body)
		damaged[i] ^= 0x10
		var read sketch.Delta
		err := read.UnmarshalBinary(damaged)
		if !errors.Is(err, sketch.ErrCorrupt) && !errors.Is(err, sketch.ErrVersion) {
			t.Fatalf("byte %d changed: %v", i, err)
		}
		if err := read.UnmarshalBinary(body[:i]); !errors.Is(err, sketch.ErrCorrupt) {
			t.Fatalf("cut at byte %d: %v", i, err)
		}
		if !read.Empty() {
			t.Fatalf("a refused summary left something behind")
		}
	}
	body[3] = sketch.Version + 1
	want := fmt.Sprintf("unknown summary version %d: this build reads versions up to %d", sketch.Version+1, sketch.Version)
	if err := new(sketch.Delta).UnmarshalBinary(body); !errors.Is(err, sketch.ErrVersion) || err.Error() != want {
		t.Fatalf("another version is answered with %v, want %s", err, want)
	}
}

// FuzzContents reads arbitrary contents in a sound frame. Contents that it reads without an
// error write back to the same contents.
func FuzzContents(f *testing.F) {
	d := sketch.NewDelta(sketch.Config{Seed: seed})
	shard := sketch.NewShard(sketch.Config{Seed: seed, Sets: 1})
	shard.PlaceKeys(everywhere)
	for r := range fromTrace(20, 80) {
		if err := shard.Add(&r); err != nil {
			f.Fatal(err)
		}
	}
	for i := range 20 {
		r := hot(i, sample.KeyString("item"), fmt.Sprintf("caller-%d", i%3))
		if r.Place = sample.Place(i); i%2 == 0 { // every other record counts attempts and was sampled
			r.Attempts, r.Waited, r.Failed, r.Rate, r.Calls = int64(1+i%4), float64(7*i), i%3 == 0, 0.5, 1
		}
		if err := shard.Add(&r); err != nil {
			f.Fatal(err)
		}
	}
	shard.Seal(d)
	body, err := d.MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sketch.Unframe(f, body), body[3])
	f.Add([]byte{}, byte(1))
	f.Fuzz(func(t *testing.T, contents []byte, version byte) {
		version = 1 + version%sketch.Version
		var read, again sketch.Delta
		if err := read.UnmarshalBinary(sketch.Frame(t, contents, version)); err != nil {
			if !errors.Is(err, sketch.ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		body, err := read.MarshalBinary()
		must.Succeed(t, err)
		must.Succeed(t, again.UnmarshalBinary(body))
		if !reflect.DeepEqual(read, again) {
			t.Fatalf("read %+v, wrote and read %+v", read, again)
		}
	})
}

// FuzzUnmarshal reads arbitrary bytes: refused or read, never a crash.
func FuzzUnmarshal(f *testing.F) {
	w := sketch.Window{Target: sample.Target{Table: "t"}, Second: start}
	body, err := w.MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(body)
	f.Fuzz(func(t *testing.T, body []byte) {
		var d sketch.Delta
		var w sketch.Window
		for _, err := range []error{d.UnmarshalBinary(body), w.UnmarshalBinary(body)} {
			if err != nil && !errors.Is(err, sketch.ErrCorrupt) && !errors.Is(err, sketch.ErrVersion) {
				t.Fatal(err)
			}
		}
	})
}
