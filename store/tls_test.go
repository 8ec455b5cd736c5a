package store_test

import (
	"io"
	"net"
	"net/url"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
	"github.com/keyheat/keyheat/store"
)

// TestTLSBeyondThisMachine: a URL that says nothing of TLS means verified TLS for a
// server elsewhere, and never a connection without it.
func TestTLSBeyondThisMachine(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"postgres://db.example.com/keyheat":                     "db.example.com",
		"postgres://10.1.2.3/keyheat":                           "10.1.2.3",
		"postgres://db.example.com/keyheat?sslmode=verify-full": "db.example.com",
		"postgres://db.example.com/keyheat?sslmode=require":     "unverified",
		"postgres://db.example.com/keyheat?sslmode=prefer":      "unverified or none",
		"postgres://db.example.com/keyheat?sslmode=disable":     "none",
		"postgres://localhost/keyheat":                          "unverified or none",
		"postgres://127.0.0.1/keyheat":                          "unverified or none",
		"postgres://[::1]/keyheat":                              "unverified or none",
		"postgres:///keyheat?host=/var/run/postgresql":          "none",
	} {
		if got := store.TLSOf(t, url); got != want {
			t.Errorf("%s: TLS %s, want %s", url, got, want)
		}
	}
}

// TestAServerWithoutTLS has one refuse TLS, as a Postgres without a certificate does:
// the error says what to do.
func TestAServerWithoutTLS(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	defer listener.Close()
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			request := make([]byte, 8) // SSLRequest
			if _, err := io.ReadFull(c, request); err == nil {
				_, _ = c.Write([]byte("N"))
			}
			_ = c.Close()
		}
	}()
	_, err = store.Open(t.Context(), "postgres://"+listener.Addr().String()+"/keyheat?sslmode=verify-full", store.Options{})
	if err == nil || !strings.Contains(err.Error(), "enable TLS there") || !strings.Contains(err.Error(), "sslmode=disable") {
		t.Errorf("the error is %v", err)
	}
}

// TestAWrongLoginIsNoProblemOfTLS has a server without TLS refuse a login that was tried with
// TLS first: the error names the login, and not TLS.
func TestAWrongLoginIsNoProblemOfTLS(t *testing.T) {
	t.Parallel()
	u, err := url.Parse(pgtest.Database(t))
	must.Succeed(t, err)
	for _, change := range []func(){
		func() { u.Path = "/no-such-database" },
		func() { u.User = url.UserPassword("nobody", "wrong-canary") },
	} {
		change()
		query := u.Query()
		query.Set("sslmode", "prefer")
		u.RawQuery = query.Encode()
		_, opened := store.Open(t.Context(), u.String(), store.Options{})
		_, migrated := store.Migrate(t.Context(), u.String())
		for _, err := range []error{opened, migrated} {
			if err == nil || !strings.Contains(err.Error(), "check the user, the password and the database") || strings.Contains(strings.ToLower(err.Error()), "tls") || strings.Contains(err.Error(), "canary") {
				t.Errorf("the error is %v", err)
			}
		}
	}
}
