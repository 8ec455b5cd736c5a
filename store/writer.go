package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"
)

// Writer is one process of a collector, from its start to its end. A restarted collector is another writer.
type Writer struct {
	// ID is unique for ever, such as a random name made at the start.
	ID string
	// Host is where it runs, for a person.
	Host string
	// Started is when the process began.
	Started time.Time
	// Stopped is when it shut down; zero while it runs, or when it crashed.
	Stopped time.Time
	// Seen is when it last wrote, by the database's clock.
	Seen time.Time
	// LastSeq is the newest sequence number that it committed.
	LastSeq int64
	// WriterStatus is what it reported last; see [Store.ReportWriter].
	WriterStatus
}

// WriterStatus is what a collector reports of itself. What it does not know is
// empty or nil, because 0 is a value.
type WriterStatus struct {
	// Version is the collector's build.
	Version string
	// State is how it is in a word, Reason why in a sentence.
	State, Reason string
	// ClockOffset is how far its clock is ahead of the database's.
	ClockOffset *time.Duration
	// Lag is how many messages it is behind.
	Lag *int64
	// RefusedTables are tables that it could not take samples of; none when it is
	// empty and not nil.
	RefusedTables []string
	// BadShare is the share of messages that were rejected, 0 to 1.
	BadShare *float64
}

// StartWriter registers a writer. It may be repeated.
func (s *Store) StartWriter(ctx context.Context, w Writer) error {
	return s.change(ctx, "start writer "+w.ID, func(t *tx) error {
		_, err := t.exec(ctx, `
			INSERT INTO writers (writer, host, started, stopped, seen, last_seq, last_delta)
			VALUES ($1, $2, $3, $4, $5, 0, 0)
			ON CONFLICT (writer) DO UPDATE
			SET host = excluded.host, started = excluded.started, stopped = excluded.stopped, seen = excluded.seen`,
			w.ID, clean(w.Host), utc(w.Started), utc(time.Time{}), t.now)
		return err
	})
}

// StopWriter notes that a writer has ended as it should. What it committed
// stays.
func (s *Store) StopWriter(ctx context.Context, id string) error {
	return s.change(ctx, "stop writer "+id, func(t *tx) error {
		_, err := t.exec(ctx, `UPDATE writers SET stopped = $1, seen = $1 WHERE writer = $2`, t.now, id)
		return err
	})
}

// ReportWriter replaces what a writer reports of itself, and is a sign of life. It
// fails with ErrNotFound for a writer that is not known.
func (s *Store) ReportWriter(ctx context.Context, id string, status WriterStatus) error {
	row, err := status.row()
	if err != nil {
		return err
	}
	return s.change(ctx, "report writer "+id, func(t *tx) error {
		n, err := t.exec(ctx, `
			UPDATE writers
			SET version = $1, state = $2, reason = $3, clock_offset_us = $4, lag = $5, refused_tables = $6, bad_share = $7,
				seen = $8
			WHERE writer = $9`,
			clean(status.Version), clean(status.State), clean(status.Reason), row.clockOffset, row.lag, row.refused, row.badShare,
			t.now, id)
		if err == nil && n == 0 {
			return ErrNotFound
		}
		return err
	})
}

// statusRow are the columns of a status that may be NULL.
type statusRow struct {
	clockOffset, lag sql.NullInt64
	refused          sql.NullString
	badShare         sql.NullFloat64
}

func (s *WriterStatus) row() (r statusRow, err error) {
	if s.ClockOffset != nil {
		r.clockOffset = sql.NullInt64{Int64: s.ClockOffset.Microseconds(), Valid: true}
	}
	if s.Lag != nil {
		r.lag = sql.NullInt64{Int64: *s.Lag, Valid: true}
	}
	if s.BadShare != nil {
		r.badShare = sql.NullFloat64{Float64: *s.BadShare, Valid: true}
	}
	if s.RefusedTables != nil {
		names, err := json.Marshal(s.RefusedTables)
		if err != nil {
			return r, err
		}
		r.refused = sql.NullString{String: clean(string(names)), Valid: true}
	}
	return r, nil
}

func (s *WriterStatus) set(r statusRow) error {
	if r.clockOffset.Valid {
		offset := time.Duration(r.clockOffset.Int64) * time.Microsecond
		s.ClockOffset = &offset
	}
	if r.lag.Valid {
		s.Lag = &r.lag.Int64
	}
	if r.badShare.Valid {
		s.BadShare = &r.badShare.Float64
	}
	if r.refused.Valid {
		return json.Unmarshal([]byte(r.refused.String), &s.RefusedTables)
	}
	return nil
}

// SilentAfter is how long a collector may write nothing before it is taken to be
// gone: it writes every few seconds, also when there is nothing to count.
const SilentAfter = time.Minute

// Silence returns the newest time at which any of some collectors wrote, and
// whether that is so long before now that none can be running. Without collectors
// there is no silence: nothing was ever heard.
func Silence(all []Writer, now time.Time) (since time.Time, silent bool) {
	for _, w := range all {
		if w.Stopped.IsZero() && now.Sub(w.Seen) <= SilentAfter {
			return time.Time{}, false
		}
		if w.Seen.After(since) {
			since = w.Seen
		}
	}
	return since, len(all) > 0
}

// Now returns the database's time.
func (s *Store) Now(ctx context.Context) (now time.Time, err error) {
	err = s.snapshot(ctx, "read the clock", func(t *tx) error {
		now = t.now
		return nil
	})
	return now, err
}

// Writers returns the known writers, the newest first.
func (s *Store) Writers(ctx context.Context) ([]Writer, error) {
	rows, err := s.read.QueryContext(ctx, `
		SELECT writer, host, started, stopped, seen, last_seq, version, state, reason,
			clock_offset_us, lag, refused_tables, bad_share
		FROM writers ORDER BY started DESC, writer`)
	if err != nil {
		return nil, wrap(ctx, "read writers", err)
	}
	type row struct {
		Writer
		status statusRow
	}
	all, err := collect(rows, func(w *row) []any {
		return []any{&w.ID, &w.Host, &w.Started, &w.Stopped, &w.Seen, &w.LastSeq, &w.Version, &w.State, &w.Reason,
			&w.status.clockOffset, &w.status.lag, &w.status.refused, &w.status.badShare}
	})
	if err != nil {
		return nil, wrap(ctx, "read writers", err)
	}
	writers := make([]Writer, len(all))
	for i := range all {
		if err := all[i].Writer.set(all[i].status); err != nil {
			return nil, wrap(ctx, "read writer "+all[i].ID, err)
		}
		writers[i] = all[i].Writer
	}
	return writers, nil
}
