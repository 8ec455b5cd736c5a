package store

import (
	"context"
	"crypto/rand"
	"time"
)

// The states of a notification.
const (
	Pending   = "pending"
	Delivered = "delivered"
	Dead      = "dead"
)

// Notification is one message that waits in the outbox, or was there.
type Notification struct {
	// ID is the same on every attempt, so that a receiver can recognise a
	// repetition. Made by the store when empty.
	ID string
	// Fingerprint is the finding that it is about, Event what happened to the
	// finding, Route where the notification goes.
	Fingerprint, Event, Route string
	// Incident is the incident that it is about; empty for none.
	Incident string
	// Payload is what the route delivers.
	Payload []byte
	// Created is when it was put into the outbox; set by the store.
	Created time.Time
	// NextAttempt is before when it is not due; at once when zero.
	NextAttempt time.Time
	// Attempts counts the failed deliveries, Refusals those of them that the
	// receiver rejected; LastError is the newest one's.
	Attempts  int
	Refusals  int
	State     string
	LastError string
}

const notificationColumns = `id, fingerprint, incident, event, route, payload, created,
	next_attempt, attempts, refusals, state, last_error`

func (n *Notification) fields() []any {
	return []any{&n.ID, &n.Fingerprint, &n.Incident, &n.Event, &n.Route, &n.Payload, &n.Created,
		&n.NextAttempt, &n.Attempts, &n.Refusals, &n.State, &n.LastError}
}

// DueNotifications returns what a route has to deliver now, the oldest first.
// On one route an incident's later notification is not due before its earlier
// one is delivered or dead: a receiver never gets the end before the
// beginning.
func (s *Store) DueNotifications(ctx context.Context, route string, most int) ([]Notification, error) {
	var due []Notification
	err := s.snapshot(ctx, "read due notifications", func(t *tx) (err error) {
		due, err = selectAll(ctx, t, (*Notification).fields, `
			SELECT `+notificationColumns+` FROM notifications AS n
			WHERE route = $1 AND state = 'pending' AND next_attempt <= $2
				AND NOT EXISTS (
					SELECT 1 FROM notifications AS earlier
					WHERE earlier.route = n.route
						AND (n.incident <> '' AND earlier.incident = n.incident
							OR earlier.incident = '' AND earlier.fingerprint = n.fingerprint)
						AND earlier.state = 'pending' AND earlier.ordinal < n.ordinal)
			ORDER BY ordinal LIMIT $3`, route, t.now, limit(most))
		return err
	})
	return due, err
}

// Notifications returns all notifications of a finding that are kept, in their
// order.
func (s *Store) Notifications(ctx context.Context, fingerprint string) ([]Notification, error) {
	return list(ctx, s, "read notifications", (*Notification).fields, `
		SELECT `+notificationColumns+` FROM notifications
		WHERE fingerprint = $1 ORDER BY ordinal`, fingerprint)
}

// MarkDelivered notes that a notification arrived. It fails with ErrNotFound
// when none is pending under this id.
func (s *Store) MarkDelivered(ctx context.Context, id string) error {
	return s.setNotification(ctx, id, `
		UPDATE notifications SET state = 'delivered', last_error = ''
		WHERE id = $1 AND state = 'pending'`)
}

// MarkFailed notes a failed attempt and when to try again. refused says that the
// receiver rejected it.
func (s *Store) MarkFailed(ctx context.Context, id string, next time.Time, cause string, refused bool) error {
	refusals := 0
	if refused {
		refusals = 1
	}
	return s.setNotification(ctx, id, `
		UPDATE notifications
		SET attempts = attempts + 1, refusals = refusals + $4, next_attempt = $2, last_error = $3
		WHERE id = $1 AND state = 'pending'`, utc(next), clean(cause), refusals)
}

// MarkDead gives a notification up after a last failed attempt, and lets the
// finding's next one become due.
func (s *Store) MarkDead(ctx context.Context, id, cause string) error {
	return s.setNotification(ctx, id, `
		UPDATE notifications SET state = 'dead', attempts = attempts + 1, last_error = $2
		WHERE id = $1 AND state = 'pending'`, clean(cause))
}

func (s *Store) setNotification(ctx context.Context, id, update string, args ...any) error {
	return s.change(ctx, "update notification "+id, func(t *tx) error {
		n, err := t.exec(ctx, update, append([]any{id}, args...)...)
		if err == nil && n == 0 {
			return ErrNotFound
		}
		return err
	})
}

func (t *tx) putNotifications(ctx context.Context, all []Notification, _ targetIDs) error {
	rows := make([][]any, len(all))
	for i, n := range all {
		if n.ID == "" {
			n.ID = rand.Text()
		}
		next := t.now
		if !n.NextAttempt.IsZero() {
			next = utc(n.NextAttempt)
		}
		rows[i] = []any{n.ID, n.Fingerprint, n.Incident, n.Event, n.Route, present(n.Payload), t.now,
			next, 0, 0, Pending, ""}
	}
	return t.insert(ctx, `INSERT INTO notifications (`+notificationColumns+`)`,
		`ON CONFLICT (id) DO NOTHING`, rows)
}
