package web_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/keyheat/keyheat/detect"
	attack "github.com/keyheat/keyheat/internal/testsupport/hostile"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
	"github.com/keyheat/keyheat/rollup"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// TestNoPageShowsATextRaw stores a finding of each kind of which every text is an attack, and
// opens each page that shows one.
func TestNoPageShowsATextRaw(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.Context(), "sqlite::memory:", store.Options{})
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	var j store.Judgement
	m, paths := attack.New(5), []string{"/", "/tables", "/silences", "/reports", "/status"}
	for _, about := range attack.Abouts() {
		f := m.Finding(about)
		f.State = detect.Firing
		now := time.Now().Truncate(time.Second)
		f.FirstSeen, f.LastSeen, f.Through, f.Peak.At = now.Add(-time.Minute), now, now, now
		for _, name := range []*string{&f.Account, &f.Region, &f.Table, &f.Index} {
			*name = strings.ReplaceAll(*name, "\x00", "") // which no address may hold
		}
		fresh := scenario.NewFinding(about, f.Target, sample.Key{Text: string(f.Key), Type: f.KeyType})
		f.Fingerprint, f.Incident = fresh.Fingerprint, fresh.Incident
		i := m.Incident(&f)
		i.OpenedAt, i.LastSeen = f.FirstSeen, f.LastSeen
		document, err := json.Marshal(f)
		must(t, err)
		j.Findings = append(j.Findings, store.Finding{
			Fingerprint: f.Fingerprint, Case: string(f.Case), Subject: string(f.Subject), Target: f.Target, Key: f.Key, Severity: string(f.Severity), State: string(f.State),
			Utilization: f.Utilization, FirstSeen: f.FirstSeen, LastSeen: f.LastSeen, Document: document,
		})
		document, err = json.Marshal(i)
		must(t, err)
		j.Incidents = append(j.Incidents, store.Incident{
			ID: i.ID, Case: string(i.Case), Subject: string(i.Subject), Target: i.Target, Severity: string(i.Severity), State: string(i.State),
			OpenedAt: i.OpenedAt, LastSeen: i.LastSeen, Root: i.Root, Findings: []string{f.Fingerprint}, Document: document,
		})
		view := m.Table(f.Target)
		document, err = json.Marshal(view)
		must(t, err)
		j.Views = append(j.Views, store.TargetDocument{Target: f.Target, Document: document})
		place := url.Values{"account": {f.Account}, "region": {f.Region}, "table": {f.Table}, "index": {f.Index}}.Encode()
		paths = append(paths, "/findings/"+f.Fingerprint, "/table?"+place, "/heat?"+place, "/?"+place)
	}
	l, ok, err := s.AcquireLease(t.Context(), "judge", "test", time.Minute)
	if err != nil || !ok {
		t.Fatalf("lease: %t, %v", ok, err)
	}
	must(t, s.Judge(t.Context(), l, j))
	text := strings.ReplaceAll(m.Text(), "\x00", "") // which Postgres refuses
	must(t, s.StartWriter(t.Context(), store.Writer{ID: "w", Host: text, Started: time.Now()}))
	must(t, s.ReportWriter(t.Context(), "w", store.WriterStatus{Version: text, State: string(detect.CollectorFailing), Reason: text}))
	must(t, s.Commit(t.Context(), store.Commit{
		Writer: "w", Seq: 1, Gaps: []store.Gap{{Gap: sample.Gap{Source: text, Partition: text, From: text, To: text, Reason: text}}},
		Bad: []store.BadSample{{Hour: time.Now(), Source: text, Reason: text, Count: 1, Excerpts: []sample.Text{sample.Text(text)}}},
	}))
	must(t, s.ReceiverFailed(t.Context(), "chat", text, time.Minute))
	must(t, s.PutCloudWatch(t.Context(), store.CloudWatchRead{Target: sample.Target{Table: "orders"}, State: "denied", Message: text}, nil))
	at := serve(t, s)
	for _, path := range paths {
		text, _ := get(t, at+path, http.StatusOK)
		if wrong := faultOfPage(t, text); wrong != "" {
			t.Errorf("%.60q: %s", path, wrong)
		}
	}
}

// faultOfPage returns what of a page is more than to be read. Addresses hold texts escaped.
func faultOfPage(t *testing.T, text string) string {
	t.Helper()
	tree, err := html.Parse(strings.NewReader(text))
	must(t, err)
	for n := range tree.Descendants() {
		if n.Type == html.TextNode {
			text := n.Data
			if n.Parent.Data == "pre" { // Go's code is indented with tabs
				text = strings.ReplaceAll(text, "\t", "")
			}
			if wrong := attack.Fault(text); wrong != "" {
				return "<" + n.Parent.Data + "> has " + wrong
			}
		}
		if n.Type == html.ElementNode && n.Data == "script" && (n.FirstChild != nil || !strings.HasPrefix((page{n}).attr("src"), "/static/")) {
			return "a script"
		}
		for _, a := range n.Attr {
			if wrong := attack.Fault(a.Val); wrong != "" && (n.Data != "input" || a.Key != "value") { // a form gives back what it was given
				return "<" + n.Data + " " + a.Key + "> has " + wrong
			}
		}
	}
	return ""
}

// TestNoHeatShowsATextRaw: the heatmap of a table is JSON that does nothing but be read, and so
// is the error of an address that is wrong.
func TestNoHeatShowsATextRaw(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.Context(), "sqlite::memory:", store.Options{})
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	m := attack.New(15)
	w := &sketch.Window{Target: sample.Target{Table: strings.ReplaceAll(m.Text(), "\x00", "")}}
	for n := range uint64(9) {
		w.Keys = append(w.Keys, sketch.KeyLoad{Hash: n + 1, Key: sample.KeyString(m.Text()), Low: sketch.Load{Write: 1_500_000}})
	}
	body, err := rollup.OfSecond(w, true).MarshalBinary()
	must(t, err)
	l, ok, err := s.AcquireLease(t.Context(), "judge", "test", time.Minute)
	if err != nil || !ok {
		t.Fatalf("lease: %t, %v", ok, err)
	}
	at := time.Now().Add(-time.Minute).Truncate(10 * time.Second)
	must(t, s.Judge(t.Context(), l, store.Judgement{Rollups: []store.Rollup{{Target: w.Target, Level: int64(rollup.TenSeconds), Begins: at, Body: body}}}))
	address := serve(t, s) + "/api/v1/heat?" + url.Values{"table": {w.Table}}.Encode()
	text, _ := get(t, address+"&span=1h", http.StatusOK)
	if wrong := attack.Fault(text); wrong != "" || !strings.Contains(text, "evil.example") {
		t.Errorf("the heatmap has %s: %.500q", wrong, text)
	}
	text, _ = get(t, address+"&"+url.Values{"rows": {m.Text()}}.Encode(), http.StatusBadRequest)
	if wrong := attack.Fault(text); wrong != "" {
		t.Errorf("the error has %s: %q", wrong, text)
	}
}
