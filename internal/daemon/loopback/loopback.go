// Package loopback recognises this machine's own addresses, whose traffic needs no
// protection.
package loopback

import (
	"net"
	"net/netip"
)

// Host reports whether a host is this machine by its name: localhost, or a loopback
// address.
func Host(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// Address reports whether the host of a host:port is this machine.
func Address(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && Host(host)
}
