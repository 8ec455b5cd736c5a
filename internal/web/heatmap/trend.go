package heatmap

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/judge/heat"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// TrendSpan is the time of a picture.
type TrendSpan struct {
	// Name is the time in words, Step the length of a cell, and Cells how many there are.
	Name  string
	Step  heat.Level
	Cells int
	// clock is how a time in it is written.
	clock string
}

// The spans: an hour for what lasts, and a quarter for what has just begun.
var (
	TrendHour    = TrendSpan{"Last hour", heat.Minute, 60, "15:04"}
	TrendQuarter = TrendSpan{"Last 15 minutes", heat.TenSeconds, 90, time.TimeOnly}
)

// Trend shows the highest second of each step of time beside the limit of a partition: bars
// in SVG, one for each cell. Coordinates are in pixels.
type Trend struct {
	// Text describes the picture.
	Text  string
	Width int
	// Limit is the height of a partition's limit.
	Limit string
	// Bars are cells up to the limit, Over the cells above it, Unknown the cells that were
	// not counted: paths.
	Bars, Over, Unknown string
}

// The geometry of a trend, in pixels; its SVG is in page/layout.html.
const (
	cellWidth, trendHeight = 2, 30.0
	// headroom is how much of the limit the picture shows at least.
	headroom = 1.25
)

// unrolled is how much of the end of an hour may have no roll-ups of minutes yet.
const unrolled = 3 * time.Minute

// TrendStore holds the roll-ups; *store.Store has it.
type TrendStore interface {
	seenStore
	Heat(ctx context.Context, q store.HeatQuery) ([]store.Rollup, error)
}

// TrendSubject is what a trend is about.
type TrendSubject struct {
	sample.Target
	// Key is the key; the hottest one in each minute where it is zero.
	Key sample.Key
	// Reads means the reads of the key, else its writes.
	Reads bool
}

// Peak is the highest second of a key in a roll-up.
type Peak struct {
	Key sample.Text
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

// Recent is the recent load of a subject.
type Recent struct {
	Trend
	// Peak is the highest second; nil where no key was hot enough to be listed.
	Peak *Peak
}

// trendLine is the cells of a subject.
type trendLine struct {
	TrendSubject
	cells []trendCell
	peak  *Peak
}

// trendCell is a step of time.
type trendCell struct {
	utilization float64
	// load reports that there was some, whole that this is from a roll-up of the step, and
	// unknown that it was not counted.
	load, whole, unknown bool
}

// LoadTrends returns the span up to end of each subject, in as many queries for any number of
// them.
func LoadTrends(ctx context.Context, st TrendStore, span TrendSpan, of []TrendSubject, end time.Time) ([]Recent, error) {
	if len(of) == 0 {
		return nil, nil
	}
	step := span.Step.Duration()
	to := end.Add(step - 1).Truncate(step)
	from := to.Add(-time.Duration(span.Cells) * step)
	lines, at := make([]trendLine, len(of)), make(map[sample.Target][]*trendLine)
	for i, subject := range of {
		lines[i].TrendSubject, lines[i].cells = subject, make([]trendCell, span.Cells)
		at[subject.Target] = append(at[subject.Target], &lines[i])
	}
	tables := slices.SortedFunc(maps.Keys(at), sample.Target.Compare)
	queries := []store.HeatQuery{{Of: tables, Level: int64(span.Step), From: from, To: to}}
	if span.Step != heat.TenSeconds {
		// Steps without a roll-up yet are made of roll-ups of ten seconds.
		queries = append(queries, store.HeatQuery{Of: tables, Level: int64(heat.TenSeconds), From: to.Add(-unrolled), To: to})
	}
	for _, q := range queries {
		stored, err := st.Heat(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, s := range stored {
			if err := addPeak(at[s.Target], s, int(s.Begins.Sub(from)/step), s.Level == int64(span.Step)); err != nil {
				return nil, err
			}
		}
	}
	counted, err := loadCounted(ctx, st, from, to)
	if err != nil {
		return nil, err
	}
	missed := make([]bool, span.Cells)
	for n := range missed {
		begin := from.Add(time.Duration(n) * step)
		decided := counted.isDecided(begin.Truncate(time.Minute))
		missed[n] = counted.isBefore(begin) || decided && counted.seconds(begin, int64(span.Step)) < int64(span.Step) || !decided && end.Sub(begin) > unrolled
	}
	all := make([]Recent, len(of))
	for i := range lines {
		l := &lines[i]
		for n := range l.cells {
			l.cells[n].unknown = missed[n] && !l.cells[n].load
		}
		all[i] = Recent{drawTrend(span, l.cells, from), l.peak}
	}
	return all, nil
}

// addPeak adds a roll-up of a step, whole or a part of it, to the lines of its table.
func addPeak(lines []*trendLine, s store.Rollup, n int, whole bool) error {
	var r *heat.Rollup // read whole where a line is about one key
	for _, l := range lines {
		c := &l.cells[n]
		if c.whole && !whole {
			continue
		}
		c.load, c.whole = true, whole
		var peak *Peak
		var err error
		switch {
		case l.Key == sample.Key{}:
			peak, _, err = HottestKey(s)
		case r == nil:
			r = new(heat.Rollup)
			err = wrapRollup(s, r.UnmarshalBinary(s.Body))
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
func (l *trendLine) find(r *heat.Rollup, s store.Rollup) *Peak {
	for i := range r.Keys {
		k := &r.Keys[i]
		if k.Key != l.Key && !(k.Cut && k.Key.Type == l.Key.Type && strings.HasPrefix(l.Key.Text, k.Key.Text)) {
			continue
		}
		utilization := detect.Ratio(float64(k.Write.Max.Value), float64(detect.PartitionWrite))
		if l.Reads {
			utilization = detect.Ratio(float64(k.Read.Max.Value), float64(detect.PartitionRead))
		}
		return &Peak{Key: sample.Text(k.Key.Text), Cut: k.Cut, Utilization: utilization, At: s.Begins, Seconds: s.Level, Writes: !l.Reads}
	}
	return nil
}

// HottestKey returns the hottest key of a stored roll-up, nil if none is listed, and the
// highest possible load of an unlisted key, as a share of a partition's limit.
func HottestKey(s store.Rollup) (*Peak, float64, error) {
	r, err := heat.Peek(s.Body)
	if err != nil {
		return nil, 0, wrapRollup(s, err)
	}
	unlisted := max(
		detect.Ratio(float64(r.Unlisted.Write), float64(detect.PartitionWrite)), detect.Ratio(float64(r.Unlisted.Read), float64(detect.PartitionRead)))
	if len(r.Keys) == 0 {
		return nil, unlisted, nil
	}
	k := &r.Keys[0]
	return &Peak{
		Key: sample.Text(k.Key.Text), Cut: k.Cut, Utilization: k.Utilization(), At: s.Begins, Seconds: s.Level, Writes: k.Writes(),
	}, unlisted, nil
}

func wrapRollup(s store.Rollup, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("stored roll-up of %s at %s: %w", s.Name(), s.Begins, err)
}

// drawTrend lays cells out.
func drawTrend(span TrendSpan, cells []trendCell, from time.Time) (t Trend) {
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
		x := cellWidth*i + cellWidth/2
		switch {
		case c.unknown:
			fmt.Fprintf(&missing, "M%d %gV0", x, trendHeight)
		case c.utilization > 1:
			fmt.Fprintf(&over, "M%d %gV%.1f", x, trendHeight, y(c.utilization))
		case c.load:
			fmt.Fprintf(&bars, "M%d %gV%.1f", x, trendHeight, min(trendHeight-1, y(c.utilization)))
		}
	}
	t = Trend{Width: cellWidth * len(cells), Limit: fmt.Sprintf("%.1f", y(1)), Bars: bars.String(), Over: over.String(), Unknown: missing.String()}
	step := span.Step.Duration()
	t.Text = span.Name + ": no load near the limit"
	if c := cells[peak]; c.utilization > 0 {
		t.Text = fmt.Sprintf("%s: highest second %s of the limit, at %s", span.Name, wording.Percent(c.utilization), from.Add(time.Duration(peak)*step).UTC().Format(span.clock))
	}
	switch {
	case unknown == len(cells):
		t.Text = span.Name + ": not counted"
	case unknown > 0:
		t.Text += fmt.Sprintf("; %s not counted", wording.Span(time.Duration(unknown)*step))
	}
	return t
}
