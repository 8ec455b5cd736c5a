package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/web/heatmap"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// tableTotals is what is stored of a table or index, in the API's form.
type tableTotals struct {
	sample.Target
	Requests int64   `json:"requests"`
	WCU      float64 `json:"wcu"`
	RCU      float64 `json:"rcu"`
	// Throttled is what was throttled, beside what Requests and units count.
	Throttled detect.Throttled `json:"throttled"`
	Seconds   int64            `json:"seconds"`
	// DistinctKeys is about how many keys were seen in the last hour that is
	// stored; 0 when unknown.
	DistinctKeys int64 `json:"distinct_keys"`
	// View is what the keys of the last hour look like; null before there is
	// one.
	View *detect.View `json:"view"`
}

// maxCounted is how many tables have their distinct keys counted for one page:
// each is a query of its own.
const maxCounted = 200

func (s *Site) tables(ctx context.Context) ([]tableTotals, error) {
	rows, err := s.store.Totals(ctx)
	if err != nil {
		return nil, err
	}
	views, err := s.views(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]tableTotals, len(rows))
	for i, r := range rows {
		all[i] = tableTotals{
			Target: r.Target, Requests: r.Requests, Seconds: r.Seconds,
			WCU: float64(r.WriteMilli) / 1000, RCU: float64(r.ReadMilli) / 1000,
			Throttled: detect.Throttled{Requests: r.ThrottledRequests, WCU: float64(r.ThrottledWriteMilli) / 1000, RCU: float64(r.ThrottledReadMilli) / 1000},
		}
		all[i].View = views[r.Target].View
		if i >= maxCounted {
			continue
		}
		if all[i].DistinctKeys, err = s.distinct(ctx, r.Target); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// distinct estimates the keys of the last hour.
func (s *Site) distinct(ctx context.Context, at sample.Target) (int64, error) {
	rows, err := s.store.Cardinalities(ctx, store.CardinalityQuery{
		Target: at, From: time.Now().Add(-time.Hour),
	})
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	var hour sketch.Cardinality
	for _, row := range rows {
		minute, err := sketch.CardinalityFromBytes(row.Registers)
		if err != nil {
			return 0, err
		}
		hour.Join(minute)
	}
	return int64(hour.Estimate()), nil
}

// heat loads the heatmap of an address: of the first table in order where the account or
// the Region is not given.
func (s *Site) heat(ctx context.Context, values url.Values) (q heatmap.Query, live bool, m *heatmap.Map, err error) {
	if q, live, err = heatmap.ParseQuery(values, time.Now()); err != nil {
		return q, live, nil, badRequest{err}
	}
	views, err := s.store.TableViews(ctx)
	if err != nil {
		return q, live, nil, err
	}
	i := slices.IndexFunc(views, func(v store.TableView) bool {
		return v.Table == q.Table && v.Index == q.Index &&
			(q.Account == "" || v.Account == q.Account) && (q.Region == "" || v.Region == q.Region)
	})
	if i >= 0 {
		q.Target = views[i].Target
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
	heatmap.Links
	M *heatmap.Map
	// Table is where the table's page is, Where its account and Region.
	Table, Where string
	// Follows reports that the map ends now, and goes on.
	Follows bool
	// Unseen reports that none of its seconds was counted.
	Unseen bool
	Keys   []heatKey
}

// heatKey is a row of the table below the map.
type heatKey struct {
	heatmap.Row
	Highest     heatmap.Cell
	At          time.Time
	Utilization float64
	// Around is the map of the highest cell.
	Around string
}

func (s *Site) heatPage(ctx context.Context, r *http.Request) (any, error) {
	q, live, m, err := s.heat(ctx, r.URL.Query())
	if err != nil {
		return nil, err
	}
	of := indexValues(m.Target)
	page := &heatPage{
		M: m, Table: tableLink(m.Target), Where: place(m.Target), Links: heatmap.NewLinks(of, q, m.What, live, time.Now()),
		Follows: live, Unseen: slices.Max(m.Seen) == 0,
	}
	if page.frame, err = s.frame(ctx, "Heat of "+m.Table, "tables"); err != nil {
		return nil, err
	}
	page.frame.Live = live // a map of another time does not change
	for _, row := range m.Rows {
		k := heatKey{Row: row, Highest: row.Hottest()}
		k.At, k.Utilization = m.At(k.Highest.Column), detect.Ratio(k.Highest.Value, m.Limit)
		k.Around = m.Around(of, k.At)
		page.Keys = append(page.Keys, k)
	}
	return page, nil
}
