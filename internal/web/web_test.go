package web_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/judge/fold"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
	"github.com/keyheat/keyheat/internal/web"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// tablePath is the page of the table with all of it.
const tablePath = "/table?table=orders&index="

// hostile is a key that would break a page that trusted it.
const hostile = `<script>alert("x")</script>`

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// filled is a store with what a judge leaves of three keys: one hot key (writes),
// one warm, one hot key (reads) on an index. It returns their findings too.
func filled(t *testing.T) (*store.Store, []detect.Finding) {
	t.Helper()
	return filledAt(t, sample.Target{})
}

// filledAt is the same in each of these accounts and Regions.
func filledAt(t *testing.T, owners ...sample.Target) (*store.Store, []detect.Finding) {
	t.Helper()
	s, err := store.Open(t.Context(), "sqlite::memory:", store.Options{})
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	start := time.Now().Add(-2 * time.Minute).Truncate(time.Minute)
	shard, board := sketch.NewShard(sketch.Config{}), board.New(board.Options{})
	views := fold.NewViewsOfAll(func(detect.Target) detect.Policy { return detect.DefaultPolicy() })
	for i := range 10 {
		at := start.Add(time.Duration(i) * time.Second).UnixMilli()
		for _, r := range []sample.Record{
			{Table: "orders", PK: sample.KeyString(hostile), Op: sample.UpdateItem, WCU: 2_600_000, Caller: "<i>job</i>", Calls: 1, Attempts: 4, Waited: 500},
			{Table: "orders", PK: sample.KeyString("warm key"), Op: sample.UpdateItem, WCU: 900_000},
			{Table: "orders", Index: "by-status", PK: sample.KeyString("OPEN"), Op: sample.Query, RCU: 4_600_000},
		} {
			r.Time, r.Rate, r.N = at, 1, 1
			for _, owner := range owners {
				r.Account, r.Region = owner.Account, owner.Region
				must(t, shard.Add(&r))
			}
		}
	}
	d := sketch.NewDelta(sketch.Config{})
	shard.Seal(d)
	var j store.Judgement
	for i := range d.Windows {
		w := &d.Windows[i]
		board.Observe(w)
		views.Observe(fold.Instant{Target: w.Target, Second: w.Second}, &fold.OpenWindow{Window: *w}, time.Unix(w.Second+1, 0))
		body, err := w.MarshalBinary()
		must(t, err)
		j.Windows = append(j.Windows, store.Window{
			Target: w.Target, Second: time.Unix(w.Second, 0), Complete: i%2 == 0, Body: body,
			Requests: w.Total.Requests, WriteMilli: int64(w.Total.Write), ReadMilli: int64(w.Total.Read),
		})
	}
	for _, table := range views.Tables() {
		table.RefusedKeys, table.Provable = board.RefusedKeys(table.Target), board.Provable(table.Target)
		if table.Index == "" {
			table.Walk = &detect.Walk{From: start, Through: start.Add(time.Minute), Share: 0.6}
		}
		document, err := json.Marshal(table)
		must(t, err)
		j.Views = append(j.Views, store.TargetDocument{Target: table.Target, Document: document})
	}
	found := board.Findings()
	for _, f := range found {
		document, err := json.Marshal(f)
		must(t, err)
		j.Findings = append(j.Findings, store.Finding{
			Fingerprint: f.Fingerprint, Case: string(f.Case), Subject: string(f.Subject), Target: f.Target, Key: f.Key,
			Severity: string(f.Severity), State: string(f.State), Utilization: f.Utilization,
			FirstSeen: f.FirstSeen, LastSeen: f.LastSeen, Document: document,
		})
		j.Transitions = append(j.Transitions, store.Transition{Of: f.Fingerprint, At: f.FirstSeen, To: "firing", Severity: string(f.Severity), Note: string(detect.NoteTooOld)})
	}
	j.Incidents = stored(t, found)
	l, ok, err := s.AcquireLease(t.Context(), "judge", "test", time.Minute)
	if err != nil || !ok {
		t.Fatalf("lease: %t, %v", ok, err)
	}
	must(t, s.Judge(t.Context(), l, j))
	if want := 3 * len(owners); len(found) != want {
		t.Fatalf("%d findings, want %d", len(found), want)
	}
	return s, found
}

// stored are the incidents of findings, as a judge writes them.
func stored(t *testing.T, found []detect.Finding) (all []store.Incident) {
	t.Helper()
	for _, i := range casebook.Incidents(found) {
		document, err := json.Marshal(i)
		must(t, err)
		all = append(all, store.Incident{
			ID: i.ID, Case: string(i.Case), Subject: string(i.Subject), Target: i.Target, Severity: string(i.Severity), State: string(i.State),
			OpenedAt: i.OpenedAt, LastSeen: i.LastSeen, Root: i.Root, Findings: i.Findings, Document: document,
		})
	}
	return all
}

func serve(t *testing.T, s *store.Store) string {
	t.Helper()
	return serveWith(t, s, web.Options{})
}

func serveWith(t *testing.T, s *store.Store, o web.Options) string {
	t.Helper()
	site, err := web.New(s, slog.New(slog.DiscardHandler), o)
	must(t, err)
	server := httptest.NewServer(site)
	t.Cleanup(server.Close)
	return server.URL
}

func get(t *testing.T, url string, want int) (string, http.Header) {
	t.Helper()
	r, err := http.Get(url)
	must(t, err)
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	must(t, err)
	if r.StatusCode != want {
		t.Fatalf("%s returns %s, want %d: %s", url, r.Status, want, body)
	}
	return string(body), r.Header
}

// page is a parsed page.
type page struct{ *html.Node }

func open(t *testing.T, url string) page {
	t.Helper()
	text, _ := get(t, url, http.StatusOK)
	n, err := html.Parse(strings.NewReader(text))
	must(t, err)
	return page{n}
}

// all are the elements of a name, with a class if one is given.
func (p page) all(name, class string) []page {
	var found []page
	for n := range p.Descendants() {
		e := page{n}
		if n.Type == html.ElementNode && n.Data == name && (class == "" || slices.Contains(strings.Fields(e.attr("class")), class)) {
			found = append(found, e)
		}
	}
	return found
}

func (p page) attr(name string) string {
	for _, a := range p.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func (p page) text() string {
	var b strings.Builder
	for n := range p.Descendants() {
		if n.Type == html.TextNode {
			b.WriteString(n.Data + " ")
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// html is the page as text.
func (p page) html(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	must(t, html.Render(&b, p.Node))
	return b.String()
}

// scripts are those that are no files of the site.
func (p page) scripts() []page {
	return slices.DeleteFunc(p.all("script", ""), func(e page) bool { return strings.HasPrefix(e.attr("src"), "/static/") && e.FirstChild == nil })
}

// TestIncidentsAreListedByStateAndSeverity holds that what is critical stands before what
// is hotter, and that the findings of one incident are folded into its row.
func TestIncidentsAreListedByStateAndSeverity(t *testing.T) {
	t.Parallel()
	s, found := filled(t)
	p := open(t, serve(t, s)+"/")
	rows := p.all("tbody", "")[0].all("tr", "")
	if len(rows) != 2 {
		t.Fatalf("%d rows, want 2", len(rows))
	}
	for i, want := range []string{
		hostile + " critical orders · hot key (writes) 1 more of this incident warm key key near the limit (writes), 90% of the limit " + found[0].FirstSeen.UTC().Format("15:04:05") + " 10 s over limit " + say.NewRow(&found[0]).Harm + " “<i>job</i>” ≥72% ",
		"OPEN critical orders / by-status · hot key (reads) " + found[1].FirstSeen.UTC().Format("15:04:05") + " 10 s over limit " + say.NewRow(&found[1]).Harm + " not known ",
	} {
		if got := rows[i].text(); !strings.HasPrefix(got, want) {
			t.Errorf("row %d is\n%s, want\n%s", i, got, want)
		}
		if link := rows[i].all("a", "key")[0].attr("href"); link != "/findings/"+found[i].Fingerprint {
			t.Errorf("row %d leads to %s", i, link)
		}
		if peak := "peak " + wording.LoadOfLimit(&found[i]); !strings.Contains(rows[i].text(), peak) {
			t.Errorf("row %d does not say %q: %s", i, peak, rows[i].text())
		}
		if label := rows[i].all("svg", "trend")[0].attr("aria-label"); !strings.HasPrefix(label, "Last 15 minutes: ") {
			t.Errorf("row %d's picture says %q", i, label)
		}
	}
}

func TestAFindingHasItsOwnPage(t *testing.T) {
	t.Parallel()
	s, found := filled(t)
	p := open(t, serve(t, s)+"/findings/"+found[0].Fingerprint)
	if served := p.all("path", "consumed"); len(served) != 1 || strings.Count(served[0].attr("d"), "M") != 10 {
		t.Errorf("the chart has %v, want the consumed load of ten seconds", served)
	}
	if line := p.all("path", "line"); len(line) != 1 || strings.Count(line[0].attr("d"), "h1") != 10 {
		t.Errorf("the chart has %d lines, want one through ten seconds", len(line))
	}
	if p.all("line", "limit") == nil {
		t.Error("the chart has no limit line")
	}
	text := p.text()
	for _, want := range []string{hostile, say.Imperative(&found[0], &found[0].Advice[0]), say.Note(&store.Transition{Note: string(detect.NoteTooOld)}), found[0].Fingerprint, "10 of them certainly above the limit of 1,000", say.LeavesOfLimit(&found[0].Advice[0]), say.Takes(&found[0].Advice[0]), say.ShardNames(found[0].Advice[0].Names)} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not on the page", want)
		}
	}
	for _, l := range slices.Concat(say.Details(&found[0]), say.Requests(&found[0]), say.Figures(&found[0]), say.StepFacts(&found[0], &found[0].Advice[0])) {
		if !strings.Contains(text, l.Text) {
			t.Errorf("%q is not on the page", l.Text)
		}
	}
	for _, want := range []string{"heapq", "shardkey.New(4, form)", `const BASE = "<script>alert(\"x\")</script>"`} {
		if !strings.Contains(strings.ReplaceAll(text, `\u0022`, `\"`), want) {
			t.Errorf("%q is not on the page", want)
		}
	}
}

func TestFilters(t *testing.T) {
	t.Parallel()
	s, _ := filled(t)
	address := serve(t, s)
	for query, want := range map[string]int{
		"": 2, "?severity=warning": 0, "?severity=critical&state=firing": 2, "?state=resolved": 0, "?table=orders": 2,
		"?q=WARM": 1, "?q=%3Cscript": 1, "?q=orders": 2, "?q=absent": 0, "?q=open&sort=newest": 1,
	} {
		if got := len(open(t, address+"/"+query).all("td", "harm")); got != want {
			t.Errorf("the page with %q has %d incidents, want %d", query, got, want)
		}
	}
	for query, want := range map[string]int{
		"": 3, "?severity=warning": 1, "?severity=critical&state=firing": 2, "?state=resolved": 0,
		"?table=orders": 3, "?subject=key_reads": 1, "?limit=2": 2,
	} {
		var answer struct{ Findings []detect.Finding }
		text, _ := get(t, address+"/api/v1/findings"+query, http.StatusOK)
		must(t, json.Unmarshal([]byte(text), &answer))
		if len(answer.Findings) != want {
			t.Errorf("the API with %q has %d findings, want %d", query, len(answer.Findings), want)
		}
		if !strings.Contains(text, `"findings":[`) {
			t.Errorf("findings is no list: %s", text)
		}
	}
	for _, query := range []string{"sort=hot", "after=%21", "after=aGk", "severity=hot", "q=" + strings.Repeat("a", 3000)} {
		get(t, address+"/?"+query, http.StatusBadRequest)
	}
	for query, want := range map[string]string{
		"state=hot": `state "hot": give one of pending, firing, resolved`,
		"severity=": "", "limit=0": "from 1 to 1000",
	} {
		if want == "" {
			continue
		}
		text, _ := get(t, address+"/api/v1/findings?"+query, http.StatusBadRequest)
		var answer map[string]string
		must(t, json.Unmarshal([]byte(text), &answer))
		if !strings.Contains(answer["error"], want) {
			t.Errorf("%s answers %q", query, answer["error"])
		}
		if strings.HasPrefix(query, "state") {
			get(t, address+"/?"+query, http.StatusBadRequest)
		}
	}
}

func TestTheAPIAnswersWhatIsStored(t *testing.T) {
	t.Parallel()
	s, found := filled(t)
	address := serve(t, s)
	text, header := get(t, address+"/api/v1/findings/"+found[0].Fingerprint, http.StatusOK)
	var one struct {
		Finding detect.Finding
		History []map[string]string
	}
	must(t, json.Unmarshal([]byte(text), &one))
	if one.Finding.Key != hostile || len(one.History) != 1 || one.History[0]["to"] != "firing" {
		t.Errorf("finding %+v", one)
	}
	if got := header.Get("Content-Type"); got != "application/json; charset=utf-8" {
		t.Errorf("content type %q", got)
	}
	get(t, address+"/api/v1/findings/absent", http.StatusNotFound)
	get(t, address+"/findings/absent", http.StatusNotFound)
	text, _ = get(t, address+"/api/v1/tables", http.StatusOK)
	var all struct {
		Tables []struct {
			Table, Index string
			Requests     int64
			WCU          float64
			Distinct     int64 `json:"distinct_keys"`
		}
		Gaps []any
	}
	must(t, json.Unmarshal([]byte(text), &all))
	if len(all.Tables) != 2 || all.Tables[0].Requests != 20 || all.Tables[0].WCU != 35_000 || all.Tables[0].Distinct != 2 || all.Gaps == nil {
		t.Errorf("tables %+v", all)
	}
}

func TestTheAPIReturnsIncidents(t *testing.T) {
	t.Parallel()
	s, found := filled(t)
	address := serve(t, s)
	var all struct{ Incidents []detect.Incident }
	text, _ := get(t, address+"/api/v1/incidents", http.StatusOK)
	must(t, json.Unmarshal([]byte(text), &all))
	if want := len(casebook.Incidents(found)); len(all.Incidents) != want {
		t.Fatalf("%d incidents, want %d of %d findings", len(all.Incidents), want, len(found))
	}
	for _, i := range all.Incidents {
		if !slices.ContainsFunc(found, func(f detect.Finding) bool {
			return f.Fingerprint == i.Root && f.Incident == i.ID && f.Target == i.Target
		}) {
			t.Errorf("the incident %+v is no finding's", i)
		}
	}
	text, _ = get(t, address+"/api/v1/incidents?subject=table", http.StatusOK)
	must(t, json.Unmarshal([]byte(text), &all))
	if len(all.Incidents) != 0 {
		t.Errorf("incidents of another cause: %+v", all.Incidents)
	}
	for query, want := range map[string]string{
		"incidents?state=wrong": "give one of pending", "incidents?case=hot-key": `there is no case \"hot-key\": did you mean \"hot_key\"?`,
		"findings?kind=hot_key_write": "kind does not exist any more: write case or subject", "incidents?cause=hot_key": "cause does not exist any more: write case or subject",
		"findings?subject=key_write": `there is no subject \"key_write\": did you mean \"key_writes\"?`,
	} {
		if text, _ := get(t, address+"/api/v1/"+query, http.StatusBadRequest); !strings.Contains(text, want) {
			t.Errorf("%s says %s, want %s", query, text, want)
		}
	}
}

// TestMisspeltNames: on each page and in the API a table, index, account or Region that no
// sample had is an error with the nearest name. An empty list of it would look calm.
func TestMisspeltNames(t *testing.T) {
	t.Parallel()
	s, _ := filledAt(t, sample.Target{Account: "123456789012", Region: "eu-west-1"})
	site, err := web.New(s, slog.New(slog.DiscardHandler), web.Options{})
	must(t, err)
	address, checked := serve(t, s), 0
	for _, pattern := range site.Routes() {
		path, read := strings.CutPrefix(strings.Replace(pattern, "{$}", "", 1), "GET ")
		if !read || strings.Contains(path, "{") {
			continue // a path with a wildcard names one thing, and takes no table
		}
		checked++
		for query, want := range map[string]string{
			"table=oders": `o sample has the table "oders": did you mean "orders"?`, "table=orders&index=by-state": `o sample of orders has the index "by-state": did you mean "by-status"?`,
			"table=orders&index=by-status&account=123456789013": `o sample of orders with index by-status has the account "123456789013": did you mean "123456789012"?`,
			"region=eu-west-2": `o sample has the region "eu-west-2": did you mean "eu-west-1"?`, "table=nobody": `o sample has the table "nobody"; known are orders`,
		} {
			text, _ := get(t, address+path+"?"+query, http.StatusBadRequest)
			if text = strings.ReplaceAll(html.UnescapeString(text), `\"`, `"`); !strings.Contains(text, want) || strings.Contains(text, "?.") {
				t.Errorf("%s?%s says %s, want %s", path, query, text, want)
			}
		}
	}
	if checked < 18 {
		t.Errorf("%d paths were checked", checked)
	}
}

// TestOneNumber reads a finding, its page, the table's page and the API at one moment: each
// shows the same refused share of the same time, the same share of the load, and the same
// verdict on the key design.
func TestOneNumber(t *testing.T) {
	t.Parallel()
	s, found := filled(t)
	address := serve(t, s)
	f := found[slices.IndexFunc(found, func(f detect.Finding) bool { return f.Index == "" && f.Severity == detect.Critical })]
	f.Throttling = &detect.Throttling{From: f.FirstSeen, To: f.LastSeen, Units: 8320, Share: 0.32}
	document, err := json.Marshal(f)
	must(t, err)
	l, ok, err := s.AcquireLease(t.Context(), "judge", "test", time.Minute)
	if err != nil || !ok {
		t.Fatalf("lease: %t, %v", ok, err)
	}
	must(t, s.Judge(t.Context(), l, store.Judgement{Findings: []store.Finding{{
		Fingerprint: f.Fingerprint, Case: string(f.Case), Subject: string(f.Subject), Target: f.Target, Key: f.Key, Severity: string(f.Severity), State: string(f.State),
		Utilization: f.Utilization, FirstSeen: f.FirstSeen, LastSeen: f.LastSeen, Document: document,
	}}}))

	var one struct{ Finding detect.Finding }
	text, _ := get(t, address+"/api/v1/findings/"+f.Fingerprint, http.StatusOK)
	must(t, json.Unmarshal([]byte(text), &one))
	if got := one.Finding.Throttling; got == nil || got.Share != 0.32 || !got.From.Equal(f.FirstSeen) || !got.To.Equal(f.LastSeen) || one.Finding.Share != f.Share {
		t.Errorf("the API has the throttling %+v and the share %v", got, one.Finding.Share)
	}
	if harm := say.New(&f).Harm; !strings.Contains(one.Finding.Text, harm) || !strings.HasPrefix(harm, "32% of ") {
		t.Errorf("the API says %q, not %q", one.Finding.Text, harm)
	}
	page, table, tables := open(t, address+"/findings/"+f.Fingerprint).text(), open(t, address+"/table?table="+f.Table).text(), open(t, address+"/tables").text()
	refused := say.NewRow(&f).Harm
	share := say.Figures(&f)[slices.IndexFunc(say.Figures(&f), func(l say.Line) bool { return l.Name == "share" })].Text
	for name, shown := range map[string]struct{ page, want string }{
		"refused on its page":  {page, refused},
		"refused on the table": {table, say.New(&f).Harm},
		"share on its page":    {page, share},
	} {
		if !strings.Contains(shown.page, shown.want) {
			t.Errorf("%s: no %q in %s", name, shown.want, shown.page)
		}
	}
	var all struct {
		Tables []struct {
			Index string
			View  detect.View
		}
	}
	text, _ = get(t, address+"/api/v1/tables", http.StatusOK)
	must(t, json.Unmarshal([]byte(text), &all))
	verdict := string(all.Tables[slices.IndexFunc(all.Tables, func(t struct {
		Index string
		View  detect.View
	}) bool {
		return t.Index == ""
	})].View.Design.Verdict)
	if !strings.Contains(table, "Key design "+verdict) || !strings.Contains(tables, "key design "+verdict) {
		t.Errorf("the API has the verdict %q, the pages %q and %q", verdict, table, tables)
	}
}

// TestTheAPIReturnsCollectors: what a collector does not report of itself is null,
// and never zero.
func TestTheAPIReturnsCollectors(t *testing.T) {
	t.Parallel()
	s, _ := filled(t)
	address := serve(t, s)
	must(t, s.StartWriter(t.Context(), store.Writer{ID: "silent", Host: "host-1", Started: time.Now().Add(-time.Minute)}))
	must(t, s.StartWriter(t.Context(), store.Writer{ID: "open", Host: "host-2", Started: time.Now()}))
	lag, share := int64(0), 0.25
	must(t, s.ReportWriter(t.Context(), "open", store.WriterStatus{Version: "v1", State: "failing", Reason: "no brokers", Lag: &lag, BadShare: &share}))
	claim, err := s.Claim(t.Context(), "open", store.Claim{PartitionID: store.PartitionID{Source: "kafka", Name: "samples/0"}, First: "0"})
	must(t, err)
	must(t, s.Commit(t.Context(), store.Commit{Writer: "open", Seq: 1, Watermarks: []store.Watermark{{PartitionID: claim.PartitionID, Epoch: claim.Epoch, Time: time.Now()}}}))
	text, _ := get(t, address+"/api/v1/collectors", http.StatusOK)
	var all struct {
		Collectors []map[string]any `json:"collectors"`
	}
	must(t, json.Unmarshal([]byte(text), &all))
	at := func(id string) map[string]any {
		for _, c := range all.Collectors {
			if c["id"] == id {
				return c
			}
		}
		t.Fatalf("no collector %s in %s", id, text)
		return nil
	}
	silent, open := at("silent"), at("open")
	for _, field := range []string{"clock_offset", "lag", "refused_tables", "bad_share"} {
		if value, there := silent[field]; !there || value != nil {
			t.Errorf("a silent collector's %s is %v, want null", field, value)
		}
	}
	if open["lag"] != 0.0 || open["bad_share"] != 0.25 || open["state"] != "failing" || open["version"] != "v1" || open["reason"] != "no brokers" {
		t.Errorf("the reporting collector is %v", open)
	}
	if sources, _ := open["sources"].([]any); len(sources) != 1 || sources[0] != "kafka" {
		t.Errorf("it reads %v", open["sources"])
	}
	must(t, s.StopWriter(t.Context(), "open"))
	text, _ = get(t, address+"/api/v1/collectors", http.StatusOK)
	must(t, json.Unmarshal([]byte(text), &all))
	if state := at("open")["state"]; state != "stopped" {
		t.Errorf("once stopped it is %v", state)
	}
}

// TestTablesOfOneNameStandApart has the same table in two Regions, in another account,
// and where nothing tells: every view and filter tells them apart.
func TestTablesOfOneNameStandApart(t *testing.T) {
	t.Parallel()
	owners := []sample.Target{
		{}, {Account: "123456789012", Region: "eu-west-1"}, {Account: "123456789012", Region: "us-west-2"}, {Account: "210987654321", Region: "eu-west-1"},
	}
	places := []string{"account and Region unknown", "123456789012 eu-west-1", "123456789012 us-west-2", "210987654321 eu-west-1"}
	s, found := filledAt(t, owners...)
	address := serve(t, s)
	list, tables := open(t, address+"/").text(), open(t, address+"/tables").text()
	for _, place := range places {
		if strings.Count(list, place) != 2 || strings.Count(tables, place) != 2 {
			t.Errorf("%s is in the findings %d times, in the tables %d times, want 2 and 2", place, strings.Count(list, place), strings.Count(tables, place))
		}
	}
	for query, want := range map[string]int{
		"?table=orders": 12, "?region=eu-west-1": 6, "?account=123456789012": 6, "?account=123456789012&region=eu-west-1": 3,
		"?account=210987654321&table=orders": 3,
	} {
		if got := len(open(t, address+"/"+query).all("td", "harm")); got != want/3*2 {
			t.Errorf("the page with %q has %d incidents, want %d", query, got, want/3*2)
		}
		var answer struct {
			Findings  []detect.Finding
			Incidents []detect.Incident
		}
		for _, path := range []string{"/api/v1/findings", "/api/v1/incidents"} {
			text, _ := get(t, address+path+query, http.StatusOK)
			must(t, json.Unmarshal([]byte(text), &answer))
		}
		if incidents := len(casebook.Incidents(answer.Findings)); len(answer.Findings) != want || len(answer.Incidents) != incidents {
			t.Errorf("the API with %q has %d findings and %d incidents, want %d and %d", query, len(answer.Findings), len(answer.Incidents), want, incidents)
		}
	}
	var api struct{ Tables []sample.Target }
	text, _ := get(t, address+"/api/v1/tables", http.StatusOK)
	must(t, json.Unmarshal([]byte(text), &api))
	for _, owner := range owners {
		owner.Table = "orders"
		if !slices.Contains(api.Tables, owner) {
			t.Errorf("the API does not list %s: %v", owner.Name(), api.Tables)
		}
	}
	for _, link := range open(t, address+"/tables").all("tbody", "")[0].all("a", "") {
		leads, err := url.Parse(link.attr("href"))
		must(t, err)
		if leads.Path == "/" { // incidents: what is not known of a table chooses any
			continue
		}
		page := open(t, address+link.attr("href")).text()
		for _, owner := range owners[1:] {
			here := leads.Query().Get("account") == owner.Account && leads.Query().Get("region") == owner.Region
			if here != strings.Contains(page, owner.Account+" "+owner.Region) {
				t.Errorf("%s leads to %s", link.attr("href"), page[:200])
			}
		}
	}
	for _, f := range found {
		page := open(t, address+"/findings/"+f.Fingerprint).text()
		if known := f.Region != ""; known != strings.Contains(page, "in "+f.Account+" "+f.Region) {
			t.Errorf("the finding of %s is of %s", f.Name(), page[:200])
		}
	}
}

func TestTables(t *testing.T) {
	t.Parallel()
	s, _ := filled(t)
	rows := open(t, serve(t, s)+"/tables").all("tbody", "")[0].all("tr", "")
	// No roll-up is stored, so that nothing tells how hot they are.
	want := []string{
		"orders heat key design poor none not known Last hour: not counted none seen 1 firing",
		"orders index by-status heat key design catastrophic none not known Last hour: not counted none seen 1 firing",
	}
	var got []string
	for _, row := range rows {
		got = append(got, row.text())
	}
	if !slices.Equal(got, want) {
		t.Errorf("the rows are\n%s, want\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestGapsAndLagAreShownOnEveryPage(t *testing.T) {
	t.Parallel()
	s, found := filled(t)
	id := store.PartitionID{Source: "kafka:g/samples", Name: "3"}
	p, err := s.Claim(t.Context(), "w", store.Claim{PartitionID: id, First: "0"})
	must(t, err)
	must(t, s.Commit(t.Context(), store.Commit{
		Writer: "w", Seq: 1,
		Gaps:       []store.Gap{{Gap: sample.Gap{Source: id.Source, Partition: id.Name, From: "5", To: "9", Reason: "retention was shorter"}}},
		Watermarks: []store.Watermark{{PartitionID: id, Epoch: p.Epoch, Time: time.Now().Add(-time.Hour), Lag: 7}},
	}))
	address := serve(t, s)
	for _, path := range []string{"/", "/tables", tablePath, "/reports", "/silences", "/findings/" + found[0].Fingerprint} {
		text := open(t, address+path).text()
		for _, want := range []string{"1 gap in the samples of the last day", "from 5 to 9: retention was shorter", "1 partition is more than a minute behind"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not show %q", path, want)
			}
		}
	}
	if text, _ := get(t, address+"/api/v1/tables", http.StatusOK); !strings.Contains(text, "retention was shorter") {
		t.Error("the API does not return the gap")
	}
	for _, of := range []string{"gaps", "bad-samples"} {
		if text, _ := get(t, address+"/api/v1/"+of+"?source=kafka:g/sample", http.StatusBadRequest); !strings.Contains(text, `no collector reads the source \"kafka:g/sample\": did you mean \"kafka:g/samples\"?`) {
			t.Errorf("%s of a misspelt source: %s", of, text)
		}
		if text, _ := get(t, address+"/api/v1/"+of+"?source=kafka:g/samples", http.StatusOK); strings.Contains(text, "retention was shorter") != (of == "gaps") {
			t.Errorf("%s of the source: %s", of, text)
		}
	}
}

// TestStoppedCollectionIsNotCalm: with nobody collecting, no page looks as if all
// were well.
func TestStoppedCollectionIsNotCalm(t *testing.T) {
	t.Parallel()
	s, found := filled(t)
	address := serve(t, s)
	pages := []string{"/", "/tables", "/findings/" + found[0].Fingerprint}
	for _, page := range pages {
		if text := open(t, address+page).text(); strings.Contains(text, "Collection has stopped") {
			t.Errorf("%s misses collectors that were never there", page)
		}
	}
	must(t, s.StartWriter(t.Context(), store.Writer{ID: "a", Host: "host-1", Started: time.Now()}))
	must(t, s.StopWriter(t.Context(), "a"))
	for _, page := range pages {
		if text := open(t, address+page).text(); !strings.Contains(text, "Collection has stopped: no collector has written since") {
			t.Errorf("%s does not say that nobody collects: %s", page, text)
		}
	}
	must(t, s.StartWriter(t.Context(), store.Writer{ID: "b", Host: "host-1", Started: time.Now()}))
	if text := open(t, address+"/").text(); strings.Contains(text, "Collection has stopped") {
		t.Errorf("the page still says it: %s", text)
	}
}

// TestAReceiverThatFailsIsNotCalm: no page looks as if people were told.
func TestAReceiverThatFailsIsNotCalm(t *testing.T) {
	t.Parallel()
	s, found := filled(t)
	address := serveWith(t, s, web.Options{Receivers: func() []string { return []string{"pagers"} }})
	must(t, s.ReceiverFailed(t.Context(), "pagers", "connection refused", time.Minute))
	const sentence = "Receiver pagers has taken no notification since"
	for _, page := range []string{"/", "/tables", "/findings/" + found[0].Fingerprint} {
		if text := open(t, address+page).text(); !strings.Contains(text, sentence) || !strings.Contains(text, "connection refused") {
			t.Errorf("%s does not say that nobody is told: %s", page, text)
		}
	}
	must(t, s.ReceiverSucceeded(t.Context(), "pagers"))
	if text := open(t, address+"/").text(); strings.Contains(text, sentence) {
		t.Errorf("the page still says it: %s", text)
	}
}

// TestSamplesAheadOfTheClockAreOnEveryPage, until their time has come.
func TestSamplesAheadOfTheClockAreOnEveryPage(t *testing.T) {
	t.Parallel()
	for engine, url := range map[string]string{"sqlite": "sqlite::memory:", "postgres": pgtest.Database(t)} {
		s, err := store.Open(t.Context(), url, store.Options{Migrate: true})
		must(t, err)
		defer s.Close()
		l, _, err := s.AcquireLease(t.Context(), "judge", "test", time.Hour)
		must(t, err)
		address := serve(t, s)
		for _, c := range []struct {
			table string
			ahead time.Duration
			want  string
		}{{"orders", store.MaxAhead - time.Second, ""}, {"orders", 10*time.Minute + 25*time.Second, "Samples of orders are up to 10 min ahead of the database's clock."}, {"carts", 55*time.Minute + 25*time.Second, "Samples of carts are up to 55 min ahead"}} {
			must(t, s.Judge(t.Context(), l, store.Judgement{Windows: []store.Window{{Target: sample.Target{Table: c.table}, Second: time.Now().Add(c.ahead)}}}))
			l.Writes++
			for _, page := range []string{"/", "/tables", "/silences"} {
				text := open(t, address+page).text()
				if has := strings.Contains(text, "ahead of the database's clock"); has != (c.want != "") || !strings.Contains(text, c.want) {
					t.Errorf("%s: with a second %s ahead %s says it %t: %s", engine, c.ahead, page, has, text)
				}
			}
		}
	}
}

func TestAnEmptyStoreIsNoError(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.Context(), "sqlite::memory:", store.Options{})
	must(t, err)
	defer s.Close()
	address := serve(t, s)
	if text := open(t, address+"/").text(); !strings.Contains(text, "No samples have arrived yet") || strings.Contains(text, "No hot keys") {
		t.Errorf("the page says %q", text)
	}
	if text := open(t, address+"/tables").text(); !strings.Contains(text, "No data yet") {
		t.Errorf("the page says %q", text)
	}
	must(t, s.Close())
	get(t, address+"/", http.StatusInternalServerError)
}

// TestAddressesThatAreNoText are rejected, and no error of the database.
func TestAddressesThatAreNoText(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.Context(), pgtest.Database(t), store.Options{Migrate: true})
	must(t, err)
	defer s.Close()
	address := serve(t, s)
	for _, path := range []string{
		"/findings/%00", "/findings/a%00b", "/findings/%ff", "/api/v1/findings/%00", "/?table=%00", "/?table=%ff", "/?%00=1", "/?table=%zz",
		"/table?table=a%00", "/table?table=a&index=%c3%28", "/api/v1/findings?table=%00", "/api/v1/incidents?case=%00", "/api/v1/findings?account=%ed%a0%80",
	} {
		get(t, address+path, http.StatusBadRequest)
	}
	for _, path := range []string{"/findings/x", "/findings/%E2%80%AEx", "/api/v1/findings/%25"} {
		get(t, address+path, http.StatusNotFound)
	}
	get(t, address+"/?table=%E2%80%AE", http.StatusOK)
}

// TestPagesStandAlone holds every page to a policy under which nothing that is
// not from this server can load or run. The tests in a browser fail when it stops anything.
func TestPagesStandAlone(t *testing.T) {
	t.Parallel()
	s, found := filled(t)
	address := serve(t, s)
	for _, path := range []string{"/", "/tables", tablePath, "/reports", "/silences", "/findings/" + found[0].Fingerprint} {
		_, header := get(t, address+path, http.StatusOK)
		policy := header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: policy %q", path, policy)
		}
	}
}

// TestPagesAreAccessible checks what can be checked without a browser.
func TestPagesAreAccessible(t *testing.T) {
	t.Parallel()
	s, found := filled(t)
	address := serve(t, s)
	for _, path := range []string{"/", "/tables", tablePath, "/reports", "/silences", "/findings/" + found[0].Fingerprint} {
		p := open(t, address+path)
		for _, landmark := range []string{"header", "main", "footer", "h1"} {
			if n := len(p.all(landmark, "")); n != 1 {
				t.Errorf("%s: %d of <%s>, want 1", path, n, landmark)
			}
		}
		if p.all("html", "")[0].attr("lang") == "" || p.all("title", "")[0].text() == "" {
			t.Errorf("%s: no language or no title", path)
		}
		for _, th := range p.all("th", "") {
			if th.attr("scope") == "" {
				t.Errorf("%s: a header without scope: %s", path, th.text())
			}
		}
		for _, table := range p.all("table", "") {
			if len(table.all("caption", "")) != 1 {
				t.Errorf("%s: a table without a caption", path)
			}
		}
		for _, svg := range p.all("svg", "") {
			if svg.attr("aria-hidden") == "" && svg.attr("aria-label")+svg.attr("aria-labelledby") == "" {
				t.Errorf("%s: a picture without words", path)
			}
		}
	}
}

func TestOtherSitesCannotPost(t *testing.T) {
	t.Parallel()
	s, _ := filled(t)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, serve(t, s)+"/", nil)
	must(t, err)
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	answer, err := http.DefaultClient.Do(r)
	must(t, err)
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusForbidden {
		t.Errorf("it returns %s", answer.Status)
	}
}

// TestWhatIfTakesTheTablesPolicy: the load of 2,600 WCU takes three shards that are full,
// and four with the default's headroom of half as much again.
func TestWhatIfTakesTheTablesPolicy(t *testing.T) {
	t.Parallel()
	s, found := filled(t)
	i := slices.IndexFunc(found, func(f detect.Finding) bool { return f.Key == hostile && f.Subject == detect.KeyWrites })
	full := func(of detect.Target) detect.Policy {
		p := detect.DefaultPolicy()
		if of == found[i].Target {
			p.Headroom = 1
		}
		return p
	}
	for _, c := range []struct {
		options web.Options
		needed  int
		says    string
	}{{web.Options{}, 4, "Barely"}, {web.Options{Policy: full}, 3, "Yes"}} {
		address := serveWith(t, s, c.options)
		text, _ := get(t, address+"/api/v1/findings/"+found[i].Fingerprint+"/what-if?shards=3", http.StatusOK)
		var answer struct {
			WhatIf struct{ Needed int } `json:"what_if"`
		}
		must(t, json.Unmarshal([]byte(text), &answer))
		if answer.WhatIf.Needed != c.needed {
			t.Errorf("%d shards are needed, want %d", answer.WhatIf.Needed, c.needed)
		}
		if page := open(t, address+"/findings/"+found[i].Fingerprint+"?shards=3").text(); !strings.Contains(page, c.says) {
			t.Errorf("the page does not say %q: %s", c.says, page)
		}
	}
}

func TestATableHasItsOwnPage(t *testing.T) {
	t.Parallel()
	s, found := filled(t)
	address := serve(t, s)
	text := open(t, address+tablePath).text()
	for _, want := range []string{
		say.Title(&found[0]), "Requested on average 3,500 WCU/s and 0 RCU/s, in 10 counted seconds",
		"Hottest key, writes 260% of a partition's limit", "Throttled none seen of 20 requests",
		"orders", "poor", "Distinct keys 2", "Keys with the highest load", hostile, "74%", "26,000",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not show %q: %s", want, text)
		}
	}
	if link := open(t, address+"/tables").all("tbody", "")[0].all("a", "")[0].attr("href"); link != "/table?index=&table=orders" {
		t.Errorf("the list leads to %s", link)
	}
	var api struct {
		Tables []struct{ View *detect.View }
	}
	text, _ = get(t, address+"/api/v1/tables", http.StatusOK)
	must(t, json.Unmarshal([]byte(text), &api))
	if api.Tables[0].View == nil || api.Tables[0].View.Top[0].Key != hostile {
		t.Errorf("the API returns %s", text)
	}
}
