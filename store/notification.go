package store

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"slices"
	"time"
)

// The states of a notification.
const (
	Pending   = "pending"
	Delivered = "delivered"
	// Dead is one that its receiver did not take.
	Dead = "dead"
	// Cancelled is one of an incident that ended before anything was sent of it.
	Cancelled = "cancelled"
	// Summarised is one of many that went out as one message, or went into another
	// message of its incident.
	Summarised = "summarised"
)

// Notification is one message that waits in the outbox, or was there.
type Notification struct {
	// ID is the same on every attempt, so that a receiver can recognise a
	// repetition. Made by the store when empty.
	ID string
	// Fingerprint is the notification's finding, Event the finding's event, Route the
	// notification's destination.
	Fingerprint, Event, Route string
	// Incident is the incident that it is about; empty for none.
	Incident string
	Payload  []byte
	// Flow names the notifications that wait for each other's turn, such as all of one
	// table. The flows of a route take turns, so that none keeps another one back. Urgent
	// ones come first in a turn; it is not stored.
	Flow   string
	Urgent bool
	// Created is when it was put into the outbox; set by the store.
	Created time.Time
	// NextAttempt is before when it is not due; at once when zero.
	NextAttempt time.Time
	// Attempts counts the failed deliveries, Refusals the rejected ones among them;
	// LastError is the newest one's.
	Attempts  int
	Refusals  int
	State     string
	LastError string
	// Reached reports that an attempt to deliver it may have arrived.
	Reached bool
	// Receipt is the receiver's name of the message that it made of it; of one that is
	// due, the newest of its incident's earlier ones. Empty for none.
	Receipt string
}

const notificationColumns = `id, fingerprint, incident, event, route, payload, flow, created,
	next_attempt, attempts, refusals, state, last_error, reached, receipt`

func (n *Notification) fields() []any {
	return []any{&n.ID, &n.Fingerprint, &n.Incident, &n.Event, &n.Route, &n.Payload, &n.Flow, &n.Created,
		&n.NextAttempt, &n.Attempts, &n.Refusals, &n.State, &n.LastError, &n.Reached, &n.Receipt}
}

// Notifications returns all notifications of a finding that are kept, in their
// order.
func (s *Store) Notifications(ctx context.Context, fingerprint string) ([]Notification, error) {
	return list(ctx, s, "read notifications", (*Notification).fields, `
		SELECT `+notificationColumns+` FROM notifications
		WHERE fingerprint = $1 ORDER BY ordinal`, fingerprint)
}

// putNotifications writes notifications. One that is in the outbox already stays as it is;
// with another payload it fails with a *ConflictError.
func (t *tx) putNotifications(ctx context.Context, all []Notification, _ targetIDs) error {
	all = slices.Clone(all)
	for i := range all {
		all[i].ID = cmp.Or(all[i].ID, rand.Text())
	}
	turns, err := t.nextTurns(ctx, all)
	if err != nil {
		return err
	}
	err = insertAll(ctx, t, `INSERT INTO notifications (`+notificationColumns+`, turn)`,
		`ON CONFLICT (id) DO NOTHING`, all, func(n Notification) []any {
			return []any{n.ID, n.Fingerprint, n.Incident, n.Event, n.Route, present(n.Payload), n.Flow, t.now,
				cmp.Or(utc(n.NextAttempt), t.now), 0, 0, Pending, "", false, "", turns.take(&n)}
		})
	if err != nil {
		return err
	}
	return t.compareNotifications(ctx, all)
}

// compareNotifications fails with a *ConflictError unless the outbox holds the
// notifications with their payloads. It cannot compare a payload that delivery has replaced
// by a newer one.
func (t *tx) compareNotifications(ctx context.Context, all []Notification) error {
	var conflict ConflictError
	for some := range slices.Chunk(all, maxRows) {
		ids := make([]string, len(some))
		for i, n := range some {
			ids[i] = n.ID
		}
		stored, err := selectAll(ctx, t, func(n *Notification) []any { return []any{&n.ID, &n.Payload} },
			`SELECT id, payload FROM notifications WHERE NOT rewritten AND id IN (VALUES `+placeholders(len(ids), 1)+`)`, texts(ids)...)
		if err != nil {
			return err
		}
		payloads := make(map[string][]byte, len(stored))
		for _, n := range stored {
			payloads[n.ID] = n.Payload
		}
		for _, n := range some {
			if payload, comparable := payloads[n.ID]; comparable && !bytes.Equal(payload, n.Payload) {
				conflict.IDs = append(conflict.IDs, n.ID)
			}
		}
	}
	if len(conflict.IDs) > 0 {
		return &conflict
	}
	return nil
}
