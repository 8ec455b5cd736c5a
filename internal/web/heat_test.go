package web_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/chart"
	"github.com/keyheat/keyheat/internal/web/heatmap"
	"github.com/keyheat/keyheat/rollup"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// longKey is a key of 2 KB without a place to break a line.
var longKey = strings.Repeat("0123456789abcdef", 128)

var orders = sample.Target{Table: "orders"}

// load is what a key asks for in a second, and how much of it is refused.
type load struct {
	key         string
	wcu, denied int
}

// story is what happens in a second, counted from the beginning; nil for no load.
type story func(second int) []load

// busy is a story with each kind of row: a hostile key that is over the limit from time
// to time and refused, one of 2 KB, three shards, and a warm one.
func busy(second int) []load {
	all := []load{{"warm", 120, 0}, {longKey, 300 + second%100, 0}}
	if second%600 < 90 {
		all = append(all, load{hostile, 1500, 400})
	}
	for n := range 3 {
		all = append(all, load{fmt.Sprintf("user#42#SHARD_%d", n), 400 + 100*n, 0})
	}
	return all
}

// heated is a store with what a judge leaves of some seconds: windows, and the roll-ups of
// buckets that are over. Windows are kept from a
// second on.
func heated(t *testing.T, start time.Time, seconds int, tell story, unseen func(second int) bool, windowsFrom int) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), "sqlite::memory:", store.Options{})
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	var j store.Judgement
	parts := make(map[rollup.Level]map[int64]*rollup.Rollup)
	for _, l := range rollup.Levels {
		parts[l] = make(map[int64]*rollup.Rollup)
	}
	minutes := make(map[int64]uint64)
	for second := range seconds {
		at := start.Add(time.Duration(second) * time.Second)
		if unseen != nil && unseen(second) {
			continue
		}
		minutes[at.Truncate(time.Minute).Unix()] |= 1 << (at.Unix() % 60)
		w := windowOf(t, at, tell(second))
		if w == nil {
			continue
		}
		if second >= windowsFrom {
			body, err := w.MarshalBinary()
			must(t, err)
			j.Windows = append(j.Windows, store.Window{Target: orders, Second: at, Complete: true, Body: body})
		}
		for _, l := range rollup.Levels {
			begins := l.Begin(at.Unix())
			if begins+int64(l) > start.Unix()+int64(seconds) {
				continue // not over
			}
			if parts[l][begins] == nil {
				parts[l][begins] = &rollup.Rollup{}
			}
			parts[l][begins].Add(rollup.OfSecond(w, true))
		}
	}
	for l, buckets := range parts {
		for begins, r := range buckets {
			body, err := r.MarshalBinary()
			must(t, err)
			j.Rollups = append(j.Rollups, store.Rollup{Target: orders, Level: int64(l), Begins: time.Unix(begins, 0), Body: body})
		}
	}
	for minute, bits := range minutes {
		j.Seen = append(j.Seen, store.SeenMinute{Minute: time.Unix(minute, 0), Seconds: bits})
	}
	l, ok, err := s.AcquireLease(t.Context(), "judge", "test", time.Minute)
	if err != nil || !ok {
		t.Fatalf("lease: %t, %v", ok, err)
	}
	must(t, s.Judge(t.Context(), l, j))
	return s
}

// unlisted is the load of the keys without a row, in units a second.
const unlisted = 10

func windowOf(t *testing.T, at time.Time, loads []load) *sketch.Window {
	t.Helper()
	if len(loads) == 0 {
		return nil
	}
	w := &sketch.Window{Target: orders, Second: at.Unix()}
	w.Total.Write = unlisted * 1000
	for _, l := range loads {
		key := sample.KeyString(l.key)
		w.Keys = append(w.Keys, sketch.KeyLoad{
			Hash: sketch.Hash(orders, key, 1), Key: key, Requests: 1,
			Low: sketch.Load{Write: sample.Milli(l.wcu) * 1000}, Throttled: sketch.Load{Write: sample.Milli(l.denied) * 1000},
		})
		w.Total.Write += sample.Milli(l.wcu) * 1000
	}
	slices.SortFunc(w.Keys, func(a, b sketch.KeyLoad) int {
		if a.Hash < b.Hash {
			return -1
		}
		return 1
	})
	return w
}

// heatMap is the API's answer.
type heatMap struct {
	chart.Map
	Rows []heatRow `json:"rows"`
}

type heatRow struct {
	Key, Finding string
	Shards, Over int
	Sum          float64
	Cells        [][]float64
}

func heatOf(t *testing.T, address string, values url.Values) heatMap {
	t.Helper()
	values.Set("table", "orders")
	text, _ := get(t, address+"/api/v1/heat?"+values.Encode(), http.StatusOK)
	var m heatMap
	must(t, json.Unmarshal([]byte(text), &m))
	return m
}

func between(from, to time.Time) url.Values {
	return url.Values{"from": {from.Format(time.RFC3339)}, "to": {to.Format(time.RFC3339)}}
}

// TestHeatIsTheSameAtEachZoom: a map of any step shows the highest second of each key in
// its time, and all that was asked for, also where the newest roll-ups are not over.
func TestHeatIsTheSameAtEachZoom(t *testing.T) {
	t.Parallel()
	const seconds = 2*3600 + 1234
	start := time.Now().Add(-3 * time.Hour).Truncate(time.Hour).UTC()
	address := serve(t, heated(t, start, seconds, busy, nil, 0))
	end := start.Add(seconds * time.Second)
	for step, span := range map[int64]time.Duration{1: 5 * time.Minute, 10: time.Hour, 60: 2 * time.Hour, 600: 48 * time.Hour, 3600: 14 * 24 * time.Hour} {
		m := heatOf(t, address, between(end.Add(-span), end))
		if m.Step != step || m.Unit != "WCU" || m.Limit != 1000 || len(m.Seen) > heatmap.MaxColumns {
			t.Errorf("of %s: steps of %d s, %d columns, %s, want %d s", span, m.Step, len(m.Seen), m.Unit, step)
		}
		highest, sums := make(map[string]float64), make(map[string]float64)
		for second := max(0, int(m.From.Sub(start)/time.Second)); second < seconds; second++ {
			for _, l := range busy(second) {
				key := l.key
				if strings.HasPrefix(key, "user#42") {
					key = "user#42"
				}
				highest[key], sums[key] = max(highest[key], float64(l.wcu)), sums[key]+float64(l.wcu)
			}
		}
		for i, row := range m.Rows {
			top, all := 0.0, 0.0
			for _, c := range row.Cells {
				top, all = max(top, c[1]), all+c[4]
			}
			if top != highest[row.Key] || math.Abs(row.Sum-sums[row.Key]) > 1 || math.Abs(all-row.Sum) > 1 {
				t.Errorf("steps of %d s, row %d, %.20q: highest %g of %g, sum %g and %g of %g", step, i, row.Key, top, highest[row.Key], row.Sum, all, sums[row.Key])
			}
			if (row.Key == "user#42") != (row.Shards == 3) {
				t.Errorf("%.20q has %d shards", row.Key, row.Shards)
			}
		}
		if len(m.Rows) != len(highest) || !slices.IsSortedFunc(m.Rows, func(a, b heatRow) int { return int(highest[b.Key] - highest[a.Key]) }) {
			t.Errorf("steps of %d s: %d rows of %d, or not the hottest first", step, len(m.Rows), len(highest))
		}
	}
}

// TestHeatThatIsThrottled: cells have the share that was refused, and why; the map marks
// them, and tells of them in words.
func TestHeatThatIsThrottled(t *testing.T) {
	t.Parallel()
	start := time.Now().Add(-3 * time.Hour).Truncate(time.Hour).UTC()
	address := serve(t, heated(t, start, 600, busy, nil, 0))
	values := between(start, start.Add(10*time.Minute))
	m := heatOf(t, address, values)
	if len(m.Rows) != 4 || m.Rows[0].Key != hostile || len(m.Rows[0].Cells) != 9 {
		t.Fatalf("%+v", m.Rows)
	}
	c := m.Rows[0].Cells[0]
	if c[1] != 1500 || c[4] != 15_000 || c[5] != 26.7 || m.Reasons[0] != "unknown" || c[7] != 1 {
		t.Errorf("the cell is %v of %v, want 26.7%% of 15,000 refused for a reason that is not known", c, m.Reasons)
	}
	figure := open(t, address+"/heat?"+values.Encode()).all("figure", "heat")[0]
	if marks := figure.all("path", "refused")[0].attr("d"); strings.Count(marks, "M") != 9 {
		t.Errorf("the marks of throttled cells are %q, want 9", marks)
	}
	text, _ := get(t, address+figure.attr("data-words"), http.StatusOK)
	var words chart.Words
	must(t, json.Unmarshal([]byte(text), &words))
	const want = "highest second 1,500 WCU, 150% of the limit; 15,000 WCU in all, in 10 s; 27% throttled (reason not known)"
	if got := words.Rows[0][0]; got != want {
		t.Errorf("the cell's words are %q, want %q", got, want)
	}
	if got, want := words.Columns[0], start.Format(time.DateTime)+" UTC, 10 of 10 s counted"; got != want {
		t.Errorf("the column's words are %q, want %q", got, want)
	}
	if rest := words.Rows[4][0]; rest != "10 WCU/s on average; one key of them had at most 0 WCU in a second" {
		t.Errorf("everything else is %q", rest)
	}
	values.Set("what", "read")
	if m := heatOf(t, address, values); len(m.Rows) != 0 {
		t.Errorf("reads are %+v", m.Rows)
	}
}

// TestGapsAreNotCold: seconds without load were counted, and are told from those that
// nobody counted, that a gap covers, and that are to come.
func TestGapsAreNotCold(t *testing.T) {
	t.Parallel()
	start := time.Now().Add(-time.Hour).Truncate(time.Hour).UTC()
	s := heated(t, start, 300, func(second int) []load {
		if second < 100 {
			return []load{{"key", 100, 0}}
		}
		return nil
	}, func(second int) bool { return second >= 150 && second < 175 }, 0)
	must(t, s.Commit(t.Context(), store.Commit{Writer: "a", Seq: 1, Gaps: []store.Gap{
		{Gap: sample.Gap{Since: start.Add(40 * time.Second), Until: start.Add(49 * time.Second), Reason: "lost"}},
		{Gap: sample.Gap{Reason: "lost, nobody knows when"}},
	}}))
	address := serve(t, s)
	m := heatOf(t, address, between(start, start.Add(6*time.Minute)))
	for column, seen := range m.Seen {
		want := int64(1)
		if column >= 40 && column < 50 || column >= 150 && column < 175 || column >= 300 {
			want = 0
		}
		if seen != want {
			t.Errorf("second %d: %d seen, want %d", column, seen, want)
		}
	}
	if m := heatOf(t, address, between(start.Add(-2*time.Hour), start.Add(6*time.Minute))); m.Step != 60 || m.Seen[0] != 0 || m.Seen[120] != 50 || m.Seen[122] != 35 || m.Seen[123] != 60 || m.Seen[125] != 0 {
		t.Errorf("by %d s: %v", m.Step, m.Seen)
	}
	for at, want := range map[time.Duration]string{0: "", 200 * time.Second: "No key came above", -2 * time.Hour: "Nothing of this time was counted"} {
		values := between(start.Add(at), start.Add(at+time.Minute))
		values.Set("table", "orders")
		text := open(t, address+"/heat?"+values.Encode()).text()
		if strings.Contains(text, "Hottest keys") != (want == "") || !strings.Contains(text, want) {
			t.Errorf("at %s the page says %s, want %q", at, text, want)
		}
	}
}

// TestOlderTimesHaveLongerSteps: where the seconds are no longer kept, the next steps that
// are serve.
func TestOlderTimesHaveLongerSteps(t *testing.T) {
	t.Parallel()
	start := time.Now().Add(-3 * time.Hour).Truncate(time.Hour).UTC()
	s := heated(t, start, 2*3600, busy, nil, 2*3600-100)
	address := serve(t, s)
	if m := heatOf(t, address, between(start.Add(10*time.Minute), start.Add(12*time.Minute))); m.Step != 10 || len(m.Rows) != 4 {
		t.Errorf("steps of %d s, %d rows, want 10 s", m.Step, len(m.Rows))
	}
	if m := heatOf(t, address, between(start.Add(7050*time.Second), start.Add(2*time.Hour))); m.Step != 10 || len(m.Rows[0].Cells) == 0 || m.Rows[0].Cells[0][0] != 0 {
		t.Errorf("half of the seconds are no longer kept, and steps are of %d s", m.Step)
	}
	if m := heatOf(t, address, between(start.Add(7110*time.Second), start.Add(2*time.Hour))); m.Step != 1 {
		t.Errorf("the newest have steps of %d s, want seconds", m.Step)
	}
}

func TestHeatPage(t *testing.T) {
	t.Parallel()
	start := time.Now().Add(-3 * time.Hour).Truncate(time.Hour).UTC()
	address := serve(t, heated(t, start, 3600, busy, nil, 3000))
	values := between(start, start.Add(time.Hour))
	values.Set("table", "orders")
	p := open(t, address+"/heat?"+values.Encode())
	rows := p.all("tbody", "")[0].all("tr", "")
	if len(rows) != 5 {
		t.Fatalf("%d rows, want 4 keys and everything else", len(rows))
	}
	for i, want := range []string{hostile + " 1,500 WCU 150% ", "user#42 3 shards, the hottest counts 600 WCU 60% ", longKey + " 399 WCU 40% ", "warm 120 WCU 12% ", "Everything else keys below 2%, Scans at most 0 WCU of one key"} {
		if got := rows[i].text(); !strings.HasPrefix(got, want) {
			t.Errorf("row %d is %q, want %q", i, got, want)
		}
	}
	figure := p.all("figure", "heat")[0]
	if _, header := get(t, address+figure.attr("data-words"), http.StatusOK); !strings.Contains(header.Get("Content-Type"), "application/json") {
		t.Errorf("the script's words are %s", header.Get("Content-Type"))
	}
	for _, e := range p.all("script", "") {
		if e.FirstChild != nil || !strings.HasPrefix(e.attr("src"), "/static/") {
			t.Errorf("there is an inline script, or one of elsewhere: %q", e.attr("src"))
		}
	}
	for _, a := range p.all("a", "") {
		if link := a.attr("href"); strings.HasPrefix(link, "/heat") {
			get(t, address+link, http.StatusOK)
		}
	}
	if script, _ := get(t, address+"/static/heat.js", http.StatusOK); strings.Contains(script, "innerHTML") {
		t.Error("the script writes HTML of what it gets")
	}
}

func TestHeatIsLinked(t *testing.T) {
	t.Parallel()
	s, found := filledAt(t, sample.Target{Account: "123456789012", Region: "eu-west-1"}, sample.Target{Account: "123456789012", Region: "us-east-1"})
	address := serve(t, s)
	for _, from := range []string{"/tables", tablePath, "/findings/" + found[0].Fingerprint} {
		linked := false
		for _, a := range open(t, address+from).all("a", "") {
			if link := a.attr("href"); strings.HasPrefix(link, "/heat?") {
				linked = true
				if text := open(t, address+link).text(); !strings.Contains(text, "Heat of orders") || !strings.Contains(text, "123456789012") {
					t.Errorf("%s of %s is of another table: %.300s", link, from, text)
				}
			}
		}
		if !linked {
			t.Errorf("%s has no link to the heatmap", from)
		}
	}
	q := url.Values{"table": {"orders"}, "account": {"123456789012"}, "region": {"us-east-1"}, "what": {"write"}}
	text, _ := get(t, address+"/api/v1/heat?"+q.Encode(), http.StatusOK)
	var m heatMap
	must(t, json.Unmarshal([]byte(text), &m))
	for _, row := range m.Rows {
		i := slices.IndexFunc(found, func(f detect.Finding) bool { return f.Fingerprint == row.Finding })
		if i < 0 || string(found[i].Key) != row.Key || found[i].Region != "us-east-1" {
			t.Errorf("%q is linked to finding %q", row.Key, row.Finding)
		}
	}
	if len(m.Rows) != 2 {
		t.Errorf("%d rows, want 2", len(m.Rows))
	}
}

func TestHeatAddresses(t *testing.T) {
	t.Parallel()
	s, _ := filled(t)
	address := serve(t, s)
	for query, want := range map[string]string{
		"": "ive a table", "table=orders&what=heat": "ive one of write, read", "table=orders&rows=0": "from 1 to 150",
		"table=orders&span=1y": "such as 1h", "table=orders&from=yesterday": "such as 2026-11-22T12:00:00Z", "table=orders&span=1s": "ive from 10s to 16 days",
		"table=orders&span=9000h": "ive from 10s to 16 days", "table=orders&from=2026-11-22T12:00:00Z&to=2026-11-22T11:00:00Z": "ive a beginning before the end", "table=orders&from=2999-11-22T12:00:00Z&to=2999-11-22T13:00:00Z": "ive a beginning in the past",
		"table=orders&to=9999-11-22T12:00:00Z": "such as",
	} {
		for _, path := range []string{"/heat?", "/api/v1/heat?"} {
			if text, _ := get(t, address+path+query, http.StatusBadRequest); !strings.Contains(text, want) {
				t.Errorf("%s%s says %s, want %q", path, query, text, want)
			}
		}
	}
	for _, query := range []string{"table=orders&span=72h", "table=orders&to=2001-01-01T00:00:00Z"} {
		get(t, address+"/heat?"+query, http.StatusOK)
	}
	m := heatOf(t, address, url.Values{"index": {"by-status"}})
	if m.What != "read" || len(m.Rows) != 1 || m.Rows[0].Key != "OPEN" {
		t.Errorf("an index that is read alone shows %s of %+v", m.What, m.Rows)
	}
}

// TestHeatColours: the colours of heat are warm and of monotone lightness, darker for more
// in the light theme and lighter in the dark one. With each common deficiency of colour
// vision, colours over the limit are far from all below it, and those below are told from
// their neighbours; so are marks from what they are on.
func TestHeatColours(t *testing.T) {
	t.Parallel()
	s, _ := filled(t)
	css, _ := get(t, serve(t, s)+"/static/style.css", http.StatusOK)
	colours := regexp.MustCompile(`--heat-(\d|mark): #([0-9a-f]{6})`).FindAllStringSubmatch(css, -1)
	cards := regexp.MustCompile(`--card: #([0-9a-f]{6})`).FindAllStringSubmatch(css, -1)
	if len(colours) != 14 {
		t.Fatalf("%d colours, want 7 in each of two themes", len(colours))
	}
	themes := map[string][][]string{"light": colours[:7], "dark": colours[7:]}
	for theme, sign := range map[string]float64{"light": -1, "dark": 1} {
		for vision, matrix := range deficiencies {
			var seen [7][3]float64
			for i, c := range themes[theme] {
				seen[i] = labOf(t, c[2], matrix)
			}
			for i := range 4 {
				for over := 4; over < 6; over++ {
					if d := distance(seen[i], seen[over]); d < 25 {
						t.Errorf("%s theme, %s: colour %d is %.0f from %d, which is over the limit", theme, vision, i, d, over)
					}
				}
			}
			for i := 1; i < 6; i++ {
				if d := distance(seen[i], seen[i-1]); d < 8 {
					t.Errorf("%s theme, %s: colours %d and %d are %.0f apart", theme, vision, i-1, i, d)
				}
				if step := sign * (seen[i][0] - seen[i-1][0]); step < 5 {
					t.Errorf("%s theme, %s: the lightness of colour %d is %.0f beyond the one before, want 5", theme, vision, i, step)
				}
			}
			for over := 4; over < 6; over++ {
				if d := math.Abs(seen[over][0] - seen[6][0]); d < 35 {
					t.Errorf("%s theme, %s: the mark's lightness is %.0f from colour %d", theme, vision, d, over)
				}
			}
		}
		lightness := func(colour []string) float64 {
			return labOf(t, colour[len(colour)-1], deficiencies["full colour vision"])[0]
		}
		luminance := func(colour []string) float64 { return math.Pow((lightness(colour)+16)/116, 3) + 0.05 }
		card := cards[map[string]int{"light": 0, "dark": 1}[theme]]
		if c := math.Pow(luminance(themes[theme][0])/luminance(card), sign); c < 1.5 {
			t.Errorf("%s theme: the lowest colour has a contrast of %.2f to the card, want 1.5", theme, c)
		}
		for i, c := range themes[theme][:6] {
			lab := labOf(t, c[2], deficiencies["full colour vision"])
			if chroma := math.Hypot(lab[1], lab[2]); chroma < 15 || lab[2] < 0 {
				t.Errorf("%s theme: colour %d has a chroma of %.0f and a yellow of %.0f: it is grey or cold", theme, i, chroma, lab[2])
			}
		}
	}
}

// TestHeatRest: the load of everything without a row is the table's less the rows', and
// unknown where nobody counted.
func TestHeatRest(t *testing.T) {
	t.Parallel()
	start := time.Now().Add(-3 * time.Hour).Truncate(time.Hour).UTC()
	address := serve(t, heated(t, start, 300, busy, func(second int) bool { return second >= 100 && second < 120 }, 0))
	values := between(start, start.Add(5*time.Minute))
	values.Set("rows", "1") // the hostile key alone
	m := heatOf(t, address, values)
	for second, want := range map[int]float64{0: 120 + 300 + 400 + 500 + 600 + unlisted, 99: 120 + 399 + 400 + 500 + 600 + unlisted} {
		if m.Rest[second] == nil || *m.Rest[second] != want {
			t.Errorf("second %d: everything else is %v, want %g", second, m.Rest[second], want)
		}
	}
	if m.Rest[110] != nil {
		t.Errorf("a second that nobody counted has %g", *m.Rest[110])
	}
}

// TestHeatRange: without a time in the address a map shows where data are.
func TestHeatRange(t *testing.T) {
	t.Parallel()
	now := time.Now().UTC() // the pages' time is some time later
	for name, c := range map[string]struct {
		start   time.Time
		seconds int
		from    time.Time
		to      time.Time
	}{
		"an hour of a long time":     {now.Add(-3 * time.Hour), 3 * 3600, now.Add(-time.Hour), now},
		"as long as it is counted":   {now.Add(-20 * time.Minute), 20 * 60, now.Add(-20 * time.Minute), now},
		"five minutes at least":      {now.Add(-40 * time.Second), 30, now.Add(-5 * time.Minute), now},
		"the last hour with data":    {now.Add(-5 * time.Hour), 2 * 3600, now.Add(-4 * time.Hour), now.Add(-3 * time.Hour)},
		"the last hour with nothing": {now, 0, now.Add(-time.Hour), now},
	} {
		address := serve(t, heated(t, c.start.Truncate(10*time.Second), c.seconds, busy, nil, 0))
		m := heatOf(t, address, url.Values{})
		near, late := time.Duration(m.Step+20)*time.Second, time.Since(now)
		isNear := func(at, want time.Time) bool { return !at.Before(want.Add(-near)) && !at.After(want.Add(near+late)) }
		if !isNear(m.From, c.from) || !isNear(m.To, c.to) {
			t.Errorf("%s: from %s to %s, want from %s to %s", name, m.From, m.To, c.from, c.to)
		}
	}
}

// deficiencies are the matrices of Machado, Oliveira and Fernandes (2009) at full
// severity, in linear RGB.
var deficiencies = map[string][9]float64{
	"full colour vision": {1, 0, 0, 0, 1, 0, 0, 0, 1},
	"protanopia":         {0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998},
	"deuteranopia":       {0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940, 0.968881},
	"tritanopia":         {1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.303900},
}

// labOf returns a colour as it is seen, in CIE L*a*b*.
func labOf(t *testing.T, hex string, seen [9]float64) [3]float64 {
	t.Helper()
	var linear, rgb [3]float64
	for i := range linear {
		n, err := strconv.ParseUint(hex[2*i:2*i+2], 16, 8)
		must(t, err)
		v := float64(n) / 255
		if v <= 0.04045 {
			linear[i] = v / 12.92
		} else {
			linear[i] = math.Pow((v+0.055)/1.055, 2.4)
		}
	}
	for i := range rgb {
		rgb[i] = min(1, max(0, seen[3*i]*linear[0]+seen[3*i+1]*linear[1]+seen[3*i+2]*linear[2]))
	}
	f := func(v float64) float64 {
		if v > 216.0/24389 {
			return math.Cbrt(v)
		}
		return (24389.0/27*v + 16) / 116
	}
	x := f((0.4124*rgb[0] + 0.3576*rgb[1] + 0.1805*rgb[2]) / 0.9505)
	y := f(0.2126*rgb[0] + 0.7152*rgb[1] + 0.0722*rgb[2])
	z := f((0.0193*rgb[0] + 0.1192*rgb[1] + 0.9505*rgb[2]) / 1.089)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

func distance(a, b [3]float64) float64 {
	return math.Sqrt((a[0]-b[0])*(a[0]-b[0]) + (a[1]-b[1])*(a[1]-b[1]) + (a[2]-b[2])*(a[2]-b[2]))
}
