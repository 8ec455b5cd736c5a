package store

import (
	"context"
	"time"
)

// EventReport is the event of a notification about a report; other notifications have an
// incident's event.
const EventReport = "report"

// Report is a report of a schedule.
type Report struct {
	// ID is unique; it is made of the schedule and the due time.
	ID       string
	Schedule string
	Due      time.Time
	From, To time.Time
	// Made is when it was stored; set by the store.
	Made time.Time
	// Outline is the figures of its summary, as JSON.
	Outline []byte
	// Document is the whole report as JSON. Lists of reports leave it out.
	Document []byte
	// Filed is when its files were in the schedule's folder; zero while they are not.
	Filed time.Time
}

// ReportSchedule is the stored state of a schedule.
type ReportSchedule struct {
	// Since is the time at which the schedule was first seen in its present form: earlier
	// due times are not made up.
	Since time.Time
	// LastDue is the newest due time with a report; zero for none.
	LastDue time.Time
	// Now is the database's time.
	Now time.Time
}

// seenEvery is how far report_schedules.seen may be behind.
const seenEvery = 24 * time.Hour

// SeeSchedule notes that there is a schedule, and returns its stored state. A changed
// spec makes it due anew from now on.
func (s *Store) SeeSchedule(ctx context.Context, name, spec string) (ReportSchedule, error) {
	name, spec = clean(name), clean(spec)
	var known ReportSchedule
	err := s.change(ctx, "see the schedule "+name, func(t *tx) error {
		known = ReportSchedule{Now: t.now}
		// The row is written only where it differs, so that looking locks nothing.
		err := t.run(ctx, `
			INSERT INTO report_schedules (name, spec, since, seen) VALUES ($1, $2, $3, $3)
			ON CONFLICT (name) DO UPDATE
			SET since = CASE WHEN report_schedules.spec = excluded.spec THEN report_schedules.since ELSE excluded.since END,
				spec = excluded.spec, seen = excluded.seen
			WHERE report_schedules.spec <> excluded.spec OR report_schedules.seen < $4`,
			name, spec, t.now, utc(t.now.Add(-seenEvery)))
		if err != nil {
			return err
		}
		return t.QueryRowContext(ctx, `SELECT since, last_due FROM report_schedules WHERE name = $1`, name).Scan(&known.Since, (*orZero)(&known.LastDue))
	})
	return known, err
}

// PutReport stores a report, unless there was one of the schedule for this due time or
// a later one, in one transaction with the notifications of it. It returns whether it
// was stored: of several reporters one does. The schedule must have been seen.
func (s *Store) PutReport(ctx context.Context, r Report, notify []Notification) (stored bool, err error) {
	err = s.change(ctx, "store the report "+r.Schedule, func(t *tx) error {
		n, err := t.exec(ctx, `
			UPDATE report_schedules SET last_due = $2
			WHERE name = $1 AND (last_due IS NULL OR last_due < $2)`, clean(r.Schedule), utc(r.Due))
		stored = n > 0
		if err != nil || !stored {
			return err
		}
		err = t.insert(ctx, `INSERT INTO reports (id, schedule, due, from_at, to_at, made, outline, document, filed)`, "", [][]any{{
			r.ID, clean(r.Schedule), utc(r.Due), utc(r.From), utc(r.To), t.now, clean(string(r.Outline)), clean(string(r.Document)), orNull(r.Filed),
		}})
		if err != nil {
			return err
		}
		return t.putNotifications(ctx, notify, nil)
	})
	return stored && err == nil, err
}

// MarkFiled notes that a report's files are in its folder.
func (s *Store) MarkFiled(ctx context.Context, id string) error {
	return s.change(ctx, "mark a report as filed", func(t *tx) error {
		return t.execFound(ctx, `UPDATE reports SET filed = $2 WHERE id = $1`, id, t.now)
	})
}

// ReportQuery chooses reports. The zero value chooses all.
type ReportQuery struct {
	// Schedule is a schedule's name, or empty for all.
	Schedule string
	// From and To choose reports on a period with some time in between, To exclusive. The
	// zero value bounds nothing.
	From, To time.Time
	// Unfiled chooses reports whose files are not in a folder.
	Unfiled bool
	Limit   int
}

// Reports returns a query's reports, without their documents, the last due first.
func (s *Store) Reports(ctx context.Context, q ReportQuery) ([]Report, error) {
	return list(ctx, s, "read reports", (*Report).fields, `
		SELECT `+reportColumns+` FROM reports
		WHERE ($1 = '' OR schedule = $1) AND (NOT $2 OR filed IS NULL) AND to_at > $3 AND from_at < $4
		ORDER BY due DESC, schedule LIMIT $5`, clean(q.Schedule), q.Unfiled, utc(q.From), orForever(q.To), limit(q.Limit))
}

const reportColumns = `id, schedule, due, from_at, to_at, made, outline, filed`

func (r *Report) fields() []any {
	return []any{&r.ID, &r.Schedule, &r.Due, &r.From, &r.To, &r.Made, &r.Outline, (*orZero)(&r.Filed)}
}

// Report returns one report, or ErrNotFound.
func (s *Store) Report(ctx context.Context, id string) (r Report, err error) {
	r, err = first(selectAll(ctx, s.read, func(r *Report) []any { return append(r.fields(), &r.Document) }, `
		SELECT `+reportColumns+`, document FROM reports WHERE id = $1`, clean(id)))
	return r, wrap(ctx, "read a report", err)
}

// IncidentTransitions returns the transitions of incidents from a time until another, to
// exclusive, in the order in which they were written; at most so many, 0 for DefaultLimit.
func (s *Store) IncidentTransitions(ctx context.Context, from, to time.Time, most int) ([]Transition, error) {
	return list(ctx, s, "read the histories of incidents", (*Transition).fields, `
		SELECT incident, at, from_state, to_state, severity, note, about, until
		FROM incident_history WHERE at >= $1 AND at < $2 ORDER BY id LIMIT $3`, utc(from), utc(to), limit(most))
}
