package alert

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/keyheat/keyheat/internal/alert/receiver"
	"github.com/keyheat/keyheat/store"
)

type outcome string

const (
	delivered outcome = "delivered"
	failed    outcome = "failed" // to be tried again
	dead      outcome = "dead"   // given up
	// summarised is the outcome of one message about many.
	summarised outcome = "summarised"
)

// verdict is the record of an attempt. next is zero if the notification waits only for
// its receiver.
type verdict struct {
	outcome outcome
	next    time.Time
	cause   string
}

// judge decides the outcome of an attempt. n.Attempts are the failed ones before, and
// n.Refusals the rejected ones: an attempt that failed on the way proves nothing about
// the next one. failures counts the receiver's failed attempts since it last took a
// notification, with this one. If n was rejected more often, the receiver took another
// one in between, so n is at fault; otherwise the receiver may reject everything, as with
// a revoked token, and n is kept.
func judge(c Config, n store.Notification, r receiver.Response, failures int, now time.Time) verdict {
	if r.Err == nil {
		return verdict{outcome: delivered}
	}
	v := verdict{outcome: failed, cause: r.Err.Error()}
	atFault, longest := r.Refused && n.Refusals+1 > failures, c.MaxPause
	if atFault {
		longest = maxRefusedPause
	}
	if r.Refused {
		v.next = now.Add(pauseAfter(r, c.MinPause, longest, n.Refusals, now))
	}
	switch {
	case atFault && n.Refusals+1 >= c.Refusals:
		v.outcome = dead
	case now.Sub(n.Created) >= c.GiveUp:
		v.outcome, v.cause = dead, fmt.Sprintf("not delivered within %s: %s", c.GiveUp, v.cause)
	}
	return v
}

// maxRefusedPause bounds the pause of a notification that its receiver rejects while it
// takes others.
const maxRefusedPause = 15 * time.Minute

// pauseAfter is the pause after a failed attempt: it doubles with every failure before,
// and is at least the receiver's requested pause. A fifth is random, so that routes which
// failed together do not retry together for ever.
func pauseAfter(r receiver.Response, shortest, longest time.Duration, failures int, now time.Time) time.Duration {
	d := longest
	if failures < 20 {
		d = min(d, shortest<<failures)
	}
	return max(d-rand.N(d/5+1), retryAfter(r.RetryAfter, now).Sub(now))
}

// maxRetryAfter bounds how long a receiver may ask us to wait: a critical incident may wait
// for it, and one attempt in that time burdens nobody.
const maxRetryAfter = 30 * time.Second

// retryAfter is the time that a Retry-After header asks for, in seconds or as
// an HTTP date; zero when it asks for nothing.
func retryAfter(header string, now time.Time) time.Time {
	var at time.Time
	if seconds, err := strconv.ParseUint(header, 10, 31); err == nil || errors.Is(err, strconv.ErrRange) { // seconds is the most then
		at = now.Add(time.Duration(seconds) * time.Second)
	} else if date, err := http.ParseTime(header); err == nil {
		at = date
	}
	if latest := now.Add(maxRetryAfter); at.After(latest) {
		return latest
	}
	return at
}
