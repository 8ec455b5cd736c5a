package store

import (
	"context"
	"time"
)

// Receiver is how the receiver of one route answers.
type Receiver struct {
	Route string
	// Failures counts the failed attempts in a row; 0 while the receiver takes
	// notifications. LastError is the newest failure, kept after it.
	Failures  int
	LastError string
	// FailedSince is when the newest run of failures began, and Recovered when a success
	// ended it; zero where there was none yet.
	FailedSince, Recovered time.Time
	// NextAttempt is before when the route has nothing due.
	NextAttempt time.Time
	// Attempted is when the newest attempt ended, Succeeded when the newest success did;
	// zero where there was none yet.
	Attempted, Succeeded time.Time
	// Pending counts the notifications that wait, and Oldest is since when the first of
	// them waits; zero where none does.
	Pending int
	Oldest  time.Time
}

// Failing reports whether the newest attempt failed.
func (r *Receiver) Failing() bool { return r.Failures > 0 }

func (r *Receiver) fields() []any {
	return []any{&r.Route, &r.Failures, &r.LastError, (*orZero)(&r.FailedSince), (*orZero)(&r.Recovered), (*orZero)(&r.NextAttempt),
		(*orZero)(&r.Attempted), (*orZero)(&r.Succeeded), &r.Pending, (*orZero)(&r.Oldest)}
}

// receiverSelect has a row for each route with an attempt, or with a notification that
// waits.
const receiverSelect = `
	SELECT r.route, COALESCE(s.failures, 0), COALESCE(s.last_error, ''), s.failed_since, s.recovered, s.next_attempt, s.attempted, s.succeeded,
		(SELECT count(*) FROM notifications AS n WHERE n.route = r.route AND n.state = 'pending'),
		(SELECT n.created FROM notifications AS n WHERE n.route = r.route AND n.state = 'pending' ORDER BY n.created LIMIT 1)
	FROM (SELECT route FROM receivers UNION SELECT route FROM notifications WHERE state = 'pending') AS r
	LEFT JOIN receivers AS s ON s.route = r.route`

// Receivers returns the receivers of all routes with an attempt, or with a notification
// that waits, by their names.
func (s *Store) Receivers(ctx context.Context) ([]Receiver, error) {
	return list(ctx, s, "read receivers", (*Receiver).fields, receiverSelect+` ORDER BY r.route`)
}

// Receiver returns the receiver of one route; one without a failure where nothing is
// stored of it.
func (s *Store) Receiver(ctx context.Context, route string) (Receiver, error) {
	found, err := list(ctx, s, "read receiver "+route, (*Receiver).fields, receiverSelect+` WHERE r.route = $1`, route)
	if err != nil || len(found) == 0 {
		return Receiver{Route: route}, err
	}
	return found[0], nil
}

// ReceiverSucceeded notes that a route's receiver took something: all that waits for it
// is due now.
func (s *Store) ReceiverSucceeded(ctx context.Context, route string) error {
	return s.change(ctx, "note the success of receiver "+route, func(t *tx) error {
		return t.run(ctx, `
			INSERT INTO receivers (route, failures, next_attempt, attempted, succeeded, last_error) VALUES ($1, 0, $2, $2, $2, '')
			ON CONFLICT (route) DO UPDATE
			SET recovered = CASE WHEN receivers.failures > 0 THEN excluded.attempted ELSE receivers.recovered END,
				failures = 0, next_attempt = excluded.attempted, attempted = excluded.attempted, succeeded = excluded.attempted`, route, t.now)
	})
}

// ReceiverFailed notes a failed attempt of a route's receiver, and that the route has
// nothing due for so long.
func (s *Store) ReceiverFailed(ctx context.Context, route, cause string, pause time.Duration) error {
	return s.change(ctx, "note the failure of receiver "+route, func(t *tx) error {
		return t.run(ctx, `
			INSERT INTO receivers (route, failures, failed_since, next_attempt, attempted, last_error) VALUES ($1, 1, $2, $3, $2, $4)
			ON CONFLICT (route) DO UPDATE
			SET failed_since = CASE WHEN receivers.failures > 0 THEN receivers.failed_since ELSE excluded.failed_since END,
				recovered = NULL, failures = receivers.failures + 1, next_attempt = excluded.next_attempt,
				attempted = excluded.attempted, last_error = excluded.last_error`,
			route, t.now, utc(t.now.Add(pause)), clean(cause))
	})
}
