package cli

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// maxReadiness bounds the answer of a daemon.
const maxReadiness = 1 << 20

// Running asks the daemon that serves at an address whether it is ready: the health check
// of a container that holds nothing else.
func (w Web) Running(address string) Probe {
	return Probe{Name: "daemon", Run: func(ctx context.Context) (string, error) {
		status, body, err := w.readiness(ctx, reachable(address))
		switch {
		case err != nil:
			return "", fmt.Errorf("nothing answers at %s: %w", address, err)
		case status == http.StatusUnauthorized:
			return "it answers at " + address + ", and says only with a password whether it is ready", nil
		case status == http.StatusOK:
			return "it answers at " + address + " and is ready", nil
		}
		var answer struct{ Reasons []string }
		if json.Unmarshal(body, &answer) != nil || len(answer.Reasons) == 0 {
			return "", fmt.Errorf("%s answers with %d: does another program listen there", address, status)
		}
		return "", errors.New(strings.Join(answer.Reasons, "; "))
	}}
}

// reachable returns the address at which this machine reaches a server that listens on
// all of its addresses.
func reachable(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	switch ip, err := netip.ParseAddr(host); {
	case host == "", err == nil && ip.IsUnspecified() && ip.Is4():
		host = "127.0.0.1"
	case err == nil && ip.IsUnspecified():
		host = "::1"
	}
	return net.JoinHostPort(host, port)
}

// readiness asks over TLS first if a web configuration file may require it: only the
// server knows.
func (w Web) readiness(ctx context.Context, address string) (status int, body []byte, err error) {
	if w.ConfigFile != "" {
		if status, body, err = ask(ctx, "https", address); err == nil {
			return status, body, nil
		}
	}
	return ask(ctx, "http", address)
}

func ask(ctx context.Context, scheme, address string) (status int, body []byte, err error) {
	where := url.URL{Scheme: scheme, Host: address, Path: "/-/ready"}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, where.String(), nil)
	if err != nil {
		return 0, nil, err
	}
	// The request carries no secret, and the certificate names the server as other
	// machines call it.
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // see above
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	body, err = io.ReadAll(io.LimitReader(response.Body, maxReadiness))
	return response.StatusCode, body, err
}
