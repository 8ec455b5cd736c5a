package admin_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/keyheat/keyheat/internal/daemon/admin"
	"github.com/keyheat/keyheat/internal/testsupport/await"
)

// authority signs certificates for tests.
type authority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	dir  string
	ends time.Duration // from now: when what it signs does
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{dir: t.TempDir(), ends: time.Hour}
	a.key, a.cert = a.sign(t, "ca", nil)
	return a
}

// sign writes NAME.crt and NAME.key.
func (a *authority) sign(t *testing.T, name string, usage []x509.ExtKeyUsage) (*ecdsa.PrivateKey, *x509.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(a.ends),
		ExtKeyUsage: usage, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
	}
	parent, signer := a.cert, a.key
	if parent == nil {
		template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	must(t, err)
	cert, err := x509.ParseCertificate(der)
	must(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(a.dir, name+".crt"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	must(t, os.WriteFile(filepath.Join(a.dir, name+".key"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
	return key, cert
}

// file writes a web configuration file.
func (a *authority) file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(a.dir, "web.yaml")
	must(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// client trusts the authority, and shows the certificate of a name unless it is empty.
func (a *authority) client(t *testing.T, name string) *http.Client {
	t.Helper()
	c := &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}
	c.RootCAs.AddCert(a.cert)
	if name != "" {
		pair, err := tls.LoadX509KeyPair(filepath.Join(a.dir, name+".crt"), filepath.Join(a.dir, name+".key"))
		must(t, err)
		c.Certificates = []tls.Certificate{pair}
	}
	return &http.Client{Transport: &http.Transport{TLSClientConfig: c, DisableKeepAlives: true}, Timeout: await.Limit}
}

func must(t *testing.T, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}

// serving runs a server with an access, with one path that tells who asks.
func serving(t *testing.T, a admin.Access, address string) string {
	t.Helper()
	return servingWith(t, admin.Options{Address: address, Access: a})
}

func servingWith(t *testing.T, o admin.Options) string {
	t.Helper()
	s, err := admin.Open(t.Context(), o, slog.New(slog.DiscardHandler))
	must(t, err)
	s.Handle("/whoami", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "user "+admin.User(r.Context())+" "+r.Header.Get("X-User"))
	}))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	_, port, err := net.SplitHostPort(s.Addr())
	must(t, err)
	return "127.0.0.1:" + port
}

type ask struct {
	method, user, password, header string
}

func (q ask) of(t *testing.T, c *http.Client, url string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), q.method, url, nil)
	must(t, err)
	if q.user != "" {
		r.SetBasicAuth(q.user, q.password)
	}
	if q.header != "" {
		r.Header.Set("X-User", q.header)
	}
	answer, err := c.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	must(t, err)
	return answer.StatusCode, string(body)
}

func users(t *testing.T, names ...string) string {
	t.Helper()
	text := "basic_auth_users:\n"
	for _, name := range names {
		hash, err := bcrypt.GenerateFromPassword([]byte(name+"-password"), bcrypt.MinCost)
		must(t, err)
		text += "  " + name + ": " + string(hash) + "\n"
	}
	return text
}

const tlsText = "tls_server_config:\n  cert_file: server.crt\n  key_file: server.key\n"

// TestUsers: nobody gets in without a password, on no path; readers read, and operators
// change.
func TestUsers(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	a.sign(t, "server", []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth})
	at := serving(t, admin.Access{ConfigFile: a.file(t, tlsText+users(t, "ada", "bob")), Operators: []string{"ada"}}, "127.0.0.1:0")
	c := a.client(t, "")
	for _, path := range []string{"/whoami", "/metrics", "/-/ready", "/-/healthy", "/unknown"} {
		if code, _ := (ask{method: "GET"}).of(t, c, "https://"+at+path); code != http.StatusUnauthorized {
			t.Errorf("%s without a password: %d", path, code)
		}
	}
	for _, q := range []struct {
		ask
		code int
		body string
	}{
		{ask{"GET", "ada", "ada-password", ""}, 200, "user ada "},
		{ask{"GET", "bob", "bob-password", ""}, 200, "user bob "},
		{ask{"GET", "bob", "ada-password", ""}, 401, ""},
		{ask{"GET", "eve", "fakepassword", ""}, 401, ""},
		{ask{"POST", "ada", "ada-password", ""}, 200, "user ada "},
		{ask{"POST", "bob", "bob-password", ""}, 403, "web.operators"},
		{ask{"DELETE", "bob", "bob-password", "ada"}, 403, "web.operators"},
		{ask{"GET", "bob", "bob-password", "ada"}, 200, "user bob ada"},
		{ask{"POST", "ada", "bob-password", ""}, 401, ""},
	} {
		if code, body := q.of(t, c, "https://"+at+"/whoami"); code != q.code || !strings.Contains(body, q.body) {
			t.Errorf("%+v: %d %s, want %d %s", q.ask, code, body, q.code, q.body)
		}
	}
	if code, body := (ask{method: "GET", user: "ada", password: "ada-password"}).of(t, c, "http://"+at+"/whoami"); code == 200 {
		t.Errorf("plain HTTP is answered: %s", body)
	}
	// A file without users from now on: a name that was not proved is no operator.
	a.file(t, tlsText)
	if code, _ := (ask{"POST", "ada", "anything", ""}).of(t, c, "https://"+at+"/whoami"); code != http.StatusForbidden {
		t.Errorf("a user whom no file knows any more changes something: %d", code)
	}
}

// TestAnotherProofIsAPassword: what Credentials make of a request is asked for as any password, also
// under TLS, where the toolkit answers in another way.
func TestAnotherProofIsAPassword(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	a.sign(t, "server", []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth})
	for scheme, text := range map[string]string{"https": tlsText, "http": ""} {
		at := servingWith(t, admin.Options{
			Address: "127.0.0.1:0", Access: admin.Access{ConfigFile: a.file(t, text+users(t, "ada", "bob")), Operators: []string{"ada"}},
			Credentials: func(h http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					r.SetBasicAuth(r.Header.Get("X-User"), r.Header.Get("X-User")+"-password")
					h.ServeHTTP(w, r)
				})
			},
		})
		for name, want := range map[string]int{"ada": http.StatusOK, "bob": http.StatusForbidden, "eve": http.StatusUnauthorized} {
			if code, body := (ask{method: "POST", header: name}).of(t, a.client(t, ""), scheme+"://"+at+"/whoami"); code != want {
				t.Errorf("%s as %s: %d %s, want %d", scheme, name, code, body, want)
			}
		}
	}
}

// TestOnlyOperatorsProfile: a profile slows the daemon down, and the command line may hold a
// password.
func TestOnlyOperatorsProfile(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	a.sign(t, "server", []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth})
	at := serving(t, admin.Access{ConfigFile: a.file(t, tlsText+users(t, "ada", "bob")), Operators: []string{"ada"}}, "127.0.0.1:0")
	c := a.client(t, "")
	for path, want := range map[string][3]int{
		"/debug/pprof/": {200, 403, 401}, "/debug/pprof/heap": {200, 403, 401}, "/debug/pprof/profile?seconds=1": {200, 403, 401},
		"/debug/pprof/cmdline": {404, 404, 401},
	} {
		for i, user := range []string{"ada", "bob", "eve"} {
			if code, body := (ask{"GET", user, user + "-password", ""}).of(t, c, "https://"+at+path); code != want[i] {
				t.Errorf("%s as %s: %d %.100s, want %d", path, user, code, body, want[i])
			}
		}
	}
}

// TestWhoGetsInChanges: users and the certificate are read again while the server runs, for
// each request and each connection.
func TestWhoGetsInChanges(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	serverAuth := []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	a.sign(t, "server", serverAuth)
	at := serving(t, admin.Access{ConfigFile: a.file(t, tlsText+users(t, "ada"))}, "127.0.0.1:0")
	c := a.client(t, "")
	expect := func(when string, ada, bob int) {
		t.Helper()
		gotAda, _ := ask{"GET", "ada", "ada-password", ""}.of(t, c, "https://"+at+"/whoami")
		gotBob, _ := ask{"GET", "bob", "bob-password", ""}.of(t, c, "https://"+at+"/whoami")
		if gotAda != ada || gotBob != bob {
			t.Errorf("%s: ada gets %d and bob %d, want %d and %d", when, gotAda, gotBob, ada, bob)
		}
	}
	expect("at first", http.StatusOK, http.StatusUnauthorized)
	a.file(t, tlsText+users(t, "bob"))
	expect("when the file has another user", http.StatusUnauthorized, http.StatusOK)

	_, second := a.sign(t, "server", serverAuth)
	answer, err := c.Get("https://" + at + "/whoami")
	must(t, err)
	must(t, answer.Body.Close())
	if got := answer.TLS.PeerCertificates[0]; !got.Equal(second) {
		t.Errorf("the server shows the certificate %s, and has %s", got.SerialNumber, second.SerialNumber)
	}
}

// TestClientCertificates: only who has one of the authority gets in, under its name.
func TestClientCertificates(t *testing.T) {
	t.Parallel()
	a, other := newAuthority(t), newAuthority(t)
	a.sign(t, "server", []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth})
	for _, name := range []string{"ada", "bob"} {
		a.sign(t, name, []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth})
	}
	a.sign(t, "eve", []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth})
	a.ends = -time.Minute
	a.sign(t, "late", []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth})
	other.sign(t, "ada", []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth})
	path := a.file(t, tlsText+"  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: ca.crt\n")
	at := serving(t, admin.Access{ConfigFile: path, Operators: []string{"ada"}}, "127.0.0.1:0")
	foreign := other.client(t, "ada")
	foreign.Transport.(*http.Transport).TLSClientConfig.RootCAs.AddCert(a.cert)
	for _, q := range []struct {
		who    string
		client *http.Client
		method string
		code   int
	}{
		{"ada", a.client(t, "ada"), "POST", 200}, {"bob", a.client(t, "bob"), "GET", 200}, {"bob", a.client(t, "bob"), "POST", 403},
		{"nobody", a.client(t, ""), "GET", 0}, {"another authority's ada", foreign, "GET", 0},
		{"one whose certificate has expired", a.client(t, "late"), "GET", 0}, {"one with a server's certificate", a.client(t, "eve"), "GET", 0},
	} {
		if code, body := (ask{method: q.method, user: "ada", password: "x"}).of(t, q.client, "https://"+at+"/whoami"); code != q.code || code == 200 && !strings.Contains(body, "user "+q.who) {
			t.Errorf("%s %s: %d %s, want %d", q.method, q.who, code, body, q.code)
		}
	}
}

// TestProxies: what a proxy says of the user counts only from its address.
func TestProxies(t *testing.T) {
	t.Parallel()
	here, elsewhere := netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("10.0.0.0/8")
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: await.Limit}
	for _, q := range []struct {
		proxies netip.Prefix
		ask
		code int
		body string
	}{
		{here, ask{method: "GET", header: "ada"}, 200, "user ada "},
		{here, ask{method: "POST", header: "ada"}, 200, "user ada "},
		{here, ask{method: "POST", header: "bob"}, 403, ""},
		{here, ask{method: "POST"}, 403, ""},
		{here, ask{method: "POST", user: "ada", password: "x"}, 403, ""},
		{elsewhere, ask{method: "GET", header: "ada"}, 200, "user  "},
		{elsewhere, ask{method: "POST", header: "ada"}, 403, ""},
	} {
		at := serving(t, admin.Access{Operators: []string{"ada"}, UserHeader: "X-User", Proxies: []netip.Prefix{q.proxies}}, "127.0.0.1:0")
		if code, body := q.of(t, c, "http://"+at+"/whoami"); code != q.code || !strings.HasPrefix(body, q.body) || strings.HasSuffix(body, " ada") {
			t.Errorf("%s %+v: %d %q, want %d %q", q.proxies, q.ask, code, body, q.code, q.body)
		}
	}
}

// TestWhoOperatesUnprotected: on loopback whoever is there; beyond it nobody, unless the
// settings say everyone.
func TestWhoOperatesUnprotected(t *testing.T) {
	t.Parallel()
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: await.Limit}
	for _, q := range []struct {
		address   string
		operators []string
		code      int
	}{
		{"127.0.0.1:0", nil, 200}, {"127.0.0.1:0", []string{"ada"}, 403}, {"0.0.0.0:0", nil, 403}, {"0.0.0.0:0", []string{admin.Everyone}, 200},
	} {
		at := serving(t, admin.Access{Operators: q.operators}, q.address)
		if code, _ := (ask{method: "POST", user: "ada", password: "x", header: "ada"}).of(t, c, "http://"+at+"/whoami"); code != q.code {
			t.Errorf("at %s with operators %v: %d, want %d", q.address, q.operators, code, q.code)
		}
		if code, _ := (ask{method: "GET"}).of(t, c, "http://"+at+"/whoami"); code != 200 {
			t.Errorf("at %s a reader gets %d", q.address, code)
		}
	}
}

// TestAddressesBeyondThisMachine need TLS and authentication, both.
func TestAddressesBeyondThisMachine(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	a.sign(t, "server", []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth})
	for name, c := range map[string]struct {
		text     string
		insecure bool
	}{
		"nothing": {"", true}, "only TLS": {tlsText, true}, "only users": {users(t, "ada"), true}, "both": {tlsText + users(t, "ada"), false},
		"certificates":            {tlsText + "  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: ca.crt\n", false},
		"certificates, not asked": {tlsText + "  client_auth_type: VerifyClientCertIfGiven\n  client_ca_file: ca.crt\n", true},
	} {
		for address, beyond := range map[string]bool{
			"127.0.0.1:9460": false, "[::1]:9460": false, "localhost:9460": false, "127.0.0.2:1": false,
			"0.0.0.0:9460": true, ":9460": true, "[::]:9460": true, "10.0.0.7:9460": true, "keyheat.example.com:9460": true, "localhost.example.com:1": true,
		} {
			access := admin.Access{}
			if c.text != "" {
				access.ConfigFile = a.file(t, c.text)
			}
			if err := access.Validate(address); errors.Is(err, admin.ErrInsecure) != (beyond && c.insecure) || err != nil && !errors.Is(err, admin.ErrInsecure) {
				t.Errorf("%s with %s: %v", address, name, err)
			}
		}
	}
	for _, text := range []string{"basic_auth_users: {ada: plain-password}", "unknown: 1", "tls_server_config: {cert_file: none.crt, key_file: none.key}", "{"} {
		err := admin.Access{ConfigFile: a.file(t, text)}.Validate("127.0.0.1:1")
		if err == nil || errors.Is(err, admin.ErrInsecure) || strings.Contains(err.Error(), "plain-password") {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := (admin.Access{UserHeader: "X-User"}).Validate("127.0.0.1:1"); err == nil {
		t.Error("a header without proxies is believed from whom?")
	}
}
