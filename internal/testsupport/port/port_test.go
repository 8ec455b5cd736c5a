package port_test

import (
	"net"
	"testing"

	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/port"
)

// TestHeld: nobody who listens on any port gets a held one, and who knows it can listen on
// it again and again.
func TestHeld(t *testing.T) {
	t.Parallel()
	held := map[string]bool{}
	for range 100 {
		held[port.HoldAddress(t)] = true
	}
	if len(held) != 100 {
		t.Errorf("%d ports are held, want 100", len(held))
	}
	for range 500 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		must.Succeed(t, err)
		defer l.Close()
		if held[l.Addr().String()] {
			t.Fatalf("%s is held, and was given away", l.Addr())
		}
	}
	for address := range held {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			t.Fatalf("%s answers, and nobody listens", address)
		}
		for range 2 {
			l, err := net.Listen("tcp", address)
			must.Succeed(t, err)
			c, err := net.Dial("tcp", address)
			must.Succeed(t, err)
			server, err := l.Accept()
			must.Succeed(t, err)
			// The server ends first, so that the port is still in use by a connection that is over.
			server.Close()
			c.Close()
			l.Close()
		}
	}
}
