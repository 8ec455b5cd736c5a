package store

import (
	"context"

	"github.com/keyheat/keyheat/sample"
)

// Judgement is everything that follows from one reading of the deltas.
type Judgement struct {
	// Windows are merged seconds, each replaced whole, and at most once.
	Windows []Window
	// Rollups and Seen replace the rows of the same time, each at most once.
	Rollups []Rollup
	Seen    []SeenMinute
	// Views replace the rows of the same table and index, each at most once.
	Views []TargetDocument
	// Maps replace the rows of the same table, each at most once.
	Maps []TargetDocument
	// Checkpoints replace the rows of the same table and index, each at most once.
	Checkpoints []Checkpoint
	// Findings replace the rows of the same fingerprint, each at most once.
	Findings []Finding
	// Transitions are appended to the findings' histories.
	Transitions []Transition
	// Incidents replace the rows of the same ID, each at most once, and
	// IncidentTransitions are appended to their histories.
	Incidents           []Incident
	IncidentTransitions []Transition
	// Notifications are put into the outbox, in this order.
	Notifications []Notification
	// Cursors advance, writer to sequence number: every delta up to it must be
	// wholly in windows that are written now or were before.
	Cursors map[string]int64
}

// Judge writes a judgement in one transaction that begins with a compare-and-swap on the
// lease's token and on the number of its writes, which the caller raises in its own lease
// after each one. It fails with ErrLeaseLost, and writes nothing, when another has taken
// the lease, and with ErrWentBack when the database lacks an earlier write under it.
// After these, and after ErrAmbiguous, the caller takes the lease again and starts from
// the stored state.
func (s *Store) Judge(ctx context.Context, l Lease, j Judgement) error {
	return s.change(ctx, "write the judgement", func(t *tx) error {
		if err := t.writeUnderLease(ctx, l); err != nil {
			return err
		}
		parts, targets := j.parts(), make(map[sample.Target]bool)
		for _, p := range parts {
			p.addTargets(targets)
		}
		ids, err := t.targets(ctx, targets)
		if err != nil {
			return err
		}
		for _, p := range parts {
			if err := p.put(ctx, t, ids); err != nil {
				return err
			}
		}
		return t.putCursors(ctx, j.Cursors)
	})
}

// parts are the writes of a judgement, in this order, before the cursors.
func (j *Judgement) parts() []part {
	return []part{
		partOf(j.Windows, (*tx).putWindows, func(w *Window) sample.Target { return w.Target }),
		partOf(j.Rollups, (*tx).putRollups, func(r *Rollup) sample.Target { return r.Target }),
		partOf(j.Seen, (*tx).putSeenMinutes, nil),
		partOf(j.Views, putDocuments("table_views", "document"), func(v *TargetDocument) sample.Target { return v.Target }),
		partOf(j.Maps, putDocuments("partition_maps", "document"), func(m *TargetDocument) sample.Target { return m.Target }),
		partOf(j.Checkpoints, (*tx).putCheckpoints, func(c *Checkpoint) sample.Target { return c.Target }),
		partOf(j.Findings, (*tx).putFindings, func(f *Finding) sample.Target { return f.Target }),
		partOf(j.Transitions, putTransitions(`
			INSERT INTO finding_history (fingerprint, at, from_state, to_state, severity, note, about, until, written)`), nil),
		partOf(j.Incidents, (*tx).putIncidents, func(i *Incident) sample.Target { return i.Target }),
		partOf(j.IncidentTransitions, putTransitions(`
			INSERT INTO incident_history (incident, at, from_state, to_state, severity, note, about, until, written)`), nil),
		partOf(j.Notifications, (*tx).putNotifications, nil),
	}
}

// part is the rows of one kind: the targets that they refer to, and how they are
// written.
type part struct {
	addTargets func(map[sample.Target]bool)
	put        func(context.Context, *tx, targetIDs) error
}

// partOf returns rows as a part; target is nil where they refer to none.
func partOf[Row any](rows []Row, put func(*tx, context.Context, []Row, targetIDs) error, target func(*Row) sample.Target) part {
	return part{
		addTargets: func(all map[sample.Target]bool) {
			for i := range rows {
				if target != nil {
					all[target(&rows[i])] = true
				}
			}
		},
		put: func(ctx context.Context, t *tx, ids targetIDs) error { return put(t, ctx, rows, ids) },
	}
}
