package web_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/web"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// TestStatus has states of Keyheat, and what the status page and the dot on every page say
// of them: what is not known is never called well.
func TestStatus(t *testing.T) {
	t.Parallel()
	runs := func(t *testing.T, s *store.Store, status store.WriterStatus) {
		must(t, s.StartWriter(t.Context(), store.Writer{ID: "collector-9", Host: "host-9", Started: time.Now()}))
		must(t, s.ReportWriter(t.Context(), "collector-9", status))
	}
	well := store.WriterStatus{State: "running", ClockOffset: new(-time.Millisecond), Lag: new(int64(0)), BadShare: new(0.0)}
	yesterday := time.Now().UTC().Truncate(time.Minute).Add(-24*time.Hour - time.Minute)
	judged := func(t *testing.T, s *store.Store, at time.Time) {
		l, ok, err := s.AcquireLease(t.Context(), "judge", "test", time.Minute)
		if err != nil || !ok {
			t.Fatalf("lease: %t, %v", ok, err)
		}
		must(t, s.Judge(t.Context(), l, store.Judgement{
			Seen:    []store.SeenMinute{{Minute: at.Truncate(time.Minute), Seconds: 1<<60 - 1}},
			Windows: []store.Window{{Target: sample.Target{Table: "orders"}, Second: at.Truncate(time.Minute).Add(30 * time.Second), Requests: 1}},
		}))
	}
	silent := func(t *testing.T, s *store.Store, since time.Time) {
		runs(t, s, well)
		judged(t, s, since)
		l, _, err := s.AcquireLease(t.Context(), "judge", "test", time.Minute)
		must(t, err)
		must(t, s.Judge(t.Context(), l, store.Judgement{Seen: []store.SeenMinute{{Minute: time.Now().Truncate(time.Minute).Add(-time.Minute), Seconds: 1<<60 - 1}}}))
	}
	for name, c := range map[string]struct {
		tell func(t *testing.T, s *store.Store)
		dot  string
		page []string
	}{
		"nothing is known": {
			func(*testing.T, *store.Store) {}, "unknown No samples yet",
			[]string{"No collector has reported yet", "Judged up to not known", "Without a collector nothing is known", "Gaps: not known, because no collector reported", "Receivers: the settings have none", "CloudWatch: never read", "MiB"},
		},
		"nothing is judged yet": {
			func(t *testing.T, s *store.Store) { runs(t, s, store.WriterStatus{}) }, "unknown No samples yet",
			[]string{"No samples yet: nothing has been judged", "host-9", "not known"},
		},
		"all is well": {
			func(t *testing.T, s *store.Store) { runs(t, s, well); judged(t, s, time.Now().Add(-time.Minute)) }, "calm Running",
			[]string{"All is well", "running", "host-9", "in step", "Rejected samples: none", "Gaps: none"},
		},
		"no samples come": {
			func(t *testing.T, s *store.Store) { silent(t, s, yesterday) }, "unknown No samples since " + yesterday.Format("2006-01-02 15:04") + " UTC (24 h)",
			[]string{"No samples since " + yesterday.Format("2006-01-02 15:04"), "later loads are unknown", "host-9"},
		},
		"there is no receiver": {
			func(t *testing.T, s *store.Store) { runs(t, s, well); judged(t, s, time.Now().Add(-time.Minute)) }, "calm Running",
			[]string{"counted and judged, but no alert is sent", "Receivers: the settings have none"},
		},
		"nobody judges": {
			func(t *testing.T, s *store.Store) { runs(t, s, well); judged(t, s, time.Now().Add(-10*time.Minute)) }, "critical 1 problem",
			[]string{"Nothing has been judged since"},
		},
		"collection has stopped": {
			func(t *testing.T, s *store.Store) {
				runs(t, s, well)
				judged(t, s, time.Now())
				must(t, s.StopWriter(t.Context(), "collector-9"))
			}, "critical 1 problem", []string{"Collection has stopped", "stopped"},
		},
		"a collector is in trouble": {
			func(t *testing.T, s *store.Store) {
				runs(t, s, store.WriterStatus{State: "failing", Reason: "no broker", RefusedTables: []string{"a", "b"}, BadShare: new(0.2)})
				judged(t, s, time.Now())
			}, "warning 1 problem", []string{"no broker", "It has no room for 2 more tables", "It rejects many samples", "20%"},
		},
		"a user has too many producers": {
			func(t *testing.T, s *store.Store) {
				full := well
				full.Reading = &store.Reading{Read: 1, FullUsers: []string{"orders"}}
				runs(t, s, full)
				judged(t, s, time.Now())
			}, "warning 1 problem", []string{"It refuses new producers of the user \"orders\": there are too many"},
		},
		"a partition is not read": {
			func(t *testing.T, s *store.Store) {
				runs(t, s, store.WriterStatus{State: "failing", Reason: "orders/1: no answer", Reading: &store.Reading{
					Read: 2, Unread: []store.Unread{{Name: "orders/1", Since: time.Now().Add(-time.Minute)}}}})
				judged(t, s, time.Now())
			}, "warning 2 problems", []string{"1 source is not read since", "orders/1", "Records that wait not known"},
		},
		"no collector can read its source": {
			func(t *testing.T, s *store.Store) {
				runs(t, s, store.WriterStatus{State: "failing", Reason: "orders/1: no answer", Reading: &store.Reading{
					Unread: []store.Unread{{Name: "orders/1", Since: time.Now().Add(-time.Minute)}}}})
				judged(t, s, time.Now())
			}, "critical 2 problems", []string{"No collector can read its source since", "orders/1"},
		},
		"loads are lower bounds": {
			func(t *testing.T, s *store.Store) {
				least := well
				least.LowerBounds = []string{"orders", "orders/by-status"}
				runs(t, s, least)
				judged(t, s, time.Now().Add(-time.Minute))
			}, "calm Running", []string{"All loads of orders, orders/by-status are lower bounds."},
		},
		"a receiver that failed was taken out of the settings": {
			func(t *testing.T, s *store.Store) {
				runs(t, s, well)
				judged(t, s, time.Now().Add(-time.Minute))
				must(t, s.ReceiverFailed(t.Context(), "pagers", "connection refused", time.Minute))
			}, "calm Running", []string{"All is well", "pagers removed from settings"},
		},
		"samples were rejected and lost": {
			func(t *testing.T, s *store.Store) {
				fillPipeline(t, s)
				judged(t, s, time.Now())
				must(t, s.Commit(t.Context(), store.Commit{Writer: "collector-1", Seq: 2, Bad: []store.BadSample{
					{Hour: time.Now(), Source: "kafka:samples", Reason: "bad_table", Count: 1}, {Hour: time.Now().Add(-48 * time.Hour), Source: "old", Reason: "no_time", Count: 5},
				}}))
				must(t, s.PutCloudWatch(t.Context(), store.CloudWatchRead{Target: sample.Target{Table: "orders"}, State: "denied", Message: "not allowed", Requested: 7}, nil))
			}, "critical 2 problems",
			[]string{
				"syntax kafka:samples 6", "set kafka.format", "bad_table", "Send the table's name, not its ARN", "Excerpt {…", "retention was shorter",
				"chat works", "pagers failing", "connection refused", "mail not tried yet", "denied not allowed",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := store.Open(t.Context(), "sqlite::memory:", store.Options{})
			must(t, err)
			t.Cleanup(func() { _ = s.Close() })
			c.tell(t, s)
			o := web.Options{}
			if strings.Contains(name, "rejected") || name == "all is well" {
				o.Receivers = func() []string { return []string{"chat", "mail", "pagers"} }
			}
			if strings.Contains(name, "taken out") {
				o.Receivers = func() []string { return []string{"chat"} }
			}
			address := serveWith(t, s, o)
			text := open(t, address+"/status").text()
			for _, want := range c.page {
				if !strings.Contains(text, want) {
					t.Errorf("the page does not say %q: %s", want, text)
				}
			}
			for _, path := range []string{"/", "/tables"} {
				if has := strings.Contains(open(t, address+path).text(), "are lower bounds"); has != (name == "loads are lower bounds") {
					t.Errorf("%s has lower bounds: %t", path, has)
				}
			}
			if strings.Contains(text, "no_time") {
				t.Error("the page has what was rejected long ago")
			}
			for _, path := range []string{"/", "/tables", "/status"} {
				link := open(t, address+path).all("a", "health")[0]
				if got := strings.TrimPrefix(link.attr("class"), "health ") + " " + link.text(); got != c.dot || link.attr("href") != "/status" {
					t.Errorf("on %s the dot says %q, want %q", path, got, c.dot)
				}
			}
		})
	}
}

// TestDocs has the documents served as pages, in the site's frame, with what they show.
func TestDocs(t *testing.T) {
	t.Parallel()
	s, found := filled(t)
	address := serve(t, s)
	if text := open(t, address+"/docs/").text(); !strings.Contains(text, "A quarter of an hour") || !strings.Contains(text, "Key design, and fixes for hot keys") {
		t.Errorf("the list is %s", text)
	}
	guides := 0
	for _, a := range open(t, address+"/findings/"+found[0].Fingerprint).all("a", "") {
		file, anchor, is := strings.Cut(a.attr("href"), "#")
		if !is || file != "/docs/KEY_DESIGN.md" {
			continue
		}
		guides++
		if page := open(t, address+file); len(page.all("h2", "")) == 0 || !strings.Contains(page.html(t), `id="`+anchor+`"`) {
			t.Errorf("the guide %q leads nowhere", a.attr("href"))
		}
	}
	if guides == 0 {
		t.Error("no step has a guide")
	}
	for path, kind := range map[string]string{
		"/docs/START.md": "text/html; charset=utf-8", "/docs/story.png": "image/png", "/docs/findings.schema.json": "application/json",
	} {
		if _, header := get(t, address+path, http.StatusOK); header.Get("Content-Type") != kind || !strings.Contains(header.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s has the headers %v", path, header)
		}
	}
	for _, path := range []string{"/docs/NONE.md", "/docs/docs.go", "/docs/%2e%2e/go.mod"} {
		if text, _ := get(t, address+path, http.StatusNotFound); !strings.Contains(text, `<a href="/docs/">`) {
			t.Errorf("%s is answered with %s", path, text)
		}
	}
	must(t, s.Close())
	if text := open(t, address+"/docs/RELIABILITY.md").text(); !strings.Contains(text, "The promise") || !strings.Contains(text, "Status unknown") {
		t.Errorf("without a database the document is %s", text)
	}
}

// TestASilentTable: one of two tables has no samples any more. No page calls it calm, and the
// other one's samples are late.
func TestASilentTable(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.Context(), "sqlite::memory:", store.Options{})
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	must(t, s.StartWriter(t.Context(), store.Writer{ID: "collector-9", Host: "host-9", Started: time.Now()}))
	now := time.Now().UTC().Truncate(time.Minute)
	last := now.Add(-30 * time.Minute)
	l, _, err := s.AcquireLease(t.Context(), "judge", "test", time.Minute)
	must(t, err)
	j := store.Judgement{Seen: []store.SeenMinute{{Minute: now.Add(-time.Minute), Seconds: 1<<60 - 1}}}
	for name, at := range map[string]time.Time{"orders": last, "carts": now.Add(-10 * time.Second)} {
		table := detect.Table{Target: detect.Target{Table: name}, LateSeconds: new(int64(0)), View: &detect.View{From: at.Add(-time.Hour), To: at}}
		table.Walk, table.RefusedKeys = &detect.Walk{From: at.Add(-time.Minute), Through: at}, []detect.RefusedKey{{Key: "user#1"}}
		if name == "carts" {
			table.LateSeconds = new(int64(45))
		}
		document, err := json.Marshal(table)
		must(t, err)
		j.Views = append(j.Views, store.TargetDocument{Target: table.Target, Document: document})
		w := sketch.Window{Target: table.Target, Second: at.Unix()}
		body, err := w.MarshalBinary()
		must(t, err)
		j.Windows = append(j.Windows, store.Window{Target: table.Target, Second: at, Requests: 1, Body: body})
	}
	must(t, s.Judge(t.Context(), l, j))
	address := serve(t, s)
	since := "No samples since " + last.Format("15:04")
	for path, want := range map[string]string{
		"/": "1 without samples now", "/tables": since, "/table?table=orders": since, "/table?table=carts": "Samples arrive 45 s late",
	} {
		if text := open(t, address+path).text(); !strings.Contains(text, want) {
			t.Errorf("%s does not say %q: %s", path, want, text)
		}
	}
	if text := open(t, address+"/table?table=carts").text(); strings.Contains(text, "No samples") {
		t.Errorf("a table with samples is called silent: %s", text)
	}
	var answer struct {
		Tables []struct {
			Table       string    `json:"table"`
			LastSample  time.Time `json:"last_sample"`
			LateSeconds int64     `json:"late_seconds"`
			Walk        *struct{} `json:"walk"`
			RefusedKeys []any     `json:"refused_keys"`
		} `json:"tables"`
	}
	body, _ := get(t, address+"/api/v1/tables", http.StatusOK)
	must(t, json.Unmarshal([]byte(body), &answer))
	if len(answer.Tables) != 2 || answer.Tables[0].LateSeconds != 45 || !answer.Tables[1].LastSample.Equal(last) {
		t.Errorf("the API says %+v", answer)
	}
	for i, want := range []int{1, 0} { // what was said of the present half an hour ago is gone
		if got := answer.Tables[i]; len(got.RefusedKeys) != want || (got.Walk != nil) != (want == 1) {
			t.Errorf("the API says %+v", got)
		}
	}
}
