package alert

import (
	"fmt"
	"net/netip"
	"syscall"
)

// metadata are the addresses at which clouds hand out credentials, beside the
// link-local 169.254.169.254 that most use. Sources: EC2 User Guide "Access
// instance metadata" (IPv6), Alibaba Cloud ECS "Instance metadata", Oracle and
// Azure (168.63.129.16, "What is IP address 168.63.129.16?").
var metadata = []netip.Addr{
	netip.MustParseAddr("fd00:ec2::254"),
	netip.MustParseAddr("fd00:ec2::23"),
	netip.MustParseAddr("100.100.100.200"),
	netip.MustParseAddr("168.63.129.16"),
}

// nat64 is RFC 6052's well-known prefix: its last four bytes are an IPv4
// address, which a NAT64 gateway would reach.
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// refuseMetadata is called with the address that is about to be dialled, after
// the name was looked up: a name may point anywhere, and elsewhere at the next
// look. Loopback and private networks are allowed, because that is where
// receivers are.
func refuseMetadata(_, address string, _ syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("address %q: %w", address, err)
	}
	if forbidden(plain(target.Addr())) {
		return fmt.Errorf("address %s is link-local or a cloud's metadata service: webhooks do not go there",
			target.Addr())
	}
	return nil
}

// plain is the address that is meant: without its zone, and IPv4 when it is
// wrapped in IPv6.
func plain(a netip.Addr) netip.Addr {
	a = a.WithZone("").Unmap()
	if nat64.Contains(a) {
		b := a.As16()
		return netip.AddrFrom4([4]byte(b[12:]))
	}
	return a
}

func forbidden(a netip.Addr) bool {
	if a.IsLinkLocalUnicast() || a.IsMulticast() || a.IsUnspecified() {
		return true
	}
	for _, m := range metadata {
		if a == m {
			return true
		}
	}
	return false
}
