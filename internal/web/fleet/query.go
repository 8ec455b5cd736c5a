package fleet

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/keyheat/keyheat/internal/web/address"
)

// The orders of the list.
const (
	Hottest   = "hottest"
	Incidents = "incidents"
	Throttled = "throttled"
	Table     = "table"
)

// Sorts are all of them, the default first.
var Sorts = []string{Hottest, Incidents, Throttled, Table}

const longestSearch = 2048

// Query is an address's query.
type Query struct {
	// Search is text in the name of a table, an index, an account or a Region; letters
	// match in either case.
	Search string
	// Sort is one of Sorts. The order of a chosen time needs no load: Incidents or Table.
	Sort string
	// Range is the chosen time; none is the present.
	Range address.Range

	after *place
	// time has the parameters of the chosen time.
	time url.Values
}

// ParseQuery reads the parameters of an address. An error is for who wrote it.
func ParseQuery(values url.Values, now time.Time) (Query, error) {
	q := Query{Search: strings.TrimSpace(values.Get("q")), Sort: cmp.Or(values.Get("sort"), Hottest), time: address.TimeValues(values)}
	var err error
	if q.Range, err = address.ParseRange(values, now, address.Range{}); err != nil {
		return q, err
	}
	if len(q.Search) > longestSearch {
		return q, fmt.Errorf("q is longer than %d bytes", longestSearch)
	}
	if err := address.OneOf("sort", q.Sort, Sorts); err != nil {
		return q, err
	}
	if q.Range.Chosen && q.Sort != Table {
		q.Sort = Incidents
	}
	return q, address.ReadAfter(values, &q.after)
}

// Link returns the address of the list from a place on; of the first page for the empty
// text.
func (q Query) Link(after string) string {
	values := q.Others()
	if after != "" {
		values.Set(address.After, after)
	}
	maps.Copy(values, q.time)
	if len(values) == 0 {
		return "/tables"
	}
	return "/tables?" + values.Encode()
}

// Others returns the parameters of the address but for its time and its place.
func (q Query) Others() url.Values {
	values := make(url.Values)
	if q.Search != "" {
		values.Set("q", q.Search)
	}
	if q.Sort != Hottest && !(q.Range.Chosen && q.Sort == Incidents) {
		values.Set("sort", q.Sort)
	}
	return values
}

func (q Query) finds(r *Row) bool {
	text := strings.ToLower(q.Search)
	return slices.ContainsFunc([]string{r.Table, r.Index, r.Account, r.Region}, func(name string) bool {
		return strings.Contains(strings.ToLower(name), text)
	})
}

// place is a row's in the order of the list: the smaller first.
type place struct {
	First, Second float64
	Name          [4]string
}

func placeOf(r *Row, sort string) place {
	p := place{Name: [4]string{r.Table, r.Index, r.Account, r.Region}}
	incidents := -float64(r.Firing) - float64(r.Pending)/1e6
	if r.Past != nil {
		incidents = -float64(r.Past.Open)
	}
	switch sort {
	case Incidents:
		p.First = incidents
	case Throttled:
		// Unknown values sort behind empty ones.
		if p.First = 1; r.Throttled != nil {
			p.First = -r.Throttled.Share
		}
	case Hottest:
		if p.First, p.Second = 1, incidents; r.Now != nil {
			p.First = -r.Now.Utilization
		}
	}
	return p
}

// Compare orders places.
func (p place) Compare(o place) int {
	return cmp.Or(cmp.Compare(p.First, o.First), cmp.Compare(p.Second, o.Second), slices.Compare(p.Name[:], o.Name[:]))
}
