package store_test

import (
	"bytes"
	"io"
	"net"
	"net/url"
	"sync/atomic"
	"testing"

	"github.com/keyheat/keyheat/internal/testsupport/must"
)

// What a proxy does at the next COMMIT.
const (
	pass int32 = iota
	// cutBefore drops the connection and the COMMIT with it.
	cutBefore
	// cutAfter lets the COMMIT through and drops the answer.
	cutAfter
)

// proxy stands between a store and its Postgres and can cut the line at the
// one moment that matters.
type proxy struct {
	server string
	plan   atomic.Int32
	cuts   atomic.Int32
}

// newProxy returns a proxy and the database's URL through it.
func newProxy(t *testing.T, database string) (*proxy, string) {
	t.Helper()
	u, err := url.Parse(database)
	must.Succeed(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	t.Cleanup(func() { l.Close() })
	p := &proxy{server: u.Host}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(client)
		}
	}()
	u.Host = l.Addr().String()
	return p, u.String()
}

func (p *proxy) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		return
	}
	defer server.Close()
	var mute atomic.Bool
	ended := make(chan struct{}, 2)
	go func() { p.up(client, server, &mute); ended <- struct{}{} }()
	go func() { p.down(server, client, &mute); ended <- struct{}{} }()
	<-ended
}

// up forwards what the client says, up to a COMMIT that is to be cut.
func (p *proxy) up(client io.Reader, server io.Writer, mute *atomic.Bool) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := client.Read(buffer)
		if err != nil {
			return
		}
		if bytes.HasPrefix(buffer[:n], []byte("Q")) && bytes.Contains(buffer[:n], []byte("commit\x00")) {
			if p.plan.CompareAndSwap(cutBefore, pass) {
				p.cuts.Add(1)
				return
			}
			if p.plan.CompareAndSwap(cutAfter, pass) {
				p.cuts.Add(1)
				mute.Store(true)
			}
		}
		if _, err := server.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// down forwards what the server answers; when muted it hangs up instead.
func (p *proxy) down(server io.Reader, client io.Writer, mute *atomic.Bool) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := server.Read(buffer)
		if err != nil || mute.Load() {
			return
		}
		if _, err := client.Write(buffer[:n]); err != nil {
			return
		}
	}
}
