package web_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
	"github.com/keyheat/keyheat/internal/web/overview"
	"github.com/keyheat/keyheat/rollup"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// many is a store with so many incidents of one finding each, in every state.
func many(t *testing.T, n int) *store.Store {
	t.Helper()
	return holding(t, manyFindings(n))
}

func manyFindings(n int) (found []detect.Finding) {
	for i := range n {
		f := detect.NewFinding(detect.KeyWrites, detect.Target{Table: fmt.Sprintf("table-%d", i%3)}, sample.KeyString(fmt.Sprintf("key-%03d", i)))
		f.Severity = []detect.Severity{detect.Critical, detect.Warning}[i%2]
		f.State = []detect.State{detect.Resolved, detect.Firing, detect.Pending, detect.Firing}[i%4]
		f.Utilization, f.FirstSeen, f.LastSeen = float64(i%7), time.Now().Add(-time.Minute), time.Now()
		found = append(found, f)
	}
	return found
}

// holding is a store with these findings.
func holding(t *testing.T, found []detect.Finding) *store.Store {
	t.Helper()
	return holdingAt(t, "sqlite::memory:", found)
}

func holdingAt(t *testing.T, url string, found []detect.Finding) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), url, store.Options{Migrate: true})
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	j := store.Judgement{Incidents: stored(t, found)}
	for i := range found {
		f := &found[i]
		document, err := json.Marshal(f)
		must(t, err)
		j.Findings = append(j.Findings, store.Finding{
			Fingerprint: f.Fingerprint, Case: string(f.Case), Subject: string(f.Subject), Target: f.Target, Key: f.Key, Severity: string(f.Severity), State: string(f.State),
			Utilization: f.Utilization, FirstSeen: f.FirstSeen, LastSeen: f.LastSeen, Document: document,
		})
	}
	l, ok, err := s.AcquireLease(t.Context(), "judge", "test", time.Minute)
	if err != nil || !ok {
		t.Fatalf("lease: %t, %v", ok, err)
	}
	must(t, s.Judge(t.Context(), l, j))
	return s
}

// TestALoadIsOnlyThatOfAPartitionWhereItIs: all shards together are held to no
// partition's limit, samples of a steady key do not tell its highest second, and a table
// as a whole has many partitions.
func TestALoadIsOnlyThatOfAPartitionWhereItIs(t *testing.T) {
	t.Parallel()
	finding := func(k any, key string, peak, mean detect.Figure, utilization float64) detect.Finding {
		f := scenario.NewFinding(k, detect.Target{Table: "orders-" + fmt.Sprint(k)}, sample.KeyString(key))
		f.Severity, f.State, f.Utilization = detect.Critical, detect.Firing, utilization
		f.Peak.WCU, f.Mean.WCU, f.Peak.At = peak, mean, time.Now()
		f.FirstSeen, f.LastSeen = time.Now().Add(-time.Minute), time.Now()
		return f
	}
	exactly := func(v float64) detect.Figure { return detect.Figure{Value: v, Low: v, High: v} }
	sharded := finding(casebook.UnevenShards, "total#*", exactly(3100), exactly(3000), 1.55)
	sharded.Sharding = &detect.Sharded{Base: "total", Shards: 8, Needed: 5, Hottest: "total#5"}
	steady := finding(detect.KeyWrites, "tenant#big", detect.Figure{Value: 2400, Low: 1785, High: 3300}, detect.Figure{Value: 1800, Low: 1770, High: 1830}, 2.4)
	steady.Quality.Sampling = detect.SamplingByCall
	table := finding(detect.SubjectTable, "", exactly(2720), exactly(2720), 2.72)
	found := []detect.Finding{sharded, steady, table}
	address := serve(t, holding(t, found))
	list := open(t, address+"/").text()
	for i, never := range [][]string{nil, {"2,400", "240%"}, {"272%"}} {
		p := open(t, address+"/findings/"+found[i].Fingerprint)
		if want := wording.LoadOfLimit(&found[i]); !strings.Contains(list, want) {
			t.Errorf("the list does not say %q:\n%s", want, list)
		}
		for _, l := range say.Figures(&found[i]) {
			if !strings.Contains(p.text(), l.Name+" "+l.Text) {
				t.Errorf("the page does not say %q:\n%s", l.Text, p.text())
			}
		}
		for _, text := range never {
			if strings.Contains(p.text(), text) || strings.Contains(list, text) {
				t.Errorf("a page says %q", text)
			}
		}
	}
	if n := len(open(t, address+"/").all("svg", "trend")); n != 2 {
		t.Errorf("%d rows have a picture, want the two that are about one partition", n)
	}
}

// TestPagesOfIncidents follows the links through all pages, in each order: each incident
// stands on one of them, those that fire before those that are over.
func TestPagesOfIncidents(t *testing.T) {
	t.Parallel()
	address := serve(t, many(t, 90))
	for _, query := range []string{"", "?sort=newest", "?sort=table", "?sort=key", "?q=key&severity=critical"} {
		seen, states := make(map[string]bool), []string{}
		for next := "/" + query; next != ""; {
			p := open(t, address+next)
			for _, h := range p.all("h2", "") {
				if id := h.attr("id"); len(states) == 0 || states[len(states)-1] != id {
					states = append(states, id)
				}
			}
			for _, tr := range p.all("tr", "") {
				id := tr.attr("id")
				if id != "" && seen[id] {
					t.Errorf("%q lists %s twice", query, id)
				}
				if id != "" {
					seen[id] = true
				}
			}
			next = ""
			for _, a := range p.all("a", "") {
				if a.attr("rel") == "next" {
					next = a.attr("href")
				}
			}
		}
		want := 90
		if strings.Contains(query, "critical") {
			want = 45
		}
		if order := strings.Join(states, " "); len(seen) != want || !strings.HasPrefix("firing pending resolved", order) && order != "pending resolved" {
			t.Errorf("%q has %d incidents, want %d, as %s", query, len(seen), want, order)
		}
	}
}

// TestTimeOfIncidents: a time chooses the incidents that were open in it.
func TestTimeOfIncidents(t *testing.T) {
	t.Parallel()
	s, _ := filled(t) // hot for ten seconds, two minutes ago
	address := serve(t, s)
	at := func(ago time.Duration) string { return time.Now().Add(-ago).UTC().Format(time.RFC3339) }
	for query, want := range map[string]bool{
		"?span=1h": true, "?from=" + at(time.Hour) + "&to=now": true, "?from=" + at(30*time.Second) + "&to=now": false, "?span=1h&to=" + at(10*time.Minute): false,
	} {
		text := open(t, address+"/"+query).text()
		if strings.Contains(text, "warm key") != want || strings.Contains(text, "No incidents match these filters") == want {
			t.Errorf("%s lists the incident: want %t: %s", query, want, text)
		}
	}
	get(t, address+"/?span=long", http.StatusBadRequest)
}

// TestOldSecondsAreNotNow: seconds that are two minutes old are told with their time.
func TestOldSecondsAreNotNow(t *testing.T) {
	t.Parallel()
	s, _ := filled(t) // hot for ten seconds, two minutes ago
	q, err := overview.ParseQuery(nil)
	must(t, err)
	p, err := overview.Load(t.Context(), s, q)
	must(t, err)
	last, err := s.LastWindows(t.Context(), []sample.Target{{Table: "orders"}})
	must(t, err)
	if at := p.Now.AsOf; at.IsZero() || !at.Equal(last[0]) {
		t.Fatalf("the sentence is of %s, want %s", at, last[0])
	}
	if text, at := open(t, serve(t, s)+"/").text(), last[0].UTC().Format("15:04:05 UTC"); !strings.Contains(text, at) || strings.Contains(text, "the limit now") {
		t.Errorf("the page calls %s now: %s", at, text)
	}
}

// TestQueriesOfAPage: a page of twenty incidents of three tables takes as many queries as one
// of two.
func TestQueriesOfAPage(t *testing.T) {
	t.Parallel()
	queries := func(incidents int) int64 {
		q, err := overview.ParseQuery(nil)
		must(t, err)
		turns, through := pgtest.Turns(t, pgtest.Database(t))
		s := holdingAt(t, through, manyFindings(incidents))
		_, err = overview.Load(t.Context(), s, q) // the statements are known to the connection by now
		must(t, err)
		before := turns.Load()
		p, err := overview.Load(t.Context(), s, q)
		must(t, err)
		rows := 0
		for _, section := range p.Sections {
			rows += len(section.Rows)
		}
		if want := min(incidents, overview.PageSize); rows != want {
			t.Errorf("of %d incidents %d are listed, want %d", incidents, rows, want)
		}
		return turns.Load() - before
	}
	if few, twenty := queries(2), queries(90); few != twenty || few == 0 {
		t.Errorf("2 incidents take %d round trips, 20 take %d", few, twenty)
	}
}

// TestARowHasItsLoad: the picture of a row is of the row's own key, on its side of the limit,
// though another key of the table is hotter; a table as a whole has none.
func TestARowHasItsLoad(t *testing.T) {
	t.Parallel()
	finding := func(k any, key string) detect.Finding {
		f := scenario.NewFinding(k, detect.Target{Table: "orders"}, sample.KeyString(key))
		f.Severity, f.State, f.FirstSeen, f.LastSeen = detect.Critical, detect.Firing, time.Now().Add(-time.Minute), time.Now()
		return f
	}
	s := holding(t, []detect.Finding{finding(detect.KeyWrites, "a"), finding(detect.KeyReads, "b")})
	rollUp(t, s) // 150% of writes on a, 70% on b
	p := open(t, serve(t, s)+"/")
	var labels []string
	for _, svg := range p.all("svg", "trend") {
		label, _, _ := strings.Cut(svg.attr("aria-label"), ", highest")
		labels = append(labels, label)
	}
	slices.Sort(labels)
	if got := strings.Join(labels, "; "); got != "Last 15 minutes: no load seen near the limit; 15 min not counted; Last 15 minutes: over the limit" {
		t.Errorf("the pictures say %s", got)
	}
}

// TestCalmIsProven: when no key is near a limit, the page says what is watched, how much of
// it is seen and how late, and which key is the nearest. Nothing of it where nobody counts.
func TestCalmIsProven(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.Context(), "sqlite::memory:", store.Options{})
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	end := time.Now().Truncate(10 * time.Second)
	j := store.Judgement{}
	for table, wcu := range map[string]int64{"orders": 340, "carts": 20, "idle": 0} {
		target := sample.Target{Table: table}
		document, err := json.Marshal(detect.Table{Target: target})
		must(t, err)
		j.Views = append(j.Views, store.TargetDocument{Target: target, Document: document})
		if wcu == 0 {
			continue
		}
		body, err := rollup.OfSecond(&sketch.Window{Target: target, Keys: []sketch.KeyLoad{{Hash: 1, Key: sample.KeyString(table + "#1"), Low: sketch.Load{Write: sample.Milli(1000 * wcu)}}}}, true).MarshalBinary()
		must(t, err)
		j.Rollups = append(j.Rollups, store.Rollup{Target: target, Level: int64(rollup.TenSeconds), Begins: end.Add(-10 * time.Second), Body: body})
		j.Windows = append(j.Windows, store.Window{Target: target, Second: end.Add(-5 * time.Second), Requests: 3000, ThrottledRequests: 600})
	}
	l, ok, err := s.AcquireLease(t.Context(), "judge", "test", time.Minute)
	if err != nil || !ok {
		t.Fatalf("lease: %t, %v", ok, err)
	}
	must(t, s.Judge(t.Context(), l, j))
	must(t, s.StartWriter(t.Context(), store.Writer{ID: "a", Started: time.Now()}))
	address := serve(t, s)
	calm := open(t, address+"/")
	if len(calm.all("nav", "filters")) == 0 {
		t.Error("the calm page has no time control")
	}
	text := calm.text()
	for _, want := range []string{"No key is near the limit of a partition.", "Watched 3 tables", "Requests seen, last 5 min 24/s", "s ago", "34% orders#1 of one partition's write limit, in orders"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q: %s", want, text)
		}
	}
	must(t, s.ReportWriter(t.Context(), "a", store.WriterStatus{LowerBounds: []string{"orders"}}))
	if text := open(t, address+"/").text(); !strings.Contains(text, "No key is seen near the limit of a partition, but some loads are lower bounds.") {
		t.Errorf("with lower bounds the page has: %s", text)
	}
	must(t, s.StopWriter(t.Context(), "a"))
	if text := open(t, address+"/").text(); strings.Contains(text, "Watched") {
		t.Errorf("without a collector the page is calm: %s", text)
	}
}

// TestFirstLoad holds all that a browser loads for a page of twenty hot keys to 60 KB.
func TestFirstLoad(t *testing.T) {
	t.Parallel()
	address := serve(t, many(t, 90))
	sum := 0
	for _, path := range []string{"/", "/static/style.css", "/static/live.js", "/static/icon.svg"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+path, nil)
		must(t, err)
		r.Header.Set("Accept-Encoding", "gzip")
		answer, err := http.DefaultTransport.RoundTrip(r)
		must(t, err)
		body, err := io.ReadAll(answer.Body)
		must(t, err)
		must(t, answer.Body.Close())
		t.Logf("%s has %d bytes", path, len(body))
		sum += len(body)
	}
	if sum > 60_000 {
		t.Errorf("the first load has %d bytes, want 60,000 at most", sum)
	}
}

// TestThePageIsCompressed where the client takes it.
func TestThePageIsCompressed(t *testing.T) {
	t.Parallel()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, serve(t, many(t, 30))+"/", nil)
	must(t, err)
	r.Header.Set("Accept-Encoding", "gzip")
	answer, err := http.DefaultTransport.RoundTrip(r)
	must(t, err)
	defer answer.Body.Close()
	if got := answer.Header.Get("Content-Encoding"); got != "gzip" {
		t.Errorf("the page's encoding is %q", got)
	}
	if vary := strings.Join(answer.Header.Values("Vary"), " "); !strings.Contains(vary, "Accept-Encoding") || !strings.Contains(vary, "Accept") {
		t.Errorf("the page varies by %q", vary)
	}
}
