package fleet

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect/wording"
	"github.com/keyheat/keyheat/internal/judge/heat"
	"github.com/keyheat/keyheat/internal/web/heatmap"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// minutes is how many a trend has.
const minutes = 60

// Trend is the highest second of each minute of the last hour as bars in SVG; coordinates
// are in pixels.
type Trend struct {
	// Text describes the picture.
	Text string
	// Limit is the height of a partition's limit.
	Limit string
	// Bars are minutes up to the limit, Over the minutes above it, Unknown the minutes
	// that were not counted: paths.
	Bars, Over, Unknown string
}

// The geometry of a trend, in pixels; its SVG is in page/tables.html.
const (
	trendWidth, trendHeight = 120.0, 30.0
	// headroom is how much of the limit the picture shows at least.
	headroom = 1.25
)

// unrolled is how much of the end of an hour may have no roll-ups of minutes yet.
const unrolled = 3 * time.Minute

// hour is the minutes of a table.
type hour struct {
	cells [minutes]cell
	// hot is the hottest key.
	hot *Hot
}

// cell is a minute.
type cell struct {
	utilization float64
	// load reports that there was some, whole that this is from a roll-up of the minute,
	// and unknown that it was not counted.
	load, whole, unknown bool
}

// addTrends adds the hour up to end to the rows of a page.
func addTrends(ctx context.Context, st Store, rows []Row, end time.Time) error {
	if len(rows) == 0 {
		return nil
	}
	to := end.Add(time.Minute - 1).Truncate(time.Minute)
	from := to.Add(-minutes * time.Minute)
	hours, of := make(map[sample.Target]*hour, len(rows)), make([]sample.Target, len(rows))
	for i := range rows {
		of[i], hours[rows[i].Target] = rows[i].Target, new(hour)
	}
	// Minutes without a roll-up yet are made of roll-ups of ten seconds.
	for _, q := range []store.HeatQuery{
		{Of: of, Level: int64(heat.Minute), From: from, To: to}, {Of: of, Level: int64(heat.TenSeconds), From: to.Add(-unrolled), To: to},
	} {
		stored, err := st.Heat(ctx, q)
		if err != nil {
			return err
		}
		for _, s := range stored {
			if err := hours[s.Target].put(s, int(s.Begins.Sub(from)/time.Minute)); err != nil {
				return err
			}
		}
	}
	counted, err := heatmap.LoadCounted(ctx, st, from, to)
	if err != nil {
		return err
	}
	for i := range rows {
		h := hours[rows[i].Target]
		for n := range h.cells {
			minute := from.Add(time.Duration(n) * time.Minute)
			missed := counted.IsBefore(minute) || counted.IsDecided(minute) && counted.Seconds(minute, 60) < 60
			h.cells[n].unknown = missed && !h.cells[n].load
		}
		rows[i].Trend = draw(&h.cells, from)
		if rows[i].Hot == nil {
			rows[i].Hot = h.hot
		}
	}
	return nil
}

// put adds a roll-up of a minute, or a part of one.
func (h *hour) put(s store.Rollup, minute int) error {
	c := &h.cells[minute]
	if c.whole && s.Level != int64(heat.Minute) {
		return nil
	}
	c.load, c.whole = true, s.Level == int64(heat.Minute)
	key, _, err := hottest(s)
	if err != nil || key == nil {
		return err
	}
	c.utilization = max(c.utilization, key.Utilization)
	if h.hot == nil || key.Utilization > h.hot.Utilization {
		h.hot = key
	}
	return nil
}

// draw lays an hour out.
func draw(cells *[minutes]cell, from time.Time) (t Trend) {
	top, peak, unknown := headroom, 0, 0
	for i, c := range cells {
		if top = max(top, c.utilization); c.utilization > cells[peak].utilization {
			peak = i
		}
		if c.unknown {
			unknown++
		}
	}
	y := func(utilization float64) float64 { return trendHeight - utilization/top*trendHeight }
	var bars, over, missing strings.Builder
	for i, c := range cells {
		x := (float64(i) + 0.5) * trendWidth / minutes
		switch {
		case c.unknown:
			fmt.Fprintf(&missing, "M%g %gV0", x, trendHeight)
		case c.utilization > 1:
			fmt.Fprintf(&over, "M%g %gV%.1f", x, trendHeight, y(c.utilization))
		case c.load:
			fmt.Fprintf(&bars, "M%g %gV%.1f", x, trendHeight, min(trendHeight-1, y(c.utilization)))
		}
	}
	t = Trend{Limit: fmt.Sprintf("%.1f", y(1)), Bars: bars.String(), Over: over.String(), Unknown: missing.String()}
	t.Text = "Last hour: no key near a limit"
	if c := cells[peak]; c.utilization > 0 {
		t.Text = fmt.Sprintf("Last hour: highest second %s of the limit, at %s", wording.Percent(c.utilization), from.Add(time.Duration(peak)*time.Minute).UTC().Format("15:04"))
	}
	switch unknown {
	case 0:
	case minutes:
		t.Text = "Last hour: not counted"
	case 1:
		t.Text += "; 1 minute was not counted"
	default:
		t.Text += fmt.Sprintf("; %d minutes were not counted", unknown)
	}
	return t
}
