package board_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// single returns the one finding about a subject, or with a case; nil when there is none.
func single(t *testing.T, found []detect.Finding, about any) (f *detect.Finding) {
	t.Helper()
	for i := range found {
		if !scenario.IsAbout(&found[i], about) {
			continue
		}
		if f != nil {
			t.Fatalf("two findings of %v", about)
		}
		f = &found[i]
	}
	return f
}

// TestAbsentFindingResolves: a finding about a table's few keys resolves before it is gone.
func TestAbsentFindingResolves(t *testing.T) {
	t.Parallel()
	b := board.New(board.Options{})
	b.Settle(scenario.Began, true)
	from := time.Unix(scenario.Began-3600, 0).UTC()
	b.SetView(detect.Target{Table: "orders"}, &detect.View{From: from, To: from.Add(time.Hour), Design: detect.Design{Verdict: detect.DesignCatastrophic}, Hottest: detect.HottestSecond{Utilization: 0.5}})
	if f := single(t, b.Findings(), casebook.FewValues); f == nil || f.State != detect.Pending {
		t.Fatalf("found %+v, want an open finding", f)
	}
	b.SetView(detect.Target{Table: "orders"}, nil)
	for range 2 { // a write of the first may have failed
		if f := single(t, b.Findings(), casebook.FewValues); f == nil || f.State != detect.Resolved {
			t.Fatalf("found %+v, want it to be over", f)
		}
	}
	b.Settle(scenario.Began+2000, true)
	b.Findings()
	if f := single(t, b.Findings(), casebook.FewValues); f != nil {
		t.Fatalf("%+v is returned for ever", f)
	}
}

// TestARestoredPatternEnds lets another judge take over while the second of two
// hot days' keys is hot: when the key cools, its pattern is over, too.
func TestARestoredPatternEnds(t *testing.T) {
	t.Parallel()
	const day = 86_400
	midnight := scenario.Began - scenario.Began%day + day
	window := func(at int64, key string, units float64) *sketch.Window {
		s := story{key: key, seconds: []demand{{units: units}}}
		w := s.window(0)
		w.Second = at
		return w
	}
	name := func(at int64) string { return time.Unix(at, 0).UTC().Format(time.DateOnly) }
	first := board.New(board.Options{})
	first.Settle(midnight-21, true)
	var observed []*sketch.Window
	for at := midnight - 20; at < midnight+20; at++ {
		observed = append(observed, window(at, name(at), 1500))
		first.Observe(observed[len(observed)-1])
		first.Settle(at, true)
	}
	if f := single(t, first.Findings(), casebook.TimeKey); f == nil || f.State != detect.Firing {
		t.Fatalf("found %+v, want an open pattern", f)
	}
	b := handOver(t, first, board.Options{}, observed)
	for at := midnight + 20; at < midnight+200; at++ {
		b.Observe(window(at, name(at), 150))
		b.Settle(at, true)
	}
	if f := single(t, b.Findings(), casebook.TimeKey); f == nil || f.State != detect.Resolved {
		t.Fatalf("found %+v, want the pattern to be over", f)
	}
}

// TestACollectionIsBounded: a collection that grows towards 10 GB wants a bounded key.
func TestACollectionIsBounded(t *testing.T) {
	t.Parallel()
	s := story{
		workloads: []workload{{key: "a", units: 1500, bytes: 1024, edit: &sample.Edit{Changed: 1024, Grown: 1024}}},
		facts:     &detect.TableFacts{LSIs: []string{"by-date"}}, lasts: 240,
	}
	f := single(t, s.findings(), casebook.LargeCollection)
	if f == nil || f.Advice[0].Fix != detect.FixBoundedCollection {
		t.Fatalf("found %+v, want a bounded key", f)
	}
}

// TestFewValuesEndWithTheirTraffic: what a table's keys were like is no present finding once
// requests have stopped.
func TestFewValuesEndWithTheirTraffic(t *testing.T) {
	t.Parallel()
	b := board.New(board.Options{})
	b.Settle(scenario.Began, true)
	to := time.Unix(scenario.Began, 0).UTC()
	b.SetView(detect.Target{Table: "orders"}, &detect.View{From: to.Add(-time.Hour), To: to, Design: detect.Design{Verdict: detect.DesignCatastrophic}, Hottest: detect.HottestSecond{Utilization: 0.5}})
	for _, c := range []struct {
		after int64
		want  detect.State
	}{{60, detect.Pending}, {299, detect.Pending}, {301, detect.Resolved}} {
		b.Settle(scenario.Began+c.after, true)
		if f := single(t, b.Findings(), casebook.FewValues); f == nil || f.State != c.want {
			t.Errorf("%d s after the last request: %+v, want %s", c.after, f, c.want)
		}
	}
}

// TestFewValuesEndWithTheirHarm: few values explain their hot keys, and are no incident that
// goes on for as long as the table has requests.
func TestFewValuesEndWithTheirHarm(t *testing.T) {
	t.Parallel()
	b := board.New(board.Options{})
	b.Settle(scenario.Began-1, true)
	for i := range int64(300) {
		units := 1500.0
		if i >= 60 {
			units = 20
		}
		s := story{key: "PENDING", seconds: []demand{{units: units}}}
		w := s.window(0)
		w.Second = scenario.Began + i
		b.Observe(w)
		b.Settle(w.Second, true)
		to := time.Unix(w.Second+1, 0).UTC()
		b.SetView(w.Target, &detect.View{
			From: to.Add(-time.Hour), To: to, Design: detect.Design{Verdict: detect.DesignVeryPoor}, DistinctKeys: detect.ExactFigure(3),
			Hottest: detect.HottestSecond{Key: "PENDING", KeyType: "S", Utilization: 1.5, WCU: 1500},
		})
		f := single(t, b.Findings(), casebook.FewValues)
		switch {
		case f == nil:
			t.Fatalf("second %d: no finding", i)
		case i == 30 && f.State != detect.Firing:
			t.Errorf("while a value is hot it is %s", f.State)
		case i == 200 && (f.State != detect.Resolved || !f.LastSeen.Equal(time.Unix(scenario.Began+59, 0))):
			t.Errorf("when no value is hot any more it is %s, until %s", f.State, f.LastSeen)
		}
	}
}

// TestGrowingKeysAreBounded follows the growth of some of very many cool keys of a table
// with a local secondary index, of keys that are gone none, and of no other table's.
func TestGrowingKeysAreBounded(t *testing.T) {
	t.Parallel()
	var all []workload
	for i := range 60 {
		all = append(all, workload{key: fmt.Sprintf("k%d", i), units: 20, bytes: 1024, edit: &sample.Edit{Changed: 1024, Grown: 1024}})
	}
	for _, lsi := range []bool{true, false} {
		facts := &detect.TableFacts{LSIs: []string{}}
		if lsi {
			facts.LSIs = []string{"by-date"}
		}
		b := board.New(board.Options{Facts: func(detect.Target) *detect.TableFacts { return facts }})
		b.Settle(scenario.Began-1, true)
		for _, w := range sketched(all, 90) {
			b.Observe(w)
			b.Settle(w.Second, true)
		}
		growing := 0
		for _, f := range b.Findings() {
			if f.Case == casebook.LargeCollection {
				growing++
			}
		}
		if lsi && (growing < 4 || growing > 16) || !lsi && growing > 0 {
			t.Errorf("local indexes %v: %d of 60 keys are found to grow", facts.LSIs, growing)
		}
		b.Settle(scenario.Began+3*detect.Horizon, true)
		b.Settle(scenario.Began+5*detect.Horizon, true)
		for _, f := range b.Findings() {
			if f.State != detect.Resolved {
				t.Errorf("when all keys are gone %s of %s is %s", f.Subject, f.Key, f.State)
			}
		}
	}
}
