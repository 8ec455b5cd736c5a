package store

import (
	"context"
	"time"
)

// DueNotifications returns a route's due notifications: the least often attempted first, so
// that a failing one keeps no other back, then those whose turn it is. Nothing is due before
// the receiver's next attempt. On one route an incident's later notification is not due before
// its earlier one is delivered or dead: min finds that by its index, where NOT EXISTS became a
// join over all that waits while Postgres knew nothing of a table that had just been filled.
func (s *Store) DueNotifications(ctx context.Context, route string, most int) ([]Notification, error) {
	var due []Notification
	err := s.snapshot(ctx, "read due notifications", func(t *tx) (err error) {
		due, err = selectAll(ctx, t, (*Notification).fields, `
			SELECT id, fingerprint, incident, event, route, payload, flow, created, next_attempt, attempts, refusals, state, last_error, reached,
				COALESCE((
					SELECT earlier.receipt FROM notifications AS earlier
					WHERE earlier.route = n.route AND earlier.incident = n.incident AND n.incident <> ''
						AND earlier.state <> 'pending' AND earlier.receipt <> '' AND earlier.ordinal < n.ordinal
					ORDER BY earlier.ordinal DESC LIMIT 1), '')
			FROM notifications AS n
			WHERE route = $1 AND state = 'pending' AND next_attempt <= $2
				AND NOT EXISTS (SELECT 1 FROM receivers AS r WHERE r.route = $1 AND r.next_attempt > $2)
				AND ordinal = CASE WHEN incident <> '' THEN (
					SELECT min(first.ordinal) FROM notifications AS first
					WHERE first.route = n.route AND first.incident = n.incident AND first.state = 'pending')
				ELSE (
					SELECT min(first.ordinal) FROM notifications AS first
					WHERE first.route = n.route AND first.fingerprint = n.fingerprint AND first.incident = '' AND first.state = 'pending') END
			ORDER BY attempts, turn, ordinal LIMIT $3`, route, t.now, limit(most))
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
