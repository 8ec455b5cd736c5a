// Package port holds ports of loopback for servers that tests start, and start again: a
// port that was free a moment ago may be another process's by the time a server takes it.
// It is for tests only.
package port

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
	"testing"
)

// Hold returns a port of 127.0.0.1 that is given to nobody who asks for any free one, until
// the test ends. Whoever is told of it can listen on it, as often as it has to, if only it
// sets SO_REUSEADDR, as Go, Java and Postgres do; meanwhile connections to it are refused.
func Hold(t testing.TB) int {
	t.Helper()
	number, release, err := HoldUntil()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	return number
}

// HoldAddress returns a port that [Hold] holds, as 127.0.0.1 with that port.
func HoldAddress(t testing.TB) string {
	t.Helper()
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(Hold(t)))
}

// HoldUntil is Hold until release is called.
func HoldUntil() (number int, release func(), err error) {
	number, release, err = hold()
	if err != nil {
		return 0, nil, fmt.Errorf("hold a port: %w", err)
	}
	return number, release, nil
}

// hold binds a socket that never listens: a bound port is nobody's free one, and one on
// which nobody listens may be bound again.
func hold() (number int, release func(), err error) {
	// Processes that start meanwhile do not inherit it.
	syscall.ForkLock.RLock()
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(socket)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return 0, nil, err
	}
	release = func() { _ = syscall.Close(socket) }
	err = errors.Join(
		syscall.SetsockoptInt(socket, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1),
		syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}),
	)
	if err == nil {
		var bound syscall.Sockaddr
		if bound, err = syscall.Getsockname(socket); err == nil {
			return bound.(*syscall.SockaddrInet4).Port, release, nil
		}
	}
	release()
	return 0, nil, err
}
