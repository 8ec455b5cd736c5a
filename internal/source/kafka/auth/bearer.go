package auth

import (
	"context"
	"fmt"

	"github.com/segmentio/kafka-go/sasl"
)

// Bearer authenticates by a token: SASL's OAUTHBEARER (RFC 7628), with which Amazon MSK
// takes IAM's credentials. kafka-go has no such mechanism. Each connection asks for a token, so that none is used
// beyond its time: a broker ends connections whose token has run out.
type Bearer struct {
	// Token returns a token that is good now.
	Token func(ctx context.Context) (string, error)
}

// Name implements sasl.Mechanism.
func (Bearer) Name() string { return "OAUTHBEARER" }

// separator stands between the fields of a message.
const separator = "\x01"

// Start implements sasl.Mechanism.
func (b Bearer) Start(ctx context.Context) (sasl.StateMachine, []byte, error) {
	token, err := b.Token(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("make a token: %w", err)
	}
	return &session{}, []byte("n,," + separator + "auth=Bearer " + token + separator + separator), nil
}

// session is one authentication.
type session struct{ refusal string }

// maxRefusal bounds what is repeated of a broker's answer.
const maxRefusal = 200

// Next implements sasl.StateMachine. A broker that refuses the token says why, and waits
// for a message of a separator alone before it ends the authentication.
func (s *session) Next(_ context.Context, challenge []byte) (done bool, response []byte, err error) {
	switch {
	case s.refusal != "":
		return false, nil, fmt.Errorf("the broker refused the token: %s", s.refusal)
	case len(challenge) > 0:
		s.refusal = fmt.Sprintf("%q", challenge[:min(len(challenge), maxRefusal)])
		return false, []byte(separator), nil
	}
	return true, nil, nil
}
