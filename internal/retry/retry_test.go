package retry_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/keyheat/keyheat/internal/retry"
)

func TestPauseEndsWithItsTimeOrItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		retry.Pause(t.Context(), time.Minute)
		if waited := time.Since(start); waited != time.Minute {
			t.Errorf("waited %s, want a minute", waited)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		retry.Pause(ctx, time.Hour)
		if waited := time.Since(start); waited != time.Minute+time.Second {
			t.Errorf("waited %s in all, want until the context ended", waited)
		}
	})
}

func TestCauseIsTheErrorThatWasMarked(t *testing.T) {
	t.Parallel()
	bad := errors.New("bad")
	if got := retry.Cause(backoff.Permanent(bad)); got != bad { //nolint:errorlint // the very error, unmarked
		t.Errorf("got %v, want the error itself", got)
	}
	if got := retry.Cause(bad); got != bad { //nolint:errorlint // the very error
		t.Errorf("got %v, want the error itself", got)
	}
}
