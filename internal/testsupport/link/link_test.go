package link_test

import (
	"bufio"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/testsupport/link"
)

// TestNothingComesThroughUntilItHeals on a connection that is open, and on a new one.
func TestNothingComesThroughUntilItHeals(t *testing.T) {
	t.Parallel()
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	go func() {
		for {
			c, err := server.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				for lines := bufio.NewScanner(c); lines.Scan(); {
					fmt.Fprintln(c, lines.Text())
				}
			}()
		}
	}()
	l := link.New(t, server.Addr().String())
	dial := func() (net.Conn, *bufio.Reader) {
		c, err := net.Dial("tcp", l.Addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c, bufio.NewReader(c)
	}
	says := func(c net.Conn, r *bufio.Reader, within time.Duration) bool {
		_ = c.SetReadDeadline(time.Now().Add(within))
		line, err := r.ReadString('\n')
		return err == nil && line == "hello\n"
	}
	c, r := dial()
	fmt.Fprintln(c, "hello")
	if !says(c, r, 10*time.Second) {
		t.Fatal("nothing comes through a whole link")
	}
	l.Cut()
	fmt.Fprintln(c, "hello")
	other, s := dial()
	fmt.Fprintln(other, "hello")
	if says(c, r, 50*time.Millisecond) || says(other, s, 50*time.Millisecond) {
		t.Error("something comes through a link that is cut")
	}
	l.Heal()
	if !says(c, r, 10*time.Second) || !says(other, s, 10*time.Second) {
		t.Error("what was held up does not come when it has healed")
	}
}

// TestTurnLeadsNewConnectionsElsewhere, and leaves open ones where they are.
func TestTurnLeadsNewConnectionsElsewhere(t *testing.T) {
	t.Parallel()
	named := func(name string) string {
		server, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
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
						fmt.Fprintln(c, name)
					}
				}()
			}
		}()
		return server.Addr().String()
	}
	l := link.New(t, named("old"))
	asks := func(c net.Conn) string {
		fmt.Fprintln(c, "who")
		_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
		line, err := bufio.NewReader(c).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return line
	}
	dial := func() net.Conn {
		c, err := net.Dial("tcp", l.Addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	open := dial()
	if got := asks(open); got != "old\n" {
		t.Fatalf("%q answers before it is turned", got)
	}
	l.Turn(named("new"))
	if got := asks(dial()); got != "new\n" {
		t.Errorf("%q answers a new connection", got)
	}
	if got := asks(open); got != "old\n" {
		t.Errorf("%q answers the connection that was open", got)
	}
}
