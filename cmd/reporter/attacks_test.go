package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/daemon/admin"
	"github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/web"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// site serves a reporter's pages over a store with one finding whose key is a script.
func site(t *testing.T) string {
	t.Helper()
	st, err := store.Open(t.Context(), "sqlite::memory:", store.Options{})
	must.Succeed(t, err)
	t.Cleanup(func() { _ = st.Close() })
	lease, _, err := st.AcquireLease(t.Context(), "judge", "test", time.Minute)
	must.Succeed(t, err)
	now := time.Now()
	err = st.Judge(t.Context(), lease, store.Judgement{Findings: []store.Finding{{
		Fingerprint: "f1", Case: "hot_key", Subject: "key_writes", Target: sample.Target{Table: "orders"}, Key: script, Severity: "critical", State: "firing",
		Utilization: 2, FirstSeen: now, LastSeen: now, Document: []byte(`{"fingerprint":"f1","case":"hot_key","subject":"key_writes","table":"orders","key":"\u003cscript\u003ealert(1)\u003c/script\u003e","severity":"critical","state":"firing","quality":{"source":"requests"}}`),
	}}})
	must.Succeed(t, err)
	s, err := admin.Open(t.Context(), admin.Options{Address: "127.0.0.1:0", Hosts: []string{"keyheat.example.com"}}, slog.New(slog.DiscardHandler))
	must.Succeed(t, err)
	pages, err := web.New(st, slog.New(slog.DiscardHandler), web.Options{})
	must.Succeed(t, err)
	s.Handle("/", pages)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s.Addr()
}

const script = "<script>alert(1)</script>"

// TestAttacksByHTTP sends each request as it is and looks at the answer: its status, and
// that nothing of the server's is in it that should not be.
func TestAttacksByHTTP(t *testing.T) {
	t.Parallel()
	address := site(t)
	const host = "Host: 127.0.0.1\r\n"
	long := strings.Repeat("a", 100_000)
	for _, a := range []struct {
		name, request string
		statuses      []int
	}{
		{"a foreign name for the pages", "GET / HTTP/1.1\r\nHost: evil.example\r\n", []int{421}},
		{"a foreign name for the API", "GET /api/v1/findings HTTP/1.1\r\nHost: evil.example\r\n", []int{421}},
		{"a foreign name for metrics", "GET /metrics HTTP/1.1\r\nHost: evil.example\r\n", []int{421}},
		{"a foreign name for readiness", "GET /-/ready HTTP/1.1\r\nHost: evil.example:9460\r\n", []int{421}},
		{"a foreign name that ends like ours", "GET / HTTP/1.1\r\nHost: xkeyheat.example.com\r\n", []int{421}},
		{"a foreign name that begins like an address", "GET / HTTP/1.1\r\nHost: 127.0.0.1.evil.example\r\n", []int{421}},
		{"an address as no browser writes it", "GET / HTTP/1.1\r\nHost: 2130706433\r\n", []int{421}},
		{"a foreign name in the request's own address", "GET http://evil.example/ HTTP/1.1\r\nHost: 127.0.0.1\r\n", []int{421}},
		{"our name in the forwarded one only", "GET / HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: 127.0.0.1\r\n", []int{421}},
		{"two names", "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n", []int{400}},
		{"no name", "GET / HTTP/1.1\r\n", []int{400}},
		{"no name, as before HTTP/1.1", "GET / HTTP/1.0\r\n", []int{421}},
		{"a user in the name", "GET / HTTP/1.1\r\nHost: 127.0.0.1@evil.example\r\n", []int{400, 421}},
		{"NUL in a fingerprint", "GET /findings/%00 HTTP/1.1\r\n" + host, []int{400}},
		{"NUL in the API", "GET /api/v1/findings/f1%00 HTTP/1.1\r\n" + host, []int{400}},
		{"no text in a parameter", "GET /?table=%ff%fe HTTP/1.1\r\n" + host, []int{400}},
		{"a broken escape", "GET /findings/%zz HTTP/1.1\r\n" + host, []int{400}},
		{"a way out of the static files", "GET /static/../../../../etc/passwd HTTP/1.1\r\n" + host, []int{301, 307, 400, 404}},
		{"an escaped way out", "GET /static/%2e%2e/%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\n" + host, []int{301, 307, 400, 404}},
		{"a way out with backslashes", `GET /static/..\..\etc\passwd HTTP/1.1` + "\r\n" + host, []int{400, 404}},
		{"a list of files", "GET /static/ HTTP/1.1\r\n" + host, []int{200, 404}},
		{"SQL in a filter", "GET /api/v1/findings?state='%20OR%201=1-- HTTP/1.1\r\n" + host, []int{400}},
		{"SQL in a table", "GET /api/v1/findings?table='%20OR%201=1-- HTTP/1.1\r\n" + host, []int{400}},
		{"SQL in a fingerprint", "GET /findings/x'%20OR%201=1-- HTTP/1.1\r\n" + host, []int{404}},
		{"a number without end", "GET /api/v1/findings?limit=99999999999999999999 HTTP/1.1\r\n" + host, []int{400}},
		{"less than nothing", "GET /api/v1/findings?limit=-1 HTTP/1.1\r\n" + host, []int{400}},
		{"a script in an error", "GET /findings/%3Cscript%3Ealert(1)%3C/script%3E HTTP/1.1\r\n" + host, []int{404}},
		{"a script in a filter", "GET /?severity=%22%3E%3Cscript%3Ealert(1)%3C/script%3E HTTP/1.1\r\n" + host, []int{200, 400}},
		{"a script in a table's name", "GET /table?table=%3Cscript%3Ealert(1)%3C/script%3E HTTP/1.1\r\n" + host, []int{200, 400, 404}},
		{"a script as a key", "GET /findings/f1 HTTP/1.1\r\n" + host, []int{200}},
		{"a header in a path", "GET /findings/x%0d%0aSet-Cookie:%20a=b HTTP/1.1\r\n" + host, []int{404}},
		{"a header in a redirect", "GET //evil.example/%0d%0aLocation:%20http://evil.example/.. HTTP/1.1\r\n" + host, []int{301, 307, 404, 400}},
		{"two lengths of one body", "POST / HTTP/1.1\r\n" + host + "Content-Length: 4\r\nContent-Length: 40\r\n", []int{400}},
		{"a length that is none", "POST / HTTP/1.1\r\n" + host + "Content-Length: +4\r\n", []int{400}},
		{"a space before a header's colon", "GET / HTTP/1.1\r\n" + host + "X-A : b\r\n", []int{400}},
		{"headers of 100 KB", "GET / HTTP/1.1\r\n" + host + "X-A: " + long + "\r\n", []int{431}},
		{"an address of 100 KB", "GET /?table=" + long + " HTTP/1.1\r\n" + host, []int{200, 400, 414, 431}},
		{"a change from another site", "POST / HTTP/1.1\r\n" + host + "Origin: http://evil.example\r\nSec-Fetch-Site: cross-site\r\nContent-Length: 0\r\n", []int{403, 405}},
		{"a change of a finding", "DELETE /api/v1/findings/f1 HTTP/1.1\r\n" + host, []int{403, 405}},
		{"a trace", "TRACE / HTTP/1.1\r\n" + host + "Cookie: secret\r\n", []int{403, 405, 501}},
		{"a proxy's connection", "CONNECT 169.254.169.254:80 HTTP/1.1\r\nHost: 169.254.169.254:80\r\n", []int{400, 403, 404, 405}},
		{"no HTTP at all", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", []int{400}},
	} {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			c, err := net.Dial("tcp", address)
			must.Succeed(t, err)
			defer c.Close()
			_ = c.SetDeadline(time.Now().Add(await.Limit))
			// A server that has heard enough closes before all is sent.
			go func() { _, _ = io.WriteString(c, a.request+"Connection: close\r\n\r\n") }()
			answer, err := http.ReadResponse(bufio.NewReader(c), nil)
			must.Succeed(t, err)
			defer answer.Body.Close()
			body, _ := io.ReadAll(answer.Body)
			if !slices.Contains(a.statuses, answer.StatusCode) {
				t.Errorf("%d, want one of %v:\n%.300s", answer.StatusCode, a.statuses, body)
			}
			for _, never := range []string{script, "root:", "Cookie: secret", "panic", "goroutine ", "SELECT "} {
				if bytes.Contains(body, []byte(never)) {
					t.Errorf("%q is in the answer:\n%.300s", never, body)
				}
			}
			if answer.StatusCode == 421 && bytes.Contains(body, []byte("orders")) {
				t.Error("what is stored is in the answer")
			}
			if answer.Header.Get("Set-Cookie") != "" || strings.Contains(answer.Header.Get("Location"), "//evil.example") && strings.HasPrefix(answer.Header.Get("Location"), "//") {
				t.Errorf("headers %v", answer.Header)
			}
		})
	}
}

// TestAttacksBySettings gives each to `check`: it ends with 78 and a sentence, soon, and
// repeats no secret.
func TestAttacksBySettings(t *testing.T) {
	t.Parallel()
	var bomb strings.Builder
	bomb.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 12; i++ {
		fmt.Fprintf(&bomb, "a%d: &a%d [*a%d, *a%[3]d, *a%[3]d, *a%[3]d, *a%[3]d, *a%[3]d, *a%[3]d, *a%[3]d, *a%[3]d]\n", i, i, i-1)
	}
	for _, a := range []struct {
		name, text, says string
	}{
		{"a laugh of a billion", bomb.String(), ""},
		{"an alias of itself", "store: &a\n  url: *a\n", ""},
		{"depth without end", strings.Repeat("[", 20_000), ""},
		{"a megabyte of a key", strings.Repeat("k", 1<<20) + ": 1\n", "cannot|not allowed|unknown key"},
		{"two of one key", "store: {url: 'sqlite:a.db'}\nstore: {url: 'sqlite:b.db'}\n", ""},
		{"a map for a text", "store: {url: {hunter2: 1}}\n", ""},
		{"a URL of no database", "store: {url: 'mysql://u:hunter2@db/k'}\n", "not the URL of a database"},
		{"libpq's form", "store: {url: 'host=db password=hunter2'}\n", "not the URL of a database"},
		{"libpq's form behind a scheme", "store: {url: 'postgres:host=db password=hunter2'}\n", ""},
		{"a port that is none", "store: {url: 'postgres://u:hunter2@db:port/k'}\n", ""},
		{"a webhook that reads files", "store: {url: 'sqlite:k.db'}\nreceivers: {a: {type: webhook, url: 'file:///etc/passwd?hunter2'}}\n", "not a URL to post to"},
		{"a webhook of another kind", "store: {url: 'sqlite:k.db'}\nreceivers: {a: {type: webhook, url: 'gopher://x/hunter2'}}\n", "not a URL to post to"},
		{"a secret that cannot sign", "store: {url: 'sqlite:k.db'}\nreceivers: {a: {type: webhook, url: 'https://x/', secret: hunter2}}\n", "receivers.a.secret"},
		{"pages that are a script", "store: {url: 'sqlite:k.db'}\nexternal_url: 'javascript:alert(1)'\n", "external_url"},
		{"a pattern without end", "store: {url: 'sqlite:k.db'}\npolicy: {exclude: ['[']}\n", "exclude"},
		{"a server for all without protection", "store: {url: 'sqlite:k.db'}\nlisten: 0.0.0.0:9460\n", "without TLS and authentication"},
		{"proxies that are everybody's name", "store: {url: 'sqlite:k.db'}\nweb: {user_header: X-User, trusted_proxies: [localhost]}\n", "is no address"},
		{"a tag of another language", "store: !!python/object/apply:os.system ['id']\n", ""},
		{"no text at all", "\xff\xfe\x00\x01", ""},
		{"a secret's file that is a device", "store: {url_file: /dev/zero}\n", ""},
	} {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "reporter.yaml")
			must.Succeed(t, os.WriteFile(path, []byte(a.text), 0o600))
			ctx, cancel := context.WithTimeout(t.Context(), await.Limit)
			defer cancel()
			var out, errs bytes.Buffer
			code := cli.Run(ctx, command(), []string{"check", "--config", path}, cli.Streams{Out: &out, Err: &errs})
			said := out.String() + errs.String()
			if code != cli.Misconfigured || ctx.Err() != nil || !slices.ContainsFunc(strings.Split(a.says, "|"), func(s string) bool { return strings.Contains(said, s) }) {
				t.Errorf("exit code %d, want %d and %q:\n%.500s", code, cli.Misconfigured, a.says, said)
			}
			if strings.Contains(said, "hunter2") && a.name != "a map for a text" {
				t.Errorf("the secret is repeated:\n%.500s", said)
			}
		})
	}
}
