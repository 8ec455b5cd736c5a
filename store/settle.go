package store

import "context"

// waiting is a pending notification of an incident.
type waiting struct {
	id, event string
	// reached reports that an attempt may have arrived. knows reports that the receiver
	// knows that the incident fires, from the newest notification that may have arrived and
	// is not pending.
	reached, knows bool
}

func (w *waiting) fields() []any { return []any{&w.id, &w.event, &w.reached, &w.knows} }

// SettleNotifications brings a route's pending notifications of some incidents down to what
// the receiver needs to hear. An end that waits is dropped once its incident fires again. What
// ended before its beginning may have arrived is cancelled: a receiver gets neither an end
// without a beginning nor a beginning that is over. Updates go into the first notification
// that has certainly not arrived, which takes the newest payload.
func (s *Store) SettleNotifications(ctx context.Context, route string, incidents []string) error {
	return s.change(ctx, "settle notifications", func(t *tx) error {
		each := make([][]any, len(incidents))
		for i, incident := range incidents {
			each[i] = []any{route, incident}
		}
		return t.settle(ctx, each)
	})
}

// settle asks for each incident alone: of a list of them Postgres, as long as it knows nothing
// of a table that has just been filled, reads all that waits on the route.
func (t *tx) settle(ctx context.Context, each [][]any) error {
	all, err := selectEach(ctx, t, (*waiting).fields, `
		SELECT n.id, n.event, n.reached, COALESCE((
			SELECT told.event <> 'resolved' FROM notifications AS told
			WHERE told.route = n.route AND told.incident = n.incident AND told.state <> 'pending' AND (told.state = 'delivered' OR told.state = 'dead' AND told.reached)
			ORDER BY told.ordinal DESC LIMIT 1), FALSE)
		FROM notifications AS n
		WHERE n.route = $1 AND n.state = 'pending' AND n.incident = $2
		ORDER BY n.ordinal`, each)
	if err != nil {
		return err
	}
	var changes []statement
	for _, of := range all {
		if len(of) > 0 {
			changes = append(changes, settleOne(of)...)
		}
	}
	return t.runAll(ctx, changes)
}

// settleOne returns the changes of the pending notifications of one incident, in their order.
func settleOne(all []waiting) (changes []statement) {
	set := func(n *waiting, state string) {
		changes = append(changes, statement{`UPDATE notifications SET state = $2 WHERE id = $1`, []any{n.id, state}})
	}
	last, knows := &all[len(all)-1], all[0].knows
	for _, n := range all {
		if n.reached {
			knows = n.event != "resolved"
		}
	}
	var kept *waiting
	for i := range all {
		n := &all[i]
		switch {
		case last.event != "resolved" && n.event == "resolved", last.event == "resolved" && !knows && !n.reached:
			set(n, Cancelled)
		case n.reached, n == last && n.event == "resolved":
		case last.event == "resolved":
			set(n, Summarised)
		case kept == nil:
			kept = n
		default:
			set(n, Summarised)
		}
	}
	if kept != nil && kept != last && !last.reached {
		changes = append(changes, statement{`
			UPDATE notifications SET rewritten = TRUE, payload = (SELECT payload FROM notifications WHERE id = $2) WHERE id = $1`, []any{kept.id, last.id}})
	}
	return changes
}

// SummariseUpdates notes that a notification has the present state of its incident, so that
// the updates that wait behind it on its route need not be sent.
func (s *Store) SummariseUpdates(ctx context.Context, id string) error {
	return s.change(ctx, "summarise the updates behind notification "+id, func(t *tx) error {
		return t.run(ctx, `
			UPDATE notifications SET state = 'summarised'
			WHERE state = 'pending' AND event = 'updated' AND NOT reached AND incident <> '' AND EXISTS (
				SELECT 1 FROM notifications AS n WHERE n.id = $1 AND n.route = notifications.route
					AND n.incident = notifications.incident AND n.ordinal < notifications.ordinal)`, id)
	})
}
