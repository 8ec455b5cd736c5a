package pgtest

import (
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
)

// Turns counts the round trips to a database's server: how often a client sends something
// after an answer. It returns the counter, and the database's URL through it.
func Turns(t testing.TB, database string) (turns *atomic.Int64, through string) {
	t.Helper()
	u, err := url.Parse(database)
	need(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	need(t, err)
	c := &counter{server: u.Host}
	var group sync.WaitGroup
	t.Cleanup(func() { _ = l.Close(); group.Wait() })
	group.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			group.Go(func() { c.serve(client) })
		}
	})
	u.Host = l.Addr().String()
	return &c.turns, u.String()
}

type counter struct {
	server string
	turns  atomic.Int64
}

func (c *counter) serve(client net.Conn) {
	defer func() { _ = client.Close() }()
	server, err := net.Dial("tcp", c.server)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	var answered atomic.Bool
	var group sync.WaitGroup
	group.Go(func() {
		defer func() { _ = client.Close() }()
		defer func() { _ = server.Close() }()
		_, _ = io.Copy(noted{client, func() { answered.Store(true) }}, server)
	})
	_, _ = io.Copy(noted{server, func() {
		if answered.Swap(false) {
			c.turns.Add(1)
		}
	}}, client)
	_ = server.Close()
	group.Wait()
}

// noted notes what is written.
type noted struct {
	io.Writer
	note func()
}

func (n noted) Write(b []byte) (int, error) { n.note(); return n.Writer.Write(b) }
