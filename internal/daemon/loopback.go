package daemon

import (
	"net"
	"net/netip"
)

// IsLoopbackHost reports whether a host is this machine by its name: localhost, or a loopback
// address.
func IsLoopbackHost(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// IsLoopbackAddress reports whether the host of a host:port is this machine.
func IsLoopbackAddress(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && IsLoopbackHost(host)
}
