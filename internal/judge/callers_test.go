package judge_test

import (
	"encoding/json"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// TestSpansNameTheCallersOfAStream: a stream shows who is written, and spans without keys show
// who writes. The finding names the table's writers, and its load stays the stream's.
func TestSpansNameTheCallersOfAStream(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *store.Store) {
		c := collect(t, s, "a", 0, begin())
		c.of = sample.Target{Account: "123456789012", Region: "eu-west-1"}
		c.tells = func(r *sample.Record) { r.Change = true }
		j := run(t, quick(), &probe{Store: s})
		for _, span := range []sample.Record{
			{Table: table, Region: "eu-west-1", Op: sample.UpdateItem, WCU: 900_000, Caller: "web"},
			{Table: table, Region: "eu-west-1", Op: sample.UpdateItem, WCU: 300_000, Caller: "batch"},
			{Table: table, Region: "eu-west-1", Op: sample.Query, RCU: 5_000_000, Caller: "reader"},
			{Table: table, Region: "us-east-1", Op: sample.UpdateItem, WCU: 9_000_000, Caller: "elsewhere"},
			{Table: "carts", Op: sample.UpdateItem, WCU: 9_000_000, Caller: "other"},
		} {
			span.Time, span.Rate, span.N = begin().UnixMilli(), 1, 1
			must(t, c.shard.AddCaller(&span))
		}
		c.commit(3, hot("hot", 1200, 0, 4)...)
		j.quiet(t)
		rows, err := s.Findings(t.Context(), store.FindingQuery{Limit: 10})
		must(t, err)
		if len(rows) != 1 {
			t.Fatalf("%d findings", len(rows))
		}
		var f detect.Finding
		must(t, json.Unmarshal(rows[0].Document, &f))
		equal(t, "callers", f.TableCallers, []detect.Part{{Text: "web", Low: 0.75, High: 0.75}, {Text: "batch", Low: 0.25, High: 0.25}})
		equal(t, "peak", f.Peak.WCU.Value, 1200)
		totals, err := s.Totals(t.Context())
		must(t, err)
		equal(t, "tables", len(totals), 1)
	})
}
