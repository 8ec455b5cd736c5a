package store

import (
	"context"
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

// Writers are the known writers, the newest first.
func (s *Store) Writers(ctx context.Context) ([]Writer, error) {
	rows, err := s.read.QueryContext(ctx, `
		SELECT writer, host, started, stopped, seen, last_seq
		FROM writers ORDER BY started DESC, writer`)
	if err != nil {
		return nil, wrap(ctx, "read writers", err)
	}
	all, err := collect(rows, func(w *Writer) []any {
		return []any{&w.ID, &w.Host, &w.Started, &w.Stopped, &w.Seen, &w.LastSeq}
	})
	return all, wrap(ctx, "read writers", err)
}
