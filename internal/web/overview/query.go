package overview

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/web/address"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// The orders of a list, within firing, pending and resolved incidents.
const (
	Worst  = "worst"
	Newest = "newest"
	Table  = "table"
	Key    = "key"
)

// sorts are all of them, the default first.
var sorts = []string{Worst, Newest, Table, Key}

// states and severities are in the order of the page, and the values of filters.
var (
	states     = []detect.State{detect.Firing, detect.Pending, detect.Resolved}
	severities = []detect.Severity{detect.Critical, detect.Warning, detect.Info}
)

const longestSearch = 2048

// Query is an address's query.
type Query struct {
	store.HeadQuery
	// Sort is one of Sorts.
	Sort string
	// Range is the time in which the incidents were open; any time without one.
	Range address.Range
	// after is where the page begins; nil for the first page.
	after *position
	// values are the parameters as they came, but for the position.
	values url.Values
}

// ParseQuery reads the parameters of an address. An error is for who wrote it.
func ParseQuery(values url.Values) (Query, error) {
	q := Query{
		HeadQuery: store.HeadQuery{
			State: values.Get("state"), Severity: values.Get("severity"), Account: values.Get("account"), Region: values.Get("region"),
			Table: values.Get("table"), Search: strings.TrimSpace(values.Get("q")), Limit: maxIncidents,
		},
		Sort: cmp.Or(values.Get("sort"), Worst), values: make(url.Values),
	}
	for _, name := range []string{"q", "state", "severity", "account", "region", "table", "sort", "span", "from", "to"} {
		if v := values.Get(name); v != "" {
			q.values.Set(name, v)
		}
	}
	if len(q.Search) > longestSearch {
		return q, fmt.Errorf("q is longer than %d bytes", longestSearch)
	}
	if err := errors.Join(address.OneOf("state", q.State, states), address.OneOf("severity", q.Severity, severities), address.OneOf("sort", q.Sort, sorts)); err != nil {
		return q, err
	}
	return q, address.ReadAfter(values, &q.after)
}

// IsFiltered reports whether the query leaves incidents out.
func (q Query) IsFiltered() bool {
	return q.State+q.Severity+q.Account+q.Region+q.Table+q.Search != "" || q.Range.Chosen
}

// Others returns the parameters of the address but for its time.
func (q Query) Others() url.Values {
	values := maps.Clone(q.values)
	for name := range address.TimeValues(values) {
		values.Del(name)
	}
	return values
}

// Value returns a parameter of the address, so that a form shows its query.
func (q Query) Value(name string) string { return q.values.Get(name) }

// Link returns the address of the first page with another value of a parameter; of none
// where it is empty.
func (q Query) Link(name, value string) string {
	values := maps.Clone(q.values)
	values.Del(name)
	if value != "" {
		values.Set(name, value)
	}
	if len(values) == 0 {
		return "/"
	}
	return "/?" + values.Encode()
}

type position struct {
	State, Severity int
	Number          float64
	Text            sample.Text
	ID              string
}

func positionOf(h *store.IncidentHead, sort string) position {
	p := position{State: slices.Index(states, detect.State(h.State)), ID: h.ID}
	switch sort {
	case Newest:
		p.Number = -float64(h.OpenedAt.Unix())
	case Table:
		p.Text = sample.Text(h.Name())
	case Key:
		p.Text = h.Key
	default:
		p.Severity, p.Number = slices.Index(severities, detect.Severity(h.Severity)), -h.Utilization
	}
	return p
}

// Compare orders positions.
func (p position) Compare(o position) int {
	return cmp.Or(cmp.Compare(p.State, o.State), cmp.Compare(p.Severity, o.Severity), cmp.Compare(p.Number, o.Number),
		cmp.Compare(p.Text, o.Text), cmp.Compare(p.ID, o.ID))
}
