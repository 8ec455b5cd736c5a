package store

import (
	"context"
	"testing"

	"github.com/keyheat/keyheat/internal/testsupport/must"
)

// Snapshot runs a query as a reader.
func (s *Store) Snapshot(ctx context.Context, query string) error {
	return s.snapshot(ctx, "read", func(t *tx) error { return t.run(ctx, query) })
}

// FileRemedy returns the next step after a SQLite file could not be opened.
func FileRemedy(path string, err error) string { return fileRemedy(path, err) }

// TLSOf returns how a connection to a URL is encrypted: the name that is verified,
// "unverified", "none", or "unverified or none".
func TLSOf(t *testing.T, url string) string {
	t.Helper()
	pool, err := parsePostgres(url)
	must.Succeed(t, err)
	c := &pool.ConnConfig.Config
	switch {
	case c.TLSConfig == nil:
		return "none"
	case fallsBack(c):
		return "unverified or none"
	case c.TLSConfig.InsecureSkipVerify:
		return "unverified"
	}
	return c.TLSConfig.ServerName
}
