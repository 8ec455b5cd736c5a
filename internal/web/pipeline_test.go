package web_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/detect/pipeline"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/store"
)

// TestKeyheatsOwnFindingsNameNoTable: neither the list nor the page of a finding about
// Keyheat itself shows figures of a load, which it has none of.
func TestKeyheatsOwnFindingsNameNoTable(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.Context(), "sqlite::memory:", store.Options{})
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	w, now := pipeline.NewWatch(pipeline.Default()), time.Now()
	for second := range 10 {
		w.Look(pipeline.Status{Now: now.Add(time.Duration(5*second) * time.Second), Silent: now.Add(-time.Hour)})
	}
	f := w.Findings()[0]
	document, err := json.Marshal(f)
	must(t, err)
	l, ok, err := s.AcquireLease(t.Context(), "judge", "test", time.Minute)
	if err != nil || !ok {
		t.Fatalf("lease: %t, %v", ok, err)
	}
	must(t, s.Judge(t.Context(), l, store.Judgement{Incidents: stored(t, []detect.Finding{f}), Findings: []store.Finding{{
		Fingerprint: f.Fingerprint, Case: string(casebook.CollectionStopped), Subject: string(detect.SubjectPipeline), Severity: string(f.Severity), State: string(f.State),
		FirstSeen: f.FirstSeen, LastSeen: f.LastSeen, Document: document,
	}}}))
	address := serve(t, s)
	for path, want := range map[string]string{"/": "Keyheat itself", "/findings/" + f.Fingerprint: say.New(&f).Why} {
		text := open(t, address+path).text()
		if !strings.Contains(text, want) || !strings.Contains(text, "collection has stopped") {
			t.Errorf("%s does not say what is wrong: %s", path, text)
		}
		for _, figure := range []string{"WCU", "RCU", "of the limit", "(empty)"} {
			if strings.Contains(text, figure) {
				t.Errorf("%s shows %q of what has no load: %s", path, figure, text)
			}
		}
	}
}
