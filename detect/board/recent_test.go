package board_test

import (
	"slices"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// TestRecentSeconds: a second in which nothing was seen of the key is not known, unless
// all of it was seen: then the key was calm. A part of one is what was seen.
func TestRecentSeconds(t *testing.T) {
	t.Parallel()
	b := board.New(board.Options{})
	b.Settle(scenario.Began-1, true)
	type load struct{ write, read float64 }
	see := func(second int64, l load) {
		k := sample.KeyString("k")
		seen := sketch.Load{Write: scenario.Milli(l.write), Read: scenario.Milli(l.read)}
		b.Observe(&sketch.Window{
			Target: sample.Target{Table: "orders"}, Second: scenario.Began + second,
			Total: sketch.Total{Load: seen, Requests: 1},
			Keys:  []sketch.KeyLoad{{Hash: scenario.Hash("orders", "", k), Key: k, Requests: 1, Low: seen}},
		})
	}
	for second, l := range map[int64]load{0: {write: 1200}, 1: {read: 900}, 3: {write: 700}, 10: {write: 1500.6}, 12: {write: 800}, 13: {read: 900}, 14: {write: 1100}} {
		see(second, l)
	}
	b.Settle(scenario.Began+11, true)
	b.Settle(scenario.Began+13, false)
	b.Settle(scenario.Began+14, true)
	f := single(t, b.Findings(), detect.KeyWrites)
	if f == nil {
		t.Fatal("the key is not hot")
	}
	r := b.Recent(f, scenario.Seed)
	if r == nil || r.From.Unix() != scenario.Began+14-detect.RecentSeconds+1 || r.Unit != "wcu" || r.Limit != 1000 || len(r.Loads) != detect.RecentSeconds {
		t.Fatalf("got %+v", r)
	}
	got := make([]float64, len(r.Loads))
	for i, l := range r.Loads {
		if got[i] = -1; l != nil {
			got[i] = *l
		}
	}
	want := slices.Concat(slices.Repeat([]float64{-1}, 15), []float64{1200, 0, 0, 700, 0, 0, 0, 0, 0, 0, 1501, 0, 800, -1, 1100})
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if r := b.Recent(&detect.Finding{Subject: detect.SubjectPartition, KeyRef: f.KeyRef}, scenario.Seed); r != nil {
		t.Errorf("a partition has a key's load: %+v", r)
	}
	later := *f
	later.Through = f.Through.AddDate(0, 0, 1)
	if r := b.Recent(&later, scenario.Seed); r != nil {
		t.Errorf("of seconds that nobody saw: %+v", r)
	}
}
