package admin_test

import (
	"bufio"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/daemon/admin"
	"github.com/keyheat/keyheat/internal/testsupport/await"
)

const probe = "GET /-/healthy HTTP/1.1\r\nHost: localhost\r\n\r\n"

// connect connects to a server, and sends it a text.
func connect(t *testing.T, s *admin.Server, text string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", s.Addr())
	must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	send(c, text)
	return c
}

// send sends a text, for whose response the caller looks.
func send(c net.Conn, text string) { _, _ = io.WriteString(c, text) }

// status reads a response; an error is none within a time.
func status(c net.Conn, patience time.Duration) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return 0, err
	}
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, errors.Join(err, response.Body.Close())
}

func isAnswered(t *testing.T, name string, c net.Conn) {
	t.Helper()
	if code, err := status(c, await.Limit); code != http.StatusOK {
		t.Errorf("%s: %d, %v", name, code, err)
	}
}

func isClosed(t *testing.T, name string, c net.Conn) {
	t.Helper()
	if code, err := status(c, await.Limit); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%s is open: %d, %v", name, code, err)
	}
}

// TestStrangersGiveWay fills the memory of strangers in each way. The ones that have waited
// longest give way to a probe, which then waits for its next request longer than they do, and
// outlasts them.
func TestStrangersGiveWay(t *testing.T) {
	t.Parallel()
	const room = 24
	for name, text := range map[string]string{
		"nothing":                   "",
		"a part of a header":        "GET / HTTP/1.1\r\nHost: local",
		"a header for another name": strings.ReplaceAll(probe, "localhost", "evil.example"),
		"a body that does not come": "POST / HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 9\r\n\r\n",
		"many lines":                "GET / HTTP/1.1\r\n" + strings.Repeat("x:\n", 1000),
		"much of a header":          "GET / HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 8<<10),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			s.LimitWaiting(room, room*32<<10)
			run(t, s)
			known := connect(t, s, probe)
			isAnswered(t, "a probe before", known)
			var strangers []net.Conn
			for range 3 * room {
				strangers = append(strangers, connect(t, s, text))
			}
			isAnswered(t, "a probe beside them", connect(t, s, probe))
			send(known, probe)
			isAnswered(t, "the probe again", known)
			for _, c := range strangers[:room] {
				isClosedAfter(t, c)
			}
		})
	}
}

// isClosedAfter reads what a connection was answered before it was closed.
func isClosedAfter(t *testing.T, c net.Conn) {
	t.Helper()
	must(t, c.SetReadDeadline(time.Now().Add(await.Limit)))
	if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("one that waited longest is open")
	}
}

// TestIdleConnectionsGiveWay: there is no place for a third connection, until the first one has
// nothing to do.
func TestIdleConnectionsGiveWay(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.LimitConnections(2)
	run(t, s)
	entered, leave := make(chan struct{}), make(chan struct{})
	s.Handle("GET /slow", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		entered <- struct{}{}
		<-leave
	}))
	first, second := connect(t, s, strings.Replace(probe, "/-/healthy", "/slow", 1)), connect(t, s, strings.Replace(probe, "/-/healthy", "/slow", 1))
	<-entered
	<-entered
	third := connect(t, s, probe)
	if code, err := status(third, 100*time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a third connection beside two that are busy: %d, %v", code, err)
	}
	leave <- struct{}{}
	isAnswered(t, "the third one, when a busy one is idle", third)
	close(leave)
	_, firstGone := status(first, await.Limit)
	_, secondGone := status(second, await.Limit)
	if firstGone != nil || secondGone != nil {
		t.Errorf("the busy ones were not answered: %v, %v", firstGone, secondGone)
	}
	isAnswered(t, "a fourth one, beside idle ones", connect(t, s, probe))
}

// TestAStopIsNotHeldByFullConnections stops a server that has no place for the next connection.
func TestAStopIsNotHeldByFullConnections(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.LimitConnections(1)
	entered, leave := make(chan struct{}), make(chan struct{})
	s.OnShutdown(func() { close(leave) })
	stop := run(t, s)
	s.Handle("GET /slow", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(entered)
		<-leave
	}))
	connect(t, s, strings.Replace(probe, "/-/healthy", "/slow", 1))
	<-entered
	waiting := connect(t, s, probe)
	must(t, stop())
	isClosed(t, "the one that waits", waiting)
}

// TestHeadersAreBounded: 16 KiB pass, and net/http's own 4 KiB more.
func TestHeadersAreBounded(t *testing.T) {
	t.Parallel()
	s := open(t)
	run(t, s)
	for bytes, want := range map[int]int{15 << 10: http.StatusOK, 21 << 10: http.StatusRequestHeaderFieldsTooLarge} {
		c := connect(t, s, strings.Replace(probe, "\r\n\r\n", "\r\nX: "+strings.Repeat("x", bytes)+"\r\n\r\n", 1))
		if code, err := status(c, await.Limit); code != want {
			t.Errorf("a header of %d bytes: %d, %v, want %d", bytes, code, err, want)
		}
	}
}

// TestUnwantedBodiesEnd: whoever got in does not keep a connection busy with a body that nobody
// reads.
func TestUnwantedBodiesEnd(t *testing.T) {
	t.Parallel()
	s := open(t)
	run(t, s)
	c := connect(t, s, "POST /-/healthy HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n")
	if code, err := status(c, await.Limit); code != http.StatusMethodNotAllowed {
		t.Errorf("the response is %d, %v", code, err)
	}
}

// TestStrangersGiveWayToTLS: handshakes that do not go on give way to a user, in HTTP/1 and
// HTTP/2.
func TestStrangersGiveWayToTLS(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	a.sign(t, "server", []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth})
	access := admin.Access{ConfigFile: a.file(t, tlsText+users(t, "ada"))}
	s, err := admin.Open(t.Context(), admin.Options{Address: "127.0.0.1:0", Access: access}, slog.New(slog.DiscardHandler))
	must(t, err)
	s.LimitWaiting(8, 1<<20)
	run(t, s)
	for name, protocol := range map[string]string{"HTTP/1.1": "http/1.1", "HTTP/2.0": "h2"} {
		c := a.client(t, "")
		transport := c.Transport.(*http.Transport)
		transport.TLSClientConfig.NextProtos, transport.Protocols = []string{protocol}, new(http.Protocols)
		transport.Protocols.SetHTTP1(protocol == "http/1.1")
		transport.Protocols.SetHTTP2(protocol == "h2")
		var strangers []net.Conn
		for range 16 {
			strangers = append(strangers, connect(t, s, "\x16\x03\x01\x40\x00\x01"))
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+s.Addr()+"/-/healthy", nil)
		must(t, err)
		r.SetBasicAuth("ada", "ada-password")
		answer, err := c.Do(r)
		must(t, err)
		must(t, answer.Body.Close())
		if answer.StatusCode != http.StatusOK || answer.Proto != name {
			t.Errorf("%s: %d by %s", name, answer.StatusCode, answer.Proto)
		}
		isClosedAfter(t, strangers[0])
	}
}
