package alert_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	wait "github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/store"
)

// wire is a receiver that writes what it likes to each connection.
func wire(t *testing.T, answer func(w io.Writer, request string)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	var open sync.WaitGroup
	t.Cleanup(func() { _ = l.Close(); open.Wait() })
	open.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			open.Go(func() {
				defer c.Close()
				_ = c.SetDeadline(time.Now().Add(wait.Limit))
				from := bufio.NewReader(c)
				var request strings.Builder
				length := 0
				for {
					line, err := from.ReadString('\n')
					if err != nil {
						return
					}
					request.WriteString(line)
					_, _ = fmt.Sscanf(line, "Content-Length: %d", &length)
					if line == "\r\n" {
						break
					}
				}
				body := make([]byte, length)
				_, _ = io.ReadFull(from, body)
				answer(c, request.String()+string(body))
			})
		}
	})
	return "http://" + l.Addr().String() + "/hook/token-canary-5e1d"
}

// routes is a store with a notification for each of so many routes: r0 of f0 and so on.
// One store serves all rows, since to make one is slow under the race detector.
func routes(t *testing.T, n int) *store.Store {
	t.Helper()
	s := outbox(t)
	l, ok, err := s.AcquireLease(t.Context(), "judge", "test", time.Minute)
	if err != nil || !ok {
		t.Fatalf("lease: %t, %v", ok, err)
	}
	var j store.Judgement
	for i := range n {
		j.Notifications = append(j.Notifications, store.Notification{
			ID: fmt.Sprint("n", i), Fingerprint: fmt.Sprint("f", i), Event: "firing", Route: fmt.Sprint("r", i), Payload: []byte(`{}`),
		})
	}
	must.Succeed(t, s.Judge(t.Context(), l, j))
	return s
}

// TestAttacksByReceivers gives each answer to a notification: it is delivered or it is
// not, within its time, and nothing of the answer, the address or the secret is in the
// log, the store or readiness.
func TestAttacksByReceivers(t *testing.T) {
	t.Parallel()
	const canary = "answer-canary-77aa"
	status := func(line string) func(io.Writer, string) {
		return func(w io.Writer, _ string) { _, _ = io.WriteString(w, line) }
	}
	rows := []struct {
		name      string
		answer    func(io.Writer, string)
		delivered bool
	}{
		{"an echo of all that was sent", func(w io.Writer, request string) {
			fmt.Fprintf(w, "HTTP/1.1 400 Bad\r\nContent-Length: %d\r\n\r\n%s%s", len(request)+len(canary), request, canary)
		}, false},
		{"an echo in the reason", func(w io.Writer, _ string) { fmt.Fprintf(w, "HTTP/1.1 400 %s\x1b[2J\r\n\r\n", canary) }, false},
		{"a status that is none", status("HTTP/1.1 abc " + canary + "\r\n\r\n"), false},
		{"no HTTP", status("\x00\x01" + canary + "\r\n\r\n"), false},
		{"another protocol's greeting", status("220 " + canary + " ESMTP\r\n"), false},
		{"nothing", func(io.Writer, string) {}, false},
		{"a header that never ends", func(w io.Writer, _ string) {
			_, _ = io.WriteString(w, "HTTP/1.1 200 OK\r\nX: ")
			for range 10_000 {
				if _, err := io.WriteString(w, strings.Repeat("a", 1000)); err != nil {
					return
				}
			}
		}, false},
		{"a thousand headers' worth of hints", func(w io.Writer, _ string) {
			for range 1000 {
				_, _ = io.WriteString(w, "HTTP/1.1 103 Early Hints\r\nLink: "+canary+"\r\n\r\n")
			}
			_, _ = io.WriteString(w, "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n")
		}, false},
		{"a body that never ends", func(w io.Writer, _ string) {
			_, _ = io.WriteString(w, "HTTP/1.1 200 OK\r\n\r\n")
			for range 10_000 {
				if _, err := io.WriteString(w, strings.Repeat("a", 1000)); err != nil {
					return
				}
			}
		}, true},
		{"a body that is shorter than it says", status("HTTP/1.1 500 No\r\nContent-Length: 100\r\n\r\n" + canary), false},
		{"a chunk without end", status("HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n" + canary), false},
		{"a redirect to the metadata service", status("HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/" + canary + "\r\nContent-Length: 0\r\n\r\n"), false},
		{"a redirect that keeps the body", status("HTTP/1.1 307 There\r\nLocation: http://127.0.0.1:1/" + canary + "\r\nContent-Length: 0\r\n\r\n"), false},
		{"a redirect to a file", status("HTTP/1.1 301 There\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n"), false},
		{"a wait of a thousand years", status("HTTP/1.1 500 No\r\nRetry-After: 31536000000\r\nContent-Length: 0\r\n\r\n"), false},
		{"a wait that is negative", status("HTTP/1.1 500 No\r\nRetry-After: -5\r\nContent-Length: 0\r\n\r\n"), false},
		{"a wait that is a word", status("HTTP/1.1 429 No\r\nRetry-After: " + canary + "\r\nContent-Length: 0\r\n\r\n"), false},
		{"compression that is none", status("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 6\r\n\r\nnogzip"), true},
		{"an upgrade", status("HTTP/1.1 101 Switching\r\nUpgrade: " + canary + "\r\nConnection: Upgrade\r\n\r\n"), false},
		{"a demand for a password", status("HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"" + canary + "\"\r\nContent-Length: 0\r\n\r\n"), false},
	}
	s := routes(t, len(rows))
	for i, a := range rows {
		t.Run(a.name, func(t *testing.T) {
			of := fmt.Sprint("f", i)
			var asked sync.Once
			first := make(chan struct{})
			url := wire(t, func(w io.Writer, request string) {
				defer asked.Do(func() { close(first) })
				a.answer(w, request)
			})
			c := quick(url)
			c.Receiver.Secret, c.Route = secret, fmt.Sprint("r", i)
			var log bytes.Buffer
			deliverLogged(t, c, s, &log, func() bool {
				n := kept(t, s, of)[0]
				return n.State != store.Pending || n.Attempts > 0
			})
			<-first
			n := kept(t, s, of)[0]
			if (n.State == store.Delivered) != a.delivered {
				t.Errorf("the notification is %s: %s", n.State, n.LastError)
			}
			to, err := s.Receiver(t.Context(), c.Route)
			must.Succeed(t, err)
			said := log.String() + n.LastError + to.LastError
			for _, never := range []string{canary, "token-canary", strings.TrimPrefix(secret, "whsec_"), "\x1b", `\u001b`} {
				if strings.Contains(said, never) {
					t.Errorf("%q is in the log or the store: %s", never, said)
				}
			}
		})
	}
}

// TestAttacksByAddresses: a notification goes to no address of a link or a cloud's
// metadata, however it is written.
func TestAttacksByAddresses(t *testing.T) {
	t.Parallel()
	hosts := []string{
		"169.254.169.254", "169.254.170.2", "[::ffff:169.254.169.254]", "[::169.254.169.254]", "[64:ff9b::a9fe:a9fe]", "[2002:a9fe:a9fe::]",
		"[fe80::1]", "[fd00:ec2::254]", "[fd20:ce::254]", "100.100.100.200", "168.63.129.16", "192.0.0.192", "0.0.0.0", "[::]", "224.0.0.1", "[ff02::1]",
	}
	s := routes(t, len(hosts))
	for i, host := range hosts {
		t.Run(host, func(t *testing.T) {
			of := fmt.Sprint("f", i)
			c := quick("http://" + host + ":1/token-canary-5e1d")
			c.Route = fmt.Sprint("r", i)
			deliver(t, c, s, func() bool { return kept(t, s, of)[0].Attempts > 0 })
			n := kept(t, s, of)[0]
			if !strings.Contains(n.LastError, "webhooks do not go there") || strings.Contains(n.LastError, "token-canary") {
				t.Errorf("%s: %s", host, n.LastError)
			}
		})
	}
}
