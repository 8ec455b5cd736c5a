package board_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

func findingOf(found []detect.Finding, about any, table string) *detect.Finding {
	i := slices.IndexFunc(found, func(f detect.Finding) bool { return scenario.IsAbout(&f, about) && f.Table == table })
	if i < 0 {
		return nil
	}
	return &found[i]
}

// TestUnseenKeys holds when a table in which a key may be hidden has a finding: two of three
// seconds with a load over a limit, and as much of it unseen, and for a minute after.
func TestUnseenKeys(t *testing.T) {
	t.Parallel()
	load := func(write, read float64) sketch.Load {
		return sketch.Load{Write: scenario.Milli(write), Read: scenario.Milli(read)}
	}
	always := func(int64) bool { return true }
	for _, c := range []struct {
		name          string
		total, unseen sketch.Load
		in            func(second int64) bool
		fires         bool
	}{
		{"a load over a limit, and as much of it unseen", load(50_000, 0), load(1200, 0), always, true},
		{"the same of reads", load(0, 50_000), load(0, 3600), always, true},
		{"in two of three seconds", load(50_000, 0), load(1200, 0), func(s int64) bool { return s%3 > 0 }, true},
		{"in one of three seconds", load(50_000, 0), load(1200, 0), func(s int64) bool { return s%3 > 1 }, false},
		{"less unseen than a partition serves", load(50_000, 0), load(900, 0), always, false},
		{"reads unseen of a load of writes", load(50_000, 100), load(0, 3600), always, false},
	} {
		b := board.New(board.Options{})
		b.Settle(scenario.Began-1, true)
		var f *detect.Finding
		for s := range int64(100) {
			w := &sketch.Window{Target: sample.Target{Table: "orders"}, Second: scenario.Began + s}
			if w.Total.Requests = 1; s < 10 && c.in(s) {
				w.Total.Requests, w.Total.Load, w.Unseen = 50_000, c.total, c.unseen
			}
			b.Observe(w)
			b.Observe(w) // as when late samples come
			b.Settle(w.Second, true)
			f = findingOf(b.Findings(), casebook.UnseenKeys, "orders")
			if fires := f != nil && f.State == detect.Firing; s == 0 && fires || s >= 2 && s < 68 && fires != c.fires || s >= 69 && fires {
				t.Fatalf("%s: after %d s the finding is %+v", c.name, s+1, f)
			}
		}
		if c.fires != (f != nil) || f != nil && (f.State != detect.Resolved || f.Severity != detect.Warning) {
			t.Errorf("%s: in the end the finding is %+v", c.name, f)
		}
	}
}

// TestFloodIsNotSilent floods one table with hot keys, beside a table with one hot key and a
// well-spread table of 50,000 write units a second over 100,000 keys. Without the flood the
// spread table has no finding; with it, it is said that its keys are unseen. The hot key
// pages either way.
func TestFloodIsNotSilent(t *testing.T) {
	t.Parallel()
	for _, flood := range []int{0, 100_000} {
		random := rand.New(rand.NewPCG(47, 1))
		var shards []*sketch.Shard
		for range 4 {
			shards = append(shards, sketch.NewShard(sketch.Config{}))
		}
		b := board.New(board.Options{})
		b.Settle(scenario.Began-1, true)
		for s := range int64(4) {
			add := func(table, key string, units sample.Milli, ms int) {
				r := sample.Record{Time: (scenario.Began+s)*1000 + int64(ms), Table: table, PK: sample.KeyString(key), Op: sample.PutItem, WCU: 1000 * units, Rate: 1, N: 1}
				if err := shards[random.IntN(len(shards))].Add(&r); err != nil {
					t.Fatal(err)
				}
			}
			for i := range 100_000 {
				ms := i / 100
				if i < flood {
					add("flooded", fmt.Sprintf("%d-%d", s, i), 1500, ms)
				}
				if i%2 == 0 {
					add("spread", fmt.Sprint(random.IntN(100_000)), 1, ms)
				}
				if i%66 == 0 {
					add("hot", "k", 1, ms)
				}
			}
			windows := map[string]*sketch.Window{}
			for _, shard := range shards {
				for _, part := range scenario.SealedWindows(shard) {
					if windows[part.Table] == nil {
						windows[part.Table] = &sketch.Window{Target: part.Target, Second: part.Second}
					}
					windows[part.Table].Merge(&part)
				}
			}
			for _, w := range windows {
				b.Observe(w)
			}
			b.Settle(scenario.Began+s, true)
		}
		found := b.Findings()
		if f := findingOf(found, detect.KeyWrites, "hot"); f == nil || f.State != detect.Firing || f.Severity != detect.Critical {
			t.Errorf("with a flood of %d keys the hot key is %+v", flood, f)
		}
		f := findingOf(found, casebook.UnseenKeys, "spread")
		if (f != nil) != (flood > 0) || f != nil && max(f.Peak.WCU.High/1000, f.Peak.RCU.High/3000) <= 1 {
			t.Errorf("with a flood of %d keys the finding about the spread table is %+v", flood, f)
		}
		if f := findingOf(found, casebook.UnseenKeys, "hot"); f != nil {
			t.Errorf("with a flood of %d keys the hot key's table is said to hide keys", flood)
		}
	}
}
