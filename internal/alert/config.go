package alert

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// Defaults of Config.
const (
	DefaultRoute    = "webhook"
	defaultTimeout  = 10 * time.Second
	defaultPoll     = time.Second
	defaultMinPause = 5 * time.Second
	defaultMaxPause = 15 * time.Minute
	defaultRefusals = 5
	defaultGiveUp   = 24 * time.Hour
	maxResponse     = 64 << 10
)

// Config is one webhook. A zero field takes its default, except the URL.
type Config struct {
	// Route names it in the outbox: what the judge writes for this route is
	// delivered here.
	Route string
	// URL is where to POST, http or https.
	URL string
	// Secret signs every message: "whsec_" and 24 to 64 bytes in base64, as
	// Standard Webhooks writes it. Empty for none.
	Secret string
	// Pages is the address at which people reach the pages, for links; empty for none.
	Pages string
	// Timeout bounds one attempt, from dialling to the end of the response.
	Timeout time.Duration
	// Poll is how often the outbox is read.
	Poll time.Duration
	// MinPause and MaxPause bound the pause after a failed attempt, which
	// doubles every time.
	MinPause, MaxPause time.Duration
	// Refusals is how often a receiver may reject a notification (a status that
	// is neither success nor temporary) before it is dropped.
	Refusals int
	// GiveUp is the age at which a notification is dropped whatever the cause: a
	// page from yesterday helps no one.
	GiveUp time.Duration

	holder string
}

func (c Config) withDefaults() Config {
	c.Route = cmp.Or(c.Route, DefaultRoute)
	c.Timeout = cmp.Or(c.Timeout, defaultTimeout)
	c.Poll = cmp.Or(c.Poll, defaultPoll)
	c.MinPause = cmp.Or(c.MinPause, defaultMinPause)
	c.MaxPause = cmp.Or(c.MaxPause, max(defaultMaxPause, c.MinPause))
	c.Refusals = cmp.Or(c.Refusals, defaultRefusals)
	c.GiveUp = cmp.Or(c.GiveUp, defaultGiveUp)
	return c
}

// Validate returns everything that is wrong with a configuration; no error holds
// the secret, nor the URL's password.
func (c Config) Validate() error {
	c = c.withDefaults()
	var wrong []error
	u, err := url.Parse(c.URL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		wrong = append(wrong, errors.New(`webhook url: give a whole one, as in "https://hooks.example.com/keyheat"`))
	}
	if err := ValidatePages(c.Pages); err != nil {
		wrong = append(wrong, err)
	}
	if _, err := key(c.Secret); err != nil {
		wrong = append(wrong, err)
	}
	if min(c.Timeout, c.Poll, c.MinPause, c.MaxPause, c.GiveUp) < 0 || c.Refusals < 0 {
		wrong = append(wrong, errors.New("webhook: give no negative duration or count"))
	}
	if c.MaxPause < c.MinPause {
		wrong = append(wrong, fmt.Errorf("webhook max pause %s: give at least the min pause, %s", c.MaxPause, c.MinPause))
	}
	return errors.Join(wrong...)
}

// ValidatePages returns what is wrong with the address of the pages; nil for none.
func ValidatePages(address string) error {
	u, err := url.Parse(address)
	sound := err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil && u.RawQuery == "" && u.Fragment == ""
	if address != "" && !sound {
		return fmt.Errorf("%q is no address of the pages: write it as https://keyheat.example.com", address)
	}
	return nil
}

// key is the secret's bytes; none for no secret.
func key(secret string) ([]byte, error) {
	if secret == "" {
		return nil, nil
	}
	text, ok := strings.CutPrefix(secret, "whsec_")
	b, err := base64.StdEncoding.DecodeString(text)
	if !ok || err != nil || len(b) < 24 || len(b) > 64 {
		return nil, errors.New(`not a secret of Standard Webhooks: give "whsec_" and 24 to 64 random bytes in base64`)
	}
	return b, nil
}
