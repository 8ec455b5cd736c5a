package heatmap

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/rollup"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// TrendSpan is the time of a picture.
type TrendSpan struct {
	// Name is the time in words, Step the level of the roll-ups, Steps how many of them a
	// cell has, and Cells how many cells there are.
	Name  string
	Step  rollup.Level
	Steps int
	Cells int
	clock string
	// past reports that the span ended long ago: no roll-up of it is still to come.
	past bool
}

// The spans: an hour for what lasts, and a quarter for what has just begun.
var (
	TrendHour    = TrendSpan{Name: "Last hour", Step: rollup.Minute, Steps: 1, Cells: 60, clock: "15:04"}
	TrendQuarter = TrendSpan{Name: "Last 15 minutes", Step: rollup.TenSeconds, Steps: 1, Cells: 90, clock: time.TimeOnly}
)

const maxCells = 60

func (s TrendSpan) cell() time.Duration { return time.Duration(s.Steps) * s.Step.Duration() }

// NewTrendSpan returns the cells of a range: of the shortest roll-ups that are few enough,
// and are still kept.
func NewTrendSpan(ctx context.Context, st *store.Store, r Range, now time.Time) (TrendSpan, error) {
	spans, err := st.RollupSpans(ctx, nil, rollup.Lengths)
	if err != nil {
		return TrendSpan{}, err
	}
	k := kept{first: make(map[rollup.Level]time.Time)}
	for _, s := range spans {
		if first, known := k.first[rollup.Level(s.Level)]; !known || s.First.Before(first) {
			k.first[rollup.Level(s.Level)] = s.First
		}
	}
	longest := rollup.Levels[len(rollup.Levels)-1]
	span := TrendSpan{Name: "This time", Step: longest, Steps: 1, clock: "15:04", past: now.Sub(r.To) > longest.Duration()}
	for _, l := range rollup.Levels {
		if r.To.Sub(r.From) <= maxCells*l.Duration() && k.reaches(l, r.From) {
			span.Step = l
			break
		}
	}
	for r.To.Sub(r.From) > maxCells*span.cell() {
		span.Steps++
	}
	begins := r.From.Truncate(span.cell())
	span.Cells = int((r.To.Sub(begins) + span.cell() - 1) / span.cell())
	switch {
	case r.To.Sub(r.From) > 24*time.Hour:
		span.clock = "2 Jan 15:04"
	case span.Step == rollup.TenSeconds:
		span.clock = time.TimeOnly
	}
	return span, nil
}

// Trend shows the highest second of each step of time beside the limit of a partition: bars
// in SVG, one for each cell. Coordinates are in pixels.
type Trend struct {
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
	// Total is the load of the table or index, if the subject is none of its keys.
	Total rollup.Total
	// Counted reports that a second of this time was counted.
	Counted bool
}

type trendLine struct {
	TrendSubject
	cells []trendCell
	peak  *Peak
	total rollup.Total
	// rolled are the roll-ups that were added.
	rolled map[bucket]bool
}

type bucket struct {
	level  rollup.Level
	begins int64
}

// isRolled reports whether a roll-up of a longer time holds this one.
func (l *trendLine) isRolled(s store.Rollup) bool {
	return slices.ContainsFunc(rollup.Levels, func(level rollup.Level) bool {
		return int64(level) > s.Level && l.rolled[bucket{level, level.Begin(s.Begins.Unix())}]
	})
}

type trendCell struct {
	utilization float64
	// load reports that there was some, and unknown that it was not counted.
	load, unknown bool
}

// LoadTrends returns the span up to end of each subject, in as many queries for any number of
// them.
func LoadTrends(ctx context.Context, st *store.Store, span TrendSpan, of []TrendSubject, end time.Time) ([]Recent, error) {
	if len(of) == 0 {
		return nil, nil
	}
	cell := span.cell()
	to := end.Add(cell - 1).Truncate(cell)
	from := to.Add(-time.Duration(span.Cells) * cell)
	lines, at := make([]trendLine, len(of)), make(map[sample.Target][]*trendLine)
	for i, subject := range of {
		lines[i] = trendLine{TrendSubject: subject, cells: make([]trendCell, span.Cells), rolled: make(map[bucket]bool)}
		at[subject.Target] = append(at[subject.Target], &lines[i])
	}
	q := store.HeatQuery{Of: slices.SortedFunc(maps.Keys(at), sample.Target.Compare), From: from, To: to}
	for level := span.Step; level >= rollup.TenSeconds; level = level.PartLevel() {
		q.Level = int64(level)
		stored, err := st.Heat(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, s := range stored {
			if err := addPeak(at[s.Target], s, int(s.Begins.Sub(from)/cell)); err != nil {
				return nil, err
			}
		}
		if span.past {
			break
		}
		// The newest steps have no roll-up yet: they are made of shorter ones.
		if begins := end.Add(-level.Duration() - unrolled).Truncate(level.Duration()); begins.After(from) {
			q.From = begins
		}
	}
	counted, err := loadCounted(ctx, st, from, to)
	if err != nil {
		return nil, err
	}
	all := make([]Recent, len(of))
	for i := range lines {
		l := &lines[i]
		for n := range l.cells {
			l.cells[n].unknown = !l.cells[n].load && span.isMissed(counted, from.Add(time.Duration(n)*cell), end)
		}
		all[i] = Recent{Trend: drawTrend(span, l.cells, from), Peak: l.peak, Total: l.total, Counted: counted.any()}
	}
	return all, nil
}

// isMissed reports whether a second of a cell without load was not counted. The newest
// seconds of a span may still be counted.
func (s TrendSpan) isMissed(counted countedTime, begins, end time.Time) bool {
	length := s.cell()
	if last := begins.Add(length - time.Second).Truncate(time.Minute); !s.past && !counted.isDecided(last) {
		if length = min(length, end.Add(-unrolled).Sub(begins)); length > time.Minute {
			length = length.Truncate(time.Minute)
		}
	}
	return counted.isBefore(begins) || length > 0 && counted.seconds(begins, int64(length/time.Second)) < int64(length/time.Second)
}

// addPeak adds a roll-up to a cell of the lines of its table.
func addPeak(lines []*trendLine, s store.Rollup, n int) error {
	var r *rollup.Rollup // read whole where a line is about one key
	for _, l := range lines {
		if l.isRolled(s) {
			continue
		}
		l.rolled[bucket{rollup.Level(s.Level), s.Begins.Unix()}] = true
		c := &l.cells[n]
		c.load = true
		var peak *Peak
		var err error
		switch {
		case l.Key == sample.Key{}:
			var rollup rollup.Rollup
			peak, rollup, err = HottestKey(s)
			l.total = l.total.Plus(rollup.Total)
		case r == nil:
			r = new(rollup.Rollup)
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
func (l *trendLine) find(r *rollup.Rollup, s store.Rollup) *Peak {
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
// roll-up without its other keys.
func HottestKey(s store.Rollup) (*Peak, rollup.Rollup, error) {
	r, err := rollup.Peek(s.Body)
	if err != nil || len(r.Keys) == 0 {
		return nil, r, wrapRollup(s, err)
	}
	k := &r.Keys[0]
	return &Peak{
		Key: sample.Text(k.Key.Text), Cut: k.Cut, Utilization: k.Utilization(), At: s.Begins, Seconds: s.Level, Writes: k.Writes(),
	}, r, nil
}

// UnlistedShare returns the highest possible load of an unlisted key, as a share of a
// partition's limit.
func UnlistedShare(r rollup.Rollup) float64 {
	return max(detect.Ratio(float64(r.Unlisted.Write), float64(detect.PartitionWrite)), detect.Ratio(float64(r.Unlisted.Read), float64(detect.PartitionRead)))
}

func wrapRollup(s store.Rollup, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("stored roll-up of %s at %s: %w", s.Name(), s.Begins, err)
}

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
	t.Text = span.Name + ": no load seen near the limit"
	if c := cells[peak]; c.utilization > 0 {
		// No figure: the row beside it has one, with its bounds and for its own time.
		over := "not over the limit"
		if c.utilization > 1 {
			over = "over the limit"
		}
		t.Text = fmt.Sprintf("%s: %s, highest in the %s from %s", span.Name, over, wording.Span(span.cell()), from.Add(time.Duration(peak)*span.cell()).UTC().Format(span.clock))
	}
	switch {
	case unknown == len(cells):
		t.Text = span.Name + ": not counted"
	case unknown > 0:
		t.Text += fmt.Sprintf("; %s not counted", wording.Span(time.Duration(unknown)*span.cell()))
	}
	return t
}
