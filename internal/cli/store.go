package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/keyheat/keyheat/internal/config"
	"github.com/keyheat/keyheat/store"
)

// Store names the database the daemons share.
type Store struct {
	URL     config.Secret `yaml:"url" help:"the database: postgres://user@host/db?sslmode=verify-full, which is meant too where a host beyond this machine has no sslmode; or sqlite:PATH" flag:"true"`
	URLFile string        `yaml:"url_file" help:"a file that holds the URL, where it has a password"`
}

// Check adds what is wrong.
func (s Store) Check(f *config.Faults) {
	scheme, _, _ := strings.Cut(string(s.URL), ":")
	switch scheme {
	case "postgres", "postgresql", "sqlite":
	case "":
		f.Addf("store.url", `no database: give its URL, such as "postgres://keyheat@db/keyheat" or "sqlite:keyheat.db"`)
	default:
		// What was written is not repeated: in libpq's form (host=… password=…) it
		// would be the password.
		f.Addf("store.url", `no URL of a database: it begins with "postgres://" or "sqlite:"`)
	}
}

// Probe opens the database and checks its schema.
func (s Store) Probe() Probe {
	return Probe{Name: "store", Run: func(ctx context.Context) (string, error) {
		opened, err := store.Open(ctx, string(s.URL), store.Options{})
		switch {
		case errors.Is(err, store.ErrUnavailable):
			return "", fmt.Errorf("%s cannot be reached: start it, or correct store.url: %w", s, err)
		case err != nil:
			return "", fmt.Errorf("%s: %w", s, err)
		}
		return fmt.Sprintf("%s is reachable and has this program's schema", s), opened.Close()
	}}
}

// String returns the URL without its passwords.
func (s Store) String() string { return store.Redact(string(s.URL)) }

// open opens the database, and waits for it while it cannot be reached: a
// daemon may be up before its database. notReady gets the reason, and "" in the
// end.
func (s Store) open(ctx context.Context, log *slog.Logger, notReady func(reason string)) (*store.Store, error) {
	return backoff.Retry(ctx, func() (*store.Store, error) {
		opened, err := store.Open(ctx, string(s.URL), store.Options{})
		if err == nil {
			notReady("")
			return opened, nil
		}
		err = fmt.Errorf("open %s: %w", s, err)
		if !errors.Is(err, store.ErrUnavailable) {
			return nil, backoff.Permanent(err)
		}
		notReady(err.Error())
		log.Warn("the database cannot be reached; trying again", "error", err)
		return nil, err
	}, backoff.WithMaxElapsedTime(0), backoff.WithBackOff(&backoff.ExponentialBackOff{
		InitialInterval: 200 * time.Millisecond, Multiplier: 2, RandomizationFactor: 0.3, MaxInterval: 5 * time.Second,
	}))
}

// waiting is a reason for not being ready that one goroutine sets and others
// read.
type waiting struct{ reason atomic.Value }

// set sets the reason; an empty one means ready.
func (w *waiting) set(reason string) { w.reason.Store(reason) }

// reasons returns the reason, if there is one.
func (w *waiting) reasons() []string {
	if reason, _ := w.reason.Load().(string); reason != "" {
		return []string{reason}
	}
	return nil
}
