package daemon

import (
	"context"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// Pause waits for d, or until ctx ends.
func Pause(ctx context.Context, d time.Duration) { Wait(ctx, d, nil) }

// Wait waits for d, a signal, or until ctx ends, whichever comes first.
func Wait(ctx context.Context, d time.Duration, signal <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-signal:
	case <-timer.C:
	}
}

// Signal asks whoever waits for a channel of one place to go on. One request that is
// pending is enough.
func Signal(to chan<- struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}

// Drain takes a request back that nobody has received yet.
func Drain(from <-chan struct{}) {
	select {
	case <-from:
	default:
	}
}

// Every calls do now and then at every interval, until ctx ends.
func Every(ctx context.Context, interval time.Duration, do func(context.Context)) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		do(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// WithGrace returns a context that ends some time after its parent does.
func WithGrace(parent context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(parent))
	stop := context.AfterFunc(parent, func() {
		Pause(ctx, grace)
		cancel()
	})
	return ctx, func() { stop(); cancel() }
}

// NewBackOff returns pauses that grow from first to longest.
func NewBackOff(first, longest time.Duration) *backoff.ExponentialBackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval, b.MaxInterval = first, longest
	return b
}

// UnwrapPermanent returns the error that ended a retry, without the mark of [backoff.Permanent].
func UnwrapPermanent(err error) error {
	if permanent, marked := errors.AsType[*backoff.PermanentError](err); marked {
		return permanent.Unwrap()
	}
	return err
}
