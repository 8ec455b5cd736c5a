package storetest

import (
	"testing"
	"time"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

var targets = []obligation{
	{"targets of two accounts are two", targetsApart},
	{"many targets are written at once", targetsMany},
	{"a target in use is not pruned", targetsUsed},
}

func targetsApart(t *testing.T, s *store.Store) {
	all := []sample.Target{
		{Table: "orders"}, {Account: "1", Region: "eu-west-1", Table: "orders"}, {Account: "2", Region: "eu-west-1", Table: "orders"},
	}
	for i, at := range all {
		w := window(0)
		w.Target, w.Requests = at, int64(i+1)
		judge(t, s, store.Judgement{Windows: []store.Window{w}})
		must(t, s.PutTableFacts(t.Context(), at, []byte(`{}`)))
	}
	for i, at := range all {
		got := value[[]store.Window](t)(s.Windows(t.Context(), store.WindowQuery{Target: at}))
		if len(got) != 1 || got[0].Target != at || got[0].Requests != int64(i+1) {
			t.Errorf("windows of %+v are %+v", at, got)
		}
	}
	var totals, facts []sample.Target
	for _, row := range value[[]store.Total](t)(s.Totals(t.Context())) {
		totals = append(totals, row.Target)
	}
	for _, row := range value[[]store.TargetDocument](t)(s.TableFacts(t.Context())) {
		facts = append(facts, row.Target)
	}
	equal(t, "totals", totals, all)
	equal(t, "facts", facts, all)
}

func targetsMany(t *testing.T, s *store.Store) {
	const n = 150
	var j store.Judgement
	for i := range n {
		w := window(0)
		w.Target = sample.Target{Table: "t", Index: string(rune('a' + i))}
		j.Windows = append(j.Windows, w)
	}
	judge(t, s, j)
	judge(t, s, j)
	equal(t, "totals", len(value[[]store.Total](t)(s.Totals(t.Context()))), n)
}

func targetsUsed(t *testing.T, s *store.Store) {
	judge(t, s, store.Judgement{Windows: []store.Window{window(0)}})
	equal(t, "pruned", prune(t, s, store.Retention{Targets: soon}), store.Pruned{})
	equal(t, "pruned with its window", prune(t, s, store.Retention{Windows: soon, Targets: soon}), store.Pruned{"windows": 1, "targets": 1})
	time.Sleep(soon)
	judge(t, s, store.Judgement{Windows: []store.Window{window(0)}})
	equal(t, "windows", len(value[[]store.Window](t)(s.Windows(t.Context(), store.WindowQuery{Target: byStatus}))), 1)
}
