package web

import (
	"context"
	"net/http"
	"time"

	"github.com/keyheat/keyheat/internal/web/heatmap"
	"github.com/keyheat/keyheat/internal/web/partitions"
	"github.com/keyheat/keyheat/internal/web/status"
	"github.com/keyheat/keyheat/sample"
)

// health is the link to the status page: a dot with its text.
type health struct{ Class, Text string }

func newHealth(s status.Status) health {
	worst, problems := s.Health()
	switch {
	case problems > 0:
		return health{string(worst), count(problems, "problem", "problems")}
	case worst == status.Well:
		return health{string(worst), "Running"}
	}
	return health{"unknown", "Status unknown"}
}

// statusPage is Keyheat's own state.
type statusPage struct {
	frame
	D      status.Details
	Health health
	// Lost is what was not counted of the page's time, and Before of the time that this one
	// is compared with; nil for none. Kept reports that rejected samples of the whole time are
	// kept.
	Lost   status.Lost
	Before *status.Lost
	Kept   bool
	// Maps are the tables whose partitions are known, or are being learned.
	Maps []partitions.Table
}

// statusTime is the time of the status page without a chosen one.
const statusTime = 24 * time.Hour

func (s *Site) statusPage(ctx context.Context, r *http.Request) (any, error) {
	now := time.Now().UTC()
	shown, err := readTime(r.URL.Query(), heatmap.Range{From: now.Add(-statusTime), To: now, Live: true})
	if err != nil {
		return nil, err
	}
	f, err := s.frame(ctx, r.URL.Query(), "Status", "status")
	if err != nil {
		return nil, err
	}
	kept := shown.From.Sub(now.Add(-status.LostKept))
	page := &statusPage{frame: f, Health: newHealth(f.Status), Kept: kept >= 0}
	page.chooseTime("/status", nil, shown, "Last 24 h", kept)
	if page.D, err = status.LoadDetails(ctx, s.store, &f.Status, s.options.Receivers()); err != nil {
		return nil, err
	}
	if page.Lost, err = status.LoadLost(ctx, s.store, shown.From, shown.To); err != nil {
		return nil, err
	}
	if page.Time.Compare > 0 {
		earlier := shown.Earlier()
		before, err := status.LoadLost(ctx, s.store, earlier.From, earlier.To)
		if err != nil {
			return nil, err
		}
		page.Before = &before
	}
	page.Maps, err = partitions.List(ctx, s.store, sample.Target{}, page.Now)
	return page, err
}
