package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/keyheat/keyheat/internal/daemon"
	"github.com/keyheat/keyheat/migrations"
)

// Migrate brings the schema of the database at a URL up to date and returns
// how many steps it applied: 0 when there was nothing to do, or when another
// process did it meanwhile. Any number of processes may start at once: exactly
// one does each step, the others wait for it. It fails with ErrSchemaNewer
// when a newer program has been here.
func Migrate(ctx context.Context, rawURL string) (applied int, err error) {
	s, err := open(rawURL, true)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.ping(ctx); err != nil {
		return 0, explainConnection(err)
	}
	return s.migrate(ctx)
}

func (s *Store) migrate(ctx context.Context) (int, error) {
	unlock, err := s.lockFile(ctx)
	if err != nil {
		return 0, err
	}
	defer unlock()
	if err := s.checkSchema(ctx); err == nil || !errors.Is(err, ErrSchemaOlder) {
		return 0, err
	}
	provider, err := s.provider()
	if err != nil {
		return 0, fmt.Errorf("migrate the store: %w", err)
	}
	results, err := provider.Up(ctx)
	return len(results), wrap(ctx, "migrate the store", err)
}

// provider is goose on this engine. On Postgres, starting processes wait at an
// advisory lock, tried every second for ten minutes; goose has none for SQLite,
// see lockFile.
func (s *Store) provider() (*goose.Provider, error) {
	dir, err := migrations.FS(s.dialect.name)
	if err != nil {
		return nil, err
	}
	if s.pool == nil {
		return goose.NewProvider(goose.DialectSQLite3, s.write, dir)
	}
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 600))
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectPostgres, s.write, dir, goose.WithSessionLocker(locker))
}

// lockFile makes processes that start on SQLite wait for each other while one migrates.
func (s *Store) lockFile(ctx context.Context) (unlock func(), err error) {
	if s.path == "" {
		return func() {}, nil
	}
	unlock, err = lockBeside(ctx, s.path+".migrating")
	for ; busy(err) && ctx.Err() == nil; unlock, err = lockBeside(ctx, s.path+".migrating") {
		daemon.Pause(ctx, lockEvery)
	}
	return unlock, wrap(ctx, "wait for another migration", err)
}

// lockBeside locks a SQLite database beside the store's own, unless another process has it
// locked. SQLite drops its locks when their process dies, on every system. The file stays,
// empty: removing it would let two processes lock two files of one name.
func lockBeside(ctx context.Context, path string) (unlock func(), err error) {
	if err := createFile(path); err != nil {
		return nil, err
	}
	db, err := sqliteDB(path, "_txlock=exclusive&_pragma=busy_timeout(0)", 1)
	if err != nil {
		return nil, err
	}
	held, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return func() { _ = held.Rollback(); _ = db.Close() }, nil
}

const lockEvery = 50 * time.Millisecond

func (s *Store) checkSchema(ctx context.Context) error {
	dir, err := migrations.FS(s.dialect.name)
	if err != nil {
		return err
	}
	known, err := migrations.Latest(dir)
	if err != nil {
		return err
	}
	have, err := s.schemaVersion(ctx)
	switch {
	case err != nil:
		return wrap(ctx, "read the schema's version", err)
	case have > known:
		return fmt.Errorf("%w: it is at version %d and this program knows %d; "+
			"start a newer version of Keyheat", ErrSchemaNewer, have, known)
	case have < known:
		return fmt.Errorf("%w: it is at version %d and this program needs %d; "+
			"run `reporter migrate`", ErrSchemaOlder, have, known)
	}
	return nil
}

// schemaVersion is the newest migration that was applied, 0 in an empty
// database. It reads goose's table itself because goose would make it.
func (s *Store) schemaVersion(ctx context.Context) (int64, error) {
	var tables int
	if err := s.write.QueryRowContext(ctx, s.dialect.versionTable).Scan(&tables); err != nil || tables == 0 {
		return 0, err
	}
	var version sql.NullInt64
	err := s.write.QueryRowContext(ctx,
		`SELECT max(version_id) FROM goose_db_version WHERE is_applied`).Scan(&version)
	return version.Int64, err
}
