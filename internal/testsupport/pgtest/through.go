package pgtest

import (
	"net/url"
	"testing"

	"github.com/keyheat/keyheat/internal/testsupport/link"
)

// Through returns a link to a database's server, and the database's URL through it. While it
// is cut the server seems to hang: so a failed switch, a stopped machine and a full disk look
// from outside.
func Through(t testing.TB, database string) (*link.Link, string) {
	t.Helper()
	u, err := url.Parse(database)
	need(t, err)
	l := link.New(t, u.Host)
	u.Host = l.Addr
	return l, u.String()
}
