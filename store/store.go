// Package store keeps all of Keyheat's data in SQL: one text on two engines, Postgres for
// daemons and SQLite as the embedded default.
//
// # Two sides
//
// Collectors write. Claim makes a process the owner of a partition and raises its epoch;
// Commit writes one delta and moves the positions that it covers in one transaction, by
// compare-and-swap, all or nothing. So a sample is counted exactly once however often
// processes die: either the delta is stored and the position moved, or neither.
//
// The reporter reads. Read returns the deltas beyond a cursor for each writer, with the
// watermarks of the same snapshot; Judge writes all results in one transaction, which its
// lease guards. There is one cursor for each writer because a single one ("id > last")
// loses rows that commit late: numbers are drawn in one order and become visible in
// another.
//
// Delta and window bodies are opaque bytes here: only the sketch package knows their
// meaning.
//
// # Time and text
//
// Times are UTC in whole microseconds. "Now" is the database's clock, so that leases and
// stalled watermarks do not depend on how well the clocks of several machines agree;
// SQLite's is the machine's own.
//
// Text is stored with NUL and invalid UTF-8 replaced by U+FFFD, which SQL text cannot
// hold: one hostile key must not stop a judge for ever. Exact text belongs into a body or
// a document.
//
// # Errors
//
// Callers branch on the sentinels of this package; all other errors are for a person. The
// store itself retries serialization failures, deadlocks and SQLite's "busy", a bounded
// number of times. ErrUnavailable means: wait, then try again.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Store is an open database. It is safe for concurrent use.
type Store struct {
	dialect dialect
	// write and read are the same pool on Postgres. On SQLite write is a single
	// connection, because the engine has one writer anyway and waiting in Go
	// is fair and free of "busy"; read is a pool of snapshots beside it.
	write, read *sql.DB
	// pool is Postgres's own pool under write; nil on SQLite.
	pool   *pgxpool.Pool
	logins logins
	// session is the one that leases name.
	session atomic.Int64
	// path is SQLite's file; empty on Postgres and in memory.
	path string
}

func (s *Store) ping(ctx context.Context) error {
	// SQLite refuses the first two connections to a new file, which both turn the
	// write-ahead log on, without waiting for its busy timeout.
	return wrap(ctx, "reach the database", repeat(ctx, func() error { return s.write.PingContext(ctx) }))
}

// HashSeed is the seed of every key's hash. The first migration drew it at
// random; it is shared by all collectors of the installation and never logged.
func (s *Store) HashSeed(ctx context.Context) (uint64, error) {
	var seed int64
	err := s.read.QueryRowContext(ctx, `SELECT hash_seed FROM installation`).Scan(&seed)
	return uint64(seed), wrap(ctx, "read the hash seed", err)
}

// utc is a time as the store keeps it.
func utc(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// list returns all rows of a query; what names the action for errors.
func list[T any](ctx context.Context, s *Store, what string, fields func(*T) []any, query string, args ...any) ([]T, error) {
	all, err := selectAll(ctx, s.read, fields, query, args...)
	return all, wrap(ctx, what, err)
}

// listEach returns the rows of one query for each of several sets of arguments. Postgres
// gets all at once: how many there are costs no round trips.
func listEach[T any](ctx context.Context, s *Store, what string, fields func(*T) []any, query string, each [][]any) (all [][]T, err error) {
	all = make([][]T, len(each))
	if len(each) == 0 {
		return nil, nil
	}
	if s.pool == nil {
		for i, args := range each {
			if all[i], err = selectAll(ctx, s.read, fields, query, args...); err != nil {
				return nil, wrap(ctx, what, err)
			}
		}
		return all, nil
	}
	batch := batchOf(all, fields, query, each)
	return all, wrap(ctx, what, s.pool.SendBatch(ctx, batch).Close())
}

// batchOf is a query for each of several sets of arguments, which fills all.
func batchOf[T any](all [][]T, fields func(*T) []any, query string, each [][]any) *pgx.Batch {
	var batch pgx.Batch
	for i, args := range each {
		batch.Queue(query, args...).Query(func(rows pgx.Rows) error {
			for rows.Next() {
				var v T
				if err := rows.Scan(fields(&v)...); err != nil {
					return fmt.Errorf("scan: %w", err)
				}
				all[i] = append(all[i], v)
			}
			return rows.Err()
		})
	}
	return &batch
}

func ofOne[T any](all [][]T, err error) ([]T, error) {
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func singleColumn[T any](column *T) []any { return []any{column} }

// first returns the one row of a query by a name, or ErrNotFound.
func first[T any](rows []T, err error) (row T, _ error) {
	switch {
	case err != nil:
		return row, err
	case len(rows) == 0:
		return row, ErrNotFound
	}
	return rows[0], nil
}

// unlessMissing drops ErrNotFound, where that is no failure.
func unlessMissing(err error) error {
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// selectAll returns all rows of a query; fields returns where the columns of one row
// go.
func selectAll[T any](ctx context.Context, from querier, fields func(*T) []any, query string, args ...any) ([]T, error) {
	rows, err := from.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		var v T
		if err := rows.Scan(fields(&v)...); err != nil {
			return nil, fmt.Errorf("scan: %w", err)
		}
		all = append(all, v)
	}
	return all, rows.Err()
}
