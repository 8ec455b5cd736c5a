package pgtest

import (
	"path/filepath"
	"testing"
)

// Quick returns the URL of a fresh, empty database of the engine that is fast in this build:
// SQLite, and Postgres under the race detector. The detector makes SQLite, which is pure Go,
// some twenty times slower. It is for tests that would pass on either engine; store's
// contract holds both to one behaviour.
func Quick(t testing.TB) string {
	t.Helper()
	if UnderRace {
		return Database(t)
	}
	return "sqlite:" + filepath.Join(t.TempDir(), "keyheat.db")
}
