package web

import (
	"time"

	"github.com/keyheat/keyheat/detect"

	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/internal/web/fleet"
	"github.com/keyheat/keyheat/internal/web/heatmap"
)

// tableRow is a table in the list.
type tableRow struct {
	fleet.Row
	// ID names the row, while the page is followed, and Where is the table's account and
	// Region.
	ID, Where string
	// Page is where the table's page is, or its findings if it has none; Leads is where the
	// hottest key's finding is, or its heat.
	Page, Leads string
	// Coverage is the samples' share of the real load; empty if unknown.
	Coverage string
}

func tableRows(of []fleet.Row) []tableRow {
	all, targets := make([]tableRow, len(of)), make([]detect.Target, len(of))
	for i, row := range of {
		targets[i] = row.Target
		all[i] = tableRow{Row: row, ID: "t-" + indexValues(row.Target).Encode(), Page: findingsLink(row.Target), Leads: hotLink(row), Coverage: say.Coverage(row.Coverage)}
		if row.View != nil || row.Past != nil {
			all[i].Page = tableLink(row.Target)
		}
	}
	for i, where := range wording.Owners(targets) {
		all[i].Where = where
	}
	return all
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
