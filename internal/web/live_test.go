package web_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keyheat/keyheat/internal/web"
)

// follow serves streams of a page and returns the first event of one, and the rest.
func follow(t *testing.T, s *web.Streams, render func(ctx context.Context) (string, error)) (first string, rest io.Reader) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.Serve(w, r, "reader", render) }))
	t.Cleanup(server.Close)
	answer, err := http.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	events := bufio.NewReader(answer.Body)
	first, _ = events.ReadString('\n') // empty where the stream ended
	return first, events
}

// keptWriter is a connection that keeps what is written to it.
type keptWriter struct {
	strings.Builder
	header http.Header
}

func (w *keptWriter) Header() http.Header              { return w.header }
func (w *keptWriter) WriteHeader(int)                  {}
func (w *keptWriter) Flush()                           {}
func (w *keptWriter) SetReadDeadline(time.Time) error  { return nil }
func (w *keptWriter) SetWriteDeadline(time.Time) error { return nil }

// TestOnlyChangesAreCalledSo has a page that changes on its third look.
func TestOnlyChangesAreCalledSo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		w := &keptWriter{header: make(http.Header)}
		web.NewStreams().Serve(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil), "reader", func(context.Context) (string, error) {
			if looks++; looks > 4 {
				return "", errors.New("no database")
			}
			return []string{"a", "a", "b", "b"}[looks-1], nil
		})
		var got []string
		for line := range strings.Lines(w.String()) {
			if line != "\n" {
				got = append(got, strings.TrimSpace(line))
			}
		}
		want := []string{
			"event: changed", "data: 2000-01-01T00:00:00Z", "event: message", "data: 2000-01-01T00:00:02Z",
			"event: changed", "data: 2000-01-01T00:00:04Z", "event: message", "data: 2000-01-01T00:00:06Z",
		}
		if !slices.Equal(got, want) {
			t.Errorf("sent were %q, want %q", got, want)
		}
	})
}

// TestAStreamEnds when the site is closed, so that a server can shut down, and when its
// page cannot be made.
func TestAStreamEnds(t *testing.T) {
	t.Parallel()
	s := web.NewStreams()
	first, rest := follow(t, s, func(context.Context) (string, error) { return "a\nb", nil })
	if first != "event: changed\n" {
		t.Errorf("the first event is %q", first)
	}
	s.Close()
	if _, err := io.Copy(io.Discard, rest); err != nil {
		t.Errorf("the stream ends with %v", err)
	}
	if first, _ := follow(t, web.NewStreams(), func(context.Context) (string, error) { return "", errors.New("no database") }); first != "" {
		t.Errorf("a page that cannot be made is sent as %q", first)
	}
}

// TestStreamsAreShared: one client may have all streams, until others come. Each of these gets the
// place of the oldest stream of the client with most, as long as that has two more than it.
func TestStreamsAreShared(t *testing.T) {
	t.Parallel()
	s := web.NewStreams()
	defer s.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.Serve(w, r, r.URL.Path, func(context.Context) (string, error) { return "a", nil })
	}))
	t.Cleanup(server.Close)
	follow := func(client string, want int) io.Reader {
		t.Helper()
		answer, err := http.Get(server.URL + "/" + client)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { answer.Body.Close() })
		if answer.StatusCode != want {
			t.Fatalf("%s is answered %s, want %d", client, answer.Status, want)
		}
		return answer.Body
	}
	oldest := follow("greedy", http.StatusOK)
	for range web.MaxStreams - 1 {
		follow("greedy", http.StatusOK)
	}
	follow("greedy", http.StatusServiceUnavailable)
	for n := range web.MaxStreams / 2 {
		follow("reader"+strconv.Itoa(n%5), http.StatusOK)
	}
	if _, err := io.Copy(io.Discard, oldest); err != nil {
		t.Errorf("the oldest stream of the client with most ends with %v", err)
	}
	for n := range web.MaxStreams/2 - 1 { // until each client has one
		follow("newcomer"+strconv.Itoa(n), http.StatusOK)
	}
	for n := range web.MaxStreams {
		answer, err := http.Get(server.URL + "/late" + strconv.Itoa(n))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { answer.Body.Close() })
		if answer.StatusCode == http.StatusServiceUnavailable {
			return
		}
	}
	t.Error("clients of one stream each lose it to others")
}
