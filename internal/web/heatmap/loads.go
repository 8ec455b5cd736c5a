package heatmap

import (
	"context"
	"fmt"
	"time"

	"github.com/keyheat/keyheat/internal/web/address"
	"github.com/keyheat/keyheat/rollup"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// kept is what is stored of a level, 1 for seconds.
type kept struct {
	// first is the first of each level; of 1, the seconds, from an hour before the query
	// on. end is the end of the last.
	first map[rollup.Level]time.Time
	end   int64
}

// loadSpans returns what is stored of roll-ups, of one target or of any.
func loadSpans(ctx context.Context, st *store.Store, of *sample.Target) (kept, error) {
	k := kept{first: make(map[rollup.Level]time.Time)}
	spans, err := st.RollupSpans(ctx, of, rollup.Lengths)
	for _, s := range spans {
		level := rollup.Level(s.Level)
		if first, known := k.first[level]; !known || s.First.Before(first) {
			k.first[level] = s.First
		}
		if level == rollup.TenSeconds {
			k.end = max(k.end, s.Newest.Unix()+s.Level)
		}
	}
	return k, err
}

func loadKept(ctx context.Context, st *store.Store, q Query) (kept, error) {
	k, err := loadSpans(ctx, st, &q.Target)
	if err != nil {
		return k, err
	}
	last, any, err := st.LastWindow(ctx, q.Target)
	if err != nil || !any {
		return k, err
	}
	k.end = max(k.end, last.Unix()+1)
	rows, err := st.Windows(ctx, store.WindowQuery{Target: q.Target, From: q.From.Add(-time.Hour), Limit: 1})
	if len(rows) > 0 {
		k.first[1] = rows[0].Second
	}
	return k, err
}

// chooseStep returns the shortest of some levels in which a range has few enough columns, and
// whose data of it are not pruned: pruned data would look cold. It is 0 where all are too short.
func (k kept) chooseStep(levels []rollup.Level, r address.Range, columns int) (step rollup.Level) {
	for _, l := range levels {
		if r.To.Sub(r.From) > time.Duration(columns)*l.Duration() {
			continue
		}
		if k.reaches(l, r.From) {
			return l
		}
		if _, any := k.first[l]; any || step == 0 {
			step = l
		}
	}
	return step
}

// reaches reports whether the stored data of a level reach back to a time, or to the
// beginning of all.
func (k kept) reaches(l rollup.Level, from time.Time) bool {
	first, any := k.first[l]
	if !any || !first.After(from) {
		return any
	}
	for _, above := range rollup.Levels {
		if begins, any := k.first[above]; any && above > l && !first.Before(begins.Add(above.Duration())) {
			return false
		}
	}
	return true
}

// loads are the roll-ups of a target, by their beginning.
type loads map[int64]*rollup.Rollup

// loader loads the roll-ups of targets. end is the end of the stored data, lowest the lowest
// level that is read, and read decodes a stored roll-up.
type loader struct {
	*store.Store
	of     []sample.Target
	end    int64
	lowest rollup.Level
	read   func([]byte) (rollup.Rollup, error)
}

func readWhole(body []byte) (r rollup.Rollup, err error) {
	err = r.UnmarshalBinary(body)
	return r, err
}

// load returns the roll-ups of a level from one second to another. The newest ones are made
// of the levels below, because a roll-up is written only when its time is over.
func (l loader) load(ctx context.Context, step rollup.Level, from, to int64) (map[sample.Target]loads, error) {
	if step == 1 {
		return l.loadSeconds(ctx, from, to)
	}
	rows, err := l.Heat(ctx, store.HeatQuery{Of: l.of, Level: int64(step), From: time.Unix(from, 0), To: time.Unix(to, 0)})
	if err != nil {
		return nil, err
	}
	all, next := make(map[sample.Target]loads, len(l.of)), make(map[sample.Target]int64, len(l.of))
	for _, of := range l.of {
		all[of], next[of] = make(loads), from
	}
	for _, row := range rows {
		r, err := l.read(row.Body)
		if err != nil {
			return nil, wrapRollup(row, err)
		}
		all[row.Target][row.Begins.Unix()] = &r
		next[row.Target] = row.Begins.Unix() + int64(step)
	}
	return all, l.addNewest(ctx, step, min(to, l.end), all, next)
}

// unrolled is how much of the end of a time may have no roll-ups yet.
const unrolled = 3 * time.Minute

// addNewest adds the roll-ups up to a time that are not stored yet, behind those that are.
func (l loader) addNewest(ctx context.Context, step rollup.Level, to int64, all map[sample.Target]loads, next map[sample.Target]int64) error {
	begins := to
	for _, at := range next {
		begins = min(begins, at)
	}
	begins = max(begins, step.Begin(to-int64(step)-int64(unrolled/time.Second)))
	if step <= l.lowest || begins >= to {
		return nil
	}
	parts, err := l.load(ctx, step.PartLevel(), begins, to)
	if err != nil {
		return err
	}
	for of, loads := range parts {
		for begins, part := range loads {
			at := step.Begin(begins)
			if at < next[of] {
				continue
			}
			if all[of][at] == nil {
				all[of][at] = new(rollup.Rollup)
			}
			all[of][at].Add(part)
		}
	}
	return nil
}

func (l loader) loadSeconds(ctx context.Context, from, to int64) (map[sample.Target]loads, error) {
	all := make(map[sample.Target]loads)
	for _, of := range l.of {
		all[of] = make(loads)
		rows, err := l.Windows(ctx, store.WindowQuery{Target: of, From: time.Unix(from, 0), To: time.Unix(to, 0)})
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			w, err := ReadWindow(row)
			if err != nil {
				return nil, err
			}
			all[of][row.Second.Unix()] = rollup.OfSecond(w, row.Complete)
		}
	}
	return all, nil
}

// ReadWindow reads a stored second.
func ReadWindow(row store.Window) (*sketch.Window, error) {
	w := new(sketch.Window)
	if err := w.UnmarshalBinary(row.Body); err != nil {
		return nil, fmt.Errorf("stored window of %s at %s: %w", row.Name(), row.Second, err)
	}
	return w, nil
}

func wrapRollup(s store.Rollup, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("stored roll-up of %s at %s: %w", s.Name(), s.Begins, err)
}
