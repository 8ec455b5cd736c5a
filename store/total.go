package store

import (
	"context"
	"time"

	"github.com/keyheat/keyheat/sample"
)

// Total is the sum over every stored second of one table or index, in requests
// and thousandths of a unit.
type Total struct {
	sample.Target
	Requests              int64
	ReadMilli, WriteMilli int64
	// What was throttled.
	ThrottledRequests                       int64
	ThrottledReadMilli, ThrottledWriteMilli int64
	// Seconds is how many windows were added.
	Seconds int64
}

// Totals returns the stored totals by table and index, from the view
// keyheat_totals, which an operator may query too.
func (s *Store) Totals(ctx context.Context) ([]Total, error) {
	return list(ctx, s, "read totals", (*Total).fields, `
		SELECT account, region, table_name, index_name, requests, read_milli, write_milli,
			throttled_requests, throttled_read_milli, throttled_write_milli, seconds
		FROM keyheat_totals ORDER BY table_name, index_name, account, region`)
}

// TotalsBetween returns the sums over the seconds of event time from one to another,
// exclusive, of each table and index that has one; zero times are open.
func (s *Store) TotalsBetween(ctx context.Context, from, to time.Time) ([]Total, error) {
	return list(ctx, s, "read the totals of a time", (*Total).fields, `
		SELECT `+targetColumns+`, CAST(sum(w.requests) AS BIGINT), CAST(sum(w.read_milli) AS BIGINT), CAST(sum(w.write_milli) AS BIGINT),
			CAST(sum(w.throttled_requests) AS BIGINT), CAST(sum(w.throttled_read_milli) AS BIGINT),
			CAST(sum(w.throttled_write_milli) AS BIGINT), count(*)
		FROM `+windowTables+` WHERE w.second >= $1 AND w.second < $2
		GROUP BY `+targetColumns+` ORDER BY t.table_name, t.index_name, t.account, t.region`, utc(from), until(to))
}

func (o *Total) fields() []any {
	return append(targetFields(&o.Target), &o.Requests, &o.ReadMilli, &o.WriteMilli,
		&o.ThrottledRequests, &o.ThrottledReadMilli, &o.ThrottledWriteMilli, &o.Seconds)
}
