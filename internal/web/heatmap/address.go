package heatmap

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/keyheat/keyheat/sample"
)

// ParseQuery reads the parameters of an address but for its time. An error is for who
// wrote the address.
func ParseQuery(values url.Values) (q Query, err error) {
	q = Query{
		Target: sample.Target{Account: values.Get("account"), Region: values.Get("region"), Table: values.Get("table"), Index: values.Get("index")},
		What:   values.Get("what"), Sort: cmp.Or(values.Get("sort"), ByLoad),
	}
	if q.Table == "" {
		return q, errors.New("give a table")
	}
	if q.What != "" && !slices.Contains(whats, q.What) {
		return q, fmt.Errorf("what %q: give one of %s", q.What, strings.Join(whats, ", "))
	}
	if !slices.Contains(sorts, q.Sort) {
		return q, fmt.Errorf("sort %q: give one of %s", q.Sort, strings.Join(sorts, ", "))
	}
	q.Rows, err = parseNumber(values, "rows", DefaultRows, maxRows)
	return q, err
}

func parseNumber(values url.Values, name string, byDefault, most int) (int, error) {
	text := values.Get(name)
	if text == "" {
		return byDefault, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, fmt.Errorf("%s %q: give a number from 1 to %d", name, text, most)
	}
	return n, nil
}

// Links are the links of a map: to the same map of another dimension and order of rows,
// with its keys as a list, with all keys, to its JSON, and to that of the range that it is compared with.
type Links struct {
	Whats, Sorts                        []choice
	List, All, Source, ComparisonSource string
}

// Values returns the parameters that choose a map but for its time. of choose the target.
func (q Query) Values(of url.Values) url.Values {
	values := maps.Clone(of)
	if q.What != "" {
		values.Set("what", q.What)
	}
	if q.Sort != ByLoad {
		values.Set("sort", q.Sort)
	}
	if q.Rows != DefaultRows {
		values.Set("rows", strconv.Itoa(q.Rows))
	}
	return values
}

// path is where the page of a map is, and source its JSON.
const path, source = "/heat?", "/api/v1/heat?"

// NewLinks returns the links of a map on a page. of are the page's parameters that choose
// the target, asked the address's.
func NewLinks(page string, of, asked url.Values, q Query, what string) (l Links) {
	address := func(path string, changes ...string) string {
		values := q.Values(of)
		maps.Copy(values, TimeValues(asked))
		for i := 0; i < len(changes); i += 2 {
			values.Set(changes[i], changes[i+1])
		}
		return path + values.Encode()
	}
	for i, word := range []string{"Writes", "Reads", "Throttled"} {
		l.Whats = append(l.Whats, choice{word, address(page+"?", "what", whats[i]), whats[i] == what})
	}
	for i, word := range []string{"By load", "By key", "By prefix", "By position"} {
		if sorts[i] == ByPosition && q.Partitions == nil && q.Sort != ByPosition {
			continue
		}
		l.Sorts = append(l.Sorts, choice{word, address(page+"?", "sort", sorts[i]), sorts[i] == q.Sort})
	}
	l.List, l.All = address(path, "rows", strconv.Itoa(DefaultRows)), address(path, "rows", strconv.Itoa(maxRows))
	l.Source = address(source, "what", what)
	if q.Range.Compare > 0 {
		r := q.Range.Earlier()
		l.ComparisonSource = address(source, "what", what, "from", r.From.Format(time.RFC3339), "to", r.To.Format(time.RFC3339))
	}
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
