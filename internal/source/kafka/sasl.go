package kafka

import (
	"fmt"

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

// Authentication is how each connection is authenticated.
type Authentication = sasl.Mechanism

// Mechanism returns a way to authenticate, for Config.SASL. It fails on an unknown
// name, and on a user or password that SCRAM cannot prepare.
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
