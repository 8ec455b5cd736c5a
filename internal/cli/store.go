package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/keyheat/keyheat/internal/daemon"
	"github.com/keyheat/keyheat/internal/settings/config"
	"github.com/keyheat/keyheat/store"
)

// Store names the database the daemons share.
type Store struct {
	URL     config.Secret `yaml:"url" help:"the database: postgres://user@host/db?sslmode=verify-full or sqlite:PATH; another machine's Postgres has verify-full by default" flag:"true"`
	URLFile string        `yaml:"url_file" help:"a file with the URL, for a URL with a password"`
}

// Check adds the faults.
func (s Store) Check(f *config.Faults) {
	scheme, _, _ := strings.Cut(string(s.URL), ":")
	switch scheme {
	case "postgres", "postgresql", "sqlite":
	case "":
		f.Addf("store.url", `no database: give its URL, such as "postgres://keyheat@db/keyheat" or "sqlite:keyheat.db"`)
	default:
		// The error does not repeat the text: in libpq's form (host=… password=…) it
		// would hold the password.
		f.Addf("store.url", `not the URL of a database: begin it with "postgres://" or "sqlite:"`)
	}
}

// Probe opens the database and checks its schema.
func (s Store) Probe() Probe {
	return Probe{Name: "store", Run: func(ctx context.Context) (string, error) {
		opened, err := store.Open(ctx, string(s.URL), store.Options{})
		if err != nil {
			return "", fmt.Errorf("%s: %w", s, err)
		}
		return fmt.Sprintf("%s is reachable and has this program's schema", s), opened.Close()
	}}
}

// String returns the URL without its passwords.
func (s Store) String() string { return store.Redact(string(s.URL)) }

// SameBut reports whether next is the same database, where it may be another user or
// password that logs in.
func (s Store) SameBut(next Store) bool { return store.SameDatabase(string(s.URL), string(next.URL)) }

// Reauthenticate lets new connections log in with next's credentials, if next is the same
// database.
func (s Store) Reauthenticate(db *store.Store, next Store) error {
	if !s.SameBut(next) {
		return nil
	}
	return db.Reauthenticate(string(next.URL))
}

// Use does some work with the database, for a command that ends by itself.
func (s Store) Use(ctx context.Context, work func(*store.Store) error) (err error) {
	db, err := store.Open(ctx, string(s.URL), store.Options{})
	if err != nil {
		return fmt.Errorf("open %s: %w", s, err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return work(db)
}

// open opens the database, and waits for it while it cannot be reached: a
// daemon may be up before its database. status has the reason meanwhile. It calls tried
// after each attempt that is no failure of the daemon. An SQLite file is the daemon's own, so that
// its schema is brought up to date; a Postgres database needs its owner for that.
func (s Store) open(ctx context.Context, log *slog.Logger, status *daemon.Health, tried func()) (*store.Store, error) {
	return backoff.Retry(ctx, func() (*store.Store, error) {
		opened, err := store.Open(ctx, string(s.URL), store.Options{Migrate: strings.HasPrefix(string(s.URL), "sqlite:")})
		if err == nil {
			status.Heal(daemon.Whole)
			tried()
			return opened, nil
		}
		err = fmt.Errorf("open %s: %w", s, err)
		if !errors.Is(err, store.ErrUnavailable) {
			return nil, backoff.Permanent(err)
		}
		status.Fail(daemon.Whole, err.Error())
		tried()
		log.Warn("the database cannot be reached; trying again", "error", err)
		return nil, err
	}, backoff.WithMaxElapsedTime(0), backoff.WithBackOff(&backoff.ExponentialBackOff{
		InitialInterval: 200 * time.Millisecond, Multiplier: 2, RandomizationFactor: 0.3, MaxInterval: 5 * time.Second,
	}))
}
