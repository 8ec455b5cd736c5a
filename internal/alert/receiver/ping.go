package receiver

import (
	"context"
	"errors"
	"net/http"
)

// Ping posts an empty body to a URL, a sign of life for dead man's switches such as
// healthchecks.io.
type Ping struct {
	client
	url string
}

// NewPing returns a ping of a URL. It refuses the same addresses as receivers do.
func NewPing(to string) (*Ping, error) {
	if to == "" {
		return nil, errors.New("missing: give the URL to ping")
	}
	if err := checkURL(to); err != nil {
		return nil, err
	}
	return &Ping{client: newClient(ownLog), url: to}, nil
}

// Send makes one attempt. No error holds the URL, since it is a secret, or the answer.
func (p *Ping) Send(ctx context.Context) error {
	got, _ := p.sendBytes(ctx, http.MethodPost, p.url, nil, http.Header{"Content-Type": {"text/plain"}})
	return got.Err
}
