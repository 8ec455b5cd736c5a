package daemon_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keyheat/keyheat/internal/daemon"
)

func TestWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun, signal := time.Now(), make(chan struct{}, 1)
		daemon.Signal(signal)
		daemon.Signal(signal) // one that is pending is enough
		daemon.Wait(t.Context(), time.Hour, signal)
		if took := time.Since(begun); took != 0 {
			t.Errorf("waited %s for a signal that was there", took)
		}
		daemon.Wait(t.Context(), time.Hour, signal)
		if took := time.Since(begun); took != time.Hour {
			t.Errorf("waited %s without a signal, want an hour", took)
		}
	})
}

func TestEvery(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var at []time.Duration
		begun := time.Now()
		daemon.Every(ctx, time.Minute, func(context.Context) {
			if at = append(at, time.Since(begun)); len(at) == 3 {
				cancel()
			}
		})
		if len(at) != 3 || at[0] != 0 || at[2] != 2*time.Minute {
			t.Errorf("called after %v, want at once and every minute until the end", at)
		}
	})
}

func TestWithGrace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		parent, end := context.WithCancel(t.Context())
		ctx, cancel := daemon.WithGrace(parent, time.Minute)
		defer cancel()
		end()
		time.Sleep(time.Minute - time.Nanosecond)
		if ctx.Err() != nil {
			t.Error("it ended before the grace had")
		}
		time.Sleep(time.Second)
		if ctx.Err() == nil {
			t.Error("it goes on after the grace")
		}
		again, stop := daemon.WithGrace(parent, time.Hour)
		if stop(); again.Err() == nil {
			t.Error("it goes on after it was cancelled")
		}
	})
}
