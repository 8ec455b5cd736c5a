package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
	"github.com/keyheat/keyheat/internal/testsupport/port"
)

// TestPostgresScript starts the README's Postgres as it says, migrates the database that it
// prints, and starts it again with the data in place.
func TestPostgresScript(t *testing.T) {
	t.Parallel()
	pgtest.Database(t)                              // skips or fails without Postgres's binaries
	dir, err := os.MkdirTemp("", "keyheat-script-") //nolint:usetesting // the user nobody may not enter a folder below t.TempDir
	must(t, err)
	t.Cleanup(func() { must(t, os.RemoveAll(dir)) })
	free := strconv.Itoa(port.Hold(t))
	script := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("../scripts/postgres", args...).CombinedOutput()
		if err != nil {
			t.Fatalf("scripts/postgres %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return strings.TrimSpace(string(out))
	}
	t.Cleanup(func() { _ = exec.Command("../scripts/postgres", "stop", dir).Run() })
	url := script("start", dir, free)
	reporter := filepath.Join(programs(t), "reporter")
	if out, err := exec.CommandContext(t.Context(), reporter, "migrate", "--store-url", url).CombinedOutput(); err != nil {
		t.Fatalf("migrate %s: %v\n%s", url, err, out)
	}
	script("stop", dir)
	script("start", dir, free)
	if out, err := exec.CommandContext(t.Context(), reporter, "check", "--store-url", url).CombinedOutput(); err != nil {
		t.Errorf("the database did not stay: %v\n%s", err, out)
	}
	script("stop", dir)
}
