package admin

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// hostGuard answers only requests that are addressed to this server: by an IP
// address, as localhost, or by a configured name. A page of another site that has
// its own name point here (DNS rebinding) would otherwise read everything through a
// visitor's browser; it needs a name for that, while probes and scrapers that know
// no name use addresses.
func hostGuard(names []string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isAddressed(r.Host, names) {
			http.Error(w, fmt.Sprintf("this server is not called %q: use its IP address, or add the name to the setting hosts (of a collector admin.hosts)", r.Host), http.StatusMisdirectedRequest)
			return
		}
		h.ServeHTTP(w, r)
	})
}

func isAddressed(host string, names []string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") { // RFC 6761: loopback, always
		return true
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, host) })
}
