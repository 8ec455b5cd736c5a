package heatmap

import (
	"context"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/chart"
	"github.com/keyheat/keyheat/store"
)

// episode is how much of a finding's time a question is answered from: its end. around is
// the time before and after a finding that its chart shows.
const episode, around = 6 * time.Minute, 30 * time.Second

// EpisodeRange returns the finding's own time, with its onset.
func EpisodeRange(f *detect.Finding, now time.Time) Range {
	end := f.LastSeen.Add(around).Truncate(time.Second)
	if end.After(now) {
		end = now
	}
	r := Range{From: f.FirstSeen.Add(-around), To: end}
	if !r.From.Before(end) { // a clock is ahead
		r.From = end.Add(-episode)
	}
	if earliest := end.Add(-MaxSpan); r.From.Before(earliest) && !f.FirstSeen.IsZero() {
		r.From = earliest
	}
	return r
}

// LoadSeconds returns the picture of the load of a finding's key; nil where nothing of the
// time is stored.
func LoadSeconds(ctx context.Context, st *store.Store, f *detect.Finding, r Range) (*chart.Seconds, error) {
	if r.From.Unix() < 0 {
		return nil, nil // the finding has no times
	}
	load := func(r Range) (*chart.Map, error) {
		q := Query{Target: f.Target, Range: r, What: detect.SideOf(f, chart.Write, chart.Read)}
		return loadKey(ctx, st, q, f.PartitionKey())
	}
	m, err := load(r)
	if err != nil || r.Compare == 0 {
		return chart.NewSeconds(m, nil, 0), err
	}
	earlier, err := load(r.Earlier())
	if err != nil {
		return nil, err
	}
	return chart.NewSeconds(m, earlier, r.Compare), nil
}
