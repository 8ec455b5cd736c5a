// Package trend is the last hour of a table's hottest key, or of one key, as a small
// picture: the highest second of each minute beside the limit of a partition.
package trend

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
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

// The geometry of a trend, in pixels; its SVG is in page/layout.html.
const (
	trendWidth, trendHeight = 120.0, 30.0
	// headroom is how much of the limit the picture shows at least.
	headroom = 1.25
)

// unrolled is how much of the end of an hour may have no roll-ups of minutes yet.
const unrolled = 3 * time.Minute

// Store holds the roll-ups; *store.Store has it.
type Store interface {
	heatmap.SeenStore
	Heat(ctx context.Context, q store.HeatQuery) ([]store.Rollup, error)
}

// Subject is what an hour is about.
type Subject struct {
	sample.Target
	// Key is the key; the hottest one in each minute where it is zero.
	Key sample.Key
	// Reads means the reads of the key, else its writes.
	Reads bool
}

// Peak is the highest second of a key in a roll-up.
type Peak struct {
	Key string
	// Cut reports that only the key's beginning is stored.
	Cut bool
	// Utilization is its share of a partition's limit, in the bucket that begins at At and
	// is Seconds long.
	Utilization float64
	At          time.Time
	Seconds     int64
	// Writes reports that this is of writes, not of reads.
	Writes bool
}

// Hour is the last hour of a subject.
type Hour struct {
	Trend
	// Peak is the highest second; nil where no key was hot enough to be listed.
	Peak *Peak
}

// line is the minutes of a subject.
type line struct {
	Subject
	cells [minutes]cell
	peak  *Peak
}

// cell is a minute.
type cell struct {
	utilization float64
	// load reports that there was some, whole that this is from a roll-up of the minute,
	// and unknown that it was not counted.
	load, whole, unknown bool
}

// Load returns the hour up to end of each subject, in as many queries for any number of
// them.
func Load(ctx context.Context, st Store, of []Subject, end time.Time) ([]Hour, error) {
	if len(of) == 0 {
		return nil, nil
	}
	to := end.Add(time.Minute - 1).Truncate(time.Minute)
	from := to.Add(-minutes * time.Minute)
	lines, at := make([]line, len(of)), make(map[sample.Target][]*line)
	for i, subject := range of {
		lines[i].Subject = subject
		at[subject.Target] = append(at[subject.Target], &lines[i])
	}
	tables := slices.SortedFunc(maps.Keys(at), sample.Target.Compare)
	// Minutes without a roll-up yet are made of roll-ups of ten seconds.
	for _, q := range []store.HeatQuery{
		{Of: tables, Level: int64(heat.Minute), From: from, To: to}, {Of: tables, Level: int64(heat.TenSeconds), From: to.Add(-unrolled), To: to},
	} {
		stored, err := st.Heat(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, s := range stored {
			if err := put(at[s.Target], s, int(s.Begins.Sub(from)/time.Minute)); err != nil {
				return nil, err
			}
		}
	}
	counted, err := heatmap.LoadCounted(ctx, st, from, to)
	if err != nil {
		return nil, err
	}
	hours := make([]Hour, len(of))
	for i := range lines {
		l := &lines[i]
		for n := range l.cells {
			minute := from.Add(time.Duration(n) * time.Minute)
			missed := counted.IsBefore(minute) || counted.IsDecided(minute) && counted.Seconds(minute, 60) < 60
			l.cells[n].unknown = missed && !l.cells[n].load
		}
		hours[i] = Hour{draw(&l.cells, from), l.peak}
	}
	return hours, nil
}

// put adds a roll-up of a minute, or a part of one, to the lines of its table.
func put(lines []*line, s store.Rollup, minute int) error {
	var r *heat.Rollup // read whole where a line is about one key
	for _, l := range lines {
		c := &l.cells[minute]
		if c.whole && s.Level != int64(heat.Minute) {
			continue
		}
		c.load, c.whole = true, s.Level == int64(heat.Minute)
		var peak *Peak
		var err error
		switch {
		case l.Key == sample.Key{}:
			peak, _, err = Hottest(s)
		case r == nil:
			r = new(heat.Rollup)
			err = wrap(s, r.UnmarshalBinary(s.Body))
		}
		if err != nil {
			return err
		}
		if peak == nil && r != nil && l.Key != (sample.Key{}) {
			peak = l.find(r, s)
		}
		if peak == nil {
			continue
		}
		c.utilization = max(c.utilization, peak.Utilization)
		if l.peak == nil || peak.Utilization > l.peak.Utilization {
			l.peak = peak
		}
	}
	return nil
}

// find returns the key's highest second; nil where the roll-up does not list it.
func (l *line) find(r *heat.Rollup, s store.Rollup) *Peak {
	for i := range r.Keys {
		k := &r.Keys[i]
		if k.Key != l.Key && !(k.Cut && k.Key.Type == l.Key.Type && strings.HasPrefix(l.Key.Text, k.Key.Text)) {
			continue
		}
		utilization := detect.Ratio(float64(k.Write.Max.Value), float64(detect.PartitionWrite))
		if l.Reads {
			utilization = detect.Ratio(float64(k.Read.Max.Value), float64(detect.PartitionRead))
		}
		return &Peak{Key: k.Key.Text, Cut: k.Cut, Utilization: utilization, At: s.Begins, Seconds: s.Level, Writes: !l.Reads}
	}
	return nil
}

// Hottest returns the hottest key of a stored roll-up, nil if none is listed, and the
// highest possible load of an unlisted key, as a share of a partition's limit.
func Hottest(s store.Rollup) (*Peak, float64, error) {
	r, err := heat.Peek(s.Body)
	if err != nil {
		return nil, 0, wrap(s, err)
	}
	unlisted := max(
		detect.Ratio(float64(r.Unlisted.Write), float64(detect.PartitionWrite)), detect.Ratio(float64(r.Unlisted.Read), float64(detect.PartitionRead)))
	if len(r.Keys) == 0 {
		return nil, unlisted, nil
	}
	k := &r.Keys[0]
	return &Peak{
		Key: k.Key.Text, Cut: k.Cut, Utilization: k.Utilization(), At: s.Begins, Seconds: s.Level, Writes: k.Writes(),
	}, unlisted, nil
}

func wrap(s store.Rollup, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("stored roll-up of %s at %s: %w", s.Name(), s.Begins, err)
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
