package collect

import (
	"context"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/keyheat/keyheat/store"
)

// insist does something with the store until it succeeds, is refused for good
// (backoff.Permanent), or ctx ends; each attempt is bounded. Whatever else goes
// wrong is waited out: nothing is lost by waiting.
func (c *Collector) insist(ctx context.Context, task string, do func(context.Context) error) error {
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.MaxInterval = 100*time.Millisecond, 5*time.Second
	defer c.health.Heal(task)
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		attempt, cancel := context.WithTimeout(ctx, c.config.CommitTimeout)
		defer cancel()
		return struct{}{}, do(attempt)
	}, backoff.WithBackOff(wait), backoff.WithMaxElapsedTime(0), backoff.WithNotify(func(err error, _ time.Duration) {
		c.trouble(task, err)
	}))
	return err
}

// trouble notes, counts and, when it is news, logs a failed attempt.
func (c *Collector) trouble(task string, err error) {
	kind := "error"
	if errors.Is(err, store.ErrUnavailable) {
		kind = "unavailable"
	}
	c.failures.WithLabelValues(kind).Inc()
	if c.health.Fail(task, err.Error()) {
		c.log.Warn("the store does not take what was gathered; it waits", "task", task, "error", err)
	}
}
