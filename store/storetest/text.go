package storetest

import (
	"testing"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

var text = []obligation{
	{"hostile text stops neither commit nor judgement", hostileText},
}

// hostileText puts into every field that comes from samples what SQL text
// cannot hold.
func hostileText(t *testing.T, s *store.Store) {
	const hostile, kept = "a\x00b\xffc'; --", "a\uFFFDb\uFFFDc'; --"
	must(t, s.Commit(t.Context(), store.Commit{Writer: "a", Seq: 1,
		Gaps: []store.Gap{{Gap: sample.Gap{Reason: hostile, From: hostile, To: hostile}}},
		Bad:  []store.BadSample{{Hour: noon, Source: hostile, Reason: hostile, Count: 1, Excerpts: []sample.Text{hostile}}},
	}))
	f := finding("f", 1)
	f.Table, f.Index, f.Key = hostile, hostile, hostile
	w := window(0)
	w.Table, w.Index = hostile, hostile
	judge(t, s, store.Judgement{
		Windows:  []store.Window{w},
		Findings: []store.Finding{f},
	})
	equal(t, "excerpt", value[[]store.BadSample](t)(s.BadSamples(t.Context(), store.BadQuery{}))[0].Excerpts, []sample.Text{kept})
	equal(t, "key", value[store.Finding](t)(s.Finding(t.Context(), "f")).Key, kept)
	found := value[[]store.Window](t)(s.Windows(t.Context(), store.WindowQuery{Target: w.Target}))
	equal(t, "windows found by the hostile name", len(found), 1)
}
