package judge_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// viewOf is the stored view of the table.
func viewOf(t *testing.T, s *store.Store) detect.Table {
	t.Helper()
	rows, err := s.TableViews(t.Context())
	must(t, err)
	if len(rows) != 1 || rows[0].Table != table {
		t.Fatalf("views are %+v, want one of %s", rows, table)
	}
	var v detect.Table
	must(t, json.Unmarshal(rows[0].Document, &v))
	return v
}

// The judge writes what a table's keys look like, cold ones too.
func TestATableHasItsView(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *store.Store) {
		c := collect(t, s, "a", 1, begin())
		for second := range 5 {
			loads := []load{{second, "user#1", 60}}
			for user := range 40 {
				loads = append(loads, load{second, fmt.Sprint("user#", 100*second+user), 1})
			}
			c.commit(second+1, loads...)
		}
		run(t, quick(), &probe{Store: s}).quiet(t)
		got := viewOf(t, s)
		v := got.View
		if got.Requests != 5*41 || got.WCU != 500 || got.Seconds != 5 {
			t.Errorf("totals are %+v", got)
		}
		if v.DistinctKeys.Value != 200 || v.Template.Pattern != "user#<id>" || v.Top[0].Key != "user#1" ||
			v.Top[0].WCU != 301 || v.Hottest.WCU < 60 {
			t.Errorf("view is %+v", *v)
		}
	})
}

// Late samples do not count a second twice.
func TestAViewCountsASecondOnce(t *testing.T) {
	t.Parallel()
	s := open(t, database(t))
	c := collect(t, s, "a", 1, begin())
	j := run(t, quick(), &probe{Store: s})
	c.commit(10, load{1, "a", 100})
	j.quiet(t)
	c.commit(11, load{1, "a", 1}, load{2, "a", 100})
	j.quiet(t)
	if v := viewOf(t, s).View; v.Top[0].WCU != 200 {
		t.Errorf("%g units are counted of two seconds of 100, and one late one", v.Top[0].WCU)
	}
}

// A judge that takes over does not write its first seconds over an hour's view.
func TestAViewOutlivesItsJudge(t *testing.T) {
	t.Parallel()
	s := open(t, database(t))
	c := collect(t, s, "a", 1, begin())
	first := run(t, quick(), &probe{Store: s})
	c.commit(10, load{1, "a", 100}, load{2, "b", 100})
	first.quiet(t)
	first.stop()
	c.commit(20, load{11, "a", 100})
	second := run(t, quick(), &probe{Store: s})
	second.quiet(t)
	if v := viewOf(t, s).View; v.DistinctKeys.Value != 2 {
		t.Errorf("the view has %g keys, want the two of the judge before", v.DistinctKeys.Value)
	}
	c.commit(30, load{12, "a", 100}, load{13, "c", 100}, load{14, "d", 100})
	second.quiet(t)
	if v := viewOf(t, s).View; v.DistinctKeys.Value != 3 {
		t.Errorf("the view has %g keys, want the three that the new judge saw in more time", v.DistinctKeys.Value)
	}
}

// What is known of a table reaches the verdict: what is stored of it, or before
// that what the operator has configured.
func TestFactsReachTheVerdict(t *testing.T) {
	t.Parallel()
	for name, configured := range map[string]*detect.TableFacts{"stored": nil, "configured": {KeySchema: sample.Keys("id")}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, database(t))
			must(t, s.PutTableFacts(t.Context(), sample.Target{Table: table}, []byte(`{"lsis":["by-date"]}`)))
			c := collect(t, s, "a", 1, begin())
			c.commit(10, load{1, "hot", 1500}, load{2, "hot", 1500})
			config := quick()
			config.Facts = func(detect.Target) *detect.TableFacts { return configured }
			run(t, config, &probe{Store: s}).quiet(t)
			rows, err := s.Findings(t.Context(), store.FindingQuery{Subject: string(detect.KeyWrites)})
			must(t, err)
			if len(rows) != 1 {
				t.Fatalf("%d findings, want 1", len(rows))
			}
			var f detect.Finding
			must(t, json.Unmarshal(rows[0].Document, &f))
			want := detect.GroundLocalIndex
			if configured != nil {
				want = detect.GroundItem
			}
			if f.Ground != want {
				t.Errorf("the reason is %s, want %s", f.Ground, want)
			}
		})
	}
}

// A judgement that the store fails is made again, and its seconds are not counted
// again.
func TestAViewCountsASecondOnceThroughAnOutage(t *testing.T) {
	t.Parallel()
	s := open(t, database(t))
	c := collect(t, s, "a", 1, begin())
	c.commit(10, load{1, "a", 100}, load{2, "a", 100})
	run(t, quick(), &probe{Store: s, fault: func(n int64) (err error, carried bool) {
		if n <= 2 {
			return store.ErrUnavailable, false
		}
		return nil, true
	}}).quiet(t)
	if got := viewOf(t, s); got.Requests != 2 || got.Seconds != 2 || got.View.Top[0].WCU != 200 {
		t.Errorf("%d requests in %d seconds and %g units are counted, want 2 in 2 and 200", got.Requests, got.Seconds, got.View.Top[0].WCU)
	}
}
