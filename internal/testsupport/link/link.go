// Package link is a network connection to a server that tests can slow down and cut: connections stay
// open, new ones are taken, and nothing comes through, as where a switch fails, a route is
// lost or a machine stops. It is for tests only.
package link

import (
	"bytes"
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// Link is such a way to a server.
type Link struct {
	// Addr is where the server is reached through it.
	Addr  string
	ended chan struct{}

	mu     sync.Mutex
	server string
	// whole is closed while it is not cut.
	whole chan struct{}
	cut   bool
	delay time.Duration
}

// New returns a Link to a server, a host:port, until the test ends.
func New(t testing.TB, server string) *Link {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &Link{Addr: listener.Addr().String(), server: server, ended: make(chan struct{}), whole: make(chan struct{})}
	close(l.whole)
	t.Cleanup(func() { close(l.ended); _ = listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go l.serve(t.Context(), client)
		}
	}()
	return l
}

// Cut lets nothing through any more.
func (l *Link) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.cut {
		l.cut, l.whole = true, make(chan struct{})
	}
}

// Heal lets everything through again, also what was held up meanwhile.
func (l *Link) Heal() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut {
		l.cut = false
		close(l.whole)
	}
}

// Slow delays everything that comes from now on, in each direction.
func (l *Link) Slow(delay time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.delay = delay
}

// Turn leads new connections to another server, as a failover does that gives the name of
// the old one to the new one. Connections that are open stay where they are.
func (l *Link) Turn(server string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.server = server
}

// serve forwards what comes from one side to the other until one of them ends.
func (l *Link) serve(ctx context.Context, client net.Conn) {
	defer func() { _ = client.Close() }()
	l.mu.Lock()
	address := l.server
	l.mu.Unlock()
	server, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	gone := make(chan struct{}, 2)
	forward := func(to io.Writer, from io.Reader) {
		l.forward(&valve{to, l}, from)
		gone <- struct{}{}
	}
	go forward(server, client)
	go forward(client, server)
	select {
	case <-gone:
		l.passes() // nor does an end come through: the other side has a half-open connection
	case <-l.ended:
	}
}

// piece is what came at once, and when it is due on the other side.
type piece struct {
	body []byte
	due  time.Time
}

// forward passes on what comes, each piece when it is due: one does not wait for the one
// before to arrive.
func (l *Link) forward(to io.Writer, from io.Reader) {
	underWay := make(chan piece, 64)
	written := make(chan struct{})
	go func() {
		defer close(written)
		for p := range underWay {
			time.Sleep(time.Until(p.due))
			if _, err := to.Write(p.body); err != nil {
				break
			}
		}
		for range underWay { // nobody takes it
		}
	}()
	for buf := make([]byte, 32<<10); ; {
		n, err := from.Read(buf)
		l.mu.Lock()
		delay := l.delay
		l.mu.Unlock()
		if n > 0 {
			underWay <- piece{bytes.Clone(buf[:n]), time.Now().Add(delay)}
		}
		if err != nil {
			break
		}
	}
	close(underWay)
	<-written
}

// passes waits while the link is cut; it reports false when the test has ended.
func (l *Link) passes() bool {
	l.mu.Lock()
	whole := l.whole
	l.mu.Unlock()
	select {
	case <-whole:
		return true
	case <-l.ended:
		return false
	}
}

// valve holds up what is written while the link is cut.
type valve struct {
	to   io.Writer
	link *Link
}

// Write implements io.Writer.
func (v *valve) Write(b []byte) (int, error) {
	if !v.link.passes() {
		return 0, net.ErrClosed
	}
	return v.to.Write(b)
}
