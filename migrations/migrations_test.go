package migrations_test

import (
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/keyheat/keyheat/migrations"
)

func TestEnginesHaveTheSameSteps(t *testing.T) {
	t.Parallel()
	names := func(engine string) []string {
		dir, err := migrations.FS(engine)
		if err != nil {
			t.Fatal(err)
		}
		all, err := fs.Glob(dir, "*.sql")
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	postgres, sqlite := names("postgres"), names("sqlite")
	if len(postgres) == 0 || !slices.Equal(postgres, sqlite) {
		t.Errorf("postgres has the steps %v, sqlite %v, want the same", postgres, sqlite)
	}
}

func TestUnknownEngineIsAnError(t *testing.T) {
	t.Parallel()
	if _, err := migrations.FS("oracle"); err == nil || !strings.Contains(err.Error(), "oracle") {
		t.Errorf("an unknown engine returns %v, want an error that names it", err)
	}
}

func TestLatestIsTheHighestNumber(t *testing.T) {
	t.Parallel()
	dir := fstest.MapFS{"0009_a.sql": {}, "0010_b.sql": {}, "0002_c.sql": {}, "0099_notes.txt": {}}
	if got, err := migrations.Latest(dir); err != nil || got != 10 {
		t.Errorf("the latest is %d (%v), want 10", got, err)
	}
	dir["first.sql"] = &fstest.MapFile{}
	if _, err := migrations.Latest(dir); err == nil || !strings.Contains(err.Error(), "first.sql") {
		t.Errorf("a step without a number returns %v, want an error that names it", err)
	}
}
