package sketch_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// drawn returns a record of one write unit, sampled at one in ten.
func drawn(change func(*sample.Record)) sample.Record {
	r := sample.Record{Time: start * 1000, Table: "orders", PK: sample.KeyString("k"), Op: sample.PutItem, WCU: 1000, Rate: 0.1, N: 1}
	change(&r)
	return r
}

// TestWhatIsDrawnTogether compares the variance of a key with the exact variance of the sums of
// its calls, for each way in which records describe calls. A call of b units, sampled at p,
// adds b²(1−p)/p².
func TestWhatIsDrawnTogether(t *testing.T) {
	t.Parallel()
	batch := func(name func(r *sample.Record, call, item int)) (all []sample.Record) {
		for call := range 3 {
			for item := range 25 {
				all = append(all, drawn(func(r *sample.Record) { r.Op = sample.BatchWriteItem; name(r, call, item) }))
			}
		}
		return all
	}
	three := 3 * 25 * 25 * 90.0
	for _, c := range []struct {
		story    string
		records  []sample.Record
		variance float64
		largest  float64
		assumed  int64
	}{
		{"each by itself", []sample.Record{drawn(func(r *sample.Record) { r.Calls = 1 }), drawn(func(r *sample.Record) { r.Calls = 1 })}, 2 * 90, 10, 0},
		{"each by itself, as is assumed", []sample.Record{drawn(func(*sample.Record) {}), drawn(func(*sample.Record) {})}, 2 * 90, 10, 2},
		{"folded: 75 requests of 75 calls", []sample.Record{drawn(func(r *sample.Record) { r.N, r.Calls = 75, 75 })}, 75 * 90, 10, 0},
		{"folded: 75 requests of 3 calls", []sample.Record{drawn(func(r *sample.Record) { r.N, r.Calls = 75, 3 })}, three, 250, 0},
		{"items that know their call's size", batch(func(r *sample.Record, _, _ int) { r.Calls = 1. / 25 }), three, 250, 0},
		{"items that name their call", batch(func(r *sample.Record, call, _ int) { r.Call = fmt.Sprint(call) }), three, 250, 0},
		{"a batch by its time", batch(func(r *sample.Record, call, _ int) { r.Time += int64(call) }), three, 250, 75},
		{"folded and drawn as one", []sample.Record{drawn(func(r *sample.Record) { r.N = 75 })}, 75 * 75 * 90, 750, 75},
	} {
		t.Run(c.story, func(t *testing.T) {
			t.Parallel()
			s := sketch.NewShard(sketch.Config{Seed: seed})
			for _, r := range c.records {
				add(t, s, r)
			}
			w := sealed(s).Windows[0]
			k := w.Keys[0]
			if math.Abs(k.WriteSpread.Variance-c.variance) > 1e-6*c.variance || math.Abs(k.WriteSpread.Largest-c.largest) > 1e-9 || math.Abs(w.Total.WriteLargest-c.largest) > 1e-9 {
				t.Errorf("spread %+v, of the table %v, want %v and %v", k.WriteSpread, w.Total.WriteLargest, c.variance, c.largest)
			}
			if want := (sketch.Draws{Assumed: c.assumed, RateLow: 0.1, RateHigh: 0.1}); k.Draws != want {
				t.Errorf("drawn as %+v, want %+v", k.Draws, want)
			}
		})
	}
}

// TestSizesBoundCallsOfUnequalItems holds that the sizes of calls give a bound of the
// variance of their sums, over collectors that share them out, and that names give
// the variance itself where the calls of a key are near each other.
func TestSizesBoundCallsOfUnequalItems(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(4, 4))
	named := sketch.NewShard(sketch.Config{Seed: seed})
	var sized [3]*sketch.Shard
	for i := range sized {
		sized[i] = sketch.NewShard(sketch.Config{Seed: seed})
	}
	var want float64
	for call := range 40 {
		size := 1 + random.IntN(25)
		var sum float64
		for range size {
			units := 1 + random.IntN(9)
			r := drawn(func(r *sample.Record) {
				r.Op, r.WCU, r.Call = sample.BatchWriteItem, sample.Milli(1000*units), fmt.Sprint(call)
			})
			add(t, named, r)
			r.Calls = 1 / float64(size)
			add(t, sized[random.IntN(len(sized))], r)
			sum += float64(units)
		}
		want += sum * sum * 90
	}
	if got := sealed(named).Windows[0].Keys[0].WriteSpread.Variance; math.Abs(got-want) > 1e-6*want {
		t.Errorf("named calls leave %v open, want %v", got, want)
	}
	merged := sealed(sized[0]).Windows[0]
	for _, s := range sized[1:] {
		merged.Merge(&sealed(s).Windows[0])
	}
	if got := merged.Keys[0].WriteSpread.Variance; got < want || got > 1.5*want {
		t.Errorf("sized calls leave %v open, want at least %v", got, want)
	}
}

// TestDrawsOfParts merges the draws of a key whose requests came to two collectors.
func TestDrawsOfParts(t *testing.T) {
	t.Parallel()
	part := func(change func(*sample.Record)) sketch.Window {
		s := sketch.NewShard(sketch.Config{Seed: seed})
		add(t, s, drawn(change))
		return sealed(s).Windows[0]
	}
	all, tenth := func(r *sample.Record) { r.Rate = 1; r.Estimated = true }, func(r *sample.Record) { r.Calls = 1 }
	for _, c := range []struct {
		a, b func(*sample.Record)
		want sketch.Draws
	}{
		{all, all, sketch.Draws{Estimated: 2}},
		{all, tenth, sketch.Draws{Estimated: 1, RateLow: 0.1, RateHigh: 1}},
		{tenth, func(r *sample.Record) { r.Rate = 0.5 }, sketch.Draws{Assumed: 1, RateLow: 0.1, RateHigh: 0.5}},
	} {
		for range 2 {
			w, o := part(c.a), part(c.b)
			w.Merge(&o)
			if w.Keys[0].Draws != c.want {
				t.Errorf("drawn as %+v, want %+v", w.Keys[0].Draws, c.want)
			}
			c.a, c.b = c.b, c.a
		}
	}
}
