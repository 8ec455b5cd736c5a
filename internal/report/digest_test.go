package report_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"golang.org/x/net/html"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/detect/partition"
	"github.com/keyheat/keyheat/internal/report"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/position"
	"github.com/keyheat/keyheat/store"
)

var update = flag.Bool("update", false, "write the golden files")

// monday is when the period of the tests ends, a week after it began.
var monday = time.Date(2026, 11, 16, 8, 0, 0, 0, time.UTC)

func must(t *testing.T, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}

func ptr[T any](v T) *T { return &v }

func ago(d time.Duration) time.Time { return monday.Add(-d) }

func document(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

// hostile is a key of 2 KB that would break whatever trusts it.
var hostile = "=HYPERLINK(\"https://evil.example\")<script>alert(1)</script></style>|`**[x](https://evil.example)**\x1b[31m\u202egnp\u2066\x00\nwww.evil.example @all " + strings.Repeat("k", 1900)

var orders = sample.Target{Account: "123456789012", Region: "eu-west-1", Table: "orders"}

// episode is an incident with its root finding.
type episode struct {
	id, key                 string
	at                      sample.Target
	kind                    detect.Subject
	utilization             float64
	severity                detect.Severity
	opened, fired, resolved time.Time
}

func (e episode) add(r *report.Rows) {
	f := detect.NewFinding(e.kind, e.at, sample.KeyString(e.key))
	f.Utilization, f.Severity = e.utilization, e.severity
	peak := e.utilization * detect.Units(detect.Limit(e.kind))
	f.Peak.WCU = detect.Figure{Value: peak, Low: peak, High: peak}
	f.Peak.RCU = f.Peak.WCU
	f.Evidence = &detect.Evidence{Callers: []detect.Part{{Text: sample.Text(e.key), Low: 0.5, High: 0.5}}}
	f.Quality.CannotSee = []string{detect.BlindSeconds}
	f.CloudWatch = &detect.CloudWatch{Verdict: detect.CloudWatchConfirms}
	state := detect.Pending
	switch {
	case !e.resolved.IsZero():
		state = detect.Resolved
	case !e.fired.IsZero():
		state = detect.Firing
	}
	i := detect.Incident{Owner: "team-orders"}
	r.Incidents = append(r.Incidents, store.Incident{
		ID: e.id, Case: string(casebook.HotKey), Subject: string(detect.KeyWrites), Target: e.at, Severity: string(e.severity), State: string(state),
		OpenedAt: e.opened, FiredAt: e.fired, ResolvedAt: e.resolved, LastSeen: e.opened, Root: f.Fingerprint, Document: document(i),
	})
	r.Roots[f.Fingerprint] = store.Finding{Fingerprint: f.Fingerprint, Document: document(f)}
}

func move(id string, at time.Time, from, to detect.State) store.Transition {
	return store.Transition{Of: id, At: at, From: string(from), To: string(to), Severity: string(detect.Critical)}
}

// divided is a table of two partitions, of which the first is full. A split is of the period,
// and one is older.
func divided() partition.View {
	const half = position.Position(1) << 63
	load := func(shard string, from, to position.Position, wcu float64) detect.PartitionLoad {
		return detect.PartitionLoad{
			PartitionRange: detect.PartitionRange{Shard: shard, Keys: true, From: from, Low: from + 9, High: to - 9, To: to},
			WCU:            detect.Figure{Value: wcu, Low: wcu, High: wcu}, KeyCount: 2, Cuts: []detect.PartitionCut{},
			Busiest: []detect.BusyKey{{KeyRef: detect.KeyRef{Key: sample.Text(hostile)}, Share: 0.6}, {KeyRef: detect.KeyRef{Key: "shop#17"}, Share: 0.4}},
		}
	}
	split := func(at time.Time) detect.PartitionSplit {
		return detect.PartitionSplit{
			At: at, Low: 9, High: ^position.Position(0) - 9, CutLow: half - 9, CutHigh: half + 9,
			Forecast: []detect.PartitionCut{{Rule: detect.CutMiddle, At: half, Fuller: 0.5}}, Outcome: detect.ForecastMiddle,
		}
	}
	return partition.View{
		Target: orders, State: partition.Inferred, Keys: 4821, Evidence: 412, Contradictions: []position.Position{},
		Partitions: []detect.PartitionLoad{load("shardId-1", 0, half, 1040), load("shardId-2", half, ^position.Position(0), 310)},
		Splits:     []detect.PartitionSplit{split(ago(9 * 24 * time.Hour)), split(ago(26 * time.Hour))},
	}
}

// busy is a week with a bit of everything.
func busy() report.Rows {
	const hour, day = time.Hour, 24 * time.Hour
	r := report.Rows{
		Request: report.Request{Name: "weekly", From: ago(7 * day), To: monday, Zone: "Europe/Berlin"},
		Made:    monday.Add(5 * time.Second), Roots: map[string]store.Finding{},
	}
	users := sample.Target{Table: "users", Index: "by-mail"}
	episode{"i-firing", "customer#42", orders, detect.KeyWrites, 2.6, detect.Critical, ago(3 * hour), ago(3 * hour), time.Time{}}.add(&r)
	episode{"i-healed", "OPEN", users, detect.KeyReads, 1.2, detect.Warning, ago(4 * day), ago(4 * day), ago(4*day - hour)}.add(&r)
	episode{"i-warm", "warm", orders, detect.KeyWrites, 0.85, detect.Warning, ago(day), time.Time{}, time.Time{}}.add(&r)
	episode{"i-hostile", hostile, orders, detect.KeyWrites, 1.1, detect.Critical, ago(2 * day), ago(2 * day), time.Time{}}.add(&r)
	episode{"i-old", "old", orders, detect.KeyWrites, 9, detect.Critical, ago(30 * day), ago(30 * day), ago(29 * day)}.add(&r)
	episode{"i-later", "later", orders, detect.KeyWrites, 9, detect.Critical, monday.Add(hour), monday.Add(hour), time.Time{}}.add(&r)
	r.Transitions = []store.Transition{
		move("i-later", ago(5*day), "", detect.Pending), move("i-later", ago(5*day), detect.Pending, detect.Firing),
		move("i-later", ago(5*day-hour), detect.Firing, detect.Resolved),
		move("i-firing", ago(3*hour), "", detect.Firing),
		move("i-healed", ago(5*day), "", detect.Firing), move("i-healed", ago(5*day-hour), detect.Firing, detect.Resolved),
		move("i-healed", ago(4*day), "", detect.Firing), move("i-healed", ago(4*day-hour), detect.Firing, detect.Resolved),
	}
	r.Partitions = []partition.View{divided()}
	figure := func(v float64) *detect.Figure { return &detect.Figure{Value: v, Low: v - 0.02, High: v + 0.02} }
	view := func(at sample.Target, updated time.Time, t detect.Table) {
		r.Views = append(r.Views, store.TargetDocument{Target: at, Updated: updated, Document: document(t)})
	}
	view(orders, monday, detect.Table{
		CloudWatch: &detect.TableCloudWatch{Write: figure(0.97)},
	})
	view(users, monday, detect.Table{})
	view(sample.Target{Table: "sessions"}, ago(9*day), detect.Table{})
	r.Gaps = []store.Gap{
		{Gap: sample.Gap{Source: "kafka:c/samples", Partition: "3", Since: ago(day), Until: ago(day - hour), Reason: "the topic was cut: " + hostile}, Noticed: ago(day - hour)},
		{Gap: sample.Gap{Source: "streams", Partition: "shard-1", Reason: "trimmed"}, Noticed: ago(2 * day)},
		{Gap: sample.Gap{Source: "streams", Partition: "shard-0", Reason: "of before"}, Noticed: ago(8 * day)},
	}
	r.Writers = []store.Writer{
		{ID: "a", Host: "well", Started: ago(9 * day), Seen: monday},
		{ID: "b", Host: "silent", Started: ago(9 * day), Seen: ago(day)},
		{ID: "c", Host: "poor", Started: ago(day), Seen: monday, WriterStatus: store.WriterStatus{
			State: "failing", Reason: "no such topic", RefusedTables: []string{"t1", "t2"}, BadShare: ptr(0.02)}},
		{ID: "d", Host: "replaced", Started: ago(3 * day), Seen: ago(2 * day)},
		{ID: "e", Host: "replaced", Started: ago(2 * day), Seen: monday},
		{ID: "f", Host: "stopped", Started: ago(3 * day), Seen: ago(day), Stopped: ago(day)},
		{ID: "g", Host: "of before", Started: ago(20 * day), Seen: ago(10 * day)},
	}
	silenced := &r.Transitions[len(r.Transitions)-4]
	silenced.Note, silenced.About, silenced.Until = string(detect.NoteSilenced), "s-over", monday
	warm := detect.Incident{Owner: "team-orders", Silenced: &detect.Silenced{By: "s-now"}}
	r.Incidents[2].Document = document(warm)
	return r
}

// blind is a day of which nothing is known.
func blind() report.Rows {
	return report.Rows{Request: report.Request{From: ago(24 * time.Hour), To: monday, Tables: []string{"orders"}}, Made: monday}
}

// made makes a report, stores it, and renders it: the store has no sentence of it.
func made(t *testing.T, r report.Rows) *report.Report {
	t.Helper()
	p, err := report.New(r)
	must(t, err)
	for _, i := range slices.Concat(p.Hot, p.Warm) {
		if i.Why+i.FirstFix+i.Limits+p.Summary != "" {
			t.Errorf("it has sentences: %+v", i)
		}
	}
	stored, err := report.Read(document(p))
	must(t, err)
	return stored.Render()
}

func written(t *testing.T, p *report.Report, f report.Format) string {
	t.Helper()
	var b bytes.Buffer
	must(t, p.Write(&b, f))
	return b.String()
}

// The golden files are what people and programs get. After a change that is meant:
// go test ./internal/report -update
func TestGolden(t *testing.T) {
	t.Parallel()
	for name, rows := range map[string]report.Rows{"busy": busy(), "blind": blind()} {
		summary := made(t, rows)
		for _, list := range [][]report.Incident{summary.Hot, summary.Warm} {
			for i := range list {
				if id := list[i].ID; id != "i-firing" && id != "i-hostile" && list[i].Why != "" { // internal/say holds the words
					list[i].Why, list[i].FirstFix = "The cause.", "The action"
				}
			}
		}
		for _, f := range report.Formats() {
			got, path := written(t, summary, f), filepath.Join("testdata", name+f.Extension())
			if *update {
				must(t, os.WriteFile(path, []byte(got), 0o600))
			}
			want, err := os.ReadFile(path)
			must(t, err)
			if got != string(want) {
				t.Errorf("%s is not what is written; see the difference with -update and git diff", path)
			}
		}
	}
}

func ids(all []report.Incident) (names []string) {
	for _, i := range all {
		names = append(names, i.ID)
	}
	return names
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func TestWhatGotHot(t *testing.T) {
	t.Parallel()
	p := made(t, busy())
	same(t, "hot", ids(p.Hot), []string{"i-firing", "i-hostile", "i-later", "i-healed"})
	same(t, "warm", ids(p.Warm), []string{"i-warm"})
	later, healed := p.Hot[2], p.Hot[3]
	if later.Utilization != nil || later.Why != "" || !later.Began.Equal(ago(5*24*time.Hour)) || later.Resolved == nil {
		t.Errorf("the earlier episode has the later one's figures: %+v", later)
	}
	if healed.Times == nil || *healed.Times != 2 || healed.Unit != "rcu" {
		t.Errorf("healed is %+v", healed)
	}
	if hostile := p.Hot[1]; hostile.Times != nil {
		t.Errorf("without a history it fired %d times", *hostile.Times)
	}
	if !strings.Contains(p.Summary, "4 incidents fired and 2 are still firing") || !strings.Contains(p.Summary, "260%") || !strings.Contains(p.Summary, "2 gaps") {
		t.Errorf("summary: %s", p.Summary)
	}
}

// That capacity does not help is no fix, but for a table that lacks it.
func TestTheFirstFixChangesSomething(t *testing.T) {
	t.Parallel()
	for _, kind := range []detect.Subject{detect.KeyWrites, detect.SubjectTable} {
		f := detect.NewFinding(kind, orders, sample.KeyString("k"))
		f.State, f.Severity, f.Advice = detect.Firing, detect.Critical, []detect.Step{{Action: detect.ActionCapacity}, {Action: detect.ActionShard, Effort: detect.EffortKeys}}
		if kind == detect.SubjectTable {
			f.Advice = f.Advice[:1]
		}
		found, brief := []detect.Finding{f}, say.New(&f)
		want := brief.Then
		if kind == detect.SubjectTable {
			want = brief.Now
		}
		p := report.OfFiles(report.Found{Files: report.Files{Samples: 1}, Incidents: casebook.Incidents(found), Findings: found}).Render()
		if len(p.Hot) != 1 || p.Hot[0].FirstFix != want {
			t.Errorf("%s: got %+v, want %q", kind, p.Hot, want)
		}
	}
}

// A period that ended an hour before the newest incident resolved says that it fired.
func TestStateIsThatOfTheEndOfThePeriod(t *testing.T) {
	t.Parallel()
	rows := report.Rows{Request: report.Request{From: ago(24 * time.Hour), To: monday}, Made: monday.Add(48 * time.Hour), Roots: map[string]store.Finding{}}
	episode{"i", "k", orders, detect.KeyWrites, 2, detect.Critical, ago(time.Hour), ago(time.Hour), monday.Add(time.Hour)}.add(&rows)
	rows.Transitions = []store.Transition{move("i", ago(time.Hour), "", detect.Firing), move("i", monday.Add(time.Hour), detect.Firing, detect.Resolved)}
	p := made(t, rows)
	if len(p.Hot) != 1 || p.Hot[0].State != detect.Firing || p.Hot[0].Resolved != nil {
		t.Errorf("got %+v", p.Hot)
	}
}

func TestWhatCouldNotBeSeen(t *testing.T) {
	t.Parallel()
	n := made(t, busy()).NotSeen
	var problems, gaps []string
	for _, c := range n.Problems {
		problems = append(problems, c.Host)
	}
	for _, g := range n.Gaps {
		gaps = append(gaps, g.Partition)
	}
	same(t, "problems", problems, []string{"silent", "poor"})
	same(t, "gaps", gaps, []string{"3", "shard-1"})
	if n.Collectors == nil || *n.Collectors != 6 || n.Stopped != nil {
		t.Errorf("collectors: %v, stopped: %v", n.Collectors, n.Stopped)
	}
	if c := n.Coverage[0]; c.Table != "sessions" || !c.Stale || c.Write != nil {
		t.Errorf("least is known of %+v", c)
	}

	rows := blind()
	p := made(t, rows)
	if !strings.Contains(p.Summary, "not known") || p.NotSeen.Collectors == nil || *p.NotSeen.Collectors != 0 {
		t.Errorf("a period without a collector: %s", p.Summary)
	}
	rows.Made = rows.Made.AddDate(0, 1, 0)
	if p := made(t, rows); p.NotSeen.Collectors != nil {
		t.Errorf("a month later there were %d collectors", *p.NotSeen.Collectors)
	}
	rows = blind()
	rows.Writers = []store.Writer{{ID: "a", Started: ago(time.Hour), Seen: ago(10 * time.Minute)}}
	if p := made(t, rows); p.NotSeen.Stopped == nil || !strings.Contains(p.Summary, "collection stopped") {
		t.Errorf("all are silent: %s", p.Summary)
	}
}

// TestWhatWasSilenced: an incident was silenced if its history says so, or its stored form.
func TestWhatWasSilenced(t *testing.T) {
	t.Parallel()
	p := made(t, busy())
	var silenced []string
	for _, i := range slices.Concat(p.Hot, p.Warm) {
		if i.Silenced {
			silenced = append(silenced, i.ID)
		}
	}
	same(t, "silenced", silenced, []string{"i-healed", "i-warm"})
}

func TestTablesAreChosen(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"orders": true, "eu-west-1/orders": true, "123456789012/eu-west-1/orders": true, "us-east-1/orders": false, "order": false,
	} {
		q := report.Request{Tables: []string{name}}
		at := orders
		at.Index = "by-day"
		if q.Covers(orders) != want || q.Covers(at) != want {
			t.Errorf("%s covers orders: %t", name, !want)
		}
	}
	rows := busy()
	rows.Tables = []string{"users"}
	p := made(t, rows)
	same(t, "hot", ids(p.Hot), []string{"i-healed"})
	if len(p.NotSeen.Coverage) != 1 {
		t.Errorf("%+v", p.NotSeen.Coverage)
	}
}

func TestReadsWhatItWrites(t *testing.T) {
	t.Parallel()
	p := made(t, busy())
	again, err := report.Read([]byte(written(t, p, report.JSON)))
	must(t, err)
	if got, want := written(t, again, report.JSON), written(t, p, report.JSON); got != want {
		t.Error("read and written again it differs")
	}
	if string(again.Hot[1].Key) != hostile {
		t.Errorf("the key is %q", again.Hot[1].Key)
	}
	if _, err := report.Read([]byte(`{"version":99}`)); err == nil {
		t.Error("a newer version was read")
	}
	if err := p.Write(io.Discard, "pdf"); err == nil || !strings.Contains(err.Error(), "markdown") {
		t.Errorf("an unknown format: %v", err)
	}
}

// The file works from a disk and asks nobody for anything.
func TestHTMLIsOneInertFile(t *testing.T) {
	t.Parallel()
	text := written(t, made(t, busy()), report.HTML)
	root, err := html.Parse(strings.NewReader(text))
	must(t, err)
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.ElementNode {
			if slices.Contains([]string{"script", "link", "img", "iframe", "object", "a", "form", "base", "image", "use"}, n.Data) {
				t.Errorf("there is a <%s>", n.Data)
			}
			for _, a := range n.Attr {
				if strings.HasPrefix(a.Key, "on") || a.Key == "style" || a.Key == "src" || a.Key == "href" {
					t.Errorf("<%s> has %s=%q", n.Data, a.Key, a.Val)
				}
			}
		}
		for c := range n.ChildNodes() {
			walk(c)
		}
	}
	walk(root)
	if strings.Count(text, "<style>") != 1 || regexp.MustCompile(`url\(|@import`).MatchString(text) {
		t.Error("the style loads something, or there is another")
	}
	if len(text) > 100_000 {
		t.Errorf("it has %d bytes", len(text))
	}
}

// What a key says does nothing in any format.
func TestHostileKeys(t *testing.T) {
	t.Parallel()
	p := made(t, busy())
	for _, f := range report.Formats() {
		for _, r := range written(t, p, f) {
			if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
				t.Errorf("%s holds %U", f, r)
				break
			}
		}
	}
	text := written(t, p, report.Markdown)
	for line := range strings.Lines(text) {
		bare := withoutCode(line)
		if strings.ContainsAny(bare, "<[`@") || strings.Contains(bare, "://") {
			t.Errorf("markdown holds %.200q", bare)
		}
	}
}

// withoutCode returns a line of Markdown without its code spans and what is escaped: a span
// ends with as many backticks as it begins with.
func withoutCode(line string) string {
	run := func(s string) int { return len(s) - len(strings.TrimLeft(s, "`")) }
	var bare strings.Builder
next:
	for line != "" {
		n := run(line)
		if n == 0 {
			if strings.HasPrefix(line, `\`) && len(line) > 1 {
				line = line[2:]
				continue
			}
			bare.WriteByte(line[0])
			line = line[1:]
			continue
		}
		for end := n; end < len(line); end++ {
			if m := run(line[end:]); m == n {
				line = line[end+n:]
				continue next
			} else if m > 0 {
				end += m - 1
			}
		}
		bare.WriteString(line[:n])
		line = line[n:]
	}
	return bare.String()
}
