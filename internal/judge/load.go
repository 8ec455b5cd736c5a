package judge

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/judge/fold"
	"github.com/keyheat/keyheat/internal/judge/verdict"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// loadOpen loads the stored windows that deltas add to. When the store fails, no window is
// loaded.
func loadOpen(ctx context.Context, st Store, s *verdict.State, deltas []fold.Delta) error {
	missing := s.Windows.Missing(deltas)
	if err := loadNewest(ctx, st, s.Windows, missing); err != nil {
		return err
	}
	var queries []store.WindowQuery
	for at, seconds := range missing {
		newest, _ := s.Windows.Newest(at)
		stored := slices.DeleteFunc(seconds, func(second int64) bool { return second > newest })
		missing[at] = stored
		queries = append(queries, queriesOf(at, stored)...)
	}
	all, err := st.EachWindows(ctx, queries)
	if err != nil {
		return err
	}
	loaded := make(map[fold.Instant]*fold.OpenWindow)
	for i, rows := range all {
		at := queries[i].Target // as the deltas have it
		for _, row := range rows {
			second := row.Second.Unix()
			if _, want := slices.BinarySearch(missing[at], second); !want {
				continue
			}
			if loaded[fold.Instant{Target: at, Second: second}], err = fold.Reopen(row); err != nil {
				return err
			}
		}
	}
	s.Windows.Reopen(loaded)
	return nil
}

// loadNewest loads the newest stored second of targets without a known one.
func loadNewest(ctx context.Context, st Store, l *fold.Windows, of map[sample.Target][]int64) error {
	var unknown []sample.Target
	for at := range of {
		if _, known := l.Newest(at); !known {
			unknown = append(unknown, at)
		}
	}
	newest, err := st.LastWindows(ctx, unknown)
	if err != nil {
		return err
	}
	for i, at := range unknown {
		second := int64(fold.NothingStored)
		if !newest[i].IsZero() {
			second = newest[i].Unix()
		}
		l.SetNewest(at, second)
	}
	return nil
}

// queriesOf returns queries of the wanted seconds of a target, which are in order: one
// for each run of seconds that lie close together.
func queriesOf(at sample.Target, wanted []int64) (all []store.WindowQuery) {
	for len(wanted) > 0 {
		n := 1
		for n < len(wanted) && wanted[n]-wanted[0] < store.DefaultLimit {
			n++
		}
		all = append(all, store.WindowQuery{Target: at, From: time.Unix(wanted[0], 0), To: time.Unix(wanted[n-1]+1, 0)})
		wanted = wanted[n:]
	}
	return all
}

// loadEarlier loads the stored state of the board's findings.
func loadEarlier(ctx context.Context, st Store, s *verdict.State) error {
	var incidents []string
	if unknown := slices.Concat(s.Unknown(), s.UnknownRoots()); len(unknown) > 0 {
		rows, err := st.FindingsByFingerprint(ctx, unknown)
		if err != nil {
			return err
		}
		if incidents, err = s.SetFindings(rows); err != nil {
			return err
		}
	}
	for ids := range slices.Chunk(s.UnknownIncidents(incidents), 1000) {
		rows, err := st.IncidentsByID(ctx, ids)
		if err != nil {
			return err
		}
		if err := s.SetIncidents(ids, rows); err != nil {
			return err
		}
	}
	return nil
}

// loadUnresolved loads the stored findings that are not resolved.
func loadUnresolved(ctx context.Context, st Store) (all []detect.Finding, err error) {
	for _, state := range []detect.State{detect.Firing, detect.Pending} {
		rows, err := st.Findings(ctx, store.FindingQuery{State: string(state), Limit: verdict.MaxKnown})
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			f, err := detect.ReadFinding(row.Document)
			if err != nil {
				return nil, fmt.Errorf("stored finding %s: %w", row.Fingerprint, err)
			}
			all = append(all, f)
		}
	}
	return all, nil
}

// loadOpenIncidents loads the stored incidents that are pending or fire.
func loadOpenIncidents(ctx context.Context, st Store, s *verdict.State) error {
	for _, state := range []detect.State{detect.Firing, detect.Pending} {
		rows, err := st.Incidents(ctx, store.IncidentQuery{State: string(state), Limit: verdict.MaxKnown})
		if err != nil {
			return err
		}
		if err := s.SetOpen(rows); err != nil {
			return err
		}
	}
	return nil
}

// replayedAtOnce is of how many tables and indexes the seconds are loaded at once to be replayed.
const replayedAtOnce = 64

// replay lets the board observe stored seconds again, each table and index from a time on.
func replay(ctx context.Context, st Store, s *verdict.State, from map[sample.Target]time.Time, now time.Time) error {
	targets := slices.SortedFunc(maps.Keys(from), sample.Target.Compare)
	atOnce := replayedAtOnce
	if !s.Remembers() {
		atOnce = max(1, len(targets))
	}
	for part := range slices.Chunk(targets, atOnce) {
		windows, err := loadRecent(ctx, st, part, from, now)
		if err == nil {
			err = s.Replay(windows)
		}
		if err != nil {
			return err
		}
	}
	s.Resume()
	return nil
}

// loadRecent loads the windows of targets since a time, zero for Replay before the newest one, in
// the order of time. It ends with each target's newest window, or with now if the window is ahead.
func loadRecent(ctx context.Context, st Store, targets []sample.Target, since map[sample.Target]time.Time, now time.Time) ([]store.Window, error) {
	last, err := st.LastWindows(ctx, targets)
	if err != nil {
		return nil, err
	}
	var queries []store.WindowQuery
	for i, at := range targets {
		newest := last[i]
		if newest.IsZero() || newest.Before(since[at]) {
			continue
		}
		if newest.After(now) {
			newest = now
		}
		from := since[at]
		if from.IsZero() {
			from = newest.Add(-verdict.Replay)
		}
		queries = append(queries, store.WindowQuery{Target: at, From: from, To: newest.Add(time.Second), Limit: int(newest.Sub(from)/time.Second) + 1})
	}
	rows, err := st.EachWindows(ctx, queries)
	if err != nil {
		return nil, err
	}
	all := slices.Concat(rows...)
	slices.SortStableFunc(all, func(a, b store.Window) int { return a.Second.Compare(b.Second) })
	return all, nil
}
