package store_test

import (
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
	"github.com/keyheat/keyheat/internal/testsupport/port"
	"github.com/keyheat/keyheat/store"
)

// engines are both engines with a way to a fresh, empty database.
var engines = map[string]func(t *testing.T) string{
	"postgres": func(t *testing.T) string { return pgtest.Database(t) },
	"sqlite":   sqliteFile,
}

func onEveryEngine(t *testing.T, check func(t *testing.T, url string)) {
	t.Parallel()
	for name, fresh := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, fresh(t))
		})
	}
}

func TestUnmigratedDatabaseIsRefused(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, url string) {
		_, err := store.Open(t.Context(), url, store.Options{})
		if !errors.Is(err, store.ErrSchemaOlder) || !strings.Contains(err.Error(), "run `reporter migrate`") {
			t.Errorf("an empty database returns %v, want ErrSchemaOlder with what to do", err)
		}
		if path, file := strings.CutPrefix(url, "sqlite:"); file {
			if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a misspelt path is a file now (%v)", err)
			}
		}
	})
}

func TestMigratedDatabaseIsKept(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, url string) {
		first := open(t, url)
		seed, err := first.HashSeed(t.Context())
		must.Succeed(t, err)
		second, err := store.Open(t.Context(), url, store.Options{})
		must.Succeed(t, err)
		defer second.Close()
		if again, err := second.HashSeed(t.Context()); err != nil || again != seed {
			t.Errorf("the second handle reads another seed (%v)", err)
		}
	})
}

func TestSeedsOfTwoInstallationsDiffer(t *testing.T) {
	t.Parallel()
	for name, fresh := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, errA := open(t, fresh(t)).HashSeed(t.Context())
			b, errB := open(t, fresh(t)).HashSeed(t.Context())
			if errA != nil || errB != nil || a == b {
				t.Errorf("two installations hash with %x and %x (%v, %v)", a, b, errA, errB)
			}
		})
	}
}

func TestWrongURLsAreExplained(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ url, want string }{
		{"", `must begin with "postgres://" or "sqlite:"`},
		{"mysql://root:secret@db/keyheat", `must begin with "postgres://" or "sqlite:"`},
		{"sqlite:", "needs a path"},
		{"sqlite:" + filepath.Join(t.TempDir(), "no/such/folder/x.db"), "make the folder"},
		{"postgres://keyheat:secret@db:port/keyheat", "invalid port"},
		{"postgres://keyheat:secret@db/keyheat?sslmode=perhaps", "sslmode"},
	} {
		_, err := store.Open(t.Context(), c.url, store.Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q returns %v, want it to say %q", c.url, err, c.want)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: the error contains the password: %v", c.url, err)
		}
	}
}

// TestAFileOfAnotherUserIsExplained: root migrated, and the daemon is another user.
func TestAFileOfAnotherUserIsExplained(t *testing.T) {
	t.Parallel()
	path := "/etc/passwd" // root's
	if os.Getuid() == 0 {
		path = filepath.Join(t.TempDir(), "k.db")
		must.Succeed(t, errors.Join(os.WriteFile(path, nil, 0o600), os.Chown(path, 12345, -1)))
	}
	self, err := user.Current()
	must.Succeed(t, err)
	remedy := store.FileRemedy(path, fs.ErrPermission)
	if !strings.Contains(remedy, "the file belongs to ") || !strings.HasSuffix(remedy, "runs as "+self.Username+": chown "+self.Username+" "+path+"*") {
		t.Errorf("the remedy is %q", remedy)
	}
}

func TestUnreachableServerIsUnavailable(t *testing.T) {
	t.Parallel()
	address := port.HoldAddress(t)
	for _, try := range []func() error{
		func() error {
			_, err := store.Open(t.Context(), "postgres://keyheat:secret@"+address+"/keyheat", store.Options{})
			return err
		},
		func() error {
			_, err := store.Migrate(t.Context(), "postgres://keyheat:secret@"+address+"/keyheat")
			return err
		},
	} {
		err := try()
		if !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("a closed port returns %v, want ErrUnavailable", err)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("the error contains the password: %v", err)
		} else if strings.Count(err.Error(), "connection refused") != 1 || !strings.Contains(err.Error(), "start it, or correct store.url") {
			t.Errorf("the error has no next step, or repeats the refusal: %v", err)
		}
	}
}

func TestWrongPasswordIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	server := pgtest.Run(t)
	wrong := strings.Replace(server.URL("postgres"), "//postgres:", "//postgres:x", 1)
	if _, err := store.Open(t.Context(), wrong, store.Options{}); err == nil || errors.Is(err, store.ErrUnavailable) {
		t.Errorf("a wrong password returns %v, want an error that is not ErrUnavailable", err)
	}
}

// TestSQLiteFilesAreTheirOwnersAlone: the database, its log and the locks beside it. Where a
// folder is a group's, so are they: two users share one database.
func TestSQLiteFilesAreTheirOwnersAlone(t *testing.T) {
	t.Parallel()
	for folder, want := range map[fs.FileMode]fs.FileMode{
		0o755: 0o600, 0o775: 0o600, fs.ModeSetgid | 0o755: 0o600, fs.ModeSetgid | 0o770: 0o660,
	} {
		dir := t.TempDir()
		must.Succeed(t, os.Chmod(dir, folder))
		s := open(t, "sqlite://"+filepath.Join(dir, "keyheat.db")) // an absolute path after an empty host
		s.Listen(t.Context())
		await.Until(t, "a session", func() bool { return s.Session() != 0 })
		files, err := os.ReadDir(dir)
		must.Succeed(t, err)
		var names []string
		for _, file := range files {
			info, err := file.Info()
			must.Succeed(t, err)
			names = append(names, file.Name())
			if got := info.Mode().Perm(); got != want {
				t.Errorf("in a folder of mode %v %s has mode %o, want %o", folder, file.Name(), got, want)
			}
		}
		for _, of := range []string{"keyheat.db", "keyheat.db-wal", "keyheat.db.migrating", "keyheat.db-session-"} {
			if !slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, of) }) {
				t.Errorf("%s is not there: %q", of, names)
			}
		}
	}
}

func TestRedact(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"postgres://keyheat:secret@db/keyheat?sslmode=verify-full":        "postgres://keyheat:xxxxx@db/keyheat?sslmode=verify-full",
		"postgres://db/keyheat?password=secret&sslpassword=secret&user=k": "postgres://db/keyheat?password=xxxxx&sslpassword=xxxxx&user=k",
		"postgres:host=db password=secret":                                "(a URL that cannot be parsed)",
		"sqlite:keyheat.db":                                               "sqlite:keyheat.db",
		"postgres://a:secret@[broken":                                     "(a URL that cannot be parsed)",
	} {
		if got := store.Redact(url); got != want {
			t.Errorf("%q is shown as %q, want %q", url, got, want)
		}
	}
}
