package store_test

import (
	"context"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/store"
)

// TestAttacksByURL opens each URL, and prints it as a program would: neither the error
// nor what is printed holds the password, whatever the form.
func TestAttacksByURL(t *testing.T) {
	t.Parallel()
	for _, a := range []struct{ name, url string }{
		{"a password", "postgres://u:hunter2@127.0.0.1:1/k?sslmode=disable"},
		{"a password in the query", "postgres://127.0.0.1:1/k?user=u&password=hunter2&sslmode=disable"},
		{"the key's password", "postgres://u@127.0.0.1:1/k?sslpassword=hunter2&sslmode=disable"},
		{"a password with an escape that is none", "postgres://u:hunter2%zz@127.0.0.1:1/k"},
		{"a password with a slash", "postgres://u:hunter2/x@127.0.0.1:1/k"},
		{"a port that is none", "postgres://u:hunter2@127.0.0.1:port/k"},
		{"libpq's form", "host=127.0.0.1 port=1 user=u password=hunter2"},
		{"libpq's form behind a scheme", "postgres:host=127.0.0.1 port=1 user=u password=hunter2"},
		{"libpq's form, quoted", "host=127.0.0.1 password='hunter2 x'"},
		{"another scheme", "mysql://u:hunter2@127.0.0.1:1/k"},
		{"no scheme", "u:hunter2@127.0.0.1:1/k"},
		{"two hosts", "postgres://u:hunter2@127.0.0.1:1,127.0.0.1:2/k?sslmode=disable"},
		{"a line that ends", "postgres://u:hunter2@127.0.0.1:1/k\nX: y"},
		{"an upper-case parameter", "postgres://u@127.0.0.1:1/k?PASSWORD=hunter2"},
		{"a file that is a folder", "sqlite:/"},
		{"a file in no folder", "sqlite:/none/hunter2/k.db"},
	} {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), await.Limit)
			defer cancel()
			s, err := store.Open(ctx, a.url, store.Options{})
			if err == nil {
				_ = s.Close()
				t.Fatal("it is opened")
			}
			if strings.HasPrefix(a.url, "sqlite:") { // a path is no secret
				return
			}
			for what, text := range map[string]string{"the error": err.Error(), "what is printed": store.Redact(a.url)} {
				if strings.Contains(text, "hunter2") {
					t.Errorf("%s is %s", what, text)
				}
			}
		})
	}
}
