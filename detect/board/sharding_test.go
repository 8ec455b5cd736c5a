package board_test

import (
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
	"github.com/keyheat/keyheat/sketch"
)

func shardNames(base string, n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("%s#SHARD_%d", base, i))
	}
	return all
}

// TestTooFewShardsEnds loads a sharded key much for a minute, and little from
// then on: the finding ends, though the key is never quiet; and the quiet hour
// does not make its shards too many.
func TestTooFewShardsEnds(t *testing.T) {
	t.Parallel()
	b := board.New(board.Options{})
	b.Settle(scenario.Began-1, true)
	names := shardNames("celebrity", 10)
	for i := range int64(3600) {
		units := 1500.0
		if i >= 60 {
			units = 20
		}
		b.Observe(scenario.LoadedWindow(scenario.Began+i, units, names...))
		b.Settle(scenario.Began+i, true)
		if i%20 > 0 && i != 59 {
			continue
		}
		switch f := single(t, b.Findings(), casebook.TooFewShards); {
		case i == 59 && (f == nil || f.State != detect.Firing):
			t.Fatalf("found %+v, want an open finding", f)
		case i == 2000 && (f == nil || f.State != detect.Resolved):
			t.Fatalf("found %+v, want it to be over", f)
		}
	}
	if f := single(t, b.Findings(), casebook.TooManyShards); f != nil {
		t.Fatalf("found %+v after a quiet hour", f)
	}
}

// TestUnevenIsProven observes even shards of which a sketch has lost a part, as its
// bounds say: that is no unevenness.
func TestUnevenIsProven(t *testing.T) {
	t.Parallel()
	b := board.New(board.Options{})
	b.Settle(scenario.Began-1, true)
	names := shardNames("celebrity", 10)
	for i := range int64(100) {
		w := scenario.LoadedWindow(scenario.Began+i, 100, names...)
		w.Unseen = sketch.Load{Write: scenario.Milli(100)}
		if i%2 == 0 {
			w.Keys = w.Keys[:9] // the last is not listed
		}
		k := &w.Keys[0] // the first had room late in the second
		k.Low.Write, k.Err.Write = scenario.Milli(60), scenario.Milli(40)
		b.Observe(w)
		b.Settle(scenario.Began+i, true)
	}
	if f := single(t, b.Findings(), casebook.UnevenShards); f != nil {
		t.Fatalf("even shards: %+v", f.Sharding)
	}
}

// TestSampledShardsAreProven observes ten shards with a sampled load that may, but need
// not, be more than they carry.
func TestSampledShardsAreProven(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		units float64
		want  detect.Severity
	}{{700, ""}, {1250, detect.Info}, {2500, detect.Critical}} {
		b := board.New(board.Options{})
		b.Settle(scenario.Began-1, true)
		w := scenario.LoadedWindow(scenario.Began, c.units, shardNames("celebrity", 10)...)
		w.Total.WriteLargest = 100
		for i := range w.Keys { // units of 1 at a rate of 1%
			w.Keys[i].WriteSpread = sketch.Spread{Variance: c.units * 99, Largest: 100}
			w.Keys[i].Requests /= 100
		}
		b.Observe(w)
		b.Settle(scenario.Began, true)
		got := detect.Severity("")
		if f := single(t, b.Findings(), casebook.TooFewShards); f != nil {
			got = f.Severity
			if p := f.Peak.WCU; p.Low >= p.Value || p.High <= p.Value {
				t.Errorf("the peak %+v does not say what sampling leaves open", p)
			}
		}
		if got != c.want {
			t.Errorf("ten shards of %v: too few with severity %q, want %q", c.units, got, c.want)
		}
	}
}

// TestRoomForShardedKeysIsGivenInOrder observes more sharded keys than a board
// keeps: which it judges does not depend on chance.
func TestRoomForShardedKeysIsGivenInOrder(t *testing.T) {
	t.Parallel()
	var names []string
	for i := range 4000 {
		names = append(names, shardNames(fmt.Sprintf("user-%d", i), 2)...)
	}
	var want []detect.Finding
	for range 3 {
		b := board.New(board.Options{})
		b.Settle(scenario.Began-1, true)
		b.Observe(scenario.LoadedWindow(scenario.Began, 700, names...))
		b.Settle(scenario.Began, true)
		got := b.Findings()
		if want == nil {
			want = got
		}
		if !reflect.DeepEqual(want, got) {
			t.Fatal("the same second makes different findings")
		}
	}
	if len(want) == 0 {
		t.Fatal("found nothing")
	}
}

// TestAShardIsNotShardedAgain loads shards before and behind their key, too few and uneven
// ones: the steps of one of them say nothing that holds of that shard's own number.
func TestAShardIsNotShardedAgain(t *testing.T) {
	t.Parallel()
	var prefixes []string
	for i := range 8 {
		prefixes = append(prefixes, fmt.Sprintf("%d#feed", i))
	}
	suffixes := shardNames("total", 10)
	for _, c := range []struct {
		names      []string
		hot, other float64                // of the last name, and of the others
		steps      map[detect.Fix]float64 // what each leaves
	}{
		{prefixes, 1040, 1040, map[detect.Fix]float64{detect.FixMoreShards: 640}},
		{suffixes, 1300, 200, map[detect.Fix]float64{detect.FixEvenShards: 310}},
		{suffixes, 5000, 2000, map[detect.Fix]float64{detect.FixEvenShards: 2300, detect.FixMoreShards: 657}},
	} {
		b := board.New(board.Options{})
		b.Settle(scenario.Began-1, true)
		last := len(c.names) - 1
		for i := range int64(60) {
			w := scenario.LoadedWindow(scenario.Began+i, c.other, c.names[:last]...)
			w.Merge(scenario.LoadedWindow(scenario.Began+i, c.hot, c.names[last]))
			b.Observe(w)
			b.Settle(scenario.Began+i, true)
		}
		found := 0
		for _, f := range b.Findings() {
			if string(f.Key) != c.names[last] || f.Subject != detect.KeyWrites {
				continue
			}
			for _, step := range f.Advice {
				switch leaves := c.steps[step.Fix]; {
				case step.Action == detect.ActionShard:
					if step.After == nil || math.Abs(step.After.High-leaves) > 1 || step.Effort != detect.EffortCode {
						t.Errorf("%s: %s leaves %+v, want %g", f.Key, step.Fix, step.After, leaves)
					}
					found++
				case step.Action == detect.ActionMigrate || step.Action == detect.ActionPrewarm:
					t.Errorf("%s is advised to be sharded by itself: %s", f.Key, step.Fix)
				}
			}
		}
		if found != len(c.steps) {
			t.Errorf("%d steps of %s, want %v", found, c.names[last], c.steps)
		}
	}
}
