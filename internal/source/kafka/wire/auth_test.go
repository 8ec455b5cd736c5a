package wire_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/internal/source/kafka/wire"
)

func TestMessages(t *testing.T) {
	t.Parallel()
	m := wire.Bearer{Token: func(context.Context) (string, error) { return "abc", nil }}
	session, first, err := m.Start(t.Context())
	if err != nil || m.Name() != "OAUTHBEARER" || string(first) != "n,,\x01auth=Bearer abc\x01\x01" {
		t.Fatalf("%s begins with %q, %v", m.Name(), first, err)
	}
	if done, _, err := session.Next(t.Context(), nil); !done || err != nil {
		t.Errorf("a token that is taken: %v, %v", done, err)
	}

	session, _, _ = m.Start(t.Context())
	done, answer, err := session.Next(t.Context(), []byte(`{"status":"invalid_token"}`+strings.Repeat("x", 1000)))
	if done || err != nil || string(answer) != "\x01" {
		t.Errorf("a token that is refused: %v %q %v", done, answer, err)
	}
	_, _, err = session.Next(t.Context(), nil)
	if err == nil || !strings.Contains(err.Error(), "invalid_token") || len(err.Error()) > 500 || strings.Contains(err.Error(), "abc") {
		t.Errorf("the end of it: %v", err)
	}

	m.Token = func(context.Context) (string, error) { return "", errors.New("no credentials") }
	if _, _, err := m.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "no credentials") {
		t.Errorf("without a token: %v", err)
	}
}

func TestMechanism(t *testing.T) {
	t.Parallel()
	for _, name := range []string{wire.Plain, wire.ScramSHA256, wire.ScramSHA512} {
		m, err := wire.Mechanism(name, "user", "password")
		if err != nil || m.Name() != name {
			t.Errorf("%s: %v, %v", name, m, err)
		}
	}
	if _, err := wire.Mechanism("GSSAPI", "u", "p"); err == nil || !strings.Contains(err.Error(), "SCRAM-SHA-512") {
		t.Errorf("an unknown mechanism: %v", err)
	}
}
