package judge_test

import (
	"encoding/json"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// retriesOf returns how the hot key's calls were sent, by its stored finding.
func retriesOf(t *testing.T, s *store.Store) *detect.Retries {
	t.Helper()
	rows, err := s.Findings(t.Context(), store.FindingQuery{})
	must(t, err)
	for _, row := range rows {
		var f detect.Finding
		must(t, json.Unmarshal(row.Document, &f))
		if f.Subject == detect.KeyWrites && f.Evidence != nil {
			return f.Evidence.Retries
		}
	}
	t.Fatal("nothing is found")
	return nil
}

// TestRetriesOfSomeProducers has two collectors, and the samples of only one count their
// attempts. The finding has the retries that are known, and is marked as partial. A judge
// that takes over keeps both.
func TestRetriesOfSomeProducers(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *store.Store) {
		start := begin()
		p := &probe{Store: s}
		j := run(t, quick(), p)
		bare, recent := collect(t, s, "bare", 0, start).at(ireland), collect(t, s, "new", 1, start).at(ireland)
		recent.tells = func(r *sample.Record) {
			r.Caller, r.Calls, r.Attempts, r.Waited = "reindex", 1, 4, 500
			r.WCU, r.N = r.WCU/100, 100
			r.Calls = 100
		}
		for second := 0; second < 20; second += 5 {
			bare.commit(second+5, hot("hot", 500, second, second+5)...)
			recent.commit(second+5, hot("hot", 600, second, second+5)...)
			j.quiet(t)
		}
		check := func(r *detect.Retries) {
			t.Helper()
			if r == nil || r.Calls != 2000 || r.Attempts != 8000 || r.Waited.Value != 1000 || !r.Partial || len(r.Callers) != 1 || r.Callers[0].Caller != "reindex" {
				t.Errorf("the finding says %+v", r)
			}
		}
		check(retriesOf(t, s))
		j.stop()
		j = run(t, quick(), &probe{Store: s})
		for _, c := range []*collector{bare, recent} {
			c.tells = nil
			c.commit(22, hot("cold", 5, 20, 22)...)
		}
		j.quiet(t)
		check(retriesOf(t, s))
	})
}
