package heatmap

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/chart"
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
	k, err := loadSpans(ctx, st, nil)
	if err != nil {
		return TrendSpan{}, err
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
	chart.Trend
	// Peak is the highest second; nil where no key was hot enough to be listed.
	Peak *Peak
	// Total is the load of the table or index, if the subject is none of its keys.
	Total rollup.Total
	// Counted reports that a second of this time was counted.
	Counted bool
}

// LoadTrends returns the span up to end of each subject, in as many queries for any number of
// them.
func LoadTrends(ctx context.Context, st *store.Store, span TrendSpan, of []TrendSubject, end time.Time) ([]Recent, error) {
	if len(of) == 0 {
		return nil, nil
	}
	to := end.Add(span.cell() - 1).Truncate(span.cell())
	from := to.Add(-time.Duration(span.Cells) * span.cell())
	l := loader{Store: st, end: end.Unix(), lowest: rollup.TenSeconds, read: rollup.Peek}
	if span.past {
		l.lowest = span.Step
	}
	for _, subject := range of {
		if l.of = append(l.of, subject.Target); subject.Key != (sample.Key{}) {
			l.read = readWhole
		}
	}
	slices.SortFunc(l.of, sample.Target.Compare)
	l.of = slices.Compact(l.of)
	stored, err := l.load(ctx, span.Step, from.Unix(), to.Unix())
	if err != nil {
		return nil, err
	}
	counted, err := loadCounted(ctx, st, from, to)
	if err != nil {
		return nil, err
	}
	all := make([]Recent, len(of))
	for i, subject := range of {
		r := &all[i]
		r.Counted = counted.any()
		cells := r.add(subject, stored[subject.Target], span, from)
		for n := range cells {
			cells[n].Unknown = !cells[n].Load && span.isMissed(counted, from.Add(time.Duration(n)*span.cell()), end)
		}
		r.Trend = chart.NewTrend(span.Name, cells, from, span.cell(), span.clock)
	}
	return all, nil
}

// add adds the roll-ups of a subject's target, and returns the cells.
func (r *Recent) add(of TrendSubject, stored loads, span TrendSpan, from time.Time) []chart.TrendCell {
	cells := make([]chart.TrendCell, span.Cells)
	for _, begins := range slices.Sorted(maps.Keys(stored)) {
		at := time.Unix(begins, 0).UTC()
		c := &cells[at.Sub(from)/span.cell()]
		c.Load = true
		peak := of.peak(stored[begins])
		if of.Key == (sample.Key{}) {
			r.Total = r.Total.Plus(stored[begins].Total)
		}
		if peak == nil {
			continue
		}
		peak.At, peak.Seconds = at, int64(span.Step)
		c.Share = max(c.Share, peak.Utilization)
		if r.Peak == nil || peak.Utilization > r.Peak.Utilization {
			r.Peak = peak
		}
	}
	return cells
}

// peak returns the highest second of the subject in a roll-up; nil where the roll-up does
// not list it.
func (s TrendSubject) peak(r *rollup.Rollup) (hottest *Peak) {
	for i := range r.Keys {
		k := &r.Keys[i]
		p := Peak{Key: sample.Text(k.Key.Text), Cut: k.Cut, Utilization: k.Utilization(), Writes: k.Writes()}
		if s.Key != (sample.Key{}) {
			if !isOf(k, s.Key) {
				continue
			}
			p.Writes, p.Utilization = !s.Reads, detect.Ratio(float64(k.Write.Max.Value), float64(detect.PartitionWrite))
			if s.Reads {
				p.Utilization = detect.Ratio(float64(k.Read.Max.Value), float64(detect.PartitionRead))
			}
		}
		if hottest == nil || p.Utilization > hottest.Utilization {
			hottest = &p
		}
	}
	return hottest
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

// FindBusiestMinute returns the end of the minute of a range with the hottest key: of the
// range's last minute if no key was hot enough to be listed.
func FindBusiestMinute(ctx context.Context, st *store.Store, of sample.Target, r Range, now time.Time) (end time.Time, err error) {
	for {
		span, err := NewTrendSpan(ctx, st, r, now)
		if err != nil {
			return end, err
		}
		trends, err := LoadTrends(ctx, st, span, []TrendSubject{{Target: of}}, r.To)
		if err != nil {
			return end, err
		}
		peak := trends[0].Peak
		if peak == nil {
			return r.To, nil
		}
		length := time.Duration(peak.Seconds) * time.Second
		if begins := peak.At.Truncate(time.Minute); length <= time.Minute || length >= r.To.Sub(r.From) {
			return begins.Add(time.Minute), nil
		}
		r.From, r.To = peak.At, peak.At.Add(length)
	}
}

// HottestKey returns the hottest key of a stored roll-up, nil if none is listed, and the
// roll-up without its other keys.
func HottestKey(s store.Rollup) (*Peak, rollup.Rollup, error) {
	r, err := rollup.Peek(s.Body)
	peak := TrendSubject{}.peak(&r)
	if peak != nil {
		peak.At, peak.Seconds = s.Begins, s.Level
	}
	return peak, r, wrapRollup(s, err)
}

// UnlistedShare returns the highest possible load of an unlisted key, as a share of a
// partition's limit.
func UnlistedShare(r rollup.Rollup) float64 {
	return max(detect.Ratio(float64(r.Unlisted.Write), float64(detect.PartitionWrite)), detect.Ratio(float64(r.Unlisted.Read), float64(detect.PartitionRead)))
}
