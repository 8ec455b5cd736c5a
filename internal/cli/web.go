package cli

import (
	"errors"
	"net/netip"

	"github.com/keyheat/keyheat/internal/daemon/admin"
	"github.com/keyheat/keyheat/internal/settings/config"
	"github.com/keyheat/keyheat/internal/settings/options"
)

// Web configures the users who may reach a daemon's server, and their rights.
type Web struct {
	ConfigFile     string   `yaml:"config_file" help:"a [web configuration file](https://prometheus.io/docs/prometheus/latest/configuration/https/) as Prometheus has it: TLS, client certificates, users"`
	AllowInsecure  bool     `yaml:"allow_insecure" help:"listen beyond this machine without TLS or authentication, because a proxy in front provides them"`
	Operators      []string `yaml:"operators" help:"the users who may make changes, * for all; others may read. When empty: everybody on loopback without a web.config_file, else nobody"`
	UserHeader     string   `yaml:"user_header" help:"the header in which a proxy names the authenticated user, such as X-Forwarded-User"`
	TrustedProxies []string `yaml:"trusted_proxies" help:"addresses of the proxies that may set this header, such as 10.0.0.7 or 10.0.0.0/24"`
}

// Check adds the faults of a listen address, of the setting at path, and of its access.
func (w Web) Check(path, address string, f *config.Faults) {
	if _, _, err := options.SplitAddress(address, "127.0.0.1:9460"); err != nil {
		f.Addf(path, "%w", err)
		return
	}
	access, err := w.access()
	if err != nil {
		f.Addf("web.trusted_proxies", "%w", err)
		return
	}
	switch err := access.Validate(address); {
	case errors.Is(err, admin.ErrInsecure) && !w.AllowInsecure:
		f.Addf(path, "%w: give both in web.config_file, or set web.allow_insecure if a proxy in front of the server provides them", err)
	case err != nil && !errors.Is(err, admin.ErrInsecure):
		f.Addf("web", "%w", err)
	}
}

// IsOpen reports whether everybody may make changes at an address that Check accepted.
func (w Web) IsOpen(address string) bool {
	access, _ := w.access()
	return access.IsOpen(address)
}

// Options returns the server's options for an address that Check accepted.
func (w Web) Options(address string, hosts []string) admin.Options {
	access, _ := w.access()
	return admin.Options{Address: address, Hosts: hosts, Access: access}
}

func (w Web) access() (admin.Access, error) {
	a := admin.Access{ConfigFile: w.ConfigFile, Operators: w.Operators, UserHeader: w.UserHeader}
	for _, text := range w.TrustedProxies {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			address, single := netip.ParseAddr(text)
			if single != nil {
				return a, errors.New(text + " is no address: write one such as 10.0.0.7 or 10.0.0.0/24")
			}
			prefix = netip.PrefixFrom(address, address.BitLen())
		}
		a.Proxies = append(a.Proxies, prefix)
	}
	return a, nil
}
