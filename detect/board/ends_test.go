package board_test

import (
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/detect/internal/scenario"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// single returns the one finding of a kind; nil when there is none.
func single(t *testing.T, found []detect.Finding, k detect.Kind) (f *detect.Finding) {
	t.Helper()
	for i := range found {
		if found[i].Kind != k {
			continue
		}
		if f != nil {
			t.Fatalf("two findings of %s", k)
		}
		f = &found[i]
	}
	return f
}

// TestAbsentFindingResolves observes a table with few keys and no traffic any more:
// however old its view, the finding resolves before it is gone.
func TestAbsentFindingResolves(t *testing.T) {
	t.Parallel()
	b := board.New(board.Options{})
	b.Settle(scenario.Began, true)
	from := time.Unix(scenario.Began-7200, 0).UTC()
	b.SetView(detect.Target{Table: "orders"}, &detect.View{From: from, To: from.Add(time.Hour), Design: detect.Design{Verdict: detect.DesignCatastrophic}, Hottest: detect.HottestSecond{Utilization: 0.5}})
	if f := single(t, b.Findings(), detect.LowCardinalityKey); f == nil || f.State != detect.Pending {
		t.Fatalf("found %+v, want an open finding", f)
	}
	b.SetView(detect.Target{Table: "orders"}, nil)
	for range 2 { // a write of the first may have failed
		if f := single(t, b.Findings(), detect.LowCardinalityKey); f == nil || f.State != detect.Resolved {
			t.Fatalf("found %+v, want it to be over", f)
		}
	}
	b.Settle(scenario.Began+2000, true)
	b.Findings()
	if f := single(t, b.Findings(), detect.LowCardinalityKey); f != nil {
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
	for at := midnight - 20; at < midnight+20; at++ {
		first.Observe(window(at, name(at), 1500))
		first.Settle(at, true)
	}
	if f := single(t, first.Findings(), detect.RollingHotKey); f == nil || f.State != detect.Firing {
		t.Fatalf("found %+v, want an open pattern", f)
	}
	b := board.New(board.Options{})
	b.Settle(midnight+19, true)
	b.Restore(first.Findings(), scenario.Seed)
	for at := midnight + 20; at < midnight+200; at++ {
		b.Observe(window(at, name(at), 150))
		b.Settle(at, true)
	}
	if f := single(t, b.Findings(), detect.RollingHotKey); f == nil || f.State != detect.Resolved {
		t.Fatalf("found %+v, want the pattern to be over", f)
	}
}

// TestARestoredPatternMayBeIncomplete restores what another version wrote.
func TestARestoredPatternMayBeIncomplete(t *testing.T) {
	t.Parallel()
	b := board.New(board.Options{})
	b.Settle(scenario.Began, true)
	b.Restore([]detect.Finding{{Kind: detect.RollingHotKey, Fingerprint: "1"}}, scenario.Seed)
	if f := single(t, b.Findings(), detect.RollingHotKey); f == nil || f.State != detect.Resolved {
		t.Fatalf("found %+v, want it to be over", f)
	}
}

// TestTheExampleOfAShorterKeyIsOfItsTime holds the advice to the traffic's own month.
func TestTheExampleOfAShorterKeyIsOfItsTime(t *testing.T) {
	t.Parallel()
	s := story{
		workloads: []workload{{key: "a", units: 1500, bytes: 1024, edit: &sample.Edit{Changed: 1024, Grown: 1024}}},
		facts:     &detect.TableFacts{LSIs: []string{"by-date"}},
	}
	f := single(t, s.findings(), detect.LargeCollection)
	if month := time.Unix(scenario.Began, 0).UTC().Format("2006-01"); f == nil || !strings.Contains(f.Advice[0].Text, "a#"+month) {
		t.Fatalf("found %+v, want a#%s as an example", f, month)
	}
}
