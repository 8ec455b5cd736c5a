package store

import (
	"context"
	"time"

	"github.com/keyheat/keyheat/sample"
)

// Window is one event-time second of a table or index, merged over all
// writers. Units are thousandths of a capacity unit.
type Window struct {
	sample.Target
	Second time.Time
	// Requests and units that were consumed.
	Requests              int64
	ReadMilli, WriteMilli int64
	// Requests that were throttled, and the units they asked for.
	ThrottledRequests                       int64
	ThrottledReadMilli, ThrottledWriteMilli int64
	// Vector is the highest sequence number of each writer that is folded in.
	// A delta that it covers must not be folded again.
	Vector map[string]int64
	// Complete reports that the watermark of every partition had passed the
	// second when it was closed.
	Complete bool
	Body     []byte
}

// WindowQuery chooses the windows of one target.
type WindowQuery struct {
	sample.Target
	// From and To bound the second, From inclusive, To exclusive; zero is
	// open.
	From, To time.Time
	Limit    int
}

const windowColumns = `second, requests, read_milli, write_milli,
	throttled_requests, throttled_read_milli, throttled_write_milli, vector, complete, body`

const windowTables = `windows AS w JOIN targets AS t ON t.id = w.target`

// LastWindow returns the newest second that is stored of a table or index, and
// whether there is any: no later one has to be queried.
func (s *Store) LastWindow(ctx context.Context, at sample.Target) (time.Time, bool, error) {
	second, err := first(list(ctx, s, "read the newest window", singleColumn[time.Time], lastWindow, targetArgs(at)...))
	return second, err == nil, unlessMissing(err)
}

// LastWindows returns the newest second that is stored of each table or index; the zero
// time where there is none.
func (s *Store) LastWindows(ctx context.Context, of []sample.Target) ([]time.Time, error) {
	each := make([][]any, len(of))
	for i, at := range of {
		each[i] = targetArgs(at)
	}
	rows, err := listEach(ctx, s, "read the newest windows", singleColumn[time.Time], lastWindow, each)
	newest := make([]time.Time, len(rows))
	for i, last := range rows {
		if len(last) > 0 {
			newest[i] = last[0]
		}
	}
	return newest, err
}

const lastWindow = `
	SELECT second FROM ` + windowTables + `
	WHERE ` + isTarget + ` ORDER BY second DESC LIMIT 1`

// MaxAhead is how far ahead of the database's clock a second may lie: twice as much as
// collectors count by default.
const MaxAhead = 2 * time.Minute

// Windows returns the windows that a query chooses, in the order of time.
func (s *Store) Windows(ctx context.Context, q WindowQuery) ([]Window, error) {
	return ofOne(s.EachWindows(ctx, []WindowQuery{q}))
}

// EachWindows returns the windows that each of some queries chooses.
func (s *Store) EachWindows(ctx context.Context, all []WindowQuery) ([][]Window, error) {
	each := make([][]any, len(all))
	for i, q := range all {
		each[i] = targetArgs(q.Target, utc(q.From), orForever(q.To), limit(q.Limit))
	}
	return listEach(ctx, s, "read windows", (*Window).fields, `
		SELECT `+targetColumns+`, `+windowColumns+` FROM `+windowTables+`
		WHERE `+isTarget+` AND second >= $5 AND second < $6
		ORDER BY second LIMIT $7`, each)
}

func (w *Window) fields() []any {
	return append(targetFields(&w.Target), &w.Second, &w.Requests, &w.ReadMilli, &w.WriteMilli,
		&w.ThrottledRequests, &w.ThrottledReadMilli, &w.ThrottledWriteMilli, asJSON{&w.Vector}, &w.Complete, &w.Body)
}

func (t *tx) putWindows(ctx context.Context, windows []Window, ids targetIDs) error {
	return insertAll(ctx, t, `INSERT INTO windows (target, `+windowColumns+`, updated)`, `
		ON CONFLICT (target, second) DO UPDATE
		SET requests = excluded.requests,
			read_milli = excluded.read_milli,
			write_milli = excluded.write_milli,
			throttled_requests = excluded.throttled_requests,
			throttled_read_milli = excluded.throttled_read_milli,
			throttled_write_milli = excluded.throttled_write_milli,
			vector = excluded.vector,
			complete = excluded.complete,
			body = excluded.body,
			updated = excluded.updated`, windows, func(w Window) []any {
		return []any{ids.id(w.Target), utc(w.Second), w.Requests, w.ReadMilli, w.WriteMilli,
			w.ThrottledRequests, w.ThrottledReadMilli, w.ThrottledWriteMilli, asJSON{w.Vector}, w.Complete, present(w.Body), t.now}
	})
}

func present(body []byte) []byte {
	if body == nil {
		return []byte{}
	}
	return body
}
