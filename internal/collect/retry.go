package collect

import (
	"context"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/keyheat/keyheat/internal/daemon"
	"github.com/keyheat/keyheat/store"
)

// retry calls do until it succeeds, fails for good ([backoff.Permanent]), or ctx
// ends; each attempt is bounded. Every other failure is retried: nothing is lost
// by waiting.
func (c *Collector) retry(ctx context.Context, task string, do func(context.Context) error) error {
	defer c.health.Heal(task)
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		attempt, cancel := context.WithTimeout(ctx, commitTimeout)
		defer cancel()
		return struct{}{}, do(attempt)
	}, backoff.WithBackOff(daemon.NewBackOff(100*time.Millisecond, 5*time.Second)), backoff.WithMaxElapsedTime(0), backoff.WithNotify(func(err error, _ time.Duration) {
		c.reportFailure(task, err)
	}))
	return err
}

// reportFailure records, counts and, when it is news, logs a failed attempt.
func (c *Collector) reportFailure(task string, err error) {
	kind := "error"
	if errors.Is(err, store.ErrUnavailable) {
		kind = "unavailable"
	}
	c.failures.WithLabelValues(kind).Inc()
	if c.health.Fail(task, err.Error()) {
		c.log.Warn("store request failed; it will be retried", "task", task, "error", err)
	}
}
