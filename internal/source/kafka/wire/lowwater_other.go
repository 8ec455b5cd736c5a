//go:build !linux

package wire

import "net"

// WakeOnce returns the connection as it is.
func WakeOnce(c net.Conn) net.Conn { return c }
