package live_test

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

	"pgregory.net/rapid"

	"github.com/keyheat/keyheat/internal/web/live"
)

// TestChangesMakeTheNewLines applies what is sent as the page's script does.
func TestChangesMakeTheNewLines(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOf(rapid.SampledFrom([]string{"", "a", "b", "c", "d", "e"}))
		last, next := lines.Draw(t, "last"), lines.Draw(t, "next")
		changes := live.Changes(last, next)
		if changes == nil {
			if !slices.Equal(last, next) {
				t.Fatalf("nothing changed from %q to %q", last, next)
			}
			return
		}
		got := []string{}
		for _, c := range changes {
			switch c := c.(type) {
			case string:
				got = append(got, c)
			case [2]int:
				got = append(got, last[c[0]:c[0]+c[1]]...)
			}
		}
		if !slices.Equal(got, next) {
			t.Fatalf("%v of %q makes %q, want %q", changes, last, got, next)
		}
	})
}

func TestOnlyWhatIsNewIsSent(t *testing.T) {
	t.Parallel()
	last := strings.Split("<p>\n<b>1</b>\n<i>2</i>\n</p>", "\n")
	if got := live.Changes(last, strings.Split("<p>\n<b>9</b>\n<i>2</i>\n</p>", "\n")); len(got) != 3 || got[1] != "<b>9</b>" || got[2] != [2]int{2, 2} {
		t.Errorf("one new line is sent as %v", got)
	}
	if got := live.Changes(last, last); got != nil {
		t.Errorf("nothing new is sent as %v", got)
	}
}

// follow serves streams of a page and returns the first event of one, and the rest.
func follow(t *testing.T, s *live.Streams, render func(ctx context.Context) (string, error)) (first string, rest io.Reader) {
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

// TestAStreamEnds when the site is closed, so that a server can shut down, and when its
// page cannot be made.
func TestAStreamEnds(t *testing.T) {
	t.Parallel()
	s := live.New()
	first, rest := follow(t, s, func(context.Context) (string, error) { return "a\nb", nil })
	if !strings.HasPrefix(first, "data: {") || !strings.Contains(first, `"lines":["a","b"]`) {
		t.Errorf("the first event is %q", first)
	}
	s.Close()
	if _, err := io.Copy(io.Discard, rest); err != nil {
		t.Errorf("the stream ends with %v", err)
	}
	if first, _ := follow(t, live.New(), func(context.Context) (string, error) { return "", errors.New("no database") }); first != "" {
		t.Errorf("a page that cannot be made is sent as %q", first)
	}
}

// TestStreamsAreShared: one client may have all streams, until others come. Each of these gets the
// place of the oldest stream of the client with most, as long as that has two more than it.
func TestStreamsAreShared(t *testing.T) {
	t.Parallel()
	s := live.New()
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
	for range live.MaxStreams - 1 {
		follow("greedy", http.StatusOK)
	}
	follow("greedy", http.StatusServiceUnavailable)
	for n := range live.MaxStreams / 2 {
		follow("reader"+strconv.Itoa(n%5), http.StatusOK)
	}
	if _, err := io.Copy(io.Discard, oldest); err != nil {
		t.Errorf("the oldest stream of the client with most ends with %v", err)
	}
	for n := range live.MaxStreams/2 - 1 { // until each client has one
		follow("newcomer"+strconv.Itoa(n), http.StatusOK)
	}
	for n := range live.MaxStreams {
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
