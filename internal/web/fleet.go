package web

import (
	"time"

	"github.com/keyheat/keyheat/internal/web/fleet"
	"github.com/keyheat/keyheat/internal/web/heatmap"
)

// tablePageLink returns where a row's page is, or its findings if it has none.
func tablePageLink(r fleet.Row) string {
	if r.View != nil || r.Past != nil {
		return tableLink(r.Target)
	}
	return findingsLink(r.Target)
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
