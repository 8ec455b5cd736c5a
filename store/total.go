package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/keyheat/keyheat/sample"
)

// Total is the sum over every stored second of one table or index, in requests
// and thousandths of a unit.
type Total struct {
	sample.Target
	Requests              int64
	ReadMilli, WriteMilli int64
	// The throttled requests and units.
	ThrottledRequests                       int64
	ThrottledReadMilli, ThrottledWriteMilli int64
	// Seconds is how many windows were added.
	Seconds int64
}

// Totals returns the stored totals by table and index, from the view keyheat_totals,
// which an operator may query too.
func (s *Store) Totals(ctx context.Context) ([]Total, error) {
	return list(ctx, s, "read totals", func(o *Total) []any {
		return append(targetFields(&o.Target), &o.Requests, &o.ReadMilli, &o.WriteMilli,
			&o.ThrottledRequests, &o.ThrottledReadMilli, &o.ThrottledWriteMilli, &o.Seconds)
	}, `
		SELECT account, region, table_name, index_name, requests, read_milli, write_milli,
			throttled_requests, throttled_read_milli, throttled_write_milli, seconds
		FROM keyheat_totals ORDER BY table_name, index_name, account, region`)
}

// Served is how many requests of a table or index were served, and how many throttled.
type Served struct {
	sample.Target
	Requests, ThrottledRequests int64
}

// ServedSince returns the sums over the seconds of event time from one on, of each table
// and index that has one.
func (s *Store) ServedSince(ctx context.Context, from time.Time) ([]Served, error) {
	type sums struct {
		Served
		requests, throttled sql.NullInt64
	}
	// A sum for each target by itself, since windows are found by target: a join may read
	// all of them.
	rows, err := list(ctx, s, "read what was served", func(o *sums) []any {
		return append(targetFields(&o.Target), &o.requests, &o.throttled)
	}, `
		SELECT `+targetColumns+`,
			(SELECT CAST(sum(w.requests) AS BIGINT) FROM windows AS w WHERE w.target = t.id AND w.second >= $1),
			(SELECT CAST(sum(w.throttled_requests) AS BIGINT) FROM windows AS w WHERE w.target = t.id AND w.second >= $1)
		FROM targets AS t ORDER BY t.table_name, t.index_name, t.account, t.region`, utc(from))
	var all []Served
	for _, row := range rows {
		if row.requests.Valid {
			all = append(all, Served{row.Target, row.requests.Int64, row.throttled.Int64})
		}
	}
	return all, err
}
