package store_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/daemon"
	"github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/store"
)

// holdLease is the child of TestAKilledHolderIsFollowedAtOnce: it takes a lease for an hour,
// and waits to be killed, or for the end of its parent.
func holdLease(url string) error {
	ctx := context.Background()
	s, err := store.Open(ctx, url, store.Options{})
	if err != nil {
		return err
	}
	s.Listen(ctx)
	for s.Session() == 0 {
		daemon.Pause(ctx, time.Millisecond)
	}
	if _, ok, err := s.AcquireLease(ctx, "judge", "child", time.Hour); err != nil || !ok {
		return errors.Join(err, errors.New("no lease"))
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// TestAKilledHolderIsFollowedAtOnce kills the process that holds a lease for an hour with
// SIGKILL. Another one has the lease as soon as the server notices.
func TestAKilledHolderIsFollowedAtOnce(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, url string) {
		s := mustOpen(t, url)
		child := exec.CommandContext(t.Context(), os.Args[0])
		child.Env = append(os.Environ(), "STORE_TEST_HOLD="+url)
		_, err := child.StdinPipe()
		must.Succeed(t, errors.Join(err, child.Start()))
		db := raw(t, url)
		await.Until(t, "the child has the lease", func() bool {
			var holder string
			_ = db.QueryRowContext(t.Context(), `SELECT holder FROM leases WHERE name = 'judge'`).Scan(&holder)
			return holder == "child"
		})
		if _, ok, err := s.AcquireLease(t.Context(), "judge", "other", time.Minute); ok || err != nil {
			t.Fatalf("while the holder lives another one has its lease: %t, %v", ok, err)
		}
		must.Succeed(t, child.Process.Kill())
		_ = child.Wait()
		await.Until(t, "another one has the lease, which itself ends after an hour", func() bool {
			_, ok, err := s.AcquireLease(t.Context(), "judge", "other", time.Minute)
			must.Succeed(t, err)
			return ok
		})
	})
}

// TestALostSessionIsFenced ends the session of a holder that lives: another one takes the
// lease, and the holder can write nothing more.
func TestALostSessionIsFenced(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, url string) {
		holder, other := mustOpen(t, url), mustOpen(t, url)
		ctx, end := context.WithCancel(t.Context())
		wake := holder.Listen(ctx)
		await.Until(t, "a session", func() bool { return holder.Session() != 0 })
		lease, ok, err := holder.AcquireLease(t.Context(), "judge", "holder", time.Hour)
		if err != nil || !ok {
			t.Fatalf("lease: %t, %v", ok, err)
		}
		if _, ok, err := other.AcquireLease(t.Context(), "judge", "other", time.Hour); ok || err != nil {
			t.Fatalf("two have the lease: %v", err)
		}
		end()
		for range wake { // until it is closed
		}
		await.Until(t, "the other one has the lease", func() bool { // a server notices the end a moment later
			_, taken, err := other.AcquireLease(t.Context(), "judge", "other", time.Hour)
			must.Succeed(t, err)
			return taken
		})
		if err := holder.Judge(t.Context(), lease, store.Judgement{}); !errors.Is(err, store.ErrLeaseLost) {
			t.Errorf("the former holder's write returns %v, want ErrLeaseLost", err)
		}
	})
}

func mustOpen(t *testing.T, url string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), url, store.Options{Migrate: true})
	must.Succeed(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestARenewalThatWaitsIsWhole: a judgement holds the lease's row, perhaps for longer than the
// lease. The renewal that waits for it counts from then.
func TestARenewalThatWaitsIsWhole(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, url string) {
		const ttl = time.Hour
		s := mustOpen(t, url)
		lease, ok, err := s.AcquireLease(t.Context(), "judge", "holder", ttl)
		if err != nil || !ok {
			t.Fatalf("lease: %t, %v", ok, err)
		}
		judging, err := raw(t, url).BeginTx(t.Context(), nil)
		if err == nil {
			_, err = judging.ExecContext(t.Context(), `UPDATE leases SET writes = writes WHERE name = 'judge'`)
		}
		must.Succeed(t, err)
		begun, renewed := make(chan struct{}), make(chan error)
		go func() {
			close(begun)
			lease, err = s.RenewLease(t.Context(), lease, ttl)
			renewed <- err
		}()
		<-begun
		if !strings.HasPrefix(url, "sqlite:") {
			waitForLock(t, url)
		}
		now, nowErr := s.Now(t.Context())
		must.Succeed(t, errors.Join(nowErr, judging.Commit(), <-renewed))
		if lease.Expires.Before(now.Add(ttl)) {
			t.Errorf("the lease ends at %s, of an hour after %s", lease.Expires, now)
		}
	})
}
