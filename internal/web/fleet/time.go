package fleet

import (
	"context"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/web/address"
	"github.com/keyheat/keyheat/internal/web/heatmap"
	"github.com/keyheat/keyheat/rollup"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// Past is a table or index in a chosen time.
type Past struct {
	// Open is how many incidents were open in it.
	Open int
	heatmap.Recent
	// Throttled are its throttled requests; nil if no request was counted.
	Throttled *Refused
}

func newPast(r heatmap.Recent) *Past {
	p := &Past{Recent: r}
	if t := r.Total; t.Requests > 0 {
		p.Throttled = &Refused{t.ThrottledRequests, t.Requests, detect.Ratio(float64(t.ThrottledRequests), float64(t.Requests))}
	}
	return p
}

const maxIncidents = 5000

// loadOpen returns the rows of all tables, with how many incidents were open in a range.
func loadOpen(ctx context.Context, st *store.Store, r address.Range) (rows []Row, err error) {
	open := make(map[sample.Target]int)
	views, err := st.TableViews(ctx)
	if err != nil {
		return nil, err
	}
	for _, v := range views {
		open[v.Target] = 0
	}
	spans, err := st.RollupSpans(ctx, nil, []int64{int64(rollup.Levels[0]), int64(rollup.Levels[len(rollup.Levels)-1])})
	if err != nil {
		return nil, err
	}
	for _, s := range spans {
		open[s.Target] = 0
	}
	heads, err := st.IncidentHeads(ctx, store.HeadQuery{Since: r.From, Limit: maxIncidents})
	if err != nil {
		return nil, err
	}
	for _, h := range heads {
		if h.Table != "" && !h.OpenedAt.After(r.To) {
			open[h.Target]++
		}
	}
	for at, n := range open {
		rows = append(rows, Row{Target: at, Past: &Past{Open: n}})
	}
	return rows, nil
}

// addPast adds the load in a range to the rows of a page.
func addPast(ctx context.Context, st *store.Store, rows []Row, r address.Range) error {
	of := make([]heatmap.TrendSubject, len(rows))
	for i := range rows {
		of[i].Target = rows[i].Target
	}
	span, err := heatmap.NewTrendSpan(ctx, st, r)
	if err != nil {
		return err
	}
	loaded, err := heatmap.LoadTrends(ctx, st, span, of, r.To)
	if err != nil {
		return err
	}
	for i := range rows {
		open := rows[i].Past.Open
		rows[i].Past = newPast(loaded[i])
		if rows[i].Past.Open = open; loaded[i].Peak != nil {
			rows[i].Hot = &Hot{Peak: *loaded[i].Peak}
		}
	}
	return nil
}
