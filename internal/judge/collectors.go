package judge

import (
	"context"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/pipeline"
	"github.com/keyheat/keyheat/internal/judge/fold"
	"github.com/keyheat/keyheat/rollup"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

const (
	// usualTime is the time before a table's newest sample in which its pauses are usual.
	usualTime = time.Hour
	// maxPauses is for how many silent tables pauses are loaded at one look: each has some
	// hundred rows.
	maxPauses = 100
)

// sampleStore has the stored samples; *store.Store has it.
type sampleStore interface {
	LastSamples(ctx context.Context, level int64) ([]store.LastSample, error)
	RollupTimes(ctx context.Context, level int64, from, to time.Time) ([]time.Time, error)
	EachRollupTimes(ctx context.Context, all []store.RollupQuery) ([][]time.Time, error)
}

// pause is a table's longest pause before its newest sample.
type pause struct {
	last    time.Time
	longest time.Duration // 0 if some minute had no sample
}

// samples are the stored samples of tables. Everything follows from stored rows: pauses only
// saves reading them at every look.
type samples struct {
	// counted is up to where all samples are counted and stored.
	counted time.Time
	pauses  map[sample.Target]pause
	// newest is the newest sample of any table; zero if none is stored.
	newest time.Time
}

// count records that a pass has stored everything up to its horizon.
func (s *samples) count(h fold.Horizon, now time.Time) {
	s.counted = time.Time{}
	if h.Complete > store.Beginning.Unix() {
		s.counted = time.Unix(min(h.Complete, now.Unix()), 0)
	}
}

// load returns the tables, and all of them together, with the pauses of the silent ones.
// quietUntil is the operator's setting.
func (s *samples) load(ctx context.Context, st sampleStore, silent time.Duration, quietUntil func(detect.Target, time.Time) time.Time) ([]pipeline.Table, error) {
	rows, err := st.LastSamples(ctx, int64(rollup.Minute))
	if err != nil {
		return nil, err
	}
	tables, targets := s.sumUp(rows, quietUntil)
	if err := s.loadPauses(ctx, st, tables, targets, silent); err != nil {
		return nil, err
	}
	known := make(map[sample.Target]pause, len(tables))
	for i := range tables {
		t := &tables[i]
		if p, loaded := s.pauses[t.Target]; loaded && p.last.Equal(t.Last) {
			t.Pause, known[t.Target] = p.longest, p
		}
	}
	s.pauses = known
	return tables, nil
}

// sumUp joins tables with their indexes, and adds all tables that may not be quiet now.
func (s *samples) sumUp(rows []store.LastSample, quietUntil func(detect.Target, time.Time) time.Time) ([]pipeline.Table, map[sample.Target][]sample.Target) {
	var tables []pipeline.Table
	at, targets := make(map[sample.Target]int), make(map[sample.Target][]sample.Target)
	var all pipeline.Table
	awake := false
	s.newest = time.Time{}
	for _, r := range rows {
		of := r.Target
		of.Index = ""
		targets[of] = append(targets[of], r.Target)
		i, known := at[of]
		if !known {
			i = len(tables)
			at[of] = i
			tables = append(tables, pipeline.Table{Target: of, QuietUntil: quietUntil(of, s.counted)})
		}
		t := &tables[i]
		t.Last, s.newest = later(t.Last, r.Second), later(s.newest, r.Second)
		if !t.QuietUntil.After(s.counted) {
			awake, all.Last, all.QuietUntil = true, later(all.Last, r.Second), later(all.QuietUntil, t.QuietUntil)
		}
	}
	if awake {
		tables = append(tables, all)
	}
	return tables, targets
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// loadPauses reads the pauses of the tables that are silent, unless they are known.
func (s *samples) loadPauses(ctx context.Context, st sampleStore, tables []pipeline.Table, targets map[sample.Target][]sample.Target, silent time.Duration) error {
	var queries []store.RollupQuery
	var of []pipeline.Table
	for _, t := range tables {
		if p, known := s.pauses[t.Target]; known && p.last.Equal(t.Last) || s.counted.Sub(t.Last) < silent {
			continue
		}
		from, to := t.Last.Truncate(time.Minute).Add(-usualTime), t.Last.Add(time.Second)
		if t.Table == "" {
			begins, err := st.RollupTimes(ctx, int64(rollup.TenSeconds), from, to)
			if err != nil {
				return err
			}
			s.pauses[t.Target] = pause{t.Last, longestPause(begins, from, t.Last)}
			continue
		}
		for _, target := range targets[t.Target] {
			if len(queries) < maxPauses {
				queries = append(queries, store.RollupQuery{Target: target, Level: int64(rollup.TenSeconds), From: from, To: to})
				of = append(of, t)
			}
		}
	}
	each, err := st.EachRollupTimes(ctx, queries)
	if err != nil {
		return err
	}
	begins := make(map[sample.Target][]time.Time)
	for i := range each {
		begins[of[i].Target] = append(begins[of[i].Target], each[i]...)
	}
	for _, t := range of {
		from := t.Last.Truncate(time.Minute).Add(-usualTime)
		all := begins[t.Target]
		slices.SortFunc(all, time.Time.Compare)
		s.pauses[t.Target] = pause{t.Last, longestPause(all, from, t.Last)}
	}
	return nil
}

// longestPause returns the longest time between two of these beginnings of ten seconds; 0 if
// a minute from one time to another has none.
func longestPause(begins []time.Time, from, to time.Time) (longest time.Duration) {
	minutes := make(map[time.Time]bool)
	for i, at := range begins {
		minutes[at.UTC().Truncate(time.Minute)] = true
		if i > 0 {
			longest = max(longest, at.Sub(begins[i-1]))
		}
	}
	for minute := from.UTC().Truncate(time.Minute); !minute.After(to); minute = minute.Add(time.Minute) {
		if !minutes[minute] {
			return 0
		}
	}
	return longest
}

// pipelineStatus returns the stored state of the collectors and of their sources.
func pipelineStatus(writers []store.Writer, snap *store.Snapshot) pipeline.Status {
	s := pipeline.Status{Now: snap.Now}
	if since, silent := store.SilentSince(writers, snap.Now); silent {
		s.Silent = since
	}
	for _, w := range writers {
		if !w.Runs(snap.Now) {
			continue
		}
		c := detect.Collector{ID: w.ID, Host: w.Host, Seen: w.Seen, State: detect.CollectorState(w.State), Reason: w.Reason, Lag: w.Lag, BadShare: w.BadShare}
		if w.Reading != nil {
			c.Reads = w.Reading.Read > 0
			if w.Reading.Last.After(s.LastRead) {
				s.LastRead = w.Reading.Last
			}
		}
		if w.RefusedTables != nil {
			c.RefusedTables = new(int64(len(w.RefusedTables)))
			s.Refused = append(s.Refused, w.RefusedTables...)
		}
		s.Collectors = append(s.Collectors, c)
	}
	for _, u := range store.FindUnread(writers, snap.Watermarks, snap.Now) {
		s.Unread = append(s.Unread, pipeline.Unread{Name: u.Name, Since: u.Since})
	}
	for _, m := range snap.Watermarks {
		p := pipeline.Partition{Through: m.Time, Moved: m.Moved, Seen: m.Seen, Lag: m.Lag}
		if m.Time.Equal(store.Beginning) {
			p.Through = time.Time{}
		}
		s.Partitions = append(s.Partitions, p)
	}
	return s
}
