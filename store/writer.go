package store

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"slices"
	"strings"
	"time"
)

// Writer is one process of a collector, from its start to its end. A restarted collector is another writer.
type Writer struct {
	// ID is unique for ever, such as a random name made at the start.
	ID string
	// Host is where it runs, for a person.
	Host    string
	Started time.Time
	// Stopped is when it shut down; zero while it runs, or when it crashed.
	Stopped time.Time
	// Seen is when it last wrote, by the database's clock.
	Seen time.Time
	// LastSeq is the newest sequence number that it committed.
	LastSeq int64
	// WriterStatus is its last report; see [Store.ReportWriter].
	WriterStatus
}

// WriterStatus is a collector's report about itself. Unknown values are empty or nil,
// because 0 is a value.
type WriterStatus struct {
	// Version is the collector's build.
	Version string
	// State is how it is in a word, Reason why in a sentence.
	State, Reason string
	// ClockOffset is how far its clock is ahead of the database's.
	ClockOffset *time.Duration
	// Lag is how many messages it is behind.
	Lag *int64
	// Reading is what it reads and what it cannot.
	Reading *Reading
	// RefusedTables are tables that it could not take samples of; none when it is
	// empty and not nil.
	RefusedTables []string
	// LowerBounds are tables whose loads are lower bounds, because their samples have neither
	// units nor a size; none when it is empty and not nil.
	LowerBounds []string
	// BadShare is the share of messages that were rejected, 0 to 1.
	BadShare *float64
}

// Reading is what a collector reads and what it cannot.
type Reading struct {
	// Read is the number of partitions that it reads, and Last is when it read anything last.
	Read int       `json:"read"`
	Last time.Time `json:"last"`
	// Unread is what it should read and does not, the longest first, and More is how many
	// are left out.
	Unread []Unread `json:"unread"`
	More   int      `json:"more"`
	// FullUsers are the users whose new producers it refuses, because they have too many.
	FullUsers []string `json:"full_users,omitempty"`
}

// Unread is a partition, topic or table that is not read.
type Unread struct {
	// Source is the partition's source; empty where the collector has not claimed it.
	Source string `json:"source"`
	Name   string `json:"name"`
	// Since is when it was last read, by the database's clock.
	Since time.Time `json:"since"`
}

// Compare orders by time, and then by name.
func (u Unread) Compare(o Unread) int {
	return cmp.Or(u.Since.Compare(o.Since), strings.Compare(u.Name, o.Name))
}

// unreadAfter is how long a partition's watermark may stand: a collector moves it every few
// seconds.
const unreadAfter = 10 * time.Second

// FindUnread returns what running collectors should read and nobody does, the longest first.
// A partition that another collector has taken over is read: its watermark moves.
func FindUnread(writers []Writer, marks []Watermark, now time.Time) []Unread {
	all := make(map[Unread]time.Time)
	for _, w := range writers {
		if !w.Runs(now) || w.Reading == nil {
			continue
		}
		for _, u := range w.Reading.Unread {
			last := u.Since
			for _, m := range marks {
				if m.Name == u.Name && (u.Source == "" || m.Source == u.Source) && m.Moved.After(last) {
					last = m.Moved
				}
			}
			if now.Sub(last) < unreadAfter {
				continue
			}
			named := Unread{Source: u.Source, Name: u.Name}
			if known, has := all[named]; !has || last.Before(known) {
				all[named] = last
			}
		}
	}
	var unread []Unread
	for u, since := range all {
		u.Since = since
		unread = append(unread, u)
	}
	slices.SortFunc(unread, Unread.Compare)
	return unread
}

// StartWriter registers a writer. It may be repeated.
func (s *Store) StartWriter(ctx context.Context, w Writer) error {
	return s.change(ctx, "start writer "+w.ID, func(t *tx) error { return t.startWriter(ctx, w) })
}

// RestartWriter registers a writer again after the database went back, and records that,
// since the writer's last commit in the database.
func (s *Store) RestartWriter(ctx context.Context, w Writer) error {
	return s.change(ctx, "restart writer "+w.ID, func(t *tx) error {
		// Only claims and commits write this, in contrast to the writer's row.
		since, err := first(selectAll(ctx, t, singleColumn[time.Time], `SELECT seen FROM watermarks WHERE writer = $1 ORDER BY seen DESC LIMIT 1`, w.ID))
		if err = unlessMissing(err); err != nil {
			return err
		}
		if since.IsZero() {
			since = w.Started
		}
		if err := t.recordWentBack(ctx, w.ID, since); err != nil {
			return err
		}
		return t.startWriter(ctx, w)
	})
}

func (t *tx) startWriter(ctx context.Context, w Writer) error {
	return t.run(ctx, `
		INSERT INTO writers (writer, host, started, stopped, seen, last_seq, last_delta)
		VALUES ($1, $2, $3, $4, $5, 0, 0)
		ON CONFLICT (writer) DO UPDATE
		SET host = excluded.host, started = excluded.started, stopped = excluded.stopped, seen = excluded.seen`,
		w.ID, clean(w.Host), utc(w.Started), utc(time.Time{}), t.now)
}

// StopWriter notes that a writer has ended properly. Its commits stay.
func (s *Store) StopWriter(ctx context.Context, id string) error {
	return s.change(ctx, "stop writer "+id, func(t *tx) error {
		return t.run(ctx, `UPDATE writers SET stopped = $1, seen = $1 WHERE writer = $2`, t.now, id)
	})
}

// ReportWriter replaces a writer's report about itself, and is a sign of life. It fails
// with ErrNotFound for an unknown writer.
func (s *Store) ReportWriter(ctx context.Context, id string, status WriterStatus) error {
	return s.change(ctx, "report writer "+id, func(t *tx) error {
		return t.execFound(ctx, `
			UPDATE writers
			SET version = $1, state = $2, reason = $3, clock_offset_us = $4, lag = $5, refused_tables = $6, lower_bounds = $7,
				bad_share = $8, seen = $9, reading = $10
			WHERE writer = $11`,
			clean(status.Version), clean(status.State), clean(status.Reason), microseconds{&status.ClockOffset}, status.Lag, namesOrNil(status.RefusedTables),
			namesOrNil(status.LowerBounds), status.BadShare, t.now, asJSON{status.Reading}, id)
	})
}

func namesOrNil(names []string) any {
	if names == nil {
		return nil
	}
	return asJSON{names}
}

// microseconds is a duration, nil where it is not known, as the store keeps it.
type microseconds struct{ of **time.Duration }

// Value implements driver.Valuer.
func (m microseconds) Value() (driver.Value, error) {
	if *m.of == nil {
		return nil, nil
	}
	return (*m.of).Microseconds(), nil
}

// Scan implements sql.Scanner.
func (m microseconds) Scan(v any) error {
	var n sql.NullInt64
	if err := n.Scan(v); err != nil || !n.Valid {
		return err
	}
	*m.of = new(time.Duration(n.Int64) * time.Microsecond)
	return nil
}

// Runs reports whether a writer has not ended, and was heard of lately.
func (w *Writer) Runs(now time.Time) bool {
	return w.Stopped.IsZero() && now.Sub(w.Seen) <= SilentAfter
}

// SilentSince returns the newest time at which any of some collectors wrote, and whether it
// is so long before now that none can be running. Without collectors there is no silence:
// nothing was ever heard.
func SilentSince(all []Writer, now time.Time) (since time.Time, silent bool) {
	for _, w := range all {
		if w.Runs(now) {
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
	return list(ctx, s, "read writers", func(w *Writer) []any {
		return []any{&w.ID, &w.Host, &w.Started, &w.Stopped, &w.Seen, &w.LastSeq, &w.Version, &w.State, &w.Reason,
			microseconds{&w.ClockOffset}, &w.Lag, asJSON{&w.RefusedTables}, asJSON{&w.LowerBounds}, &w.BadShare, asJSON{&w.Reading}}
	}, `
		SELECT writer, host, started, stopped, seen, last_seq, version, state, reason,
			clock_offset_us, lag, refused_tables, lower_bounds, bad_share, reading
		FROM writers ORDER BY started DESC, writer`)
}
