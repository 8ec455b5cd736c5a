package store_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/store"
)

// holdLease is the child of TestAKilledHolderIsFollowedAtOnce: it takes a lease for an hour,
// and waits to be killed.
func holdLease(url string) error {
	ctx := context.Background()
	s, err := store.Open(ctx, url, store.Options{})
	if err != nil {
		return err
	}
	s.Listen(ctx)
	for s.Session() == 0 {
		time.Sleep(time.Millisecond)
	}
	if _, ok, err := s.AcquireLease(ctx, "judge", "child", time.Hour); err != nil || !ok {
		return errors.Join(err, errors.New("no lease"))
	}
	time.Sleep(time.Hour)
	return nil
}

// TestAKilledHolderIsFollowedAtOnce kills the process that holds a lease for an hour with
// SIGKILL. Another one, asking each second at most, has the lease within two.
func TestAKilledHolderIsFollowedAtOnce(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, url string) {
		s := mustOpen(t, url)
		child := exec.CommandContext(t.Context(), os.Args[0])
		child.Env = append(os.Environ(), "STORE_TEST_HOLD="+url)
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		db := raw(t, url)
		for holder := ""; holder != "child"; time.Sleep(10 * time.Millisecond) {
			if t.Context().Err() != nil {
				t.Fatal("the child takes no lease")
			}
			_ = db.QueryRowContext(t.Context(), `SELECT holder FROM leases WHERE name = 'judge'`).Scan(&holder)
		}
		if _, ok, err := s.AcquireLease(t.Context(), "judge", "other", time.Minute); ok || err != nil {
			t.Fatalf("while the holder lives another one has its lease: %t, %v", ok, err)
		}
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		killed := time.Now()
		_ = child.Wait()
		for {
			_, ok, err := s.AcquireLease(t.Context(), "judge", "other", time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			if ok {
				break
			}
			if time.Since(killed) > 20*time.Second { // the lease itself would end after a minute
				t.Fatal("nobody has the lease after 20 s")
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Logf("%s: after %s", strings.Split(url, ":")[0], time.Since(killed))
	})
}

// TestALostSessionIsFenced ends the session of a holder that lives: another one takes the
// lease, and the holder can write nothing more.
func TestALostSessionIsFenced(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, url string) {
		holder, other := mustOpen(t, url), mustOpen(t, url)
		ctx, end := context.WithCancel(t.Context())
		wake := holder.Listen(ctx)
		for holder.Session() == 0 {
			time.Sleep(time.Millisecond)
		}
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
		for taken := false; !taken; time.Sleep(time.Millisecond) { // a server notices the end a moment later
			if _, taken, err = other.AcquireLease(t.Context(), "judge", "other", time.Hour); err != nil {
				t.Fatal(err)
			}
		}
		if err := holder.Judge(t.Context(), lease, store.Judgement{}); !errors.Is(err, store.ErrLeaseLost) {
			t.Errorf("the former holder's write returns %v, want ErrLeaseLost", err)
		}
	})
}

func mustOpen(t *testing.T, url string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), url, store.Options{Migrate: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestARenewalThatWaitsIsWhole: a judgement holds the lease's row for longer than the lease. The
// renewal that waits for it counts from then, so that another process takes no lease.
func TestARenewalThatWaitsIsWhole(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, url string) {
		const ttl = time.Second
		s := mustOpen(t, url)
		lease, ok, err := s.AcquireLease(t.Context(), "judge", "holder", ttl)
		if err != nil || !ok {
			t.Fatalf("lease: %t, %v", ok, err)
		}
		judging, err := raw(t, url).BeginTx(t.Context(), nil)
		if err == nil {
			_, err = judging.ExecContext(t.Context(), `UPDATE leases SET writes = writes WHERE name = 'judge'`)
		}
		if err != nil {
			t.Fatal(err)
		}
		renewed := make(chan error)
		go func() {
			_, err := s.RenewLease(t.Context(), lease, ttl)
			renewed <- err
		}()
		time.Sleep(2 * ttl)
		if err := judging.Commit(); err != nil {
			t.Fatal(err)
		}
		if err := <-renewed; err != nil {
			t.Fatal(err)
		}
		if _, ok, err := s.AcquireLease(t.Context(), "judge", "other", ttl); ok || err != nil {
			t.Errorf("another has the lease that was just renewed: %t, %v", ok, err)
		}
	})
}
