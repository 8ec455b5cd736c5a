package heatmap

import (
	"errors"
	"maps"
	"net/url"
	"strconv"
	"time"

	"github.com/keyheat/keyheat/internal/chart"
	"github.com/keyheat/keyheat/internal/web/address"
)

// ParseQuery reads the parameters of an address but for its time. An error is for who
// wrote the address.
func ParseQuery(values url.Values) (q Query, err error) {
	if q.Target, q.What = address.ReadTarget(values), values.Get("what"); q.Table == "" {
		return q, address.BadRequest{Err: errors.New("give a table")}
	}
	if err := address.OneOf("what", q.What, []string{chart.Write, chart.Read}); err != nil {
		return q, err
	}
	q.Rows, err = address.ReadNumber(values, "rows", DefaultRows, maxRows)
	return q, err
}

// Values returns the parameters that choose a map but for its time. of choose the target.
func (q Query) Values(of url.Values) url.Values {
	values := maps.Clone(of)
	if q.What != "" {
		values.Set("what", q.What)
	}
	if q.Rows != DefaultRows {
		values.Set("rows", strconv.Itoa(q.Rows))
	}
	return values
}

// path is where the page of a map is.
const path = "/heat?"

// Links are the links of a map: to the same map of another dimension, with its keys as a
// list, with all keys, and to the words of its cells.
type Links struct {
	Whats            []address.Choice
	List, All, Words string
}

// NewLinks returns the links of a map on a page. of are the page's parameters that choose
// the target, asked the address's.
func NewLinks(page string, of, asked url.Values, q Query, m *chart.Map) (l Links) {
	chosen := q.Values(of)
	maps.Copy(chosen, address.TimeValues(asked))
	link := func(path, name, value string) string {
		values := maps.Clone(chosen)
		values.Set(name, value)
		return path + values.Encode()
	}
	l.Whats = []address.Choice{
		{Word: "Writes", Link: link(page+"?", "what", chart.Write), Chosen: m.What == chart.Write},
		{Word: "Reads", Link: link(page+"?", "what", chart.Read), Chosen: m.What == chart.Read},
	}
	l.List, l.All = link(path, "rows", strconv.Itoa(DefaultRows)), link(path, "rows", strconv.Itoa(maxRows))
	// The words are of the map's own columns, also if time goes on.
	words := q.Values(of)
	words.Set("what", m.What)
	setTime(words, m.From, m.From.Add(min(m.To.Sub(m.From), MaxColumns*time.Duration(m.Step)*time.Second)))
	l.Words = "/heat/cells?" + words.Encode()
	return l
}

func setTime(values url.Values, from, to time.Time) {
	values.Set("from", from.UTC().Format(time.RFC3339))
	values.Set("to", to.UTC().Format(time.RFC3339))
}

// LinkAround returns the address of a map of shorter steps around a time of a map.
func LinkAround(of url.Values, m *chart.Map, at time.Time) string {
	half := max(10*time.Duration(m.Step)*time.Second, time.Minute)
	return LinkTo(of, m.What, at.Add(-half), at.Add(half))
}

// LinkTo returns the address of a map from one time to another, no longer than a map may
// be.
func LinkTo(of url.Values, what string, from, to time.Time) string {
	if from.Before(to.Add(-address.MaxSpan)) {
		from = to.Add(-address.MaxSpan)
	}
	values := maps.Clone(of)
	values.Set("what", what)
	setTime(values, from, to)
	return path + values.Encode()
}
