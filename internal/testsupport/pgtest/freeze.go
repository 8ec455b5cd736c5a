package pgtest

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
)

// Freezer stands before a server, which seems to hang from some moment on: connections
// stay open, new ones are taken, and nothing is answered any more. So a failed switch, a
// stopped machine and a full disk look from outside.
type Freezer struct {
	server string
	frozen chan struct{}
	once   sync.Once
}

// NewFreezer returns a Freezer before a database, and the database's URL through it.
func NewFreezer(t testing.TB, database string) (*Freezer, string) {
	t.Helper()
	u, err := url.Parse(database)
	need(t, err)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	need(t, err)
	f := &Freezer{server: u.Host, frozen: make(chan struct{})}
	ended := make(chan struct{})
	t.Cleanup(func() { close(ended); _ = l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go f.serve(client, ended)
		}
	}()
	u.Host = l.Addr().String()
	return f, u.String()
}

// Freeze has it hang.
func (f *Freezer) Freeze() { f.once.Do(func() { close(f.frozen) }) }

// serve forwards until it is frozen, and holds the connection then.
func (f *Freezer) serve(client net.Conn, ended <-chan struct{}) {
	defer func() { _ = client.Close() }()
	server, err := net.Dial("tcp", f.server)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	cut := make(chan struct{}, 2)
	forward := func(to io.Writer, from io.Reader) {
		_, _ = io.Copy(&valve{to, f.frozen, ended}, from)
		cut <- struct{}{}
	}
	go forward(server, client)
	go forward(client, server)
	select {
	case <-cut:
	case <-ended:
	}
}

// valve lets nothing through any more once it is frozen.
type valve struct {
	io.Writer
	frozen, ended <-chan struct{}
}

// Write implements io.Writer.
func (v *valve) Write(b []byte) (int, error) {
	select {
	case <-v.frozen:
		<-v.ended
		return 0, net.ErrClosed
	default:
		return v.Writer.Write(b)
	}
}
