package store

import (
	"context"
	"slices"
)

// flow is the pending notifications that wait for each other's turn.
type flow struct{ route, name string }

// turns are the next turns of flows. A flow's notifications have one turn after another; the
// first has the present one, the turn of the earliest pending notification of its route.
type turns map[flow]int64

// take returns the turn of a new notification. An urgent one has an even turn, and comes before
// the others of the same turn.
func (n turns) take(of *Notification) int64 {
	f := flow{of.Route, of.Flow}
	turn := n[f]
	n[f] = turn + 2
	if of.Urgent {
		return turn
	}
	return turn + 1
}

// nextTurns returns the next turn of each flow of notifications.
func (t *tx) nextTurns(ctx context.Context, all []Notification) (turns, error) {
	next := make(turns)
	var asked []flow
	for _, n := range all {
		f := flow{n.Route, n.Flow}
		if _, known := next[f]; !known {
			next[f] = 0
			asked = append(asked, f)
		}
	}
	for some := range slices.Chunk(asked, maxRows) {
		var args []any
		for _, f := range some {
			args = append(args, f.route, f.name)
		}
		type row struct {
			flow
			present, last int64
		}
		rows, err := selectAll(ctx, t, func(r *row) []any { return []any{&r.route, &r.name, &r.present, &r.last} }, `
			SELECT f.column1, f.column2,
				COALESCE((SELECT min(turn) FROM notifications WHERE state = 'pending' AND route = f.column1), 0),
				COALESCE((SELECT max(turn) FROM notifications WHERE state = 'pending' AND route = f.column1 AND flow = f.column2), -2)
			FROM (VALUES `+placeholders(len(some), 2)+`) AS f`, args...)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			next[r.flow] = max(r.present, r.last+2) &^ 1
		}
	}
	return next, nil
}
