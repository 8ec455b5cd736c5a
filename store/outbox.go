package store

import (
	"context"
	"time"
)

// DueNotifications returns a route's due notifications: the least often attempted first,
// so that a failing one keeps no other back, then the oldest. Nothing is due before the
// receiver's next attempt. On one route an incident's later notification is not due
// before its earlier one is delivered or dead: a receiver never gets the end before the
// beginning.
func (s *Store) DueNotifications(ctx context.Context, route string, most int) ([]Notification, error) {
	var due []Notification
	err := s.snapshot(ctx, "read due notifications", func(t *tx) (err error) {
		due, err = selectAll(ctx, t, (*Notification).fields, `
			SELECT id, fingerprint, incident, event, route, payload, created, next_attempt, attempts, refusals, state, last_error, reached,
				COALESCE((
					SELECT earlier.receipt FROM notifications AS earlier
					WHERE earlier.route = n.route AND earlier.incident = n.incident AND n.incident <> ''
						AND earlier.receipt <> '' AND earlier.ordinal < n.ordinal
					ORDER BY earlier.ordinal DESC LIMIT 1), '')
			FROM notifications AS n
			WHERE route = $1 AND state = 'pending' AND next_attempt <= $2
				AND NOT EXISTS (SELECT 1 FROM receivers AS r WHERE r.route = $1 AND r.next_attempt > $2)
				AND NOT EXISTS (
					SELECT 1 FROM notifications AS earlier
					WHERE earlier.route = n.route
						AND (n.incident <> '' AND earlier.incident = n.incident
							OR earlier.incident = '' AND earlier.fingerprint = n.fingerprint)
						AND earlier.state = 'pending' AND earlier.ordinal < n.ordinal)
			ORDER BY attempts, ordinal LIMIT $3`, route, t.now, limit(most))
		return err
	})
	return due, err
}

// MarkSending notes that an attempt begins, with its payload: the message may arrive even
// if this process dies. It fails with ErrNotFound when none is pending under this id.
func (s *Store) MarkSending(ctx context.Context, id string, payload []byte) error {
	return s.setNotification(ctx, id, `
		UPDATE notifications SET reached = TRUE, rewritten = rewritten OR payload <> $2, payload = $2 WHERE id = $1 AND state = 'pending'`, present(payload))
}

// MarkDelivered notes that a notification arrived, and the receiver's name of its
// message. It fails with ErrNotFound when none is pending under this id.
func (s *Store) MarkDelivered(ctx context.Context, id, receipt string) error {
	return s.setNotification(ctx, id, `
		UPDATE notifications SET state = 'delivered', last_error = '', receipt = $2
		WHERE id = $1 AND state = 'pending'`, receipt)
}

// Failure is the record of a failed attempt.
type Failure struct {
	// Next is when to try again; as soon as the receiver is when zero.
	Next  time.Time
	Cause string
	// Refused reports that the receiver rejected it. Unreached reports that neither
	// this attempt nor one before it can have arrived.
	Refused, Unreached bool
}

// MarkFailed notes a failed attempt.
func (s *Store) MarkFailed(ctx context.Context, id string, f Failure) error {
	refusals := 0
	if f.Refused {
		refusals = 1
	}
	return s.setNotification(ctx, id, `
		UPDATE notifications
		SET attempts = attempts + 1, refusals = refusals + $4, next_attempt = $2, last_error = $3, reached = $5
		WHERE id = $1 AND state = 'pending'`, utc(f.Next), clean(f.Cause), refusals, !f.Unreached)
}

// MarkDead gives a notification up after a last failed attempt, and lets the
// finding's next one become due.
func (s *Store) MarkDead(ctx context.Context, id, cause string) error {
	return s.setNotification(ctx, id, `
		UPDATE notifications SET state = 'dead', attempts = attempts + 1, last_error = $2
		WHERE id = $1 AND state = 'pending'`, clean(cause))
}

// MarkAllDead gives up a route's pending notifications that were made before a time, and
// returns how many these are.
func (s *Store) MarkAllDead(ctx context.Context, route string, before time.Time, cause string) (n int64, err error) {
	err = s.change(ctx, "give notifications up", func(t *tx) (err error) {
		n, err = t.exec(ctx, `
			UPDATE notifications SET state = 'dead', last_error = $3
			WHERE route = $1 AND state = 'pending' AND created <= $2`, route, utc(before), clean(cause))
		return err
	})
	return n, err
}

func (s *Store) setNotification(ctx context.Context, id, update string, args ...any) error {
	return s.change(ctx, "update notification "+id, func(t *tx) error {
		return t.execFound(ctx, update, append([]any{id}, args...)...)
	})
}

// CancelUntold cancels a route's pending notifications of incidents that ended before any
// attempt with their beginning may have arrived: a receiver gets neither an end without a
// beginning, nor a beginning that is over.
func (s *Store) CancelUntold(ctx context.Context, route string) error {
	return s.change(ctx, "cancel notifications", func(t *tx) error {
		// An incident may begin again: only rows after its last end count.
		_, err := t.exec(ctx, `
			UPDATE notifications SET state = 'cancelled'
			WHERE route = $1 AND state = 'pending' AND event = 'resolved' AND NOT reached AND incident <> '' AND EXISTS (
				SELECT 1 FROM notifications AS begin
				WHERE begin.route = notifications.route AND begin.incident = notifications.incident AND begin.ordinal < notifications.ordinal
					AND begin.event = 'firing' AND NOT begin.reached
					AND NOT EXISTS (
						SELECT 1 FROM notifications AS later
						WHERE later.route = begin.route AND later.incident = begin.incident
							AND later.ordinal > begin.ordinal AND later.ordinal < notifications.ordinal
							AND (later.event = 'resolved' OR later.reached)))`, route)
		if err != nil {
			return err
		}
		// The rows before the end go with it, back to the end before, which may belong to
		// a sent beginning.
		_, err = t.exec(ctx, `
			UPDATE notifications SET state = 'cancelled'
			WHERE route = $1 AND state = 'pending' AND NOT reached AND incident <> '' AND event <> 'resolved' AND EXISTS (
				SELECT 1 FROM notifications AS over
				WHERE over.route = notifications.route AND over.incident = notifications.incident
					AND over.ordinal > notifications.ordinal AND over.state = 'cancelled'
					AND NOT EXISTS (
						SELECT 1 FROM notifications AS before
						WHERE before.route = over.route AND before.incident = over.incident AND before.event = 'resolved'
							AND before.ordinal > notifications.ordinal AND before.ordinal < over.ordinal))`, route)
		return err
	})
}

// Collapse merges a route's pending notifications of one incident. An update goes into
// the earliest notification before it that has certainly not arrived, which takes the
// newest payload. An update of an incident that the receiver knows is dropped before an
// end that waits too. No update moves over an end: the first one behind it begins the
// incident anew.
func (s *Store) Collapse(ctx context.Context, route string) error {
	return s.change(ctx, "collapse notifications", func(t *tx) error {
		n, err := t.exec(ctx, `
			UPDATE notifications SET state = 'summarised'
			WHERE route = $1 AND state = 'pending' AND event = 'updated' AND NOT reached AND incident <> '' AND EXISTS (
				SELECT 1 FROM notifications AS earlier
				WHERE earlier.route = notifications.route AND earlier.incident = notifications.incident AND earlier.ordinal < notifications.ordinal
					AND earlier.event <> 'resolved' AND (
						earlier.state = 'pending' AND NOT earlier.reached
						OR (earlier.state = 'delivered' OR earlier.reached) AND EXISTS (
							SELECT 1 FROM notifications AS over
							WHERE over.route = notifications.route AND over.incident = notifications.incident AND over.ordinal > notifications.ordinal
								AND over.state = 'pending' AND over.event = 'resolved'))
					AND NOT EXISTS (`+endBetween("earlier", "notifications")+`))`, route)
		if err != nil || n == 0 {
			return err
		}
		const merged = `
			FROM notifications AS later
			WHERE later.route = notifications.route AND later.incident = notifications.incident AND later.ordinal > notifications.ordinal
				AND later.event = 'updated' AND later.state = 'summarised' AND NOT EXISTS (`
		return t.run(ctx, `
			UPDATE notifications SET rewritten = TRUE, payload = (
				SELECT later.payload`+merged+endBetween("notifications", "later")+`) ORDER BY later.ordinal DESC LIMIT 1)
			WHERE route = $1 AND state = 'pending' AND event <> 'resolved' AND NOT reached AND incident <> '' AND EXISTS (
				SELECT 1`+merged+endBetween("notifications", "later")+`))`, route)
	})
}

// endBetween selects the ends of an incident between two of its notifications on a route.
func endBetween(from, to string) string {
	return `
		SELECT 1 FROM notifications AS between_end
		WHERE between_end.route = ` + from + `.route AND between_end.incident = ` + from + `.incident AND between_end.event = 'resolved'
			AND between_end.ordinal > ` + from + `.ordinal AND between_end.ordinal < ` + to + `.ordinal`
}

// MarkSummarised notes that pending notifications went out as one message.
func (s *Store) MarkSummarised(ctx context.Context, ids []string) error {
	return s.change(ctx, "update notifications", func(t *tx) error {
		for _, id := range ids {
			if _, err := t.exec(ctx, `UPDATE notifications SET state = 'summarised' WHERE id = $1 AND state = 'pending'`, id); err != nil {
				return err
			}
		}
		return nil
	})
}

// Ongoing returns, for each incident that fires and whose beginning a route has sent, the last notification that was delivered there.
func (s *Store) Ongoing(ctx context.Context, route string) ([]Notification, error) {
	return list(ctx, s, "read notifications of incidents that fire", (*Notification).fields, `
		SELECT `+notificationColumns+` FROM notifications AS n
		WHERE route = $1 AND state = 'delivered' AND event <> 'resolved' AND incident <> ''
			AND (EXISTS (SELECT 1 FROM incidents AS i WHERE i.id = n.incident AND i.state = 'firing'))
			AND NOT EXISTS (
				SELECT 1 FROM notifications AS later
				WHERE later.route = n.route AND later.incident = n.incident AND later.ordinal > n.ordinal
					AND later.state = 'delivered')
		ORDER BY ordinal`, route)
}

// NotificationQuery chooses notifications. The zero value chooses all.
type NotificationQuery struct {
	Route, State string
	Limit        int
}

// RecentNotifications returns the notifications that a query chooses, the newest first.
func (s *Store) RecentNotifications(ctx context.Context, q NotificationQuery) ([]Notification, error) {
	return list(ctx, s, "read notifications", (*Notification).fields, `
		SELECT `+notificationColumns+` FROM notifications
		WHERE ($1 = '' OR route = $1) AND ($2 = '' OR state = $2)
		ORDER BY ordinal DESC LIMIT $3`, q.Route, q.State, limit(q.Limit))
}

// RetryNotification makes a notification due that is dead, or waits for its next
// attempt, and its receiver too. It fails with ErrNotFound for any other.
func (s *Store) RetryNotification(ctx context.Context, id string) error {
	return s.change(ctx, "retry notification "+id, func(t *tx) error {
		err := t.execFound(ctx, `
			UPDATE notifications SET state = 'pending', created = $2, next_attempt = $2, refusals = 0
			WHERE id = $1 AND state IN ('pending', 'dead')`, id, t.now)
		if err != nil {
			return err
		}
		return t.run(ctx, `
			UPDATE receivers SET next_attempt = $2 WHERE route = (SELECT route FROM notifications WHERE id = $1)`, id, t.now)
	})
}

// PutNotification puts a notification into the outbox that follows from no judgement.
func (s *Store) PutNotification(ctx context.Context, n Notification) error {
	return s.change(ctx, "write a notification", func(t *tx) error {
		return t.putNotifications(ctx, []Notification{n}, nil)
	})
}
