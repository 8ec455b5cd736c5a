package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/web/fleet"
	"github.com/keyheat/keyheat/internal/web/heatmap"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// tableTotals are the stored totals of a table or index, in the API's form.
type tableTotals struct {
	sample.Target
	Requests int64   `json:"requests"`
	WCU      float64 `json:"wcu"`
	RCU      float64 `json:"rcu"`
	// Throttled are the throttled requests, beside the served ones that Requests and
	// units count.
	Throttled detect.Throttled `json:"throttled"`
	Seconds   int64            `json:"seconds"`
	// DistinctKeys is about how many keys the view has; null before there is one.
	DistinctKeys *int64 `json:"distinct_keys"`
	// View describes the keys of the last hour; null before the first view.
	View *detect.View `json:"view"`
}

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
		if all[i].View = views[r.Target].View; all[i].View != nil {
			all[i].DistinctKeys = new(int64(all[i].View.DistinctKeys.Value))
		}
	}
	return all, nil
}

// tablesPage is the list of tables and indexes.
type tablesPage struct {
	frame
	P      *fleet.Page
	Tables []tableRow
	Orders []order
}

var tableOrders = []order{
	{fleet.Hottest, "hottest now"}, {fleet.Incidents, "open incidents"}, {fleet.Throttled, "throttled"}, {fleet.Table, "table"},
}

func (s *Site) tablesPage(ctx context.Context, r *http.Request) (any, error) {
	q, err := fleet.ParseQuery(r.URL.Query())
	if err != nil {
		return nil, badRequest{err}
	}
	page := &tablesPage{Orders: tableOrders}
	if page.frame, err = s.frame(ctx, "Tables", "tables"); err != nil {
		return nil, err
	}
	if page.P, err = fleet.Load(ctx, s.store, q, page.Now); err != nil {
		return nil, err
	}
	page.Tables = tableRows(page.P.Rows)
	return page, nil
}

// heat loads the heatmap of an address.
func (s *Site) heat(ctx context.Context, values url.Values) (q heatmap.Query, live bool, m *heatmap.Map, err error) {
	if q, live, err = s.heatQuery(ctx, values); err != nil {
		return q, live, nil, err
	}
	m, err = heatmap.Load(ctx, s.store, q)
	return q, live, m, err
}

// heatQuery reads an address's query of heat: of the first table in order, if the account
// or the Region is missing.
func (s *Site) heatQuery(ctx context.Context, values url.Values) (q heatmap.Query, live bool, err error) {
	if q, live, err = heatmap.ParseQuery(values, time.Now()); err != nil {
		return q, live, badRequest{err}
	}
	views, err := s.store.TableViews(ctx)
	if err != nil {
		return q, live, err
	}
	i := slices.IndexFunc(views, func(v store.TableView) bool {
		return v.Table == q.Table && v.Index == q.Index &&
			(q.Account == "" || v.Account == q.Account) && (q.Region == "" || v.Region == q.Region)
	})
	if i >= 0 {
		q.Target = views[i].Target
	}
	return q, live, nil
}

func (s *Site) apiContributors(ctx context.Context, r *http.Request) (any, error) {
	most, err := parseContributorCount(r.URL.Query())
	if err != nil {
		return nil, badRequest{err}
	}
	q, _, err := s.heatQuery(ctx, r.URL.Query())
	if err != nil {
		return nil, err
	}
	return loadContributors(ctx, s.store, q, most)
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
	// LinkAround is the map of the highest cell.
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
	if page.frame, err = s.frame(ctx, "Heat of "+keytext(m.Table), "tables"); err != nil {
		return nil, err
	}
	page.frame.Live = live // a map of another time does not change
	for _, row := range m.Rows {
		k := heatKey{Row: row, Highest: row.Hottest()}
		k.At, k.Utilization = m.ColumnTime(k.Highest.Column), detect.Ratio(k.Highest.Value, m.Limit)
		k.Around = m.LinkAround(of, k.At)
		page.Keys = append(page.Keys, k)
	}
	return page, nil
}
