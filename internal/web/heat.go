package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/wording"
	"github.com/keyheat/keyheat/internal/web/heatmap"
	"github.com/keyheat/keyheat/sample"
)

// defaultSpan is how much of the time before now a heatmap shows when nothing else is
// asked for.
const defaultSpan = time.Hour

// spans are those that the page offers: of steps of a second, ten, and so on.
var spans = []struct {
	name string
	time.Duration
}{{"5 min", 5 * time.Minute}, {"1 h", time.Hour}, {"6 h", 6 * time.Hour}, {"2 days", 48 * time.Hour}, {"14 days", 14 * 24 * time.Hour}}

// heatQuery reads the address of a heatmap: from and to, or a span up to to or up to
// now. live reports that it ends now.
func heatQuery(values url.Values, now time.Time) (q heatmap.Query, live bool, err error) {
	q = heatmap.Query{
		Target: sample.Target{Account: values.Get("account"), Region: values.Get("region"), Table: values.Get("table"), Index: values.Get("index")},
		To:     now, What: values.Get("what"), Rows: heatmap.DefaultRows,
	}
	if q.Table == "" {
		return q, false, badRequest{fmt.Errorf("give a table")}
	}
	if err := oneOf("what", q.What, heatmap.Whats); err != nil {
		return q, false, err
	}
	if text := values.Get("rows"); text != "" {
		if q.Rows, err = strconv.Atoi(text); err != nil || q.Rows < 1 || q.Rows > heatmap.MaxRows {
			return q, false, badRequest{fmt.Errorf("rows %q: give a number from 1 to %d", text, heatmap.MaxRows)}
		}
	}
	span := defaultSpan
	if text := values.Get("span"); text != "" {
		if span, err = time.ParseDuration(text); err != nil {
			return q, false, badRequest{fmt.Errorf("span %q: give a duration such as 1h", text)}
		}
	}
	live = values.Get("to") == ""
	if q.To, err = timeOr(values, "to", now); err != nil {
		return q, false, err
	}
	if q.From, err = timeOr(values, "from", q.To.Add(-span)); err != nil {
		return q, false, err
	}
	if of := q.To.Sub(q.From); of < heatmap.MinSpan || of > heatmap.MaxSpan {
		return q, false, badRequest{fmt.Errorf("from %s to %s: give from %s to %d days",
			q.From.Format(time.RFC3339), q.To.Format(time.RFC3339), heatmap.MinSpan, heatmap.MaxSpan/(24*time.Hour))}
	}
	return q, live, nil
}

// timeOr reads a time of the address.
func timeOr(values url.Values, name string, otherwise time.Time) (time.Time, error) {
	text := values.Get(name)
	if text == "" {
		return otherwise, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || at.Year() < 1971 || at.Year() > 9000 {
		return at, badRequest{fmt.Errorf("%s %q: give a time such as 2026-11-22T12:00:00Z", name, text)}
	}
	return at.UTC(), nil
}

// heat loads the heatmap of an address.
func (s *Site) heat(ctx context.Context, values url.Values) (q heatmap.Query, live bool, m *heatmap.Map, err error) {
	if q, live, err = heatQuery(values, time.Now().UTC()); err != nil {
		return q, live, nil, err
	}
	views, err := s.store.TableViews(ctx)
	if err != nil {
		return q, live, nil, err
	}
	for _, view := range views { // the first where account or Region are not given
		if view.MayBe(q.Target) && (q.Account == "" || view.Account == q.Account) && (q.Region == "" || view.Region == q.Region) {
			q.Target = view.Target
			break
		}
	}
	m, err = heatmap.Load(ctx, s.store, q)
	return q, live, m, err
}

func (s *Site) apiHeat(ctx context.Context, r *http.Request) (any, error) {
	_, _, m, err := s.heat(ctx, r.URL.Query())
	return m, err
}

// heatPage is a heatmap's page.
type heatPage struct {
	frame
	M *heatmap.Map
	// Table is where the table's page is, and Source where the script gets the map.
	Table, Source string
	Where         string
	// Whats, Spans and Moves are links to the same map of something else, of another
	// length, and of another time; All is one to the same with all keys.
	Whats, Spans, Moves []choice
	All                 string
	// Fixed reports that the map does not end now.
	Fixed bool
	// Nothing reports that none of its seconds was seen.
	Unseen bool
	Keys   []heatKey
}

// heatKey is a row of the table below the map.
type heatKey struct {
	heatmap.Row
	Highest     heatmap.Cell
	At          time.Time
	Utilization float64
	// Zoom is the map of the highest cell.
	Zoom string
}

func (s *Site) heatPage(ctx context.Context, r *http.Request) (any, error) {
	q, live, m, err := s.heat(ctx, r.URL.Query())
	if err != nil {
		return nil, err
	}
	page := &heatPage{M: m, Table: tableLink(m.Target), Where: place(m.Target), Fixed: !live, Unseen: true}
	if page.frame, err = s.frame(ctx, "Heat of "+m.Table, "tables"); err != nil {
		return nil, err
	}
	page.frame.Live = false // the script that draws the map refreshes it
	for _, seconds := range m.Seen {
		page.Unseen = page.Unseen && seconds == 0
	}
	page.link(q, live)
	for _, row := range m.Rows {
		k := heatKey{Row: row, Highest: row.Hottest()}
		k.At, k.Utilization = m.At(k.Highest.Column), detect.Ratio(k.Highest.Value, m.Limit)
		k.Zoom = zoomLink(m, k.At)
		page.Keys = append(page.Keys, k)
	}
	return page, nil
}

// link sets the links to other maps.
func (p *heatPage) link(q heatmap.Query, live bool) {
	span := q.To.Sub(q.From)
	address := func(what string, span time.Duration, to time.Time, rows int) string {
		values := heatValues(q.Target)
		values.Set("what", what)
		values.Set("span", shortDuration(span))
		if !to.IsZero() {
			values.Set("to", to.Format(time.RFC3339))
		}
		if rows != heatmap.DefaultRows {
			values.Set("rows", strconv.Itoa(rows))
		}
		return "?" + values.Encode()
	}
	to := q.To
	if live {
		to = time.Time{}
	}
	for _, what := range heatmap.Whats {
		p.Whats = append(p.Whats, choice{map[string]string{heatmap.Write: "Writes", heatmap.Read: "Reads", heatmap.Throttled: "Throttled"}[what],
			"/heat" + address(what, span, to, q.Rows), what == p.M.What})
	}
	for _, of := range spans {
		p.Spans = append(p.Spans, choice{of.name, "/heat" + address(p.M.What, of.Duration, to, q.Rows), of.Duration == span})
	}
	later := q.To.Add(span / 2)
	if !later.Before(time.Now()) {
		later = time.Time{}
	}
	p.Moves = []choice{
		{Word: "← Earlier", Link: "/heat" + address(p.M.What, span, q.To.Add(-span/2).Truncate(time.Second), q.Rows)},
		{Word: "Later →", Link: "/heat" + address(p.M.What, span, later, q.Rows)},
		{Word: "Now", Link: "/heat" + address(p.M.What, span, time.Time{}, q.Rows), Chosen: live},
	}
	p.All = "/heat" + address(p.M.What, span, to, heatmap.MaxRows)
	p.Source = "/api/v1/heat" + address(p.M.What, span, to, q.Rows)
}

// shortDuration writes a duration without zeros at its end.
func shortDuration(d time.Duration) string {
	text := d.Round(time.Second).String()
	for _, zero := range []string{"m0s", "h0m"} {
		if n := len(text) - len(zero) + 1; n > 0 && text[n-1:] == zero {
			text = text[:n]
		}
	}
	return text
}

// zoomLink returns the map around a column, of shorter steps.
func zoomLink(m *heatmap.Map, at time.Time) string {
	values := heatValues(m.Target)
	values.Set("what", m.What)
	step := time.Duration(m.Step) * time.Second
	around := max(step*20, 2*time.Minute)
	values.Set("from", at.Add(-around/2).Format(time.RFC3339))
	values.Set("to", at.Add(around/2).Format(time.RFC3339))
	return "/heat?" + values.Encode()
}

// heatLink returns where a table's heatmap is.
func heatLink(of detect.Target) string { return "/heat?" + heatValues(of).Encode() }

func heatValues(of detect.Target) url.Values {
	values := targetValues(of)
	values.Set("index", of.Index)
	return values
}

// findingHeatLink returns the heatmap of a finding's time.
func findingHeatLink(f detect.Finding) string {
	values := heatValues(f.Target)
	values.Set("what", detect.Side(f.Kind, heatmap.Write, heatmap.Read))
	around := max(f.LastSeen.Sub(f.FirstSeen)/4, 30*time.Second)
	from, to := f.FirstSeen.Add(-around), f.LastSeen.Add(around)
	if from.Before(to.Add(-heatmap.MaxSpan)) {
		from = to.Add(-heatmap.MaxSpan)
	}
	values.Set("from", from.UTC().Format(time.RFC3339))
	values.Set("to", to.UTC().Format(time.RFC3339))
	return "/heat?" + values.Encode()
}

// stepWords names the length of a step.
func stepWords(step int64) string {
	return cmp.Or(map[int64]string{1: "second", 10: "10 seconds", 60: "minute", 600: "10 minutes", 3600: "hour"}[step], wording.Count(step)+" seconds")
}

// swatch is a colour of the legend.
type swatch struct{ Class, Text string }

// heatLegend returns the colours of a map, the coldest first; static/heat.js has their
// steps.
func heatLegend(of string) []swatch {
	texts := []string{"to 10%", "25%", "50%", "80%", "100%", "over the limit", "over twice the limit"}
	if of == heatmap.Throttled {
		texts = []string{"to 1%", "5%", "20%", "50%", "100%"}
	}
	all := make([]swatch, len(texts))
	for i, text := range texts {
		all[i] = swatch{"heat-" + strconv.Itoa(i), text}
	}
	return all
}
