package store_test

import (
	"database/sql"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/pressly/goose/v3"

	"github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/migrations"
	"github.com/keyheat/keyheat/store"
)

// TestAKilledMigrationLeavesNothing kills a process with SIGKILL in the middle of each
// migration: when all of its statements are done and its version is about to be noted.
// The schema is then as before, and the next process goes on from there.
func TestAKilledMigrationLeavesNothing(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, url string) {
		db := raw(t, url)
		dir, err := migrations.FS(strings.Split(url, ":")[0])
		must.Succeed(t, err)
		halt, dialect := haltSQLite, goose.DialectSQLite3
		if strings.HasPrefix(url, "postgres") {
			halt, dialect = haltPostgres, goose.DialectPostgres
		}
		for n := range steps(t, url) {
			if v := version(t, db, dialect, dir); v != int64(n) {
				t.Fatalf("version %d before migration %d", v, n+1)
			}
			before := schema(t, db, dialect)
			release := halt(t, db)
			child := exec.CommandContext(t.Context(), os.Args[0])
			child.Env = append(os.Environ(), "STORE_TEST_MIGRATE="+url)
			must.Succeed(t, child.Start())
			waitHalted(t, db, dialect, child.Process.Pid)
			must.Succeed(t, child.Process.Kill())
			_ = child.Wait() // killed
			release()
			if v := version(t, db, dialect, dir); v != int64(n) {
				t.Errorf("migration %d was noted, though its process was killed before", v)
			}
			if after := schema(t, db, dialect); after != before {
				t.Errorf("migration %d, killed, left something:\n%s\nbefore:\n%s", n+1, after, before)
			}
			if n+1 == steps(t, url) { // left to Migrate
				break
			}
			if _, err := provider(t, db, dialect, dir).UpByOne(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if applied, err := store.Migrate(t.Context(), url); err != nil || applied > 1 {
			t.Errorf("the next process applied %d: %v", applied, err)
		}
		open(t, url)
	})
}

func provider(t *testing.T, db *sql.DB, dialect goose.Dialect, dir fs.FS) *goose.Provider {
	t.Helper()
	p, err := goose.NewProvider(dialect, db, dir)
	must.Succeed(t, err)
	return p
}

// version also makes goose's own table.
func version(t *testing.T, db *sql.DB, dialect goose.Dialect, dir fs.FS) int64 {
	t.Helper()
	v, err := provider(t, db, dialect, dir).GetDBVersion(t.Context())
	must.Succeed(t, err)
	return v
}

// haltPostgres lets nobody note a version until it is released.
func haltPostgres(t *testing.T, db *sql.DB) (release func()) {
	t.Helper()
	lock, err := db.BeginTx(t.Context(), nil)
	if err == nil {
		_, err = lock.Exec(`LOCK TABLE goose_db_version IN SHARE MODE`)
	}
	must.Succeed(t, err)
	return func() {
		_ = lock.Rollback()
		await.Until(t, "the killed process's session is over", func() bool { return sessions(t, db, "") == 0 })
	}
}

// haltSQLite has whoever notes a version compute for ever.
func haltSQLite(t *testing.T, db *sql.DB) (release func()) {
	t.Helper()
	for _, statement := range []string{
		`CREATE VIEW endless AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n`,
		`CREATE TRIGGER halt AFTER INSERT ON goose_db_version BEGIN SELECT count(*) FROM endless; END`,
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	return func() {
		for _, statement := range []string{`DROP TRIGGER halt`, `DROP VIEW endless`} {
			if _, err := db.Exec(statement); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// waitHalted waits until a process is in the middle of a migration: on Postgres its
// session waits for the lock, on SQLite it computes for longer than all migrations take.
func waitHalted(t *testing.T, db *sql.DB, dialect goose.Dialect, pid int) {
	t.Helper()
	if dialect == goose.DialectPostgres {
		await.Until(t, "the migration waits", func() bool { return sessions(t, db, "Lock") == 1 })
		return
	}
	await.Until(t, "the migration computes", func() bool { return ticks(t, pid) > 60 })
}

// sessions counts the other sessions of this database, those that wait for something
// where that is given.
func sessions(t *testing.T, db *sql.DB, waiting string) (n int) {
	t.Helper()
	err := db.QueryRow(`SELECT count(*) FROM pg_stat_activity
		WHERE datname = current_database() AND application_name = 'keyheat' AND ($1 = '' OR wait_event_type = $1)`, waiting).Scan(&n)
	must.Succeed(t, err)
	return n
}

// ticks returns the CPU time of a process, in hundredths of a second.
func ticks(t *testing.T, pid int) (n int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Skipf("no CPU times of processes here: %v", err)
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if _, err := fmt.Sscan(fields[11], &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// schema returns all that there is in a database but rows.
func schema(t *testing.T, db *sql.DB, dialect goose.Dialect) string {
	t.Helper()
	query := `SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM sqlite_master ORDER BY 1`
	if dialect == goose.DialectPostgres {
		query = `SELECT text FROM (
			SELECT table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable || ' ' || coalesce(column_default, '') AS text
				FROM information_schema.columns WHERE table_schema = 'public'
			UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
			UNION ALL SELECT conrelid::regclass || ' ' || pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'public'::regnamespace
			UNION ALL SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace) AS all_of_it ORDER BY 1`
	}
	rows, err := db.Query(query)
	must.Succeed(t, err)
	defer rows.Close()
	var all strings.Builder
	for rows.Next() {
		var line string
		must.Succeed(t, rows.Scan(&line))
		all.WriteString(line + "\n")
	}
	must.Succeed(t, rows.Err())
	return all.String()
}
