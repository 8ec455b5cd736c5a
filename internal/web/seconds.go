package web

import (
	"context"
	"fmt"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// chartSpan is how much of a finding's time its chart shows: the end of it.
const chartSpan = 15 * time.Minute

// loadChart returns the seconds of an episode with a little before and after.
func loadChart(ctx context.Context, st *store.Store, f *detect.Finding) (*chart, error) {
	const around = 30 * time.Second
	from, to := f.FirstSeen.Add(-around), f.LastSeen.Add(around)
	if earliest := to.Add(-chartSpan); from.Before(earliest) {
		from = earliest
	}
	rows, err := st.Windows(ctx, store.WindowQuery{Target: f.Target, From: from, To: to})
	if err != nil {
		return nil, err
	}
	all, err := points(f, rows)
	if err != nil {
		return nil, err
	}
	return newChart(f, all), nil
}

// points picks a finding's key out of windows.
func points(f *detect.Finding, rows []store.Window) ([]point, error) {
	var all []point
	for _, row := range rows {
		var w sketch.Window
		if err := w.UnmarshalBinary(row.Body); err != nil {
			return nil, fmt.Errorf("stored window of %s at %s: %w", row.Table, row.Second, err)
		}
		for i := range w.Keys {
			k := &w.Keys[i]
			if k.Key.Text != f.Key || k.Key.Type != f.KeyType {
				continue
			}
			p := point{at: row.Second, low: detect.Units(detect.Amount(f.Kind, k.Low)), high: detect.Units(detect.Amount(f.Kind, k.High())), complete: row.Complete}
			all = append(all, p)
			break
		}
	}
	return all, nil
}
