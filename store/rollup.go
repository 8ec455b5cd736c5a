package store

import (
	"context"
	"fmt"
	"time"

	"github.com/keyheat/keyheat/sample"
)

// Rollup is the heat of a table or index over some seconds.
type Rollup struct {
	sample.Target
	// Level is how many seconds, and Begins the beginning of the first.
	Level  int64
	Begins time.Time
	// Body holds the hot keys; a Judge replaces it whole.
	Body []byte
}

// RollupQuery chooses the roll-ups of one level of a table or index.
type RollupQuery struct {
	sample.Target
	Level int64
	// From and To bound the beginning, From inclusive, To exclusive; zero is open.
	From, To time.Time
	Limit    int
}

// Rollups returns the roll-ups that a query chooses, in the order of time.
func (s *Store) Rollups(ctx context.Context, q RollupQuery) ([]Rollup, error) {
	return ofOne(s.EachRollups(ctx, []RollupQuery{q}))
}

// EachRollups returns the roll-ups that each of some queries chooses.
func (s *Store) EachRollups(ctx context.Context, all []RollupQuery) ([][]Rollup, error) {
	each := make([][]any, len(all))
	for i, q := range all {
		each[i] = targetArgs(q.Target, q.Level, utc(q.From), orForever(q.To), limit(q.Limit))
	}
	return listEach(ctx, s, "read roll-ups", func(r *Rollup) []any {
		return append(targetFields(&r.Target), &r.Level, &r.Begins, &r.Body)
	}, `
		SELECT `+targetColumns+`, level, begins, body FROM rollups AS r JOIN targets AS t ON t.id = r.target
		WHERE `+isTarget+` AND level = $5 AND begins >= $6 AND begins < $7
		ORDER BY begins LIMIT $8`, each)
}

// HeatQuery chooses the roll-ups of one level of several tables and indexes.
type HeatQuery struct {
	// Of are the tables and indexes, a page of a list at most; all where it is empty.
	Of    []sample.Target
	Level int64
	// From and To bound the beginning, From inclusive, To exclusive; zero is open. They
	// alone bound how much is returned.
	From, To time.Time
}

// Heat returns the roll-ups that a query chooses in the order of time, with one query for
// all tables.
func (s *Store) Heat(ctx context.Context, q HeatQuery) ([]Rollup, error) {
	var args []any
	for _, at := range q.Of {
		at = cleanTarget(at)
		args = append(args, at.Account, at.Region, at.Table, at.Index)
	}
	chosen := "TRUE"
	if len(q.Of) > 0 {
		chosen = `(` + targetColumns + `) IN (VALUES ` + placeholders(len(q.Of), 4) + `)`
	}
	// CROSS JOIN: see RollupSpans.
	return list(ctx, s, "read the roll-ups of tables", func(r *Rollup) []any {
		return append(targetFields(&r.Target), &r.Level, &r.Begins, &r.Body)
	}, fmt.Sprintf(`
		SELECT `+targetColumns+`, level, begins, body FROM targets AS t CROSS JOIN rollups AS r
		WHERE %s AND r.target = t.id AND level = $%d AND begins >= $%d AND begins < $%d
		ORDER BY begins`, chosen, len(args)+1, len(args)+2, len(args)+3), append(args, q.Level, utc(q.From), orForever(q.To))...)
}

// RollupSpan is from when to when roll-ups of a level are stored of a table or index.
type RollupSpan struct {
	sample.Target
	Level         int64
	First, Newest time.Time // each the beginning of a roll-up
}

// RollupSpans returns the spans of every table and index and level with roll-ups; of
// one alone when it is not nil.
func (s *Store) RollupSpans(ctx context.Context, of *sample.Target, levels []int64) ([]RollupSpan, error) {
	var all []RollupSpan
	where, args := "", []any{nil}
	if of != nil {
		// The same order as isTarget's, behind the level.
		where = ` AND t.table_name = $2 AND t.index_name = $3 AND t.account = $4 AND t.region = $5`
		args = append(args, targetArgs(*of)...)
	}
	for _, level := range levels {
		args[0] = level
		// CROSS JOIN has SQLite begin with the targets, and find their roll-ups by the primary
		// key: it would read all of the level by the index on updated. Postgres takes any order.
		spans, err := list(ctx, s, "read the spans of roll-ups", func(r *RollupSpan) []any {
			return append(targetFields(&r.Target), &r.Level, &r.First, &r.Newest)
		}, `
			SELECT `+targetColumns+`, f.level, f.begins, n.begins
			FROM targets AS t CROSS JOIN rollups AS f CROSS JOIN rollups AS n
			WHERE f.target = t.id AND f.level = $1
				AND f.begins = (SELECT min(r.begins) FROM rollups AS r WHERE r.target = t.id AND r.level = $1)
				AND n.target = t.id AND n.level = $1
				AND n.begins = (SELECT max(r.begins) FROM rollups AS r WHERE r.target = t.id AND r.level = $1)`+where, args...)
		if err != nil {
			return nil, err
		}
		all = append(all, spans...)
	}
	return all, nil
}

func (t *tx) putRollups(ctx context.Context, all []Rollup, ids targetIDs) error {
	return insertAll(ctx, t, `INSERT INTO rollups (target, level, begins, body, updated)`, `
		ON CONFLICT (target, level, begins) DO UPDATE
		SET body = excluded.body, updated = excluded.updated`, all, func(r Rollup) []any {
		return []any{ids.id(r.Target), r.Level, utc(r.Begins), present(r.Body), t.now}
	})
}

// SeenMinute holds the seconds of a minute of event time that were counted whole.
type SeenMinute struct {
	Minute time.Time
	// Seconds has bit n set for second n.
	Seconds uint64
}

// SeenMinutes returns the minutes from one time to another, exclusive, in order; at
// most so many, 0 for DefaultLimit.
func (s *Store) SeenMinutes(ctx context.Context, from, to time.Time, most int) ([]SeenMinute, error) {
	return list(ctx, s, "read seen minutes", (*SeenMinute).fields, `
		SELECT minute, seconds FROM seen_minutes WHERE minute >= $1 AND minute < $2 ORDER BY minute LIMIT $3`,
		utc(from), orForever(to), limit(most))
}

// LastSeenMinute returns the newest one, and whether there is any.
func (s *Store) LastSeenMinute(ctx context.Context) (SeenMinute, bool, error) {
	m, err := first(list(ctx, s, "read the newest seen minute", (*SeenMinute).fields,
		`SELECT minute, seconds FROM seen_minutes ORDER BY minute DESC LIMIT 1`))
	return m, err == nil, unlessMissing(err)
}

func (m *SeenMinute) fields() []any { return []any{&m.Minute, &m.Seconds} }

func (t *tx) putSeenMinutes(ctx context.Context, all []SeenMinute, _ targetIDs) error {
	return insertAll(ctx, t, `INSERT INTO seen_minutes (minute, seconds, updated)`, `
		ON CONFLICT (minute) DO UPDATE SET seconds = excluded.seconds, updated = excluded.updated`, all, func(m SeenMinute) []any {
		return []any{utc(m.Minute), int64(m.Seconds), t.now}
	})
}
