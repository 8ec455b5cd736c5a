package store

import (
	"context"
	"time"

	"github.com/keyheat/keyheat/sample"
)

// LastSample is the newest sample of a table or index.
type LastSample struct {
	sample.Target
	Second time.Time
}

// LastSamples returns the newest second with a sample of each table and index: the beginning
// of its newest roll-up of a level once its seconds are pruned. It takes one query for any
// number of tables.
func (s *Store) LastSamples(ctx context.Context, level int64) (newest []LastSample, err error) {
	// SQLite keeps to the order of a cross join: rows are found by target.
	all, err := list(ctx, s, "read the newest samples", func(l *LastSample) []any { return append(targetFields(&l.Target), &l.Second) }, `
		SELECT `+targetColumns+`, w.second FROM targets AS t CROSS JOIN windows AS w
		WHERE w.target = t.id AND w.second = (SELECT max(o.second) FROM windows AS o WHERE o.target = t.id)
		UNION ALL
		SELECT `+targetColumns+`, r.begins FROM targets AS t CROSS JOIN rollups AS r
		WHERE r.target = t.id AND r.level = $1 AND r.begins = (SELECT max(o.begins) FROM rollups AS o WHERE o.target = t.id AND o.level = $1)`, level)
	places := make(map[sample.Target]int, len(all))
	for _, l := range all {
		at, known := places[l.Target]
		switch {
		case !known:
			places[l.Target] = len(newest)
			newest = append(newest, l)
		case l.Second.After(newest[at].Second):
			newest[at] = l
		}
	}
	return newest, err
}

// RollupTimes returns the beginnings of the roll-ups of a level from one time to another,
// exclusive, of all tables and indexes: each once, in order.
func (s *Store) RollupTimes(ctx context.Context, level int64, from, to time.Time) ([]time.Time, error) {
	return list(ctx, s, "read the times of all roll-ups", singleColumn[time.Time], `
		SELECT DISTINCT r.begins FROM targets AS t CROSS JOIN rollups AS r
		WHERE r.target = t.id AND r.level = $1 AND r.begins >= $2 AND r.begins < $3 ORDER BY r.begins`,
		level, utc(from), utc(to))
}

// EachRollupTimes returns the beginnings of the roll-ups that each of some queries chooses.
func (s *Store) EachRollupTimes(ctx context.Context, all []RollupQuery) ([][]time.Time, error) {
	each := make([][]any, len(all))
	for i, q := range all {
		each[i] = targetArgs(q.Target, q.Level, utc(q.From), orForever(q.To))
	}
	return listEach(ctx, s, "read the times of roll-ups", singleColumn[time.Time], `
		SELECT begins FROM rollups AS r JOIN targets AS t ON t.id = r.target
		WHERE `+isTarget+` AND level = $5 AND begins >= $6 AND begins < $7 ORDER BY begins`, each)
}
