package storetest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keyheat/keyheat/store"
)

var leases = []obligation{
	{"one holder at a time", leaseExclusive},
	{"an expired lease is taken, and its holder fenced", leaseExpires},
	{"a lease that was not taken is renewed after its end", leaseRenewedLate},
	{"a judgement that the database lost is told", leaseWentBack},
	{"a lease shows whether it was set back", leaseBehind},
	{"of eight that try at once one gets the lease", leaseRace},
}

func leaseExclusive(t *testing.T, s *store.Store) {
	l := lead(t, s, "a")
	near(t, "expiry", l.Expires.Add(-time.Minute))
	_, ok, err := s.AcquireLease(t.Context(), "judge", "b", time.Minute)
	must(t, err)
	equal(t, "the second gets it", ok, false)
	_, ok, err = s.AcquireLease(t.Context(), "another", "b", time.Minute)
	must(t, err)
	equal(t, "the second gets another lease", ok, true)

	renewed := value[store.Lease](t)(s.RenewLease(t.Context(), l, time.Hour))
	equal(t, "token", renewed.Token, l.Token)
	if !renewed.Expires.After(l.Expires) {
		t.Errorf("renewed it expires at %s, before at %s", renewed.Expires, l.Expires)
	}
	must(t, s.Judge(t.Context(), l, store.Judgement{}))
	must(t, s.ReleaseLease(t.Context(), renewed))
	if next := lead(t, s, "b"); next.Token <= l.Token {
		t.Errorf("the next holder's token is %d after %d, want a higher one", next.Token, l.Token)
	}
	must(t, s.ReleaseLease(t.Context(), renewed))
	_, ok, err = s.AcquireLease(t.Context(), "judge", "c", time.Minute)
	must(t, err)
	equal(t, "a late release frees the lease of another", ok, false)
}

func leaseExpires(t *testing.T, s *store.Store) {
	l, _, err := s.AcquireLease(t.Context(), "judge", "a", time.Millisecond)
	must(t, err)
	time.Sleep(20 * time.Millisecond)
	lead(t, s, "b")
	if _, err := s.RenewLease(t.Context(), l, time.Minute); !errors.Is(err, store.ErrLeaseLost) {
		t.Errorf("renewing a lost lease returns %v, want ErrLeaseLost", err)
	}
	if err := s.Judge(t.Context(), l, store.Judgement{}); !errors.Is(err, store.ErrLeaseLost) {
		t.Errorf("judging with a lost lease returns %v, want ErrLeaseLost", err)
	}
}

func leaseRenewedLate(t *testing.T, s *store.Store) {
	l, _, err := s.AcquireLease(t.Context(), "judge", "a", time.Millisecond)
	must(t, err)
	time.Sleep(20 * time.Millisecond)
	must(t, s.Judge(t.Context(), l, store.Judgement{}))
	l = value[store.Lease](t)(s.RenewLease(t.Context(), l, time.Minute))
	_, ok, err := s.AcquireLease(t.Context(), "judge", "b", time.Minute)
	must(t, err)
	equal(t, "another gets the renewed lease", ok, false)
	// The same name after a restart is a new holder.
	equal(t, "token of the restarted", lead(t, s, "a").Token, l.Token+1)
}

// leaseWentBack makes a holder know of more than the database does, as after a
// failover to a standby that is behind.
func leaseWentBack(t *testing.T, s *store.Store) {
	l := lead(t, s, "a")
	must(t, s.Judge(t.Context(), l, store.Judgement{Cursors: map[string]int64{"w": 1}}))
	l.Writes++
	must(t, s.Judge(t.Context(), l, store.Judgement{Cursors: map[string]int64{"w": 2}}))
	ahead := l
	ahead.Writes += 2
	if err := s.Judge(t.Context(), ahead, store.Judgement{Cursors: map[string]int64{"w": 9}}); !errors.Is(err, store.ErrWentBack) {
		t.Errorf("a judgement after one that is lost returns %v, want ErrWentBack", err)
	}
	if _, err := s.RenewLease(t.Context(), ahead, time.Hour); !errors.Is(err, store.ErrWentBack) {
		t.Errorf("renewing a lease whose writes are lost returns %v, want ErrWentBack", err)
	}
	must(t, s.ReleaseLease(t.Context(), ahead))
	_, others, err := s.AcquireLease(t.Context(), "judge", "b", time.Minute)
	must(t, err)
	equal(t, "one whose writes are lost is released", others, false)
	ahead.Token++
	if _, err := s.RenewLease(t.Context(), ahead, time.Minute); !errors.Is(err, store.ErrWentBack) {
		t.Errorf("renewing a lease that was not taken yet returns %v, want ErrWentBack", err)
	}
	// One that it does not know of is no reason to write over it either.
	if err := s.Judge(t.Context(), l, store.Judgement{Cursors: map[string]int64{"w": 9}}); !errors.Is(err, store.ErrLeaseLost) {
		t.Errorf("a judgement that does not know of the newest returns %v, want ErrLeaseLost", err)
	}
	equal(t, "cursors", value[map[string]int64](t)(s.Cursors(t.Context())), map[string]int64{"w": 2})
}

func leaseBehind(t *testing.T, s *store.Store) {
	first := lead(t, s, "a")
	if !first.Used.IsZero() {
		t.Errorf("a new lease was used at %s", first.Used)
	}
	must(t, s.Judge(t.Context(), first, store.Judgement{}))
	first.Writes++
	next := lead(t, s, "a")
	near(t, "used", next.Used)
	equal(t, "writes", next.Writes, 1)
	equal(t, "an older one is behind", next.IsBehind(first), true)
	equal(t, "the next is behind", first.IsBehind(next), false)
	next.Writes = 0
	equal(t, "one of fewer writes is behind", first.IsBehind(next), true)
}

func leaseRace(t *testing.T, s *store.Store) {
	var got atomic.Int64
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			_, ok, err := s.AcquireLease(t.Context(), "judge", fmt.Sprint(n), time.Minute)
			if err != nil {
				t.Error(err)
			}
			if ok {
				got.Add(1)
			}
		})
	}
	all.Wait()
	equal(t, "holders", got.Load(), 1)
}
