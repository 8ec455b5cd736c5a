package store

import (
	"context"
	"database/sql"
	"time"
)

// dialect holds all differences between the engines once they are open.
type dialect struct {
	name string
	// versionTable counts goose's version table: 0 or 1.
	versionTable string
	// snapshot are the options under which a transaction reads one state.
	snapshot *sql.TxOptions
	// clock asks for the time; empty where the database has no clock of its
	// own but runs in this process.
	clock string
}

var postgresDialect = dialect{
	name:         "postgres",
	versionTable: `SELECT count(*) FROM pg_class WHERE oid = to_regclass('goose_db_version')`,
	snapshot:     &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true},
	// now() would be the transaction's start and stand still.
	clock: `SELECT clock_timestamp() AT TIME ZONE 'UTC'`,
}

// In WAL mode every reading transaction of SQLite is a snapshot by itself.
var sqliteDialect = dialect{
	name:         "sqlite",
	versionTable: `SELECT count(*) FROM sqlite_master WHERE name = 'goose_db_version'`,
}

func (d dialect) now(ctx context.Context, t *sql.Tx) (time.Time, error) {
	if d.clock == "" {
		return utc(time.Now()), nil
	}
	var now time.Time
	err := t.QueryRowContext(ctx, d.clock).Scan(&now)
	return utc(now), err
}
