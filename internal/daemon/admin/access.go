package admin

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"time"

	"github.com/prometheus/exporter-toolkit/web"
	"go.yaml.in/yaml/v3"

	"github.com/keyheat/keyheat/internal/daemon"
)

// Everyone among the operators stands for whoever gets in.
const Everyone = "*"

// Access is the set of users who may reach a server, and their rights.
type Access struct {
	// ConfigFile is Prometheus's web configuration file, with TLS, client certificates
	// and users. It is read again for each connection and request. Empty means plain
	// HTTP for everyone.
	ConfigFile string
	// Operators are the users who may make changes; others only read. A user comes from
	// the file, from the common name of a verified client certificate, or from a trusted
	// proxy. Without operators, everybody on the server's own loopback may make changes,
	// and nobody elsewhere.
	Operators []string
	// UserHeader is where the proxies at Proxies name the user whom they have
	// authenticated. From anybody else the header is nothing.
	UserHeader string
	Proxies    []netip.Prefix
}

// protection is the part of a web configuration file that clients have to meet.
type protection struct {
	// encrypts: connections are TLS; certifies: clients have verified certificates;
	// identifies: they have passwords.
	encrypts, certifies, identifies bool
}

// protectionOf reads a file; of none nothing is protected.
func protectionOf(path string) (p protection, err error) {
	if path == "" {
		return p, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return p, err
	}
	var file struct {
		TLS struct {
			Cert       string `yaml:"cert"`
			CertFile   string `yaml:"cert_file"`
			ClientAuth string `yaml:"client_auth_type"`
		} `yaml:"tls_server_config"`
		Users map[string]string `yaml:"basic_auth_users"`
	}
	// web.Validate reports faults of the file, whose text holds secrets.
	if err := yaml.Unmarshal(text, &file); err != nil {
		return p, fmt.Errorf("%s cannot be read", path)
	}
	p.encrypts = file.TLS.Cert != "" || file.TLS.CertFile != ""
	p.certifies = p.encrypts && file.TLS.ClientAuth == tls.RequireAndVerifyClientCert.String()
	p.identifies = len(file.Users) > 0
	return p, nil
}

// ErrInsecure is returned by Validate for an address beyond this machine that anybody
// may read, or listen in to.
var ErrInsecure = errors.New("reachable from beyond this machine without TLS and authentication")

// Validate returns the faults of the access to an address; ErrInsecure when it is beyond
// loopback and not protected.
func (a Access) Validate(address string) error {
	if a.ConfigFile != "" {
		if err := web.Validate(a.ConfigFile); err != nil {
			return fmt.Errorf("%s: %w", a.ConfigFile, err)
		}
	}
	p, err := protectionOf(a.ConfigFile)
	switch {
	case err != nil:
		return err
	case a.UserHeader == "" && len(a.Proxies) > 0 || a.UserHeader != "" && len(a.Proxies) == 0:
		return errors.New("the header with the user and the addresses of the proxies that set it belong together")
	case !daemon.IsLoopbackAddress(address) && !(p.encrypts && (p.certifies || p.identifies)):
		return fmt.Errorf("%s is %w", address, ErrInsecure)
	}
	return nil
}

// IsOpen reports whether everybody may make changes at an address, because it is on loopback
// and nothing identifies users.
func (a Access) IsOpen(address string) bool {
	p, err := protectionOf(a.ConfigFile)
	return err == nil && a.operates("", daemon.IsLoopbackAddress(address) && p == protection{})
}

type callerKey struct{}

type caller struct {
	user     string
	operates bool
}

func callerOf(ctx context.Context) caller {
	c, _ := ctx.Value(callerKey{}).(caller)
	return c
}

// User returns who makes a request; empty when that is not known.
func User(ctx context.Context) string { return callerOf(ctx).user }

// Operates reports whether who makes a request may change something.
func Operates(ctx context.Context) bool { return callerOf(ctx).operates }

// guard lets only operators make changes, and passes the user to handlers. local means
// that the server listens on loopback.
func (a Access) guard(local bool, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Read again, as the users are: a name counts only where its password was asked.
		p, err := protectionOf(a.ConfigFile)
		if err != nil {
			http.Error(w, "the server's web configuration cannot be read: see its log", http.StatusInternalServerError)
			return
		}
		user := a.user(r, p)
		operates := a.operates(user, local && p == protection{})
		r = r.WithContext(context.WithValue(r.Context(), callerKey{}, caller{user, operates}))
		if a.UserHeader != "" {
			r.Header.Del(a.UserHeader) // nothing behind this has to judge it
		}
		if changes(r.Method) && !operates {
			http.Error(w, "only operators may change something: add the user to the setting web.operators", http.StatusForbidden)
			return
		}
		serve(h, w, r)
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(drainTimeout)) // a test's recorder has none
	})
}

func changes(method string) bool {
	return method != http.MethodGet && method != http.MethodHead && method != http.MethodOptions
}

func (a Access) operates(user string, unprotected bool) bool {
	if len(a.Operators) == 0 {
		return unprotected && a.UserHeader == ""
	}
	return slices.Contains(a.Operators, Everyone) || user != "" && slices.Contains(a.Operators, user)
}

func (a Access) user(r *http.Request, p protection) string {
	if a.UserHeader != "" && a.fromProxy(r.RemoteAddr) {
		return r.Header.Get(a.UserHeader)
	}
	if name, _, ok := r.BasicAuth(); ok && p.identifies {
		return name
	}
	if r.TLS != nil && len(r.TLS.VerifiedChains) > 0 {
		return r.TLS.VerifiedChains[0][0].Subject.CommonName
	}
	return ""
}

func (a Access) fromProxy(remote string) bool {
	from, err := netip.ParseAddrPort(remote)
	return err == nil && slices.ContainsFunc(a.Proxies, func(p netip.Prefix) bool { return p.Contains(from.Addr().Unmap()) })
}
