package store

import (
	"cmp"
	"context"
	"time"

	"github.com/keyheat/keyheat/sample"
)

// Gap is a range of a partition that was not, and will never be, counted.
type Gap struct {
	sample.Gap
	// Noticed is when it was found; the database's time when zero.
	Noticed time.Time
}

// GapQuery chooses gaps. The zero value chooses all.
type GapQuery struct {
	// Source is a source's name, or empty for all.
	Source string
	// From and To choose the gaps that may overlap this range of event time,
	// both inclusive; zero is open. A gap of unknown bounds may overlap any.
	From, To time.Time
	// Limit is the most gaps to return, 0 for DefaultLimit.
	Limit int
}

// DefaultLimit bounds the rows of a query that sets no limit of its own.
const DefaultLimit = 1000

// limit is a query's limit or the default.
func limit(n int) int {
	if n <= 0 {
		return DefaultLimit
	}
	return n
}

// until is an inclusive end of time, open when zero.
func until(t time.Time) time.Time {
	if t.IsZero() {
		return Infinity
	}
	return utc(t)
}

// Gaps returns the gaps that a query chooses, the newest first.
func (s *Store) Gaps(ctx context.Context, q GapQuery) ([]Gap, error) {
	unknown := utc(time.Time{})
	return list(ctx, s, "read gaps", func(g *Gap) []any {
		return []any{&g.Source, &g.Partition, &g.From, &g.To, &g.Since, &g.Until, &g.Reason, &g.Noticed}
	}, `
		SELECT source, name, from_pos, to_pos, since, until, reason, noticed
		FROM gaps
		WHERE ($1 = '' OR source = $1)
			AND (until = $2 OR until >= $3) AND since <= $4
		ORDER BY noticed DESC, id DESC LIMIT $5`,
		q.Source, unknown, utc(q.From), until(q.To), limit(q.Limit))
}

func (t *tx) putGaps(ctx context.Context, writer string, gaps []Gap) error {
	return insertAll(ctx, t,
		`INSERT INTO gaps (writer, source, name, from_pos, to_pos, since, until, reason, noticed)`, "", gaps, func(g Gap) []any {
			return []any{writer, g.Source, g.Partition, clean(g.From), clean(g.To),
				utc(g.Since), utc(g.Until), clean(g.Reason), cmp.Or(utc(g.Noticed), t.now)}
		})
}
