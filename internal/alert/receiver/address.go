package receiver

import (
	"fmt"
	"net/netip"
	"slices"
	"syscall"
)

// metadata are the addresses of clouds' credential services, beside the common link-local
// 169.254.169.254. Sources: EC2 User Guide "Access instance metadata" (IPv6), Alibaba
// Cloud ECS "Instance metadata", Oracle (192.0.0.192), Azure (168.63.129.16, "What is IP
// address 168.63.129.16?"), and the IPv6 addresses of Scaleway and Google.
var metadata = []netip.Addr{
	netip.MustParseAddr("192.0.0.192"),
	netip.MustParseAddr("fd00:42::42"),
	netip.MustParseAddr("fd20:ce::254"),
	netip.MustParseAddr("fd00:ec2::254"),
	netip.MustParseAddr("fd00:ec2::23"),
	netip.MustParseAddr("100.100.100.200"),
	netip.MustParseAddr("168.63.129.16"),
}

// wrapped are prefixes whose addresses hold an IPv4 address that a gateway would reach,
// and the first byte of that address. They are NAT64's well-known prefix (RFC 6052) and
// its local one (RFC 8215, with 96 bits), 6to4 (RFC 3056), and the deprecated
// IPv4-compatible form (RFC 4291).
var wrapped = []struct {
	prefix netip.Prefix
	at     int
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12},
	{netip.MustParsePrefix("64:ff9b:1::/48"), 12},
	{netip.MustParsePrefix("2002::/16"), 2},
	{netip.MustParsePrefix("::/96"), 12},
}

// refuseMetadata checks an address right before it is dialled. A check of the name would
// not do: a name may point anywhere, and elsewhere at the next lookup. Loopback and
// private networks are allowed, because receivers run there.
func refuseMetadata(_, address string, _ syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("address %q: %w", address, err)
	}
	if isForbidden(unwrapAddress(target.Addr())) {
		return fmt.Errorf("address %s is link-local or a cloud's metadata service: webhooks do not go there",
			target.Addr())
	}
	return nil
}

// unwrapAddress returns the address that a gateway would reach: without its zone, and as
// IPv4 if it is wrapped in IPv6.
func unwrapAddress(a netip.Addr) netip.Addr {
	a = a.WithZone("").Unmap()
	for _, w := range wrapped {
		if w.prefix.Contains(a) && a != netip.IPv6Loopback() && !a.IsUnspecified() {
			b := a.As16()
			return netip.AddrFrom4([4]byte(b[w.at : w.at+4]))
		}
	}
	return a
}

func isForbidden(a netip.Addr) bool {
	return a.IsLinkLocalUnicast() || a.IsMulticast() || a.IsUnspecified() || slices.Contains(metadata, a)
}
