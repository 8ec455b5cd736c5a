package alert

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/keyheat/keyheat/internal/alert/notify"
	"github.com/keyheat/keyheat/store"
)

// outcome is what an attempt means for its notification.
type outcome string

const (
	delivered outcome = "delivered"
	failed    outcome = "failed" // to be tried again
	dead      outcome = "dead"   // given up
	// summarised is that of one message about many.
	summarised outcome = "summarised"
)

// verdict is what to record after an attempt.
type verdict struct {
	outcome outcome
	next    time.Time
	cause   string
}

// judge decides what an attempt means. n.Attempts are the failed ones before, and
// n.Refusals those that the receiver rejected: what failed on the way says nothing
// of the next attempt.
func judge(c Config, n store.Notification, r notify.Response, now time.Time) verdict {
	if r.Err == nil {
		return verdict{outcome: delivered}
	}
	v := verdict{outcome: failed, cause: r.Err.Error(), next: now.Add(pause(c, n.Attempts))}
	if asked := retryAfter(r.RetryAfter, now); asked.After(v.next) {
		v.next = asked
	}
	switch {
	case r.Refused && n.Refusals+1 >= c.Refusals:
		v.outcome = dead
	case now.Sub(n.Created) >= c.GiveUp:
		v.outcome, v.cause = dead, fmt.Sprintf("not delivered within %s: %s", c.GiveUp, v.cause)
	}
	return v
}

// pause doubles with every failed attempt; a fifth of it is random, so that
// what failed together is not tried together for ever.
func pause(c Config, attempts int) time.Duration {
	d := c.MaxPause
	if attempts < 20 {
		d = min(d, c.MinPause<<attempts)
	}
	return d - rand.N(d/5+1)
}

// maxRetryAfter bounds how long a receiver may ask us to wait.
const maxRetryAfter = time.Hour

// retryAfter is the time that a Retry-After header asks for, in seconds or as
// an HTTP date; zero when it asks for nothing.
func retryAfter(header string, now time.Time) time.Time {
	var at time.Time
	if seconds, err := strconv.ParseUint(header, 10, 31); err == nil {
		at = now.Add(time.Duration(seconds) * time.Second)
	} else if date, err := http.ParseTime(header); err == nil {
		at = date
	}
	if latest := now.Add(maxRetryAfter); at.After(latest) {
		return latest
	}
	return at
}
