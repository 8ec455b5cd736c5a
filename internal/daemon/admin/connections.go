package admin

import (
	"bytes"
	"container/list"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	// maxConnections is the number of connections at a time: 4,096 batches may wait for their
	// commit, and the others are a reserve for probes and pages.
	maxConnections = 4096 + 1024
	// maxWaiting bounds the connections without a request that got in, and the ones between two
	// requests. Each takes some 20 KiB.
	maxWaiting = 768
	// grace is how long a connection may wait in any case: a client's first request takes a round
	// trip or two.
	grace = 250 * time.Millisecond
	// headersBytes is the memory of headers on their way.
	headersBytes = 8 << 20
	// headerFactor is the memory that a byte of a header takes. Short fields take the most: 18
	// times their bytes, so that their lines are bounded, as far as they can be seen.
	headerFactor = 8
	maxLines     = 256
	// pieceBytes is the memory of 4 KiB of a header, which net/http reads at a time.
	pieceBytes = 4096 * headerFactor
)

// connections is a listener that bounds the connections which wait for a request, and their
// headers. In their place it accepts newer ones. So whoever sends a request at once is answered,
// however many others do not.
type connections struct {
	net.Listener
	evicted prometheus.Counter

	mu     sync.Mutex
	closed bool
	// most is how many may wait, and factor the memory of a byte of a header. places and free are
	// left of all connections, and of the memory of headers. ending and endingBytes come back as
	// soon as evicted connections have noticed.
	most, places, ending      int
	factor, free, endingBytes int64
	// room is signalled when a connection has ended, or can be evicted: look does it after grace.
	room *sync.Cond
	look *time.Timer
	// strangers are the connections without a request that ever got in, and idle the others
	// between two requests. The longest waiting one is in front.
	strangers, idle list.List
}

func newConnections(l net.Listener) *connections {
	evicted := prometheus.NewCounter(prometheus.CounterOpts{
		Name: "keyheat_server_evicted_connections_total", Help: "Connections closed before a request, or between two, to make room for others.",
	})
	c := &connections{
		Listener: l, evicted: evicted,
		most: maxWaiting, factor: headerFactor, places: maxConnections, free: headersBytes,
	}
	c.room = sync.NewCond(&c.mu)
	c.look = time.AfterFunc(grace, c.room.Signal)
	return c
}

// encrypt accounts for TLS, before Accept: its buffers are as large as a connection without, and
// hide the lines of headers.
func (l *connections) encrypt() {
	l.most /= 2
	l.factor *= 2
}

// connection is one of connections.
type connection struct {
	net.Conn
	of    *connections
	held  int64 // bytes of the memory of headers
	lines int   // of the header
	whole bool  // the header has arrived
	// in and place are its place among the connections that wait; nil while a request that got in
	// is served.
	in    *list.List
	place *list.Element
	// serving is how many requests that got in are served.
	serving         int
	since           time.Time // when it began to wait
	evicted, closed bool
}

// Accept waits while all connections are busy with requests that got in.
func (l *connections) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for !l.closed && (l.places < 1 || l.waiting()+l.ending >= l.most) {
		if l.places+l.ending < 1 || l.waiting() >= l.most {
			l.evict(l.longestWaiting())
		}
		l.room.Wait()
	}
	if l.closed {
		_ = conn.Close()
		return nil, net.ErrClosed
	}
	l.places--
	c := &connection{Conn: conn, of: l}
	c.wait(&l.strangers)
	return c, nil
}

func (l *connections) waiting() int { return l.strangers.Len() + l.idle.Len() }

// Close stops Accept.
func (l *connections) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.room.Broadcast()
	return l.Listener.Close()
}

// longestWaiting returns a stranger, unless more than half of those that may wait are others. It
// returns nil if the connection has waited for less than grace; the listener then looks again. The
// caller holds mu.
func (l *connections) longestWaiting() *connection {
	waiting := &l.strangers
	if waiting.Len() == 0 || l.idle.Len() > l.most/2 {
		waiting = &l.idle
	}
	front := waiting.Front()
	if front == nil {
		return nil
	}
	c := front.Value.(*connection)
	if young := grace - time.Since(c.since); young > 0 {
		l.look.Reset(young)
		return nil
	}
	return c
}

// largest returns the connection with the largest header that waits, and the longest waiting one of
// those. The caller holds mu.
func (l *connections) largest() (last *connection) {
	for _, waiting := range []*list.List{&l.strangers, &l.idle} {
		for e := waiting.Front(); e != nil; e = e.Next() {
			if c := e.Value.(*connection); last == nil || c.held/pieceBytes > last.held/pieceBytes {
				last = c
			}
		}
	}
	return last
}

// evict closes a connection that waits. The caller holds mu.
func (l *connections) evict(c *connection) {
	if c == nil {
		return
	}
	c.in.Remove(c.place)
	c.place, c.evicted = nil, true
	l.ending++
	l.endingBytes += c.held
	l.evicted.Inc()
	_ = c.Conn.Close() // its request reads or writes an error, and calls Close
}

// wait gives a connection a place among the ones that wait. The caller holds mu.
func (c *connection) wait(in *list.List) { c.in, c.place, c.since = in, in.PushBack(c), time.Now() }

// leave takes the place away. The caller holds mu.
func (c *connection) leave() {
	if c.place != nil {
		c.in.Remove(c.place)
		c.place = nil
	}
	c.restart()
	c.of.room.Signal()
}

// restart forgets the header of the last request. The caller holds mu.
func (c *connection) restart() {
	c.hold(0)
	c.lines = 0
}

func (c *connection) hold(bytes int64) {
	c.of.free += c.held - bytes
	c.held = bytes
}

// Read counts the bytes of headers, and of TLS handshakes.
func (c *connection) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if c.place == nil || c.whole {
		return n, err
	}
	if c.lines += bytes.Count(b[:n], []byte("\n")); c.lines > maxLines {
		return 0, errors.New("a header of too many lines")
	}
	if c.hold(c.held + int64(n)*c.of.factor); c.of.free+c.of.endingBytes < 0 {
		c.of.evict(c.of.largest())
	}
	return n, err
}

func (c *connection) Close() error {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if !c.closed {
		c.closed = true
		if c.evicted {
			c.of.ending--
			c.of.endingBytes -= c.held
		}
		c.of.places++
		c.leave()
	}
	return c.Conn.Close()
}

// serve serves a request that got in. Its connection does not wait meanwhile.
func serve(h http.Handler, w http.ResponseWriter, r *http.Request) {
	if c, is := r.Context().Value(connectionKey{}).(*connection); is {
		c.begin()
		defer c.end()
	}
	h.ServeHTTP(w, r)
}

func (c *connection) begin() {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if c.serving++; c.place != nil {
		c.leave()
	}
}

func (c *connection) end() {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if c.serving--; c.serving > 0 || c.evicted || c.closed {
		return
	}
	if c.wait(&c.of.idle); c.of.waiting() > c.of.most {
		c.of.evict(c.of.longestWaiting())
	}
	c.of.room.Signal()
}

// noteState is http.Server.ConnState: a header has arrived, or another one is to come.
func noteState(conn net.Conn, state http.ConnState) {
	c := connectionOf(conn)
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if c.whole = state == http.StateActive; state == http.StateIdle && c.place != nil {
		c.restart()
	}
}

type connectionKey struct{}

// withConnection is http.Server.ConnContext.
func withConnection(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, connectionOf(conn))
}

func connectionOf(conn net.Conn) *connection {
	if encrypted, is := conn.(*tls.Conn); is {
		conn = encrypted.NetConn()
	}
	return conn.(*connection)
}
