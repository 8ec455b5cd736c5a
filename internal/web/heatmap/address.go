package heatmap

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/keyheat/keyheat/internal/settings/options"
	"github.com/keyheat/keyheat/sample"
)

// defaultSpan is how much of the time before now a map shows when nothing else is asked
// for.
const defaultSpan = time.Hour

// spans are the lengths that a page offers: in steps of a second, ten, and so on.
var spans = []struct {
	name string
	time.Duration
}{{"5 min", 5 * time.Minute}, {"1 h", time.Hour}, {"6 h", 6 * time.Hour}, {"2 days", 48 * time.Hour}, {"14 days", 14 * 24 * time.Hour}}

// ParseQuery reads the parameters of an address: from and to, or a span up to to or up to
// now. live reports that the map ends now. An error is for who wrote the address.
func ParseQuery(values url.Values, now time.Time) (q Query, live bool, err error) {
	q = Query{
		Target: sample.Target{Account: values.Get("account"), Region: values.Get("region"), Table: values.Get("table"), Index: values.Get("index")},
		What:   values.Get("what"), Rows: DefaultRows,
	}
	if q.Table == "" {
		return q, false, errors.New("give a table")
	}
	if q.What != "" && !slices.Contains(Whats, q.What) {
		return q, false, fmt.Errorf("what %q: give one of %s", q.What, strings.Join(Whats, ", "))
	}
	if text := values.Get("rows"); text != "" {
		if q.Rows, err = strconv.Atoi(text); err != nil || q.Rows < 1 || q.Rows > MaxRows {
			return q, false, fmt.Errorf("rows %q: give a number from 1 to %d", text, MaxRows)
		}
	}
	span := defaultSpan
	if text := values.Get("span"); text != "" {
		if span, err = options.ParseDuration(text); err != nil {
			return q, false, fmt.Errorf("span %q: give a duration such as 1h", text)
		}
	}
	if q.To, err = timeOr(values, "to", now); err != nil {
		return q, false, err
	}
	if q.From, err = timeOr(values, "from", q.To.Add(-span)); err != nil {
		return q, false, err
	}
	if of := q.To.Sub(q.From); of < MinSpan || of > MaxSpan {
		return q, false, fmt.Errorf("from %s to %s: give from %s to %d days", q.From.Format(time.RFC3339), q.To.Format(time.RFC3339), MinSpan, MaxSpan/(24*time.Hour))
	}
	return q, values.Get("to") == "", nil
}

// timeOr reads a time of the address.
func timeOr(values url.Values, name string, otherwise time.Time) (time.Time, error) {
	text := values.Get(name)
	if text == "" {
		return otherwise.UTC(), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || at.Year() < 1971 || at.Year() > 9000 {
		return at, fmt.Errorf("%s %q: give a time such as 2026-11-22T12:00:00Z", name, text)
	}
	return at.UTC(), nil
}

// choice is a link to a map.
type choice struct {
	Word, Link string
	Chosen     bool
}

// Links are the links of a map's page: to the same map of another dimension, length and
// time, with all keys, and to its JSON.
type Links struct {
	Whats, Spans, Moves []choice
	All, Source         string
}

// path is where the page of a map is, and source its JSON.
const path, source = "/heat?", "/api/v1/heat?"

// NewLinks returns the links of a map. of are the parameters that choose its target.
func NewLinks(of url.Values, q Query, what string, live bool, now time.Time) (l Links) {
	span := q.To.Sub(q.From)
	address := func(what string, span time.Duration, to time.Time, rows int) string {
		values := maps.Clone(of)
		values.Set("what", what)
		values.Set("span", options.FormatDuration(span))
		if !to.IsZero() {
			values.Set("to", to.Format(time.RFC3339))
		}
		if rows != DefaultRows {
			values.Set("rows", strconv.Itoa(rows))
		}
		return values.Encode()
	}
	to := q.To
	if live {
		to = time.Time{}
	}
	for i, word := range []string{"Writes", "Reads", "Throttled"} {
		l.Whats = append(l.Whats, choice{word, path + address(Whats[i], span, to, q.Rows), Whats[i] == what})
	}
	for _, of := range spans {
		l.Spans = append(l.Spans, choice{of.name, path + address(what, of.Duration, to, q.Rows), of.Duration == span})
	}
	later := q.To.Add(span / 2)
	if !later.Before(now) {
		later = time.Time{}
	}
	l.Moves = []choice{
		{Word: "← Earlier", Link: path + address(what, span, q.To.Add(-span/2).Truncate(time.Second), q.Rows)},
		{Word: "Later →", Link: path + address(what, span, later, q.Rows)},
		{Word: "Now", Link: path + address(what, span, time.Time{}, q.Rows), Chosen: live},
	}
	l.All = path + address(what, span, to, MaxRows)
	l.Source = source + address(what, span, to, q.Rows)
	return l
}

// LinkAround returns the address of a map of shorter steps around a column.
func (m *Map) LinkAround(of url.Values, at time.Time) string {
	half := max(10*time.Duration(m.Step)*time.Second, time.Minute)
	return LinkTo(of, m.What, at.Add(-half), at.Add(half))
}

// LinkTo returns the address of a map from one time to another, no longer than a map may
// be.
func LinkTo(of url.Values, what string, from, to time.Time) string {
	if from.Before(to.Add(-MaxSpan)) {
		from = to.Add(-MaxSpan)
	}
	values := maps.Clone(of)
	values.Set("what", what)
	values.Set("from", from.UTC().Format(time.RFC3339))
	values.Set("to", to.UTC().Format(time.RFC3339))
	return path + values.Encode()
}

// Link returns the address of the map of the last hour.
func Link(of url.Values) string { return path + of.Encode() }

// swatch is a colour of the legend: its class in the style sheet, and its meaning.
type swatch struct{ Class, Text string }

// Legend returns the colours of a map's dimension, the coldest first. The page's script
// has their steps.
func Legend(what string) []swatch {
	texts := []string{"to 10%", "25%", "50%", "80%", "100%", "over the limit", "over twice the limit"}
	if what == Throttled {
		texts = []string{"to 1%", "5%", "20%", "50%", "100%"}
	}
	all := make([]swatch, len(texts))
	for i, text := range texts {
		all[i] = swatch{"heat-" + strconv.Itoa(i), text}
	}
	return all
}
