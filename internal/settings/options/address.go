package options

import (
	"fmt"
	"net"
	"strconv"
)

// SplitAddress returns the host and the port of a host:port. Its error names the example.
func SplitAddress(address, example string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0, fmt.Errorf("%q: write host:port, such as %s", address, example)
	}
	number, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return "", 0, fmt.Errorf("%q: the port is a number up to 65535: write host:port, such as %s", address, example)
	}
	return host, int(number), nil
}
