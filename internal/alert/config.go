package alert

import (
	"fmt"
	"net/url"
	"time"

	"github.com/keyheat/keyheat/internal/alert/receiver"
	"github.com/keyheat/keyheat/internal/settings/options"
)

// DefaultRoute is the route of a Config without one.
const DefaultRoute = "webhook"

var defaults = Config{
	Route: DefaultRoute, Timeout: 10 * time.Second, Poll: time.Second,
	MinPause: 5 * time.Second, MaxPause: 15 * time.Second, Refusals: 5, GiveUp: 24 * time.Hour,
}

// Config is one route. A zero field takes its default, except the receiver.
type Config struct {
	// Route names it in the outbox: the judge writes notifications for it under this
	// name.
	Route    string
	Receiver receiver.Settings
	// Limit is the most notifications a minute that are sent one by one; 0 for no limit.
	Limit int
	// Pages is the web pages' public address, for links; empty for none.
	Pages string
	// Timeout bounds one attempt, from dialling to the end of the response.
	Timeout time.Duration
	// Poll is how often the outbox is read, beside when [Route.Wake] asks for it.
	Poll time.Duration
	// MinPause and MaxPause bound the pause of the route after a failed attempt, which
	// doubles every time. With Timeout and Poll the longest pause is the time between two
	// attempts: at most 30 s by default, because a critical incident may wait for them.
	MinPause, MaxPause time.Duration
	// Refusals is how often a receiver may reject a notification (a status that
	// is neither success nor temporary) before it is dropped, if the receiver took
	// another one since the first.
	Refusals int
	// GiveUp is the age at which a notification is dropped for any cause: an alert from
	// yesterday helps no one.
	GiveUp time.Duration

	holder string
}

func (c Config) withDefaults() Config {
	if c.MaxPause == 0 {
		c.MaxPause = max(defaults.MaxPause, c.MinPause)
	}
	return options.OrDefault(c, defaults)
}

// Validate returns everything that is wrong with a configuration; no error holds
// the secret, nor the URL's password.
func (c Config) Validate() error {
	c = c.withDefaults()
	var faults options.Faults
	for _, fault := range receiver.Faults(c.Receiver) {
		faults.Add(fault)
	}
	faults.Add(ValidatePages(c.Pages))
	faults.Check(min(c.Timeout, c.Poll, c.MinPause, c.MaxPause, c.GiveUp) < 0 || min(c.Refusals, c.Limit) < 0, "give no negative duration or count")
	faults.Check(c.MaxPause < c.MinPause, "max pause %s: give at least the min pause, %s", c.MaxPause, c.MinPause)
	return faults.Err()
}

// ValidatePages returns the fault of the pages' address; nil for none.
func ValidatePages(address string) error {
	u, err := url.Parse(address)
	sound := err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil && u.RawQuery == "" && u.Fragment == ""
	if address != "" && !sound {
		return fmt.Errorf("%q is no address of the pages: write it as https://keyheat.example.com", address)
	}
	return nil
}
