package main

import (
	"testing"

	"github.com/keyheat/keyheat/internal/testsupport/daemontest"
	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
	"github.com/keyheat/keyheat/store"
)

// TestSIGTERMWithoutADatabase: a database that does not answer holds nobody up.
func TestSIGTERMWithoutADatabase(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	if _, err := store.Migrate(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	way, through := pgtest.Through(t, url)
	d := daemontest.Start(t, "reporter", "serve", "--store-url", through, "--listen", "127.0.0.1:0")
	d.Logs("judging")
	way.Cut()
	if err := d.Stop(); err != nil {
		t.Error(err)
	}
}

// TestSIGTERMBeforeADatabase: nor one that has never answered.
func TestSIGTERMBeforeADatabase(t *testing.T) {
	t.Parallel()
	way, through := pgtest.Through(t, pgtest.Database(t))
	way.Cut()
	d := daemontest.Start(t, "reporter", "serve", "--store-url", through, "--listen", "127.0.0.1:0")
	if err := d.Stop(); err != nil {
		t.Error(err)
	}
}
