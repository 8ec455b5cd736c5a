package web

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// streamInterval is how long a stream waits between two looks at its page.
	streamInterval = 2 * time.Second
	// writeTimeout bounds one write to a client that reads slowly.
	writeTimeout = 10 * time.Second
	// maxStreams is how many streams are open at most: each renders its page again and
	// again.
	maxStreams = 100
)

// wantsStream reports whether a request is for a page's stream.
func wantsStream(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "text/event-stream")
}

// streams are the open streams of a site. They tell a browser when a page changes, as
// server-sent events. A browser's EventSource opens the address of the page itself, so that a
// page and its stream are of the same content.
//
// There is an event for each look at the page, and its data is the look's time. The event is
// "changed" where the content differs from the last look's, and on the first look: the browser
// then fetches the page. The zero value is not ready; use newStreams.
type streams struct {
	closed chan struct{}
	close  func()

	mu   sync.Mutex
	open map[string][]*stream // by client, the oldest first
	all  int
}

type stream struct{ end context.CancelFunc }

// newStreams returns no streams yet.
func newStreams() *streams {
	s := &streams{closed: make(chan struct{}), open: map[string][]*stream{}}
	s.close = sync.OnceFunc(func() { close(s.closed) })
	return s
}

// Close ends all streams, and later ones at once: a server that shuts down waits for its
// requests.
func (s *streams) Close() { s.close() }

// enter takes a place for a client's stream, and returns how it is given back; false where there
// is none. Where all are taken a client gets the place of the oldest stream of the client with
// most, if that has at least two more than it. There is no other bound for one client: behind a
// proxy that names no users all readers are one.
func (s *streams) enter(client string, end context.CancelFunc) (leave func(), entered bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all >= maxStreams {
		most := client
		for other, of := range s.open {
			if len(of) > len(s.open[most]) {
				most = other
			}
		}
		if len(s.open[most]) <= len(s.open[client])+1 {
			return nil, false
		}
		oldest := s.open[most][0]
		oldest.end()
		s.remove(most, oldest)
	}
	one := &stream{end}
	s.open[client], s.all = append(s.open[client], one), s.all+1
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.remove(client, one)
	}, true
}

// remove takes a stream out, unless it is out.
func (s *streams) remove(client string, one *stream) {
	i := slices.Index(s.open[client], one)
	if i < 0 {
		return
	}
	s.all--
	if s.open[client] = slices.Delete(s.open[client], i, i+1); len(s.open[client]) == 0 {
		delete(s.open, client)
	}
}

// Serve sends when render's result changes, until the client leaves, render fails, the
// streams are closed, or another client needs the place. A client comes again by itself.
// client is the client's name, by which places are shared.
func (s *streams) Serve(w http.ResponseWriter, r *http.Request, client string, render func(ctx context.Context) (content string, err error)) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	leave, entered := s.enter(client, cancel)
	if !entered {
		w.Header().Set("Retry-After", "30")
		http.Error(w, "too many pages are followed: close some", http.StatusServiceUnavailable)
		return
	}
	defer leave()
	go func() {
		select {
		case <-s.closed:
			cancel()
		case <-ctx.Done():
		}
	}()
	out := http.NewResponseController(w)
	// The server's bound for reading a request would end the stream too.
	if err := out.SetReadDeadline(time.Time{}); err != nil {
		http.Error(w, "this connection cannot be followed", http.StatusNotImplemented)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // nginx would hold events back
	last := ""
	for {
		began := time.Now()
		content, err := render(ctx)
		if err != nil {
			return
		}
		event := "message" // which is a browser's name of events without one
		if content != last {
			event = "changed"
		}
		if err := sendEvent(w, out, event, began); err != nil {
			return
		}
		last = content
		select {
		case <-ctx.Done():
			return
		case <-time.After(max(streamInterval, 4*time.Since(began))): // a slow page is not asked for all the time
		}
	}
}

func sendEvent(w http.ResponseWriter, out *http.ResponseController, event string, at time.Time) error {
	if err := out.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, at.UTC().Format(time.RFC3339)); err != nil {
		return err
	}
	return out.Flush()
}
