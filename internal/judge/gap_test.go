package judge_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

func TestAFindingListsTheGapsOfItsTime(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *store.Store) {
		start := begin()
		second := func(n int) time.Time { return start.Add(time.Duration(n) * time.Second).UTC() }
		c := collect(t, s, "a", 0, start)
		c.lose(
			store.Gap{Gap: sample.Gap{From: "1", To: "2", Since: second(-90), Until: second(-60), Reason: "before"}},
			store.Gap{Gap: sample.Gap{From: "3", To: "4", Since: second(-5), Until: second(1), Reason: "over its beginning"}},
			store.Gap{Gap: sample.Gap{From: "5", To: "6", Since: second(200), Until: second(230), Reason: "after"}},
			store.Gap{Gap: sample.Gap{From: "7", To: "8", Until: second(-60), Reason: "from an unknown time, before"}},
		)
		j := run(t, quick(), &probe{Store: s})
		c.commit(20, append(hot("hot", 1200, 0, 3), hot("cold", 5, 3, 20)...)...)
		j.quiet(t)
		f := only(t, s)
		equal(t, "gaps", f.Quality.Gaps, []sample.Gap{{
			Source: "test", Partition: "0", From: "3", To: "4",
			Since: second(-5), Until: second(1), Reason: "over its beginning",
		}})
		// One that comes to light later, of unknown bounds, is listed too, and
		// is no change that is notified.
		c.lose(store.Gap{Gap: sample.Gap{From: "9", To: "10", Reason: "later"}})
		c.commit(21)
		j.quiet(t)
		f = only(t, s)
		if len(f.Quality.Gaps) != 2 || f.Quality.Gaps[1].Reason != "later" || !f.Quality.Gaps[1].Since.IsZero() {
			t.Errorf("gaps %+v, want the later one too", f.Quality.Gaps)
		}
		equal(t, "notified", left(t, s).Notified, []string{"hot firing"})
	})
}

// only is the one stored finding.
func only(t *testing.T, s *store.Store) detect.Finding {
	t.Helper()
	all, err := s.Findings(t.Context(), store.FindingQuery{})
	must(t, err)
	if len(all) != 1 {
		t.Fatalf("%d findings, want 1", len(all))
	}
	var f detect.Finding
	must(t, json.Unmarshal(all[0].Document, &f))
	return f
}

// TestDocumentsFollowTheSchema holds the document that is stored, returned by
// the API and posted to webhooks to the form that analyze prints.
func TestDocumentsFollowTheSchema(t *testing.T) {
	t.Parallel()
	s := open(t, database(t))
	c := collect(t, s, "a", 0, begin())
	c.lose(store.Gap{Gap: sample.Gap{From: "9", To: "10", Reason: "of unknown bounds"}})
	j := run(t, quick(), &probe{Store: s})
	c.commit(100, append(hot("hot", 1200, 0, 3), hot("warm", 900, 0, 3)...)...)
	j.quiet(t)
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	schema, err := compiler.Compile("../../docs/findings.schema.json#/$defs/finding")
	must(t, err)
	documents := left(t, s).Findings
	equal(t, "findings", len(documents), 2)
	for _, document := range documents {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(document))
		must(t, err)
		if err := schema.Validate(v); err != nil {
			t.Errorf("%s: %v", document, err)
		}
	}
}
