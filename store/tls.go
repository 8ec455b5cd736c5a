package store

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/keyheat/keyheat/internal/daemon"
)

// verified is the sslmode that a URL without one gets when its server is not on this
// machine.
const verified = "verify-full"

// parsePostgres reads a URL. A URL without a TLS mode would silently be tried without TLS
// if the server refuses it: passwords and keys would cross the network in the clear.
// Beyond this machine it means verified TLS.
func parsePostgres(rawURL string) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(rawURL)
	if err != nil || !fallsBack(&config.ConnConfig.Config) {
		return config, err
	}
	u, err := url.Parse(rawURL)
	if err != nil {
		return config, nil // pgx has understood it
	}
	query := u.Query()
	if query.Has("sslmode") || isLocal(config.ConnConfig.Host) {
		return config, nil
	}
	query.Set("sslmode", verified)
	u.RawQuery = query.Encode()
	return pgxpool.ParseConfig(u.String())
}

// fallsBack reports whether connections are tried with TLS first, and then without.
func fallsBack(c *pgconn.Config) bool {
	return c.TLSConfig != nil && slices.ContainsFunc(c.Fallbacks, func(f *pgconn.FallbackConfig) bool {
		return f.TLSConfig == nil && f.Host == c.Host
	})
}

// isLocal reports whether a host is this machine: a socket's directory, localhost, or a
// loopback address.
func isLocal(host string) bool {
	return strings.HasPrefix(host, "/") || strings.HasPrefix(host, "@") || daemon.IsLoopbackHost(host)
}

func explainConnection(err error) error {
	var (
		invalid  x509.CertificateInvalidError
		unknown  x509.UnknownAuthorityError
		hostname x509.HostnameError
		alert    tls.AlertError
		refused  *pgconn.PgError
		failed   *pgconn.ConnectError
	)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused) && !errors.Is(err, ErrUnavailable):
		// The server's answer alone: sslmode=prefer may have failed with TLS before.
		return fmt.Errorf("the database refuses this login: %w: check the user, the password and the database's name in the URL", refused)
	case strings.Contains(err.Error(), "server refused TLS connection"):
		return fmt.Errorf("%w: the server does not speak TLS: enable TLS there, or write sslmode=disable into the URL if you trust the network", err)
	case errors.As(err, &unknown), errors.As(err, &invalid), errors.As(err, &hostname), errors.As(err, &alert):
		return fmt.Errorf("%w: the server's certificate is not trusted for this name: name its authority as sslrootcert=FILE in the URL, or write sslmode=require to encrypt without verification", err)
	case errors.As(err, &failed) && refused == nil:
		return fmt.Errorf("%w: start it, or correct store.url: %s", ErrUnavailable, distinctLines(failed))
	}
	return err
}

// distinctLines joins the lines of an error: pgx repeats an address that it has tried with
// TLS and without.
func distinctLines(err error) string {
	var lines []string
	for line := range strings.Lines(err.Error()) {
		if line = strings.TrimSpace(line); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, " ")
}
