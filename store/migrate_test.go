package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
	"github.com/keyheat/keyheat/migrations"
	"github.com/keyheat/keyheat/store"
)

func TestMain(m *testing.M) {
	if url := os.Getenv("STORE_TEST_MIGRATE"); url != "" {
		migrateAndSay(url)
		return
	}
	if url := os.Getenv("STORE_TEST_HOLD"); url != "" {
		fmt.Fprintln(os.Stderr, holdLease(url))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// raw is the database without the store.
func raw(t testing.TB, url string) *sql.DB {
	t.Helper()
	driver := "pgx"
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
		driver, url = "sqlite", "file:"+strings.NewReplacer("?", "%3f", "#", "%23").Replace(path)
	}
	db, err := sql.Open(driver, url)
	must.Succeed(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

// steps is how many migrations there are for an engine.
func steps(t *testing.T, url string) int {
	t.Helper()
	engine, _, _ := strings.Cut(url, ":")
	dir, err := migrations.FS(engine)
	must.Succeed(t, err)
	names, err := fs.Glob(dir, "*.sql")
	must.Succeed(t, err)
	return len(names)
}

// checkRace adds up what the starters say they applied, and looks what the
// database says.
func checkRace(t *testing.T, url string, applied []int) {
	t.Helper()
	want, total, doers := steps(t, url), 0, 0
	for _, n := range applied {
		total += n
		if n > 0 {
			doers++
		}
	}
	if total != want || doers != 1 {
		t.Errorf("the starters applied %v, want %d by exactly one", applied, want)
	}
	var rows int
	err := raw(t, url).QueryRow(`SELECT count(*) FROM goose_db_version WHERE version_id > 0`).Scan(&rows)
	if err != nil || rows != want {
		t.Errorf("the database noted %d steps (%v), want %d", rows, err, want)
	}
}

func TestFourStartersMigrateOnce(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, url string) {
		applied := make([]int, 4)
		var all sync.WaitGroup
		for i := range applied {
			all.Go(func() {
				var err error
				if applied[i], err = store.Migrate(t.Context(), url); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		checkRace(t, url, applied)
	})
}

// TestStartersOpenAtOnce is what daemons do: each opens, migrates if need be,
// and works at once.
func TestStartersOpenAtOnce(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, url string) {
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				s, err := store.Open(t.Context(), url, store.Options{Migrate: true})
				if err != nil {
					t.Error(err)
					return
				}
				defer s.Close()
				if err := s.Commit(t.Context(), store.Commit{Writer: strconv.Itoa(i), Seq: 1, Body: []byte{1}}); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		snap, err := open(t, url).Read(t.Context(), nil, store.ReadLimit{})
		if err != nil || len(snap.Deltas) != 8 {
			t.Errorf("there are %d deltas (%v), want 8", len(snap.Deltas), err)
		}
	})
}

func TestFourProcessesMigrateOnce(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, url string) {
		applied := make([]int, 4)
		var all sync.WaitGroup
		for i := range applied {
			all.Go(func() {
				command := exec.Command(os.Args[0])
				command.Env = append(os.Environ(), "STORE_TEST_MIGRATE="+url)
				out, err := command.Output()
				if err == nil {
					applied[i], err = strconv.Atoi(strings.TrimSpace(string(out)))
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		checkRace(t, url, applied)
	})
}

// migrateAndSay is the child of TestFourProcessesMigrateOnce.
func migrateAndSay(url string) {
	applied, err := store.Migrate(context.Background(), url)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(applied)
}

func TestNewerSchemaIsRefused(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, url string) {
		if _, err := store.Migrate(t.Context(), url); err != nil {
			t.Fatal(err)
		}
		_, err := raw(t, url).Exec(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (9000, TRUE)`)
		must.Succeed(t, err)
		_, openErr := store.Open(t.Context(), url, store.Options{})
		_, migratingErr := store.Open(t.Context(), url, store.Options{Migrate: true})
		_, migrateErr := store.Migrate(t.Context(), url)
		for _, err := range []error{openErr, migratingErr, migrateErr} {
			if !errors.Is(err, store.ErrSchemaNewer) || !strings.Contains(err.Error(), "version 9000") ||
				!strings.Contains(err.Error(), "start a newer version of Keyheat") {
				t.Errorf("a newer schema returns %v, want ErrSchemaNewer with a sentence", err)
			}
		}
	})
}

// TestEnginesHaveTheSameColumns keeps the two folders of migrations from
// drifting apart.
func TestEnginesHaveTheSameColumns(t *testing.T) {
	t.Parallel()
	postgres, lite := pgtest.Database(t), sqliteFile(t)
	open(t, postgres)
	open(t, lite)
	have := columns(t, postgres, `
		SELECT table_name || '.' || column_name FROM information_schema.columns
		WHERE table_schema = 'public' AND table_name <> 'goose_db_version'`)
	want := columns(t, lite, `
		SELECT m.name || '.' || c.name FROM sqlite_master AS m, pragma_table_info(m.name) AS c
		WHERE m.type IN ('table', 'view') AND m.name NOT LIKE 'sqlite_%' AND m.name <> 'goose_db_version'`)
	if !slices.Equal(have, want) {
		t.Errorf("postgres has\n%v\nsqlite has\n%v", have, want)
	}
	if len(have) < 50 {
		t.Errorf("only %d columns were found", len(have))
	}
}

func columns(t *testing.T, url, query string) []string {
	t.Helper()
	rows, err := raw(t, url).Query(query)
	must.Succeed(t, err)
	defer rows.Close()
	var all []string
	for rows.Next() {
		var name string
		must.Succeed(t, rows.Scan(&name))
		all = append(all, name)
	}
	check(t, rows.Err())
	slices.Sort(all)
	return all
}

func TestDeltasAreLogged(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	open(t, url)
	var unlogged int
	err := raw(t, url).QueryRow(`SELECT count(*) FROM pg_class WHERE relpersistence = 'u'`).Scan(&unlogged)
	if err != nil || unlogged != 0 {
		t.Errorf("%d tables are unlogged (%v): a crash would empty them and keep the positions", unlogged, err)
	}
}
