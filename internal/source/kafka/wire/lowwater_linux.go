package wire

import (
	"net"
	"syscall"
)

// WakeOnce returns the connection with large reads that wait for all they ask for. Whoever
// reads 64 KiB or more from it in one call has to know that so many come. It is c itself
// where the system cannot be told.
func WakeOnce(c net.Conn) net.Conn {
	tcp, is := c.(*net.TCPConn)
	if !is {
		return c
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return c
	}
	return &conn{Conn: c, set: func(bytes int) {
		// A read after an error here returns sooner than it might, and with less.
		_ = raw.Control(func(fd uintptr) {
			_ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVLOWAT, bytes)
		})
	}}
}
