package report

import (
	"context"
	"time"

	"github.com/keyheat/keyheat/internal/heat"
	"github.com/keyheat/keyheat/internal/report/fold"
	"github.com/keyheat/keyheat/internal/report/verdict"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// heatStore is where roll-ups are, and which seconds were counted whole.
type heatStore interface {
	Rollups(ctx context.Context, q store.RollupQuery) ([]store.Rollup, error)
	RollupSpans(ctx context.Context, of *sample.Target, levels []int64) ([]store.RollupSpan, error)
	LastSeenMinute(ctx context.Context) (store.SeenMinute, bool, error)
}

// loadHeat loads where the judge before has left off.
func loadHeat(ctx context.Context, st heatStore, s *verdict.State) error {
	levels := make([]int64, len(heat.Levels))
	for i, l := range heat.Levels {
		levels[i] = int64(l)
	}
	spans, err := st.RollupSpans(ctx, nil, levels)
	if err != nil {
		return err
	}
	s.Heat = fold.NewHeat(spans)
	for _, q := range s.Heat.Unfinished() {
		rows, err := st.Rollups(ctx, q)
		if err != nil {
			return err
		}
		s.Heat.Finish(rows)
	}
	newest, any, err := st.LastSeenMinute(ctx)
	if err == nil && any {
		s.Seen = fold.NewSeen(&newest)
	}
	return err
}

// loadTens loads the stored seconds beside closing ones.
func loadTens(ctx context.Context, st windowStore, s *verdict.State, closing []fold.Instant) error {
	for _, b := range s.Heat.Missing(closing, s.Windows.Newest) {
		begins := time.Unix(b.Begins, 0)
		rows, err := st.Windows(ctx, store.WindowQuery{Target: b.Target, From: begins, To: begins.Add(b.Level.Duration())})
		if err != nil {
			return err
		}
		if err := s.Heat.Reopen(b, rows); err != nil {
			return err
		}
	}
	return nil
}

// loadRollups loads what the roll-ups that are due are made of.
func loadRollups(ctx context.Context, st heatStore, s *verdict.State, h fold.Horizon) error {
	for _, q := range s.Heat.Wanted(h) {
		rows, err := st.Rollups(ctx, q)
		if err != nil {
			return err
		}
		s.Heat.SetStored(rows)
	}
	return nil
}
