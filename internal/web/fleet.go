package web

import (
	"context"
	"net/http"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/web/fleet"
	"github.com/keyheat/keyheat/internal/web/heatmap"
)

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

// tableRow is a table in the list.
type tableRow struct {
	fleet.Row
	// ID names the row, while the page is followed, and Where is the table's account and
	// Region.
	ID, Where string
	// Leads is where the hottest key's finding is, or its heat.
	Leads string
	// Coverage is the share of the real load that the samples show; empty where nothing
	// tells.
	Coverage string
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
	targets := make([]detect.Target, len(page.P.Rows))
	for i, row := range page.P.Rows {
		targets[i] = row.Target
		page.Tables = append(page.Tables, tableRow{
			Row: row, ID: "t-" + indexValues(row.Target).Encode(), Leads: hotLink(row), Coverage: coverage(row.Coverage),
		})
	}
	for i, where := range places(targets) {
		page.Tables[i].Where = where
	}
	return page, nil
}

// hotLink returns where a table's hottest key is: its finding, or the heat around it.
func hotLink(r fleet.Row) string {
	if r.Hot == nil {
		return ""
	}
	if r.Hot.Finding != "" {
		return "/findings/" + r.Hot.Finding
	}
	what := heatmap.Read
	if r.Hot.Writes {
		what = heatmap.Write
	}
	const around = 5 * time.Minute
	return heatmap.LinkTo(indexValues(r.Target), what, r.Hot.At.Add(-around), r.Hot.At.Add(around))
}

func coverage(of *detect.TableCloudWatch) string {
	switch {
	case of == nil || of.Write == nil && of.Read == nil:
		return ""
	case of.Read == nil:
		return percent(of.Write.Value) + " of writes"
	case of.Write == nil:
		return percent(of.Read.Value) + " of reads"
	}
	return percent(of.Write.Value) + " of writes, " + percent(of.Read.Value) + " of reads"
}
