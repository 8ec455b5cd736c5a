package web_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/detect/corroboration"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// TestPagesSayWhoseRequestsTheyAre: requests are served for certain only where the samples
// show throttled ones, attempts that ask for nothing are not said to, and a moving hot spot's
// requests are those of one key. A finding's page shows CloudWatch's verdict.
func TestPagesSayWhoseRequestsTheyAre(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.Context(), "sqlite::memory:", store.Options{})
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	document := func(of any) []byte {
		text, err := json.Marshal(of)
		must(t, err)
		return text
	}
	var j store.Judgement
	var tables []detect.Table
	for name, throttled := range map[string]detect.Throttled{"quiet": {}, "refused": {Requests: 9, WCU: 6}, "resent": {Requests: 9}} {
		of := detect.Table{Target: detect.Target{Table: name}, Seconds: 1, Requests: 20, WCU: 40, Throttled: throttled, View: &detect.View{}}
		tables = append(tables, of)
		j.Views = append(j.Views, store.TargetDocument{Target: of.Target, Document: document(of)})
	}
	f := casebook.NewFinding(casebook.MovingSpot, detect.Target{Table: "quiet"}, sample.Key{})
	f.Severity, f.State, f.FirstSeen, f.LastSeen = detect.Critical, detect.Firing, time.Now(), time.Now()
	f.Evidence = &detect.Evidence{Records: 755, Seconds: 5, ItemBytes: 267_264, Callers: []detect.Part{{Text: "loader", Low: 0.03, High: 0.22}}}
	f.CloudWatch = &detect.CloudWatch{
		Verdict: detect.CloudWatchConfirms, Throttles: map[detect.Metric]float64{corroboration.WriteKeyRangeThrottles: 90},
	}
	j.Findings = []store.Finding{{
		Fingerprint: f.Fingerprint, Case: string(f.Case), Subject: string(f.Subject), Target: f.Target, Severity: string(f.Severity), State: string(f.State),
		FirstSeen: f.FirstSeen, LastSeen: f.LastSeen, Document: document(f),
	}}
	j.Incidents = stored(t, []detect.Finding{f})
	l, ok, err := s.AcquireLease(t.Context(), "judge", "test", time.Minute)
	if err != nil || !ok {
		t.Fatalf("lease: %t, %v", ok, err)
	}
	must(t, s.Judge(t.Context(), l, j))
	address := serve(t, s)
	pages := map[string][]say.Line{"/findings/" + f.Fingerprint: slices.Concat(say.Requests(&f), say.Details(&f))}
	for i := range tables {
		pages["/table?index=&table="+tables[i].Table] = say.TableLoad(&tables[i])
	}
	for path, lines := range pages {
		text := open(t, address+path).text()
		for _, l := range lines {
			if !strings.Contains(text, l.Name+" "+l.Text) {
				t.Errorf("%s does not say %q: %s", path, l.Text, text)
			}
		}
	}
}
