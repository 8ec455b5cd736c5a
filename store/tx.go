package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// DefaultTries is how often a transaction is tried that fails only because of
// what runs beside it: serialization failures, deadlocks, SQLite's "busy".
const DefaultTries = 8

// tx is one running transaction and the database's time at its start.
type tx struct {
	*sql.Tx
	now time.Time
}

// exec runs a statement and answers how many rows it changed.
func (t *tx) exec(ctx context.Context, query string, args ...any) (int64, error) {
	result, err := t.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// change runs f in a writing transaction, again when only concurrency failed
// it, and wraps the error with what was being done.
func (s *Store) change(ctx context.Context, doing string, f func(*tx) error) error {
	attempt := func() (struct{}, error) {
		err := s.once(ctx, s.write, nil, f)
		if err != nil && !again(err) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.MaxInterval = 5*time.Millisecond, 500*time.Millisecond
	_, err := backoff.Retry(ctx, attempt, backoff.WithBackOff(wait), backoff.WithMaxTries(DefaultTries))
	return wrap(ctx, doing, unwrapPermanent(err))
}

// snapshot runs f on one state of the database, which no other transaction
// changes while f reads.
func (s *Store) snapshot(ctx context.Context, doing string, f func(*tx) error) error {
	return wrap(ctx, doing, s.once(ctx, s.read, s.dialect.snapshot, f))
}

// once begins, runs and commits one transaction.
func (s *Store) once(ctx context.Context, db *sql.DB, o *sql.TxOptions, f func(*tx) error) error {
	t, err := db.BeginTx(ctx, o)
	if err != nil {
		return err
	}
	defer t.Rollback() //nolint:errcheck // after a commit it has nothing to do, and after an error that one matters
	now, err := s.dialect.now(ctx, t)
	if err != nil {
		return err
	}
	if err := f(&tx{Tx: t, now: now}); err != nil {
		return err
	}
	if err := t.Commit(); err != nil {
		return ambiguous(err)
	}
	return nil
}

// unwrapPermanent takes off what told the retry to stop.
func unwrapPermanent(err error) error {
	var permanent *backoff.PermanentError
	if errors.As(err, &permanent) {
		return permanent.Unwrap()
	}
	return err
}
