package store

import (
	"context"
	"net/url"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
)

type login struct{ user, password string }

// logins chooses the credentials of new connections; nil for the URL's.
type logins struct{ atomic.Pointer[login] }

// SameDatabase reports whether two URLs are of one database, and differ in nothing but
// who logs in.
func SameDatabase(a, b string) bool {
	return a == b || anonymous(a) != "" && anonymous(a) == anonymous(b)
}

// anonymous returns a URL without its credentials; empty for text that is no URL of
// Postgres.
func anonymous(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return ""
	}
	query := u.Query()
	query.Del("user")
	query.Del("password")
	u.User, u.RawQuery = nil, query.Encode()
	return u.String()
}

func (l *logins) connect(_ context.Context, c *pgx.ConnConfig) error {
	if as := l.Load(); as != nil {
		c.User, c.Password = as.user, as.password
	}
	return nil
}
