// Package migrations holds the numbered SQL that makes and changes Keyheat's
// schema, embedded in the binaries: a folder for each engine, the same numbers
// in both. Package store runs them.
//
// 0001 is the schema of release 0.1.0. A released migration is never edited: the next
// change is the next number, in both folders. To go back, restore a backup, because a
// step down would have to delete counted rows. The folders differ only in the names of
// types (BYTEA and BLOB, identity columns) and in storage settings, so that one text of
// every later statement runs on both.
package migrations

import (
	"embed"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

//go:embed postgres/*.sql sqlite/*.sql
var files embed.FS

// FS returns the migrations of an engine, "postgres" or "sqlite", as a flat
// folder in goose's naming.
func FS(engine string) (fs.FS, error) {
	if _, err := fs.Stat(files, engine); err != nil {
		return nil, fmt.Errorf("no migrations for engine %q: %w", engine, err)
	}
	return fs.Sub(files, engine)
}

// Latest is the highest version among a folder's migrations: what this binary
// knows.
func Latest(dir fs.FS) (int64, error) {
	names, err := fs.Glob(dir, "*.sql")
	if err != nil {
		return 0, fmt.Errorf("list migrations: %w", err)
	}
	var latest int64
	for _, name := range names {
		number, _, _ := strings.Cut(name, "_")
		v, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("migration %s does not begin with its number: %w", name, err)
		}
		latest = max(latest, v)
	}
	return latest, nil
}
