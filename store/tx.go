package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/keyheat/keyheat/internal/daemon"
)

// maxTries is how often a transaction is tried that fails only because of concurrent
// ones: serialization failures, deadlocks, SQLite's "busy".
const maxTries = 8

// tx is one running transaction and the database's time at its start.
type tx struct {
	*sql.Tx
	conn *sql.Conn
	now  time.Time
}

type statement struct {
	query string
	args  []any
}

// runAll runs statements in their order. Postgres gets all at once: how many there are
// costs no round trips.
func (t *tx) runAll(ctx context.Context, all []statement) error {
	var batch pgx.Batch
	for _, s := range all {
		batch.Queue(s.query, s.args...)
	}
	if sent, err := t.send(ctx, &batch); err != nil || sent {
		return err
	}
	for _, s := range all {
		if err := t.run(ctx, s.query, s.args...); err != nil {
			return err
		}
	}
	return nil
}

// send sends a batch to Postgres; SQLite has none.
func (t *tx) send(ctx context.Context, batch *pgx.Batch) (sent bool, err error) {
	err = t.conn.Raw(func(driver any) error {
		c, isPostgres := driver.(*stdlib.Conn)
		if sent = isPostgres; !sent {
			return nil
		}
		return c.Conn().SendBatch(ctx, batch).Close()
	})
	return sent, err
}

// selectEach is [listEach] in a transaction.
func selectEach[T any](ctx context.Context, t *tx, fields func(*T) []any, query string, each [][]any) (all [][]T, err error) {
	if len(each) == 0 {
		return nil, nil
	}
	all = make([][]T, len(each))
	if sent, err := t.send(ctx, batchOf(all, fields, query, each)); err != nil || sent {
		return all, err
	}
	for i, args := range each {
		if all[i], err = selectAll(ctx, t, fields, query, args...); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (t *tx) exec(ctx context.Context, query string, args ...any) (int64, error) {
	result, err := t.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// run runs a statement, whatever it changes.
func (t *tx) run(ctx context.Context, query string, args ...any) error {
	_, err := t.ExecContext(ctx, query, args...)
	return err
}

// execFound runs a statement, and fails with ErrNotFound when it changed no row.
func (t *tx) execFound(ctx context.Context, query string, args ...any) error {
	n, err := t.exec(ctx, query, args...)
	if err == nil && n == 0 {
		return ErrNotFound
	}
	return err
}

// change runs f in a writing transaction, again when only concurrency failed it, and
// wraps the error with the action.
func (s *Store) change(ctx context.Context, doing string, f func(*tx) error) error {
	return wrap(ctx, doing, repeat(ctx, func() error { return s.runOnce(ctx, f) }))
}

// repeat calls f again while only concurrency makes it fail, up to maxTries times.
func repeat(ctx context.Context, f func() error) error {
	attempt := func() (struct{}, error) {
		err := f()
		if err != nil && !retryable(err) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}
	wait := daemon.NewBackOff(5*time.Millisecond, 500*time.Millisecond)
	_, err := backoff.Retry(ctx, attempt, backoff.WithBackOff(wait), backoff.WithMaxTries(maxTries))
	return daemon.UnwrapPermanent(err)
}

func (s *Store) runOnce(ctx context.Context, f func(*tx) error) error {
	t, err := s.begin(ctx, s.write, nil)
	if err != nil {
		return err
	}
	defer t.end()
	if err := f(t); err != nil {
		return err
	}
	if err := t.Commit(); err != nil {
		return ambiguous(err)
	}
	return nil
}

// snapshot runs f on one state of the database, which no other transaction changes while
// f reads.
func (s *Store) snapshot(ctx context.Context, doing string, f func(*tx) error) error {
	t, err := s.begin(ctx, s.read, s.dialect.snapshot)
	if err != nil {
		return wrap(ctx, doing, err)
	}
	defer t.end()
	return wrap(ctx, doing, f(t))
}

func (s *Store) begin(ctx context.Context, db *sql.DB, o *sql.TxOptions) (*tx, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	t, err := conn.BeginTx(ctx, o)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	now, err := s.dialect.now(ctx, t)
	if err != nil {
		return nil, errors.Join(err, t.Rollback(), conn.Close())
	}
	return &tx{Tx: t, conn: conn, now: now}, nil
}

// end rolls an uncommitted transaction back. Its own error adds nothing to the one before
// it.
func (t *tx) end() {
	_ = t.Rollback()
	_ = t.conn.Close()
}
