package collect

import (
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/keyheat/keyheat/sample"
)

const rejectionsEvery = time.Minute

// rejections are the rejected samples that no log line counts yet. Only commits use it,
// one at a time.
type rejections struct {
	count  map[sample.RejectReason]int64
	tables counters // has refusals alone
	logged time.Time
}

// log adds a commit's rejected samples, and logs all of them at most once a minute, by
// reject reason. Their text stays out of the log, because it may hold a key.
func (r *rejections) log(to *slog.Logger, now time.Time, stored *counters) {
	if r.count == nil {
		r.count = make(map[sample.RejectReason]int64)
	}
	for reason, bad := range stored.bad {
		r.count[reason] += bad.count
	}
	r.tables.add(counters{refused: stored.refused, refusals: stored.refusals})
	if len(r.count)+len(r.tables.refusals) == 0 || now.Sub(r.logged) < rejectionsEvery {
		return
	}
	var reasons []any
	for _, reason := range slices.Sorted(maps.Keys(r.count)) {
		reasons = append(reasons, slog.Int64(string(reason), r.count[reason]))
	}
	if len(reasons) > 0 {
		to.Warn("samples were rejected; the page /status shows examples", slog.Group("by_reason", reasons...))
	}
	for of, n := range r.tables.refusals {
		to.Warn("there is no room for a table: "+TablesRemedy, "from", of.sender, "table_hash", of.table, "samples", n)
	}
	clear(r.count)
	r.tables = counters{}
	r.logged = now
}
