package store

import (
	"context"

	"github.com/keyheat/keyheat/sample"
)

// Judgement is everything that follows from one reading of the deltas.
type Judgement struct {
	// Windows are merged seconds and Cardinality merged minutes, each written
	// whole over what was there; each at most once.
	Windows     []Window
	Cardinality []Cardinality
	// Peaks raise what is stored of the same key and hour, each at most once.
	Peaks []HourPeak
	// Views replace those of the same table and index, each at most once.
	Views []TableView
	// Findings replace those of the same fingerprint, each at most once.
	Findings []Finding
	// Transitions are appended to the findings' histories.
	Transitions []Transition
	// Incidents replace those of the same ID, each at most once, and
	// IncidentTransitions are appended to their histories.
	Incidents           []Incident
	IncidentTransitions []IncidentTransition
	// Notifications are put into the outbox, in this order.
	Notifications []Notification
	// Gaps are what the judge itself finds to be lost.
	Gaps []Gap
	// Cursors advance, writer to sequence number: every delta up to it must be
	// wholly in windows that are written now or were before.
	Cursors map[string]int64
}

// Judge writes a judgement in one transaction that begins with a
// compare-and-swap on the lease's token and on the number of its writes, which the
// caller raises in its own lease after each one. It fails with ErrLeaseLost, and
// writes nothing, when another has taken the lease, and with ErrWentBack when the
// database does not hold what was written under it before. After these, and after
// ErrAmbiguous, the caller takes the lease again and starts from what is stored.
func (s *Store) Judge(ctx context.Context, l Lease, j Judgement) error {
	return s.change(ctx, "write the judgement", func(t *tx) error {
		if err := t.writeUnderLease(ctx, l); err != nil {
			return err
		}
		ids, err := t.targets(ctx, j.targets())
		if err != nil {
			return err
		}
		if err := t.putWindows(ctx, j.Windows, ids); err != nil {
			return err
		}
		if err := t.putCardinality(ctx, j.Cardinality, ids); err != nil {
			return err
		}
		if err := t.putPeaks(ctx, j.Peaks, ids); err != nil {
			return err
		}
		if err := t.putViews(ctx, j.Views, ids); err != nil {
			return err
		}
		if err := t.putFindings(ctx, j.Findings, ids); err != nil {
			return err
		}
		if err := t.putTransitions(ctx, j.Transitions); err != nil {
			return err
		}
		if err := t.putIncidents(ctx, j.Incidents, ids); err != nil {
			return err
		}
		if err := t.putIncidentTransitions(ctx, j.IncidentTransitions); err != nil {
			return err
		}
		if err := t.putNotifications(ctx, j.Notifications); err != nil {
			return err
		}
		if err := t.putGaps(ctx, l.Holder, j.Gaps); err != nil {
			return err
		}
		return t.putCursors(ctx, j.Cursors)
	})
}

// targets returns the targets that a judgement writes for.
func (j *Judgement) targets() map[sample.Target]bool {
	all := make(map[sample.Target]bool)
	for i := range j.Windows {
		all[j.Windows[i].Target] = true
	}
	for i := range j.Cardinality {
		all[j.Cardinality[i].Target] = true
	}
	for i := range j.Peaks {
		all[j.Peaks[i].Target] = true
	}
	for i := range j.Views {
		all[j.Views[i].Target] = true
	}
	for i := range j.Findings {
		all[j.Findings[i].Target] = true
	}
	for i := range j.Incidents {
		all[j.Incidents[i].Target] = true
	}
	return all
}
