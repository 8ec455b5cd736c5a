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
	Limit    int
}

// DefaultLimit is the most rows of a query whose own Limit is 0.
const DefaultLimit = 1000

func limit(n int) int {
	if n <= 0 {
		return DefaultLimit
	}
	return n
}

// orForever is an inclusive end of time, open when zero.
func orForever(t time.Time) time.Time {
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
		q.Source, unknown, utc(q.From), orForever(q.To), limit(q.Limit))
}

const reasonWentBack = "the database was set back to an earlier state, by a failover or a restore: what was judged in between is lost and judged again; " +
	"samples are counted again from their logs, as far as these still hold them"

// RecordWentBack records that the database lacks rows written since a time: a gap of the
// source "store" up to now. Every process that notices it calls this, because some may
// end before they do; the first one records it.
func (s *Store) RecordWentBack(ctx context.Context, noticedBy string, since time.Time) error {
	return s.change(ctx, "record that the database went back", func(t *tx) error {
		return t.recordWentBack(ctx, noticedBy, since)
	})
}

func (t *tx) recordWentBack(ctx context.Context, noticedBy string, since time.Time) error {
	// One after another, by the one row that is always there.
	if err := t.run(ctx, `UPDATE installation SET hash_seed = hash_seed`); err != nil {
		return err
	}
	var known int
	err := t.QueryRowContext(ctx, `SELECT count(*) FROM gaps WHERE source = 'store' AND until >= $1`, utc(since)).Scan(&known)
	if err != nil || known > 0 {
		return err
	}
	return t.putGaps(ctx, noticedBy, []Gap{{Gap: sample.Gap{
		Source: "store", From: since.Format(time.RFC3339), Since: since, Until: t.now, Reason: reasonWentBack,
	}}})
}

func (t *tx) putGaps(ctx context.Context, writer string, gaps []Gap) error {
	return insertAll(ctx, t,
		`INSERT INTO gaps (writer, source, name, from_pos, to_pos, since, until, reason, noticed)`, "", gaps, func(g Gap) []any {
			return []any{writer, g.Source, g.Partition, clean(g.From), clean(g.To),
				utc(g.Since), utc(g.Until), clean(g.Reason), cmp.Or(utc(g.Noticed), t.now)}
		})
}
