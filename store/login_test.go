package store_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
	"github.com/keyheat/keyheat/store"
)

func TestSameDatabase(t *testing.T) {
	t.Parallel()
	const url = "postgres://u:old@db:5432/keyheat?sslmode=require"
	for other, same := range map[string]bool{
		url: true, "postgres://u:new@db:5432/keyheat?sslmode=require": true, "postgres://v@db:5432/keyheat?sslmode=require": true,
		"postgres://db:5432/keyheat?sslmode=require&password=new":      true,
		"postgres://u:old@standby:5432/keyheat?sslmode=require":        false,
		"postgres://u:old@db:5432/other?sslmode=require":               false,
		"postgres://u:old@db:5432/keyheat":                             false,
		"sqlite:keyheat.db":                                            false,
		"host=db user=u password=old":                                  false,
		"postgres://u:old@db:5432/keyheat?sslmode=require&user=hacker": true,
	} {
		if got := store.SameDatabase(url, other); got != same {
			t.Errorf("%s is taken for the same database: %t", other, got)
		}
	}
	if store.SameDatabase("sqlite:a.db", "sqlite:b.db") {
		t.Error("two files are taken for one")
	}
}

// TestReauthenticate: connections log in as the newest URL says, once they are made anew.
func TestReauthenticate(t *testing.T) {
	t.Parallel()
	ctx, url := t.Context(), pgtest.Database(t)
	s, err := store.Open(ctx, url, store.Options{Migrate: true})
	must.Succeed(t, err)
	t.Cleanup(func() { s.Close() })
	other, err := pgx.ParseConfig(url)
	must.Succeed(t, err)
	nobody := strings.Replace(url, "postgres://"+other.User, "postgres://nobody_of_this_name", 1)
	if nobody == url {
		t.Fatalf("no user in %s", url)
	}
	admin, err := pgx.Connect(ctx, url)
	must.Succeed(t, err)
	t.Cleanup(func() { admin.Close(context.Background()) })
	for _, c := range []struct{ url, says string }{{nobody, "nobody_of_this_name"}, {url, ""}} {
		must.Succeed(t, s.Reauthenticate(c.url))
		if _, err := admin.Exec(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`); err != nil {
			t.Fatal(err)
		}
		// Connections end some time after they were told to, and are found out one by one.
		await.Until(t, fmt.Sprintf("a ping says %q", c.says), func() bool {
			_, err := s.Now(ctx)
			return (c.says == "") == (err == nil) && (err == nil || strings.Contains(err.Error(), c.says))
		})
	}
}
