package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/keyheat/keyheat/internal/daemon"
)

const keyTables = "deltas, windows, rollups, findings, finding_history, incidents, incident_history, table_views, checkpoints, notifications, reports, silences"

// ErrNotOwner means that only the owner of the tables may write them again. The error has
// the statement to run.
var ErrNotOwner = errors.New("this role does not own the tables")

// readersTimeout is how long Vacuum waits for transactions that may read deleted rows.
const readersTimeout = 30 * time.Second

// Vacuum writes the tables that keys may be in again, so that nothing of deleted rows is
// left in the database's files. Postgres locks each table meanwhile, SQLite the database
// for writers. It waits for transactions that may still read deleted rows, and fails if they
// outlast it. It reaches neither Postgres' write-ahead log nor backups.
func (s *Store) Vacuum(ctx context.Context) error {
	if s.pool == nil {
		return wrap(ctx, "vacuum", s.vacuumSQLite(ctx))
	}
	return wrap(ctx, "vacuum", s.vacuumPostgres(ctx))
}

func (s *Store) vacuumPostgres(ctx context.Context) error {
	statement := "VACUUM (FULL, ANALYZE) " + keyTables
	var owner bool
	// Without the right Postgres warns, and passes the table over.
	err := s.write.QueryRowContext(ctx, `
		SELECT bool_and(pg_has_role(c.relowner, 'USAGE')) FROM pg_class AS c
		WHERE c.oid IN (SELECT to_regclass(name) FROM unnest(string_to_array($1, ', ')) AS name)`, keyTables).Scan(&owner)
	if err != nil {
		return err
	}
	if !owner {
		return fmt.Errorf("%w: run %q as their owner, such as keyheat_migrator", ErrNotOwner, statement)
	}
	if err := s.awaitOlderReaders(ctx, statement); err != nil {
		return err
	}
	_, err = s.write.ExecContext(ctx, statement)
	return err
}

// awaitOlderReaders waits until no transaction has a snapshot from before now: VACUUM keeps the
// rows that such a snapshot shows.
func (s *Store) awaitOlderReaders(ctx context.Context, statement string) error {
	var now string
	if err := s.write.QueryRowContext(ctx, `SELECT pg_current_xact_id()::xid::text`).Scan(&now); err != nil {
		return err
	}
	for deadline := time.Now().Add(readersTimeout); ; daemon.Pause(ctx, 100*time.Millisecond) {
		var readers string
		// A standby that holds rows back is a session without a database.
		err := s.write.QueryRowContext(ctx, `
			SELECT coalesce(string_agg(format('process %s (%s, of %s)', pid, coalesce(nullif(application_name, ''), backend_type), usename), ', '), '')
			FROM pg_stat_activity
			WHERE age(backend_xmin) > age($1::text::xid) AND pid <> pg_backend_pid()
				AND (datname = current_database() OR datname IS NULL) AND backend_type <> 'autovacuum worker'`, now).Scan(&readers)
		switch {
		case err != nil:
			return err
		case readers == "":
			return nil
		case ctx.Err() != nil || time.Now().After(deadline):
			return fmt.Errorf("%w: %s may still read the deleted rows: wait for its end, or end it, and run %q", ErrUnavailable, readers, statement)
		}
	}
}

func (s *Store) vacuumSQLite(ctx context.Context) error {
	if err := repeat(ctx, func() error { _, err := s.write.ExecContext(ctx, "VACUUM"); return err }); err != nil {
		return err
	}
	for deadline := time.Now().Add(readersTimeout); ; daemon.Pause(ctx, 100*time.Millisecond) {
		var blocked bool
		var inLog, copied int
		err := s.write.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&blocked, &inLog, &copied)
		switch {
		case err != nil:
			return err
		case !blocked:
			return nil
		case ctx.Err() != nil || time.Now().After(deadline):
			return fmt.Errorf("%w: somebody reads the old pages of %s-wal: stop the daemons and vacuum again", ErrUnavailable, s.path)
		}
	}
}
