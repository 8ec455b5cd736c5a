package migrations_test

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/migrations"
)

func TestEnginesHaveTheSameSteps(t *testing.T) {
	t.Parallel()
	names := func(engine string) []string {
		dir, err := migrations.FS(engine)
		must.Succeed(t, err)
		all, err := fs.Glob(dir, "*.sql")
		must.Succeed(t, err)
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

// released has the SHA-256 of each released migration, without comments and blanks.
var released = map[string]string{
	"postgres/0001_schema.sql": "582d167347b3a74c111812f29677f8b69e73f2b843db93abcf1435602262803a",
	"sqlite/0001_schema.sql":   "1eb1b9ae2a6f4f813513e1e0c4f36392629a2ccd3c3f9e156dd8e73687effbad",
}

func TestAReleasedMigrationIsNeverEdited(t *testing.T) {
	t.Parallel()
	for path, want := range released {
		engine, name, _ := strings.Cut(path, "/")
		dir, err := migrations.FS(engine)
		must.Succeed(t, err)
		text, err := fs.ReadFile(dir, name)
		must.Succeed(t, err)
		hash := sha256.New()
		for line := range strings.Lines(string(text)) {
			statement, _, _ := strings.Cut(line, "--")
			hash.Write([]byte(strings.Join(strings.Fields(statement), "")))
		}
		if got := hex.EncodeToString(hash.Sum(nil)); got != want {
			t.Errorf("%s is %s, released was %s: write the next migration instead", path, got, want)
		}
	}
}
