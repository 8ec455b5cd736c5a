package wire

import (
	"context"
	"fmt"

	"github.com/segmentio/kafka-go/sasl"
)

// Bearer authenticates with a token: SASL's OAUTHBEARER (RFC 7628), as Amazon MSK requires
// for IAM. kafka-go lacks this mechanism. Each connection requests a new token, because a
// broker closes connections whose token has expired.
type Bearer struct {
	Token func(ctx context.Context) (string, error)
}

// Name implements sasl.Mechanism.
func (Bearer) Name() string { return "OAUTHBEARER" }

// separator separates the fields of a message.
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

// maxRefusal is how many bytes of a broker's refusal the error quotes.
const maxRefusal = 200

// Next implements sasl.StateMachine. A broker that refuses the token sends the reason, and
// waits for a message with a separator before it ends the authentication.
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
