package wire

import (
	"net"
	"syscall"
)

// WakeOnce returns a connection whose large reads wait for all requested bytes. A caller
// may read 64 KiB or more at once only if so many bytes are certain to come. WakeOnce
// returns c itself if c is no TCP connection.
func WakeOnce(c net.Conn) net.Conn {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return c
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return c
	}
	return &conn{Conn: c, set: func(bytes int) {
		// Without the option a read returns earlier, with fewer bytes.
		_ = raw.Control(func(fd uintptr) {
			_ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVLOWAT, bytes)
		})
	}}
}
