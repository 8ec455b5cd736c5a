package push_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/source/push"
	"github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
)

// begin sends a part of a request to a door, and returns its connection.
func begin(t *testing.T, d *door, header, body string) *net.TCPConn {
	t.Helper()
	address, _, _ := strings.Cut(strings.TrimPrefix(d.url, "http://"), "/")
	c, err := net.Dial("tcp", address)
	must.Succeed(t, err)
	t.Cleanup(func() { _ = c.Close() })
	_, _ = fmt.Fprintf(c, "POST /v1/samples HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n%s\r\n\r\n%s", header, body)
	return c.(*net.TCPConn)
}

// end returns the status of the response, and whether the connection ends with it.
func end(t *testing.T, c net.Conn) (status int, closed bool) {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(await.Limit))
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	must.Succeed(t, err)
	_ = response.Body.Close()
	return response.StatusCode, response.Close
}

const chunked = "Transfer-Encoding: chunked"

// TestBrokenBodies: who sends nonsense is told so, and whose connection broke sends the batch
// again, because it may be right.
func TestBrokenBodies(t *testing.T) {
	t.Parallel()
	d := openDoor(t, openStore(t, pgtest.Quick(t)), "one", push.Config{})
	for _, s := range []struct {
		name, header, body string
		status             int
	}{
		{"no length of a chunk", chunked, "zz\r\n{}\r\n", http.StatusBadRequest},
		{"a length beyond all numbers", chunked, "11111111111111111\r\n", http.StatusBadRequest},
		{"a chunk that is longer than its length", chunked, "1\r\n{}\r\n0\r\n\r\n", http.StatusBadRequest},
		{"half a body of gzip in chunks", chunked + "\r\nContent-Encoding: gzip", "5\r\n" + zipped(t, batch(1))[:5] + "\r\n0\r\n\r\n", http.StatusBadRequest},
		{"half a body", "Content-Length: 9", "{}", http.StatusServiceUnavailable},
		{"half a chunk", chunked, "9\r\n{}", http.StatusServiceUnavailable},
		{"no last chunk", chunked, "2\r\n{}\r\n", http.StatusServiceUnavailable},
	} {
		c := begin(t, d, s.header, s.body)
		must.Succeed(t, c.CloseWrite())
		if status, _ := end(t, c); status != s.status {
			t.Errorf("%s: %d, want %d", s.name, status, s.status)
		}
	}
}

// TestSlowBodiesHoldLittle: bodies that stop on their way, more than there would be room for if
// they came, keep no batch from its memory.
func TestSlowBodiesHoldLittle(t *testing.T) {
	t.Parallel()
	d := openDoor(t, openStore(t, pgtest.Quick(t)), "one", push.Config{PieceWithin: time.Hour, ReadWithin: time.Hour})
	for _, header := range []string{"Content-Length: 4000000", chunked, "Content-Length: 4000000\r\nContent-Encoding: gzip", chunked + "\r\nContent-Encoding: zstd"} {
		for range 16 {
			begin(t, d, header, "1\r\n{\r\n")
		}
	}
	plain := batch(20_000)
	for name, body := range map[string]string{"": plain, "gzip": zipped(t, plain), "zstd": zstandard(t, plain)} {
		if r := mustSend(t, d.url, body, "Content-Encoding", name); r.status != http.StatusOK {
			t.Errorf("beside slow bodies %q is answered with %+v", name, r)
		}
	}
}

// TestSlowBodiesEnd: a body of which too little comes is ended with 408, and its connection with
// it.
func TestSlowBodiesEnd(t *testing.T) {
	t.Parallel()
	st := openStore(t, pgtest.Quick(t))
	for name, settings := range map[string]push.Config{
		"a piece": {PieceWithin: 50 * time.Millisecond}, "the whole": {PieceWithin: time.Hour, ReadWithin: 50 * time.Millisecond},
	} {
		d := openDoor(t, st, name, settings)
		for _, header := range []string{"Content-Length: 4000000", chunked} {
			if status, closed := end(t, begin(t, d, header, "1\r\n{\r\n")); status != http.StatusRequestTimeout || !closed {
				t.Errorf("%s of %s that comes too late: %d, closed %v", name, header, status, closed)
			}
		}
	}
}

// TestSlowSpansAreSentAgain: exporters drop what is answered with 408.
func TestSlowSpansAreSentAgain(t *testing.T) {
	t.Parallel()
	d := openDoor(t, openStore(t, pgtest.Quick(t)), "one", push.Config{PieceWithin: 50 * time.Millisecond})
	slow, stopped := io.Pipe()
	defer stopped.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.traces, slow)
	must.Succeed(t, err)
	r.Header.Set("Content-Type", inProtobuf)
	response, err := http.DefaultClient.Do(r)
	must.Succeed(t, err)
	defer response.Body.Close()
	if response.StatusCode != http.StatusServiceUnavailable || response.Header.Get("Retry-After") == "" {
		t.Errorf("slow spans are answered with %s", response.Status)
	}
}

// TestSlowBodiesGiveWay: a body that comes, and takes long, gives its memory to another one that
// waits.
func TestSlowBodiesGiveWay(t *testing.T) {
	t.Parallel()
	d := openDoor(t, openStore(t, pgtest.Quick(t)), "one", push.Config{MemoryBytes: 256 << 10, MaxBatch: 1 << 30, PieceWithin: time.Second, ReadWithin: time.Hour})
	slow := begin(t, d, "Content-Length: 1000000000", "")
	ended := make(chan struct{})
	go func() { // as slowly as is allowed
		defer close(ended)
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for range tick.C {
			if _, err := slow.Write(make([]byte, 64<<10)); err != nil {
				return
			}
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), await.Limit)
	defer cancel()
	for i := range 3 {
		if r, err := send(ctx, d.url, batch(1000)); err != nil || r.status != http.StatusOK {
			t.Errorf("batch %d beside a slow body is answered with %+v, %v", i, r, err)
		}
	}
	if status, closed := end(t, slow); status != http.StatusRequestTimeout && status != http.StatusTooManyRequests || !closed {
		t.Errorf("the slow body is answered with %d, closed %v", status, closed)
	}
	slow.Close()
	<-ended
}
