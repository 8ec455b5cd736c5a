package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/chart"
	"github.com/keyheat/keyheat/internal/partitions"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/internal/web/address"
	"github.com/keyheat/keyheat/internal/web/fleet"
	"github.com/keyheat/keyheat/internal/web/heatmap"
	"github.com/keyheat/keyheat/internal/web/status"
	"github.com/keyheat/keyheat/rollup"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

type tableTotals struct {
	sample.Target
	Requests int64   `json:"requests"`
	WCU      float64 `json:"wcu"`
	RCU      float64 `json:"rcu"`
	// LowerBounds reports that the loads are lower bounds: samples lack units and sizes.
	LowerBounds bool `json:"lower_bounds"`
	// Throttled are the throttled requests, beside the served ones that Requests and
	// units count.
	Throttled detect.Throttled `json:"throttled"`
	// RefusedKeys are the keys with the most throttled load in its last minute with any.
	RefusedKeys []detect.RefusedKey `json:"refused_keys"`
	Seconds     int64               `json:"seconds"`
	// DistinctKeys is about how many keys the view has; null before there is one.
	DistinctKeys *int64 `json:"distinct_keys"`
	// View describes the keys of the last hour; null before the first view.
	View *detect.View `json:"view"`
	// Walk is load that walks through the key space; null for none.
	Walk *detect.Walk `json:"walk"`
	// LastSample is the newest second with a sample; null if none is kept. LateSeconds is how
	// late samples come; null before the first view.
	LastSample  *time.Time `json:"last_sample"`
	LateSeconds *int64     `json:"late_seconds"`
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
	var now status.Status
	if now.Clock, err = s.store.Now(ctx); err != nil {
		return nil, err
	}
	if now.Writers, err = s.store.Writers(ctx); err != nil {
		return nil, err
	}
	last, err := s.store.LastSamples(ctx, int64(rollup.Minute))
	if err != nil {
		return nil, err
	}
	newest := make(map[sample.Target]*time.Time, len(last))
	for i := range last {
		newest[last[i].Target] = &last[i].Second
	}
	bounds := now.LowerBounds()
	all := make([]tableTotals, len(rows))
	for i, r := range rows {
		all[i] = tableTotals{
			Target: r.Target, Requests: r.Requests, Seconds: r.Seconds,
			WCU: float64(r.WriteMilli) / 1000, RCU: float64(r.ReadMilli) / 1000,
			LowerBounds: slices.Contains(bounds, r.Name()), RefusedKeys: views[r.Target].RefusedKeys, Walk: views[r.Target].Walk,
			LastSample: newest[r.Target], LateSeconds: views[r.Target].LateSeconds,
			Throttled: detect.Throttled{Requests: r.ThrottledRequests, WCU: float64(r.ThrottledWriteMilli) / 1000, RCU: float64(r.ThrottledReadMilli) / 1000},
		}
		if all[i].View = views[r.Target].View; all[i].View != nil {
			all[i].DistinctKeys = new(int64(all[i].View.DistinctKeys.Value))
		}
	}
	return all, nil
}

type tablesPage struct {
	frame
	P *fleet.Page
	// Where are the accounts and Regions of the rows.
	Where  []string
	Orders []order
	// Covered reports that the coverage of a table is known.
	Covered bool
}

var tableOrders = []order{
	{fleet.Hottest, "hottest now"}, {fleet.Incidents, "open incidents"}, {fleet.Throttled, "throttled"}, {fleet.Table, "table"},
}

// followedSpan is the longest chosen time in which the list of tables is followed: every
// reading of a longer one takes thousands of roll-ups, and changes little.
const followedSpan = time.Hour

var pastOrders = []order{{fleet.Incidents, "incidents"}, {fleet.Table, "table"}}

func (s *Site) tablesPage(ctx context.Context, r *http.Request) (any, error) {
	asked := r.URL.Query()
	q, err := fleet.ParseQuery(asked, time.Now())
	if err != nil {
		return nil, badRequest{Err: err}
	}
	page := &tablesPage{Orders: tableOrders}
	if page.frame, err = s.frame(ctx, asked, "Tables", "tables"); err != nil {
		return nil, err
	}
	page.chooseTime("/tables", q.Others(), q.Range, "Newest")
	if q.Range.Chosen {
		page.Live, page.Orders = q.Range.Live && q.Range.To.Sub(q.Range.From) <= followedSpan, pastOrders
	}
	if page.P, err = fleet.Load(ctx, s.store, q, page.Now); err != nil {
		return nil, err
	}
	page.Where = wording.Owners(page.P.Rows, func(r *fleet.Row) detect.Target { return r.Target })
	page.Covered = slices.ContainsFunc(page.P.Rows, func(r fleet.Row) bool { return say.Coverage(r.Coverage) != "" })
	return page, nil
}

func (s *Site) heat(ctx context.Context, values url.Values) (q heatmap.Query, m *chart.Map, err error) {
	if q, err = s.heatQuery(ctx, values); err != nil {
		return q, nil, err
	}
	m, err = heatmap.Load(ctx, s.store, q)
	return q, m, err
}

// heatQuery reads an address's query of heat: of the first table in order, if the account
// or the Region is missing.
func (s *Site) heatQuery(ctx context.Context, values url.Values) (q heatmap.Query, err error) {
	if q, err = heatmap.ParseQuery(values); err != nil {
		return q, err
	}
	now := time.Now()
	if q.Range, err = address.ParseRange(values, now, address.LastHour(now)); err != nil {
		return q, err
	}
	views, err := s.store.TableViews(ctx)
	if err != nil {
		return q, err
	}
	i := slices.IndexFunc(views, func(v store.TargetDocument) bool {
		return v.Table == q.Table && v.Index == q.Index &&
			(q.Account == "" || v.Account == q.Account) && (q.Region == "" || v.Region == q.Region)
	})
	if i >= 0 {
		q.Target = views[i].Target
	}
	if !q.Chosen {
		q.Range, err = heatmap.LatestRange(ctx, s.store, q.Target, now)
	}
	return q, err
}

func (s *Site) apiHeat(ctx context.Context, r *http.Request) (any, error) {
	_, m, err := s.heat(ctx, r.URL.Query())
	return m, err
}

// heatCells returns the words of a map's cells, for the page's script.
func (s *Site) heatCells(ctx context.Context, r *http.Request) (any, error) {
	_, m, err := s.heat(ctx, r.URL.Query())
	if err != nil {
		return nil, err
	}
	return m.Words(), nil
}

// heatFigure is a heatmap on a page, with its controls, for the template of that name.
type heatFigure struct {
	heatmap.Links
	M       *chart.Map
	Picture *chart.Picture
	// Unseen reports that none of the map's seconds was counted.
	Unseen bool
}

// drawHeat returns the picture of a map on a page, whose time control has the range of the
// map's cells. A map of another time does not change.
func drawHeat(f *frame, page string, asked url.Values, q heatmap.Query, m *chart.Map) heatFigure {
	of := indexValues(m.Target)
	f.chooseTime(page, q.Values(of), q.Range, "Newest")
	f.Time.From, f.Time.To, f.Live = m.From, m.To, !q.Chosen || q.Live
	return heatFigure{
		M: m, Picture: m.Picture(), Unseen: slices.Max(m.Seen) == 0, Links: heatmap.NewLinks(page, of, asked, q, m),
	}
}

type heatPage struct {
	frame
	heatFigure
}

func (s *Site) heatPage(ctx context.Context, r *http.Request) (any, error) {
	asked := r.URL.Query()
	q, m, err := s.heat(ctx, asked)
	if err != nil {
		return nil, err
	}
	page := &heatPage{}
	if page.frame, err = s.frame(ctx, asked, "Heat of "+keytext(m.Table), "tables"); err != nil {
		return nil, err
	}
	page.heatFigure = drawHeat(&page.frame, "/heat", asked, q, m)
	return page, err
}

type partitionsPage struct {
	frame
	// T is nil for the list, and Tables for one table.
	T      *partitions.Table
	Ring   []chart.Piece
	Tables []partitions.Table
	// Next is the cursor behind Tables; nil at the end of the list.
	Next *string
}

func (s *Site) partitionsPage(ctx context.Context, r *http.Request) (any, error) {
	asked, now := r.URL.Query(), time.Now()
	page := &partitionsPage{}
	if !asked.Has("table") {
		var err error
		if page.frame, err = s.frame(ctx, asked, "Partitions", "partitions"); err != nil {
			return nil, err
		}
		page.Tables, page.Next, err = s.listPartitions(ctx, asked)
		return page, err
	}
	shown, err := readTime(asked, address.Range{From: now.Add(-partitions.Span).UTC(), To: now.UTC(), Live: true})
	if err != nil {
		return nil, err
	}
	var busiest func(sample.Target) (time.Time, error)
	if shown.Chosen {
		busiest = func(of sample.Target) (time.Time, error) {
			return heatmap.FindBusiestMinute(ctx, s.store, of, shown)
		}
	}
	t, err := partitions.Load(ctx, s.store, address.ReadTarget(asked), now, busiest)
	if err != nil {
		return nil, err
	}
	if page.frame, err = s.frame(ctx, asked, "Partitions of "+keytext(t.Table), "partitions"); err != nil {
		return nil, err
	}
	page.chooseTime("/partitions", targetValues(t.Target), shown, "Newest")
	page.Live = !shown.Chosen || shown.Live
	page.T, page.Ring = t, chart.Ring(&t.View, t.From != nil)
	return page, nil
}

func (s *Site) apiPartitions(ctx context.Context, r *http.Request) (any, error) {
	page, next, err := s.listPartitions(ctx, r.URL.Query())
	return map[string]any{"tables": page, "next": next}, err
}

// listPartitions returns the part of the list of partitions' maps that an address asks for, and
// the cursor behind it.
func (s *Site) listPartitions(ctx context.Context, asked url.Values) (page []partitions.Table, next *string, err error) {
	all, err := partitions.List(ctx, s.store, address.ReadTarget(asked), time.Now())
	if err != nil {
		return nil, nil, err
	}
	return address.Paginate(asked, all, func(t *partitions.Table) address.Place {
		return address.Place{Names: []string{t.Table, t.Index, t.Account, t.Region}}
	})
}
