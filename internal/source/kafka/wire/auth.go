package wire

import (
	"context"
	"crypto/tls"
	"fmt"
	"sync/atomic"

	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"
)

// The supported SASL mechanisms, by Kafka's names.
const (
	Plain       = "PLAIN"
	ScramSHA256 = "SCRAM-SHA-256"
	ScramSHA512 = "SCRAM-SHA-512"
)

// Authentication authenticates a connection.
type Authentication = sasl.Mechanism

// Mechanism returns the mechanism for a user and a password. It fails on an unknown name,
// and on a user or password that SCRAM cannot prepare.
func Mechanism(name, user, password string) (sasl.Mechanism, error) {
	switch name {
	case Plain:
		return plain.Mechanism{Username: user, Password: password}, nil
	case ScramSHA256:
		return scram.Mechanism(scram.SHA256, user, password)
	case ScramSHA512:
		return scram.Mechanism(scram.SHA512, user, password)
	}
	return nil, fmt.Errorf("unknown SASL mechanism %q: write %s, %s or %s", name, Plain, ScramSHA256, ScramSHA512)
}

// Credentials holds the credentials for new connections. They may change while older
// connections are open.
type Credentials struct{ now atomic.Pointer[Credential] }

// Credential configures a connection.
type Credential struct {
	TLS  *tls.Config    // nil for none
	SASL Authentication // nil for none
}

// Renew replaces the credentials. A nil field stays nil, and a set field stays set.
func (c *Credentials) Renew(as Credential) { c.now.Store(&as) }

// TLS returns a function that returns the newest TLS configuration; nil if the first
// credential had none.
func (c *Credentials) TLS() func() *tls.Config {
	if c.now.Load().TLS == nil {
		return nil
	}
	return func() *tls.Config { return c.now.Load().TLS }
}

// SASL authenticates each connection with the newest credential; it is nil if the first
// credential had none.
func (c *Credentials) SASL() Authentication {
	if c.now.Load().SASL == nil {
		return nil
	}
	return renewed{c}
}

// renewed authenticates with the newest credential.
type renewed struct{ *Credentials }

func (r renewed) Name() string { return r.now.Load().SASL.Name() }

func (r renewed) Start(ctx context.Context) (sasl.StateMachine, []byte, error) {
	return r.now.Load().SASL.Start(ctx)
}
