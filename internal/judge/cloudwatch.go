package judge

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/corroboration"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// reopened is how far back the samples' minutes are loaded again: late samples may
// have raised them.
const reopened = 15 * time.Minute

// witness is the loaded data of CloudWatch.
type witness struct {
	at       time.Time // of the last load, by the database's clock
	readings map[sample.Target]*corroboration.Reading
	// attempted is the attempt behind each reading, and totals the samples' totals of its
	// minutes.
	attempted map[sample.Target]time.Time
	totals    map[sample.Target][]store.MinuteTotal
}

func newWitness() witness {
	return witness{
		readings: make(map[sample.Target]*corroboration.Reading), attempted: make(map[sample.Target]time.Time),
		totals: make(map[sample.Target][]store.MinuteTotal),
	}
}

// loadCloudWatch loads CloudWatch's minutes of tables, at intervals, beside the samples'
// totals of the same minutes.
func (t *term) loadCloudWatch(ctx context.Context, now time.Time) error {
	w := &t.witness
	if now.Sub(w.at) < t.judge.config.CloudWatchEvery {
		return nil
	}
	if err := w.load(ctx, t.judge.store, now); err != nil {
		return err
	}
	if len(w.readings) > 0 {
		t.state.SetCloudWatch(maps.Clone(w.readings))
	}
	w.at = now
	return nil
}

// load loads the targets that CloudWatch was read for since the last load.
func (w *witness) load(ctx context.Context, st Store, now time.Time) error {
	reads, err := st.CloudWatchReads(ctx)
	if err != nil {
		return err
	}
	since := now.Add(-corroboration.Span * time.Minute).Truncate(time.Minute)
	known := make(map[sample.Target]bool, len(reads))
	var queries, newest []store.MinuteQuery
	reads = slices.DeleteFunc(reads, func(read store.CloudWatchRead) bool {
		known[read.Target] = true
		return w.attempted[read.Target].Equal(read.Attempted)
	})
	for _, read := range reads {
		queries = append(queries, store.MinuteQuery{Target: read.Target, Since: since})
		newest = append(newest, store.MinuteQuery{Target: read.Target, Since: w.totalsFrom(read.Target, since)})
	}
	minutes, err := st.EachCloudWatchMinutes(ctx, queries)
	if err != nil {
		return err
	}
	raised, err := st.EachMinuteTotals(ctx, newest)
	if err != nil {
		return err
	}
	for i, read := range reads {
		totals := slices.DeleteFunc(slices.Clone(w.totals[read.Target]), func(m store.MinuteTotal) bool {
			return m.Minute.Before(since) || !m.Minute.Before(newest[i].Since)
		})
		totals = append(totals, raised[i]...)
		w.readings[read.Target] = newReading(read, minutes[i], totals)
		w.attempted[read.Target], w.totals[read.Target] = read.Attempted, totals
	}
	for target := range w.attempted {
		if !known[target] {
			delete(w.readings, target)
			delete(w.attempted, target)
			delete(w.totals, target)
		}
	}
	return nil
}

// totalsFrom returns since when the samples' minutes of a target are loaded: the newest
// again, and the others only once.
func (w *witness) totalsFrom(at sample.Target, since time.Time) time.Time {
	old := w.totals[at]
	if len(old) == 0 || old[len(old)-1].Minute.Before(since) {
		return since
	}
	return old[len(old)-1].Minute.Add(-reopened)
}

// newReading joins the minutes of both witnesses. The newest minutes of CloudWatch may
// still grow, and the samples' first and last are cut: these are not compared.
func newReading(read store.CloudWatchRead, minutes []store.CloudWatchMinute, totals []store.MinuteTotal) *corroboration.Reading {
	r := &corroboration.Reading{State: corroboration.State(read.State), Message: read.Message, Through: read.Through}
	sampled := sampledMinutes(totals)
	final := read.Through.Add(-corroboration.Delay)
	for _, m := range minutes {
		minute := corroboration.Minute{At: m.Minute, Metrics: make(map[detect.Metric]float64, len(m.Metrics))}
		for name, v := range m.Metrics {
			minute.Metrics[detect.Metric(name)] = v
		}
		if !m.Minute.After(final) {
			minute.Sampled = sampled(m.Minute)
		}
		r.Minutes = append(r.Minutes, minute)
	}
	return r
}

// sampledMinutes returns the samples' units of a minute: nil for a cut minute, and zero
// for an empty one between others.
func sampledMinutes(totals []store.MinuteTotal) func(time.Time) *corroboration.Units {
	if len(totals) < 3 {
		return func(time.Time) *corroboration.Units { return nil }
	}
	first, last := totals[0].Minute, totals[len(totals)-1].Minute
	byMinute := make(map[int64]store.MinuteTotal, len(totals))
	for _, m := range totals {
		byMinute[m.Minute.Unix()] = m
	}
	return func(at time.Time) *corroboration.Units {
		m, known := byMinute[at.Unix()]
		if !at.After(first) || !at.Before(last) || known && !m.Complete {
			return nil
		}
		return &corroboration.Units{Write: detect.Units(sample.Milli(m.WriteMilli)), Read: detect.Units(sample.Milli(m.ReadMilli))}
	}
}
