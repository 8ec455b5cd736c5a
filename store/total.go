package store

import (
	"context"

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
	return list(ctx, s, "read totals", func(o *Total) []any {
		return append(targetFields(&o.Target), &o.Requests, &o.ReadMilli, &o.WriteMilli,
			&o.ThrottledRequests, &o.ThrottledReadMilli, &o.ThrottledWriteMilli, &o.Seconds)
	}, `
		SELECT account, region, table_name, index_name, requests, read_milli, write_milli,
			throttled_requests, throttled_read_milli, throttled_write_milli, seconds
		FROM keyheat_totals ORDER BY table_name, index_name, account, region`)
}
