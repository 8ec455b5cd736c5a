package store_test

import (
	"context"
	"database/sql"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
)

// keyless are the tables that hold no key: docs/SECURITY.md has the contents of each.
const keyless = `audit bad_excerpts bad_samples cloudwatch_minutes cloudwatch_reads cursors gaps
	goose_db_version incident_findings installation leases members partition_maps positions
	receivers report_schedules seen_minutes shard_keys shards streams table_facts targets watermarks writers`

// TestVacuumWritesEveryTableOfKeys: a table is written again unless it is known to hold no
// key, so that a new table cannot keep what was purged.
func TestVacuumWritesEveryTableOfKeys(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s, db := mustOpen(t, url), raw(t, url)
	files := func() map[string]int64 {
		rows, err := db.QueryContext(t.Context(), `SELECT relname, pg_relation_filenode(oid) FROM pg_class
			WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace`)
		must.Succeed(t, err)
		defer rows.Close()
		all := map[string]int64{}
		for rows.Next() {
			var name string
			var file int64
			must.Succeed(t, rows.Scan(&name, &file))
			all[name] = file
		}
		must.Succeed(t, rows.Err())
		return all
	}
	before := files()
	must.Succeed(t, s.Vacuum(t.Context()))
	var kept []string
	for name, file := range files() {
		if file == before[name] {
			kept = append(kept, name)
		}
	}
	slices.Sort(kept)
	if want := strings.Fields(keyless); !slices.Equal(kept, want) {
		t.Errorf("not written again: %s\nwant %s", kept, want)
	}
}

// TestVacuumWaitsForOlderSnapshots: rows that another session's snapshot shows stay in Postgres'
// files until it ends. A backup has such a snapshot.
func TestVacuumWaitsForOlderSnapshots(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s, db := mustOpen(t, url), raw(t, url)
	exec := func(statement string) {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	size := func() (bytes int64) {
		must.Succeed(t, db.QueryRowContext(t.Context(), "SELECT pg_relation_size('deltas')").Scan(&bytes))
		return bytes
	}
	exec(`INSERT INTO deltas (writer, seq, version, body, committed, previous) SELECT 'w', n, 1, 'secret', now(), 0 FROM generate_series(1, 1000) n`)
	backup, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
	must.Succeed(t, err)
	defer func() { _ = backup.Rollback() }()
	var n int
	must.Succeed(t, backup.QueryRowContext(t.Context(), "SELECT count(*) FROM leases").Scan(&n))
	exec(`DELETE FROM deltas`)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := s.Vacuum(ctx); err == nil {
		t.Errorf("with an older snapshot it vacuums, and %d bytes stay", size())
	}
	must.Succeed(t, backup.Rollback())
	// The session of the try before ends some time after its context.
	await.Until(t, "the deleted rows are gone", func() bool {
		must.Succeed(t, s.Vacuum(t.Context()))
		return size() == 0
	})
}

// TestVacuumWaitsForReaders: pages that a reader holds stay in SQLite's log until it ends.
func TestVacuumWaitsForReaders(t *testing.T) {
	t.Parallel()
	synctest.Test(t, vacuumBesideAReader)
}

func vacuumBesideAReader(t *testing.T) {
	path := t.TempDir() + "/keyheat.db"
	s, db := mustOpen(t, "sqlite:"+path), raw(t, "sqlite:"+path)
	reader, err := db.BeginTx(t.Context(), nil)
	must.Succeed(t, err)
	var n int
	must.Succeed(t, reader.QueryRowContext(t.Context(), "SELECT count(*) FROM leases").Scan(&n))
	ended := make(chan error, 1)
	go func() {
		time.Sleep(3 * time.Second) // SQLite itself waits for 2 s
		ended <- reader.Rollback()
	}()
	must.Succeed(t, s.Vacuum(t.Context()))
	must.Succeed(t, <-ended)
	if log, err := os.Stat(path + "-wal"); err == nil && log.Size() > 0 {
		t.Errorf("the log still has %d bytes", log.Size())
	}
}
