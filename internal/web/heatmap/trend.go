package heatmap

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/chart"
	"github.com/keyheat/keyheat/internal/web/address"
	"github.com/keyheat/keyheat/rollup"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// TrendSpan is the time of a trend, whose name is in words: Cells cells of Steps roll-ups of
// a level.
type TrendSpan struct {
	Name         string
	Step         rollup.Level
	Steps, Cells int
}

// The spans: an hour for what lasts, and a quarter for what has just begun.
var (
	TrendHour    = TrendSpan{"Last hour", rollup.Minute, 1, 60}
	TrendQuarter = TrendSpan{"Last 15 minutes", rollup.TenSeconds, 1, 90}
)

const maxCells = 60

func (s TrendSpan) cell() time.Duration { return time.Duration(s.Steps) * s.Step.Duration() }

// NewTrendSpan returns the cells of a range: of the shortest roll-ups that are few enough,
// and are still kept.
func NewTrendSpan(ctx context.Context, st *store.Store, r address.Range) (TrendSpan, error) {
	k, err := loadSpans(ctx, st, nil)
	s := TrendSpan{Name: "This time", Steps: 1, Step: cmp.Or(k.chooseStep(rollup.Levels, r, maxCells), slices.Max(rollup.Levels))}
	for r.To.Sub(r.From) > maxCells*s.cell() {
		s.Steps++
	}
	s.Cells = int((r.To.Sub(r.From.Truncate(s.cell())) + s.cell() - 1) / s.cell())
	return s, err
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
}

// Counted reports that a part of this time was counted.
func (r *Recent) Counted() bool { return r.Missing < r.Columns }

// LoadTrends returns the span up to end of each subject, in as many queries for any number of
// them.
func LoadTrends(ctx context.Context, st *store.Store, span TrendSpan, of []TrendSubject, end time.Time) ([]Recent, error) {
	if len(of) == 0 {
		return nil, nil
	}
	to := end.Add(span.cell() - 1).Truncate(span.cell())
	from := to.Add(-time.Duration(span.Cells) * span.cell())
	l := loader{Store: st, end: end.Unix(), lowest: rollup.TenSeconds, read: rollup.Peek}
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
	decided := time.Now().Add(-unrolled) // later seconds may still be counted
	if end.Before(decided) || len(counted) == 0 {
		decided = end
	}
	all := make([]Recent, len(of))
	for i, subject := range of {
		cells := all[i].add(subject, stored[subject.Target], span, from)
		for n := range cells {
			begins := from.Add(time.Duration(n) * span.cell())
			cells[n].Unknown = !cells[n].Load && !counted.isWhole(begins, min(span.cell(), decided.Sub(begins)))
		}
		all[i].Trend = chart.NewTrend(span.Name, cells, from, span.cell())
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
		if of.Key == (sample.Key{}) {
			r.Total = r.Total.Plus(stored[begins].Total)
		}
		peak := of.peak(stored[begins])
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
			p.Writes, p.Utilization = !s.Reads, share(k.Write.Max.Value, detect.PartitionWrite)
			if s.Reads {
				p.Utilization = share(k.Read.Max.Value, detect.PartitionRead)
			}
		}
		if hottest == nil || p.Utilization > hottest.Utilization {
			hottest = &p
		}
	}
	return hottest
}

func share(load, limit sample.Milli) float64 { return detect.Ratio(float64(load), float64(limit)) }

// FindBusiestMinute returns the end of the minute of a range with the hottest key: of the
// range's last minute if no key was hot enough to be listed.
func FindBusiestMinute(ctx context.Context, st *store.Store, of sample.Target, r address.Range) (end time.Time, err error) {
	for {
		span, err := NewTrendSpan(ctx, st, r)
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
// highest possible load of an unlisted key, as a share of a partition's limit.
func HottestKey(s store.Rollup) (hottest *Peak, unlisted float64, err error) {
	r, err := rollup.Peek(s.Body)
	if hottest = (TrendSubject{}).peak(&r); hottest != nil {
		hottest.At, hottest.Seconds = s.Begins, s.Level
	}
	return hottest, max(share(r.Unlisted.Write, detect.PartitionWrite), share(r.Unlisted.Read, detect.PartitionRead)), wrapRollup(s, err)
}
