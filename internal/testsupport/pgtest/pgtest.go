// Package pgtest runs a real Postgres for tests. It is a server of the test
// process's own, on loopback, on a free port, in a private directory, and ends
// with the process, however that ends.
//
// Most tests want Database: a fresh, empty database on a server that all tests
// of the process share. Tests of faults want Run: a server of their own, which
// they may Kill and Start again, or a Standby of it, which they may Promote.
//
// The binaries are looked for in $PGBIN, PATH and /usr/lib/postgresql/*/bin;
// scripts/ensure-postgres installs them. KEYHEAT_TEST_POSTGRES, the URL of a
// running server on which databases may be made, takes the shared server's
// place. Without any of these a test is skipped on a developer's machine and
// fails where CI=true.
package pgtest

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/keyheat/keyheat/internal/testsupport/await"
)

// startTimeout is far above the second that a start takes.
const startTimeout = await.Limit

// shared is the server of this process, started by the first test that asks.
// Nobody stops it: its watchdog does when the process ends.
var shared = sync.OnceValues(func() (string, error) {
	if given := os.Getenv("KEYHEAT_TEST_POSTGRES"); given != "" {
		return given, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	s, err := New(ctx)
	if err != nil {
		return "", err
	}
	return s.URL("postgres"), nil
})

// Database returns the URL of a fresh, empty database, which is dropped when
// the test ends.
func Database(t testing.TB) string { return create(t, "template1") }

// Copy returns the URL of a copy of one of these databases, to which nobody may be connected. It
// is dropped when the test ends.
func Copy(t testing.TB, of string) string {
	t.Helper()
	u, err := url.Parse(of)
	need(t, err)
	return create(t, strings.TrimPrefix(u.Path, "/"))
}

func create(t testing.TB, template string) string {
	t.Helper()
	admin, err := shared()
	need(t, err)
	name := "test_" + strings.ToLower(rand.Text())
	execute(t, admin, "CREATE DATABASE "+name+" TEMPLATE "+template)
	t.Cleanup(func() { execute(t, admin, "DROP DATABASE "+name+" WITH (FORCE)") })
	return withDatabase(t, admin, name)
}

// Run starts a server for one test alone and stops it when the test ends.
func Run(t testing.TB) *Server {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	s, err := New(ctx)
	need(t, err)
	stopAtEnd(t, s)
	return s
}

func stopAtEnd(t testing.TB, s *Server) {
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Errorf("stop Postgres: %v", err)
		}
	})
}

// need ends a test that cannot have a server.
func need(t testing.TB, err error) {
	t.Helper()
	switch {
	case err == nil:
	case os.Getenv("CI") != "true" && isMissing(err):
		t.Skipf("no Postgres to test with: %v", err)
	default:
		t.Fatalf("start Postgres: %v", err)
	}
}

func execute(t testing.TB, admin, statement string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	conn, err := pgx.Connect(ctx, admin)
	if err != nil {
		t.Fatalf("connect to the test server: %v", err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// Size does what autovacuum does in the course of time, and returns how many bytes a
// database takes.
func Size(t testing.TB, database string) (bytes int64) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, database)
	if err != nil {
		t.Fatalf("connect to the test server: %v", err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "VACUUM ANALYZE"); err != nil {
		t.Fatal(err)
	}
	if err := conn.QueryRow(ctx, "SELECT pg_database_size(current_database())").Scan(&bytes); err != nil {
		t.Fatal(err)
	}
	return bytes
}

// Part is a table of a database: its rows, and its bytes with indexes.
type Part struct {
	Name        string
	Rows, Bytes int64
}

// Largest returns the largest tables of a database that Size looked at.
func Largest(t testing.TB, database string, n int) (all []Part) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, database)
	if err != nil {
		t.Fatalf("connect to the test server: %v", err)
	}
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, `SELECT relname, reltuples::bigint, pg_total_relation_size(oid)
		FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND reltuples > 0
		ORDER BY 3 DESC LIMIT $1`, n)
	if err == nil {
		all, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Part])
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func withDatabase(t testing.TB, admin, name string) string {
	t.Helper()
	u, err := url.Parse(admin)
	if err != nil {
		t.Fatal(fmt.Errorf("parse the test server's URL: %w", err))
	}
	u.Path = "/" + name
	return u.String()
}
