package judge

import (
	"context"
	"slices"
	"time"

	"github.com/keyheat/keyheat/internal/judge/fold"
	"github.com/keyheat/keyheat/internal/judge/verdict"
	"github.com/keyheat/keyheat/rollup"
	"github.com/keyheat/keyheat/store"
)

// loadHeat loads where the judge before has left off.
func loadHeat(ctx context.Context, st Store, s *verdict.State) error {
	spans, err := st.RollupSpans(ctx, nil, rollup.Lengths)
	if err != nil {
		return err
	}
	s.Heat = fold.NewHeat(spans)
	unfinished, err := st.EachRollups(ctx, s.Heat.UnfinishedRollups())
	if err != nil {
		return err
	}
	s.Heat.Finish(slices.Concat(unfinished...))
	newest, any, err := st.LastSeenMinute(ctx)
	if err == nil && any {
		s.Seen = fold.NewSeen(&newest)
	}
	return err
}

// loadTens loads the stored seconds beside closing ones.
func loadTens(ctx context.Context, st Store, s *verdict.State, closing []fold.Instant) error {
	missing := s.Heat.Missing(closing, s.Windows.Newest)
	queries := make([]store.WindowQuery, len(missing))
	for i, b := range missing {
		begins := time.Unix(b.Begins, 0)
		queries[i] = store.WindowQuery{Target: b.Target, From: begins, To: begins.Add(b.Level.Duration())}
	}
	rows, err := st.EachWindows(ctx, queries)
	if err != nil {
		return err
	}
	for i, b := range missing {
		if err := s.Heat.Reopen(b, rows[i]); err != nil {
			return err
		}
	}
	return nil
}

// loadRollups loads the parts of the roll-ups that are due.
func loadRollups(ctx context.Context, st Store, s *verdict.State, h fold.Horizon) error {
	rows, err := st.EachRollups(ctx, s.Heat.MissingRollups(h))
	if err == nil {
		s.Heat.SetStored(slices.Concat(rows...))
	}
	return err
}
