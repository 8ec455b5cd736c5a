package store_test

import (
	"path/filepath"
	"testing"

	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
	"github.com/keyheat/keyheat/store"
	"github.com/keyheat/keyheat/store/storetest"
)

func TestContractOnPostgres(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) *store.Store { return open(t, pgtest.Database(t)) })
}

func TestContractOnSQLiteFile(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) *store.Store { return open(t, sqliteFile(t)) })
}

func TestContractOnSQLiteInMemory(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) *store.Store { return open(t, "sqlite::memory:") })
}

func sqliteFile(t *testing.T) string {
	t.Helper()
	return "sqlite:" + filepath.Join(t.TempDir(), "a name with ? and #.db")
}

// open opens and migrates a store for one test.
func open(t *testing.T, url string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), url, store.Options{Migrate: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close the store: %v", err)
		}
	})
	return s
}
