package board_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/detect/partition"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/position"
	"github.com/keyheat/keyheat/sketch"
)

// ranges is a map of a table whose partitions hold equal ranges of the key space.
func ranges(t *testing.T, bits int) *partition.Map {
	t.Helper()
	m, now := partition.New(false), time.Unix(scenario.Began-3600, 0)
	for i := range 1 << bits {
		m.Open(fmt.Sprint("orders/shard-", i), "", now)
	}
	for i := range 4000 {
		p := position.String(fmt.Sprint("order#", i))
		if !m.Add(fmt.Sprint("orders/shard-", p.Cell(bits)), p, now) {
			t.Fatal("a key contradicts")
		}
	}
	return m
}

// ofPartition returns the first keys of a partition.
func ofPartition(cell, bits, n int) (keys []sample.Key) {
	for i := 0; len(keys) < n; i++ {
		if k := sample.KeyString(fmt.Sprint("order#", i)); position.String(k.Text).Cell(bits) == cell {
			keys = append(keys, k)
		}
	}
	return keys
}

// spread is a number of writes of a unit a second, evenly over keys, or of reads of half a unit.
type spread struct {
	keys    []sample.Key
	writes  int
	refuses bool
	reads   bool
}

// judgeSpread has a board judge the load for some seconds.
func judgeSpread(t *testing.T, o board.Options, seconds int64, loads []spread) *board.Board {
	t.Helper()
	return judgePlaced(t, o, seconds, loads, nil, false)
}

// judgePlaced does so with cells of the placed tables. trim drops cold keys, as the judge does of
// a second that is over.
func judgePlaced(t *testing.T, o board.Options, seconds int64, loads []spread, placed func(sample.Target) bool, trim bool) *board.Board {
	t.Helper()
	shard, judge := sketch.NewShard(sketch.Config{Seed: scenario.Seed}), board.New(o)
	shard.PlaceKeys(placed)
	judge.Settle(scenario.Began-1, true)
	for second := range seconds {
		for _, l := range loads {
			for i := range l.writes {
				r := sample.Record{
					Time: (scenario.Began+second)*1000 + int64(i)%1000, Table: "orders", PK: l.keys[(int(second)*l.writes+i)%len(l.keys)],
					Op: sample.PutItem, WCU: 1000, Rate: 1, N: 1,
				}
				if l.reads {
					r.Op, r.RCU, r.WCU = sample.GetItem, 500, 0
				}
				if l.refuses && i%4 == 0 {
					r.Throttle = keyRangeCause
				}
				if err := shard.Add(&r); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, w := range scenario.SealedWindows(shard) {
			judge.ObserveWalk(&w)
			if trim {
				w.Trim(sketch.Load{Read: detect.PartitionRead / 50, Write: detect.PartitionWrite / 50}, 512, placed(w.Target))
			}
			judge.Observe(&w)
		}
		judge.Settle(scenario.Began+second, true)
	}
	return judge
}

// TestFullPartition: where the map is known, a full partition is found by the sum of its keys,
// with or without refused requests, and named with its keys.
func TestFullPartition(t *testing.T) {
	t.Parallel()
	const bits = 2
	warm, others := ofPartition(1, bits, 20), append(ofPartition(0, bits, 50), ofPartition(3, bits, 50)...)
	for _, c := range []struct {
		name   string
		loads  []spread
		state  detect.State
		refuse bool
	}{
		{"twenty keys above the limit together", []spread{{keys: warm, writes: 1300}, {keys: others, writes: 900}}, detect.Firing, false},
		{"as many that are refused", []spread{{keys: warm, writes: 1300, refuses: true}, {keys: others, writes: 900}}, detect.Firing, true},
		{"refused below the limit", []spread{{keys: warm, writes: 700, refuses: true}, {keys: others, writes: 900}}, detect.Firing, true},
		{"refused beside a hot key of another partition", []spread{{keys: warm, writes: 700, refuses: true}, {keys: others[:1], writes: 900}}, detect.Firing, true},
		{"as much on more partitions", []spread{{keys: append(warm[:10:10], others...), writes: 1300}}, "", false},
		{"one hot key", []spread{{keys: warm[:1], writes: 1300, refuses: true}, {keys: others, writes: 900}}, "", false},
		{"a hot key with half of it", []spread{{keys: warm[:1], writes: 1500}, {keys: warm[1:], writes: 1500}}, "", false},
		{"two hot keys, both refused", []spread{{keys: warm[:1], writes: 1500, refuses: true}, {keys: warm[1:2], writes: 1300, refuses: true}}, "", false},
		{"a hot key beside which others are refused", []spread{{keys: warm[:1], writes: 1500}, {keys: warm[1:], writes: 700, refuses: true}}, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := ranges(t, bits)
			judge := judgeSpread(t, board.Options{Partitions: func(detect.Target) *partition.Map { return m }}, 60, c.loads)
			f := single(t, judge.Findings(), detect.SubjectPartition)
			if (f == nil) != (c.state == "") {
				t.Fatalf("found %+v", f)
			}
			if f == nil {
				return
			}
			p := f.Partition
			if p == nil || p.Shard != "orders/shard-1" || p.Split != nil || len(p.Cuts) != 2 {
				t.Fatalf("its partition is %+v", p)
			}
			if f.State != c.state || f.Ground != detect.GroundKeys || (p.RefusedWCU > 0) != c.refuse {
				t.Errorf("%s, %s, refused %g", f.State, f.Ground, p.RefusedWCU)
			}
			if write := float64(c.loads[0].writes); p.WCU.Low != write || p.WCU.High < write || p.KeyCount != len(warm) || f.Utilization < write/1000 {
				t.Errorf("it carries %+v by %d keys, %g of its limit", p.WCU, p.KeyCount, f.Utilization)
			}
			for _, cut := range p.Cuts {
				if cut.At.Cell(bits) != 1 || cut.Fuller < 0.5 || cut.Fuller > 0.9 {
					t.Errorf("a cut: %+v", cut)
				}
			}
			for _, k := range append(f.Members.Keys, refusedTexts(f)...) {
				if position.String(string(k)).Cell(bits) != 1 {
					t.Errorf("%s lies in another partition", k)
				}
			}
		})
	}
}

// TestFullPartitionOfColdKeys: a partition whose 10,000 keys have 1.1 of its limit together, is
// proven full by its cells, beside 9,000 keys of other partitions. Listed keys alone leave it
// undecided.
func TestFullPartitionOfColdKeys(t *testing.T) {
	t.Parallel()
	const bits = 2
	loads := []spread{
		{keys: slices.Concat(ofPartition(0, bits, 3000), ofPartition(2, bits, 3000), ofPartition(3, bits, 3000)), writes: 9000, reads: true},
		{keys: ofPartition(1, bits, 10_000), writes: 6600, reads: true}, // 3,300 units
	}
	for _, c := range []struct{ placed, trim bool }{{false, false}, {false, true}, {true, false}, {true, true}} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			t.Parallel()
			m := ranges(t, bits)
			o := board.Options{Partitions: func(detect.Target) *partition.Map { return m }}
			judge := judgePlaced(t, o, 60, loads, func(sample.Target) bool { return c.placed }, c.trim)
			f := single(t, judge.Findings(), detect.SubjectPartition)
			if !c.placed {
				if f != nil {
					t.Errorf("listed keys prove %+v", f.Partition)
				}
				return
			}
			if f == nil || f.Partition == nil {
				t.Fatalf("found %+v", f)
			}
			if p := f.Partition; p.Shard != "orders/shard-1" || p.RCU.Low <= 3000 || p.RCU.Low > 3300 || p.RCU.High < 3300 || p.HottestShare() > 0.01 || len(p.Cuts) != 2 {
				t.Errorf("its partition is %+v", p)
			}
			if (f.Members == nil) != c.trim {
				t.Errorf("its keys are %+v", f.Members)
			}
			say.Tell(f)
			if strings.Contains(f.Text, " 0 keys") || strings.Contains(f.Text, ": .") || !strings.Contains(f.Text, "carries 109–111% of its read limit") {
				t.Errorf("it is told as %s", f.Text)
			}
		})
	}
}

func refusedTexts(f *detect.Finding) (all []sample.Text) {
	for _, k := range f.RefusedKeys {
		all = append(all, k.Key)
	}
	return all
}

// TestWalkingLoad: a copy in the order of positions that fills one partition after another is
// told as such, with or without a map, and advises another order. The same keys in another order
// do not walk.
func TestWalkingLoad(t *testing.T) {
	t.Parallel()
	const bits = 3
	var keys []sample.Key
	for i := range 200_000 {
		keys = append(keys, sample.KeyString(fmt.Sprint("item#", i)))
	}
	shuffled := slices.DeleteFunc(slices.Clone(keys), func(k sample.Key) bool { return position.String(k.Text).Cell(bits) != 1 })
	slices.SortFunc(keys, func(a, b sample.Key) int { return cmp.Compare(position.String(a.Text), position.String(b.Text)) })
	for _, c := range []struct {
		story  string
		keys   []sample.Key
		known  bool
		ground detect.Ground
	}{
		{"in order", keys, true, detect.GroundPositions},
		{"in order, without a map", keys, false, detect.GroundPositions},
		{"in another order", shuffled, true, detect.GroundKeys},
	} {
		t.Run(c.story, func(t *testing.T) {
			t.Parallel()
			o := board.Options{}
			if c.known {
				m := ranges(t, bits)
				o.Partitions = func(detect.Target) *partition.Map { return m }
			}
			judge := judgePlaced(t, o, 40, []spread{{keys: c.keys, writes: 1300, refuses: true}}, func(sample.Target) bool { return c.known }, false)
			f := single(t, judge.Findings(), detect.SubjectPartition)
			if f == nil || f.State != detect.Firing || f.Ground != c.ground {
				t.Fatalf("found %+v", f)
			}
			if walks := f.Ground == detect.GroundPositions; walks != (f.Advice[0].Fix == detect.FixShuffleInput) {
				t.Errorf("advised: %+v", f.Advice)
			}
		})
	}
}

// TestPartitionUnknown: without a map nothing is guessed of a load without refusals.
func TestPartitionUnknown(t *testing.T) {
	t.Parallel()
	judge := judgeSpread(t, board.Options{}, 60, []spread{{keys: ofPartition(1, 2, 20), writes: 1300}})
	if f := single(t, judge.Findings(), detect.SubjectPartition); f != nil {
		t.Errorf("found %+v", f)
	}
}

// TestPartitionSplit: the finding about a partition that was split says when and where, also
// by the next judge.
func TestPartitionSplit(t *testing.T) {
	t.Parallel()
	const bits = 2
	m := ranges(t, bits)
	o := board.Options{Partitions: func(detect.Target) *partition.Map { return m }}
	judge := judgeSpread(t, o, 60, []spread{{keys: ofPartition(1, bits, 20), writes: 1300, refuses: true}})
	at := time.Unix(scenario.Began+60, 0).UTC()
	m.Open("orders/left", "orders/shard-1", at)
	m.Open("orders/right", "orders/shard-1", at)
	m.End("orders/shard-1", at)
	for i := range 4000 {
		p := position.String(fmt.Sprint("new#", i))
		switch p.Cell(3) {
		case 2:
			m.Add("orders/left", p, at)
		case 3:
			m.Add("orders/right", p, at)
		}
	}
	m.Dissolve(at.Add(partition.SettleTime))
	for second := scenario.Began + 60; second < scenario.Began+200; second++ {
		judge.Settle(second, true)
	}
	f := single(t, judge.Findings(), detect.SubjectPartition)
	if f == nil || f.State != detect.Resolved || f.Partition == nil || f.Partition.Split == nil {
		t.Fatalf("found %+v", f)
	}
	const middle = position.Position(3) << 61
	if s := f.Partition.Split; !s.At.Equal(at) || s.CutLow > middle || s.CutHigh < middle || len(s.Forecast) != 2 {
		t.Errorf("split %+v", s)
	}
	if s := m.Splits()[0]; s.Outcome != "" {
		t.Errorf("it is %s before its halves gathered keys", s.Outcome)
	}
	m.Update(nil, at.Add(10*time.Minute))
	if s := m.Splits()[0]; s.Outcome != detect.ForecastMiddle && s.Outcome != detect.ForecastBoth {
		t.Errorf("forecast %+v, cut between %v and %v, is %q", s.Forecast, s.CutLow, s.CutHigh, s.Outcome)
	}
}
