package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/keyheat/keyheat/internal/settings/config"
	"github.com/keyheat/keyheat/internal/testsupport/must"
)

// msk is a listener in front of a fake cluster that lets a connection through once its
// OAUTHBEARER token is one that the given credentials have signed for the Region.
type msk struct {
	net.Listener
	credentials aws.Credentials
	region      string
	taken       *atomic.Int32
}

func (m *msk) Accept() (net.Conn, error) {
	client, err := m.Listener.Accept()
	if err != nil {
		return nil, err
	}
	ours, broker := net.Pipe()
	go func() {
		defer client.Close()
		defer ours.Close()
		if m.authenticate(client, ours) != nil {
			return
		}
		go func() {
			defer client.Close()
			_, _ = io.Copy(client, ours)
		}()
		_, _ = io.Copy(ours, client)
	}()
	return broker, nil
}

// frame reads one request or response.
func frame(r io.Reader) ([]byte, error) {
	size := make([]byte, 4)
	if _, err := io.ReadFull(r, size); err != nil {
		return nil, err
	}
	body := make([]byte, binary.BigEndian.Uint32(size))
	_, err := io.ReadFull(r, body)
	return body, err
}

func send(w io.Writer, body []byte) error {
	_, err := w.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...))
	return err
}

// authenticate serves the requests of SASL itself; ApiVersions is the broker's.
func (m *msk) authenticate(client, broker net.Conn) error {
	for refused := false; ; {
		request, err := frame(client)
		if err != nil {
			return err
		}
		key, version := int16(binary.BigEndian.Uint16(request)), int16(binary.BigEndian.Uint16(request[2:]))
		correlation, name := request[4:8], int(binary.BigEndian.Uint16(request[8:]))
		body := request[10+name:]
		var response []byte
		switch key {
		case int16(kmsg.ApiVersions):
			if err := send(broker, request); err != nil {
				return err
			}
			if response, err = frame(broker); err != nil {
				return err
			}
		case int16(kmsg.SASLHandshake):
			r := kmsg.SASLHandshakeRequest{Version: version}
			if err := r.ReadFrom(body); err != nil {
				return err
			}
			answer := kmsg.SASLHandshakeResponse{Version: version, SupportedMechanisms: []string{"OAUTHBEARER"}}
			if r.Mechanism != "OAUTHBEARER" {
				answer.ErrorCode = 33
			}
			response = answer.AppendTo(append([]byte(nil), correlation...))
		case int16(kmsg.SASLAuthenticate):
			if version > 1 {
				return errors.New("the test reads versions 0 and 1")
			}
			r := kmsg.SASLAuthenticateRequest{Version: version}
			if err := r.ReadFrom(body); err != nil {
				return err
			}
			answer := kmsg.SASLAuthenticateResponse{Version: version}
			switch problem := m.check(r.SASLAuthBytes); {
			case refused:
				answer.ErrorCode, answer.ErrorMessage = 58, kmsg.StringPtr("authentication failed")
			case problem != nil:
				answer.SASLAuthBytes = []byte(`{"status":"` + problem.Error() + `"}`)
			}
			if err := send(client, answer.AppendTo(append([]byte(nil), correlation...))); err != nil || answer.ErrorCode != 0 {
				return errors.Join(err, errors.New("refused"))
			}
			if len(answer.SASLAuthBytes) == 0 {
				m.taken.Add(1)
				return nil
			}
			refused = true
			continue
		default:
			return fmt.Errorf("request %d before authentication", key)
		}
		if err := send(client, response); err != nil {
			return err
		}
	}
}

// check signs what the token says again, with the credentials that it should be of.
func (m *msk) check(message []byte) error {
	text, ok := bytes.CutPrefix(message, []byte("n,,\x01auth=Bearer "))
	text, end := bytes.CutSuffix(text, []byte("\x01\x01"))
	raw, err := base64.RawURLEncoding.DecodeString(string(text))
	if !ok || !end || err != nil {
		return errors.New("malformed")
	}
	token, err := url.Parse(string(raw))
	if err != nil || token.Host != "kafka."+m.region+".amazonaws.com" {
		return errors.New("another Region's")
	}
	query := token.Query()
	at, err := time.Parse("20060102T150405Z", query.Get("X-Amz-Date"))
	if err != nil || time.Since(at).Abs() > 15*time.Minute || query.Get("X-Amz-Expires") != "900" || query.Get("Action") != "kafka-cluster:Connect" {
		return errors.New("not for now")
	}
	signature := query.Get("X-Amz-Signature")
	again := url.Values{"Action": {"kafka-cluster:Connect"}, "X-Amz-Expires": {"900"}}
	request, err := http.NewRequest(http.MethodGet, "https://"+token.Host+"/?"+again.Encode(), nil)
	if err != nil {
		return err
	}
	empty := sha256.Sum256(nil)
	signed, _, err := v4.NewSigner().PresignHTTP(context.Background(), m.credentials, request, hex.EncodeToString(empty[:]), "kafka-cluster", m.region, at)
	if err != nil {
		return err
	}
	want, err := url.Parse(signed)
	if err != nil || signature == "" || want.Query().Get("X-Amz-Signature") != signature {
		return errors.New("signed by somebody else")
	}
	return nil
}

// TestMSK authenticates with the SDK's credentials to a broker that checks the token.
func TestMSK(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIDTEST")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret-canary-1b2c")
	t.Setenv("AWS_SESSION_TOKEN", "")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(t.TempDir(), "none"))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(t.TempDir(), "none"))
	certified := httptest.NewTLSServer(nil) // for its certificate, good for 127.0.0.1
	defer certified.Close()
	authority := filepath.Join(t.TempDir(), "ca.crt")
	must.Succeed(t, os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certified.Certificate().Raw}), 0o600))
	for name, c := range map[string]struct {
		secret, region string
		taken          bool
	}{
		"the right credentials": {"secret-canary-1b2c", "eu-west-1", true},
		"others":                {"another", "eu-west-1", false},
		"another Region":        {"secret-canary-1b2c", "us-east-1", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("AWS_REGION", c.region)
			var taken atomic.Int32
			cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "samples"), kfake.ListenFn(func(network, address string) (net.Listener, error) {
				l, err := tls.Listen(network, address, &tls.Config{Certificates: certified.TLS.Certificates, MinVersion: tls.VersionTLS12})
				return &msk{Listener: l, credentials: aws.Credentials{AccessKeyID: "AKIDTEST", SecretAccessKey: c.secret}, region: "eu-west-1", taken: &taken}, err
			}))
			must.Succeed(t, err)
			defer cluster.Close()
			settings := defaults()
			settings.Kafka.Brokers, settings.Kafka.Topics = cluster.ListenAddrs(), []string{"samples"}
			settings.Kafka.TLS = TLS{Enabled: true, CAFile: authority}
			settings.Kafka.SASL = SASL{Mechanism: mskIAM}
			detail, err := settings.Kafka.probes(settings)[0].Run(t.Context())
			if c.taken != (err == nil) || c.taken != (taken.Load() > 0) {
				t.Errorf("%d connections, %q, %v", taken.Load(), detail, err)
			}
			if err != nil && strings.Contains(err.Error(), "secret-canary") {
				t.Errorf("the error holds the secret: %v", err)
			}
		})
	}
}

// TestWhatIsSentInTheClear: a password or samples without TLS are named, but for brokers
// of this machine.
func TestWhatIsSentInTheClear(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		broker, mechanism string
		encrypted         bool
		says              string
	}{
		{"kafka:9092", "PLAIN", false, "password in the clear"}, {"10.0.0.7:9092", "PLAIN", false, "password in the clear"},
		{"localhost.example.com:9092", "PLAIN", false, "password in the clear"},
		{"kafka:9092", "SCRAM-SHA-512", false, "not the samples"}, {"kafka:9092", "PLAIN", true, ""}, {"kafka:9092", "", false, ""},
		{"127.0.0.1:9092", "PLAIN", false, ""}, {"localhost:9092", "PLAIN", false, ""}, {"[::1]:9092", "PLAIN", false, ""},
	} {
		k := Kafka{Brokers: []string{c.broker}, SASL: SASL{Mechanism: c.mechanism}, TLS: TLS{Enabled: c.encrypted}}
		if got := k.describeExposure(); !strings.Contains(got, c.says) || (c.says == "") != (got == "") {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

func TestSASLSettings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sasl      SASL
		encrypted bool
		says      string
	}{
		{SASL{Mechanism: mskIAM}, true, ""}, {SASL{Mechanism: mskIAM}, false, "kafka.tls.enabled"},
		{SASL{Mechanism: mskIAM, User: "u", Password: "hunter2"}, true, "remove user and password"},
		{SASL{User: "u"}, true, "no effect"}, {SASL{Mechanism: "GSSAPI"}, true, "AWS_MSK_IAM"}, {SASL{}, false, ""},
		{SASL{Mechanism: "PLAIN", User: "u", Password: "hunter2"}, false, ""},
	} {
		err := config.Load(&checked{c.sasl, c.encrypted}, config.Options{})
		if got := fmt.Sprint(err); (err == nil) != (c.says == "") || !strings.Contains(got, c.says) || strings.Contains(got, "hunter2") {
			t.Errorf("%+v: %v", c.sasl, err)
		}
	}
}

// checked lets config.Load call what is to be tested.
type checked struct {
	sasl      SASL
	encrypted bool
}

func (c *checked) Check(f *config.Faults) { c.sasl.check(c.encrypted, f) }
