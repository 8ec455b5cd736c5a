package pgtest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// ErrMissing reports that there are no Postgres binaries on this machine.
var ErrMissing = errors.New("no Postgres binaries in $PGBIN, PATH or /usr/lib/postgresql/*/bin: " +
	"run scripts/ensure-postgres, or set KEYHEAT_TEST_POSTGRES to a server's URL")

func isMissing(err error) bool { return errors.Is(err, ErrMissing) }

// binaries is the folder that holds initdb and postgres.
func binaries() (string, error) {
	candidates := []string{os.Getenv("PGBIN")}
	if path, err := exec.LookPath("initdb"); err == nil {
		// Debian's own folder, not a link to one program of it.
		if target, err := filepath.EvalSymlinks(path); err == nil {
			path = target
		}
		candidates = append(candidates, filepath.Dir(path))
	}
	installed, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	slices.Reverse(installed)
	for _, dir := range append(candidates, installed...) {
		if dir != "" && executable(dir, "initdb") && executable(dir, "postgres") {
			return dir, nil
		}
	}
	return "", ErrMissing
}

func executable(dir, name string) bool {
	info, err := os.Stat(filepath.Join(dir, name))
	return err == nil && info.Mode()&0o111 != 0
}
