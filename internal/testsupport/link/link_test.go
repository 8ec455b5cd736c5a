package link_test

import (
	"bufio"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/link"
	"github.com/keyheat/keyheat/internal/testsupport/must"
)

// serve starts a server that answers each line with its own name and the line, and returns
// its address.
func serve(t *testing.T, name string) (address string) {
	t.Helper()
	server, err := net.Listen("tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	t.Cleanup(func() { _ = server.Close() })
	go func() {
		for {
			c, err := server.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				for lines := bufio.NewScanner(c); lines.Scan(); {
					fmt.Fprintln(c, name, lines.Text())
				}
			}()
		}
	}()
	return server.Addr().String()
}

// client is a connection through a link.
type client struct {
	net.Conn
	lines *bufio.Reader
}

func dial(t *testing.T, l *link.Link) client {
	t.Helper()
	c, err := net.Dial("tcp", l.Addr)
	must.Succeed(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return client{c, bufio.NewReader(c)}
}

// hears returns the next line, or none when there is none within a time.
func (c client) hears(within time.Duration) string {
	_ = c.SetReadDeadline(time.Now().Add(within))
	line, _ := c.lines.ReadString('\n')
	return line
}

// TestNothingComesThroughUntilItHeals on a connection that is open, and on a new one.
func TestNothingComesThroughUntilItHeals(t *testing.T) {
	t.Parallel()
	const answer = "server hello\n"
	l := link.New(t, serve(t, "server"))
	open := dial(t, l)
	fmt.Fprintln(open, "hello")
	if got := open.hears(await.Limit); got != answer {
		t.Fatalf("%q comes through a whole link", got)
	}
	l.Cut()
	fmt.Fprintln(open, "hello")
	other := dial(t, l)
	fmt.Fprintln(other, "hello")
	if one, two := open.hears(50*time.Millisecond), other.hears(50*time.Millisecond); one+two != "" {
		t.Errorf("%q and %q come through a link that is cut", one, two)
	}
	l.Heal()
	if one, two := open.hears(await.Limit), other.hears(await.Limit); one != answer || two != answer {
		t.Errorf("%q and %q come when it has healed, and not what was held up", one, two)
	}
}

// TestTurnLeadsNewConnectionsElsewhere, and leaves open ones where they are.
func TestTurnLeadsNewConnectionsElsewhere(t *testing.T) {
	t.Parallel()
	l := link.New(t, serve(t, "old"))
	answers := func(c client, want string) {
		t.Helper()
		fmt.Fprintln(c, "hello")
		if got := c.hears(await.Limit); got != want+" hello\n" {
			t.Errorf("%q comes, and not the answer of the %s server", got, want)
		}
	}
	open := dial(t, l)
	answers(open, "old")
	l.Turn(serve(t, "new"))
	answers(dial(t, l), "new")
	answers(open, "old")
}

// TestSlowDelaysEachDirection of a connection that is open.
func TestSlowDelaysEachDirection(t *testing.T) {
	t.Parallel()
	const delay = 50 * time.Millisecond
	l := link.New(t, serve(t, "server"))
	c := dial(t, l)
	l.Slow(delay)
	began := time.Now()
	fmt.Fprintln(c, "hello")
	if got := c.hears(await.Limit); got != "server hello\n" || time.Since(began) < 2*delay {
		t.Errorf("%q comes after %s, want the answer after %s", got, time.Since(began), 2*delay)
	}
}
