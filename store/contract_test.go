package store_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
	"github.com/keyheat/keyheat/store"
	"github.com/keyheat/keyheat/store/storetest"
)

func TestContractOnPostgres(t *testing.T) {
	t.Parallel()
	migrated := pgtest.Database(t)
	migrate(t, migrated)
	storetest.Run(t, func(t *testing.T) *store.Store { return open(t, pgtest.Copy(t, migrated)) })
}

func TestContractOnSQLiteFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	migrate(t, "sqlite:"+filepath.Join(dir, databaseName))
	storetest.Run(t, func(t *testing.T) *store.Store {
		of := t.TempDir()
		must.Succeed(t, os.CopyFS(of, os.DirFS(dir)))
		return open(t, "sqlite:"+filepath.Join(of, databaseName))
	})
}

func TestContractOnSQLiteInMemory(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) *store.Store { return open(t, "sqlite::memory:") })
}

// migrate makes a database of which each obligation gets a copy: that takes a tenth of a migration.
func migrate(t *testing.T, url string) {
	t.Helper()
	if _, err := store.Migrate(t.Context(), url); err != nil {
		t.Fatal(err)
	}
}

const databaseName = "a name with ? and #.db"

func sqliteFile(t *testing.T) string {
	t.Helper()
	return "sqlite:" + filepath.Join(t.TempDir(), databaseName)
}

// open opens and migrates a store for one test.
func open(t *testing.T, url string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), url, store.Options{Migrate: true})
	must.Succeed(t, err)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close the store: %v", err)
		}
	})
	return s
}
