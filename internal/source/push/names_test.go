package push_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/source/push"
	"github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/counted"
	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
	"github.com/keyheat/keyheat/store"
)

// TestOneUsersNamesLockNobodyElseOut: a user has used up the names of producers. New ones of this
// user are refused, and nobody else's; known ones go on.
func TestOneUsersNamesLockNobodyElseOut(t *testing.T) {
	t.Parallel()
	st := openStore(t, pgtest.Quick(t))
	d := openDoor(t, st, "one", push.Config{MaxNames: 5})
	sendAs := func(user, producer string, sequence, status int) reply {
		t.Helper()
		r := mustSend(t, d.url, batch(1), append(numbered(producer, sequence), "User", user)...)
		if r.status != status {
			t.Errorf("batch %d of %s of user %q: %+v, want %d", sequence, producer, user, r, status)
		}
		return r
	}
	for i := range 5 {
		sendAs("noisy", fmt.Sprint("p", i), 1, 200)
	}
	for i := range 20 {
		if r := sendAs("noisy", fmt.Sprint("new", i), 1, 429); r.after != "60" || r.Error == "" {
			t.Errorf("a refused name gets %+v", r)
		}
	}
	sendAs("noisy", "p4", 2, 200)
	sendAs("quiet", "p4", 1, 200) // a name of its own
	sendAs("", "p4", 1, 200)
	sendAs("another/one", "p", 1, 200)
	if n := counted.Requests(t, st); n != 9 {
		t.Errorf("the store has %d samples, want 9", n)
	}
}

// TestShortLivedProducersHaveFiveTimesTheRoom: a fleet of functions has many producers, which do not
// take the room of the lasting ones.
func TestShortLivedProducersHaveFiveTimesTheRoom(t *testing.T) {
	t.Parallel()
	st := openStore(t, pgtest.Quick(t))
	d := openDoor(t, st, "one", push.Config{MaxNames: 2})
	short := func(name string, sequence int) reply {
		return mustSend(t, d.url, batch(sequence), append(numbered(name, sequence), "Keyheat-Producer-Life", "short", "User", "orders")...)
	}
	for i := range 10 {
		if r := short(fmt.Sprint("f", i), 1); r.status != 200 || r.Delivery != "exactly_once" {
			t.Errorf("function %d: %+v", i, r)
		}
	}
	if r := short("f10", 1); r.status != 429 || !strings.Contains(r.Error, "10 producers' names, and none was idle for 15 min") {
		t.Errorf("one function too many: %+v", r)
	}
	if r := short("f9", 2); r.status != 200 {
		t.Errorf("a function's next batch: %+v", r)
	}
	if r := short("f9", 1); r.status != 409 {
		t.Errorf("a function's first batch again: %+v", r)
	}
	if r := mustSend(t, d.url, batch(1), append(numbered("f9", 1), "User", "orders")...); r.status != 200 {
		t.Errorf("a lasting producer of a function's name: %+v", r)
	}
	if r := mustSend(t, d.url, batch(1), append(numbered("f11", 1), "Keyheat-Producer-Life", "long")...); r.status != 400 || !strings.Contains(r.Error, "short") {
		t.Errorf("another life: %+v", r)
	}
}

// crowd is a store that holds the lookups of one user's producers until it is released.
type crowd struct {
	*store.Store
	prefix  string
	release chan struct{}
	now     atomic.Int32
	most    atomic.Int32
}

func (c *crowd) Producer(ctx context.Context, names ...string) (store.Position, error) {
	if strings.HasPrefix(names[0], c.prefix) {
		for now, most := c.now.Add(1), c.most.Load(); now > most && !c.most.CompareAndSwap(most, now); most = c.most.Load() {
		}
		defer c.now.Add(-1)
		select {
		case <-c.release:
		case <-ctx.Done():
			return store.Position{}, ctx.Err()
		}
	}
	return c.Store.Producer(ctx, names...)
}

// TestOneUsersLookupsHoldNobodyElse: a user's many producers are looked up a few at a time, and
// leave turns to another user's.
func TestOneUsersLookupsHoldNobodyElse(t *testing.T) {
	t.Parallel()
	st := &crowd{Store: openStore(t, pgtest.Quick(t)), prefix: "user/noisy/", release: make(chan struct{})}
	d := openDoorOn(t, st, st.Store, "one", push.Config{}, small)
	var noisy sync.WaitGroup
	for i := range 40 {
		noisy.Go(func() {
			if r, err := send(t.Context(), d.url, batch(1), append(numbered(fmt.Sprint("p", i), 1), "User", "noisy")...); err != nil || r.status != 200 {
				t.Errorf("batch of p%d: %+v, %v", i, r, err)
			}
		})
	}
	await.Until(t, "the noisy user's producers are looked up", func() bool { return st.now.Load() == 16 })
	for i := range 3 {
		if r := mustSend(t, d.url, batch(1), append(numbered("p", i+1), "User", "quiet")...); r.status != 200 {
			t.Errorf("the quiet user's batch %d: %+v", i+1, r)
		}
	}
	close(st.release)
	noisy.Wait()
	if n := st.most.Load(); n != 16 {
		t.Errorf("%d of one user's producers were looked up at once, want 16", n)
	}
}

// TestAUserKeepsTheNamesFromBefore: the positions of producers were stored before users had
// names of their own, and go on.
func TestAUserKeepsTheNamesFromBefore(t *testing.T) {
	t.Parallel()
	d := openDoor(t, openStore(t, pgtest.Quick(t)), "one", push.Config{})
	before, user := batch(1), []string{"User", "orders"}
	if r := mustSend(t, d.url, before, numbered("p", 1)...); r.status != 200 {
		t.Errorf("the batch before: %+v", r)
	}
	if r := mustSend(t, d.url, before, append(numbered("p", 1), user...)...); !r.Duplicate {
		t.Errorf("the same batch again: %+v", r)
	}
	if r := mustSend(t, d.url, batch(2), append(numbered("p", 2), user...)...); r.status != 200 || r.Delivery != "exactly_once" {
		t.Errorf("the next batch: %+v", r)
	}
}

// TestOnlyTimedBatchesMayBeForgotten: the name of a producer may give way once a repeated batch
// would be too old. A sample without a time is never too old, so its producer's name stays.
func TestOnlyTimedBatchesMayBeForgotten(t *testing.T) {
	t.Parallel()
	st := openStore(t, pgtest.Quick(t))
	d := openDoor(t, st, "one", push.Config{})
	mustSend(t, d.url, batch(1), numbered("timed", 1)...)
	untimed := `{"table":"orders","pk":"a","op":"PutItem","wcu":2}`
	mustSend(t, d.url, batch(1)+untimed, numbered("untimed", 1)...)
	if room, err := st.ProducerRoom(t.Context(), "producer/", 1, -time.Minute); room != 0 || err != nil {
		t.Errorf("there is room for %d producers, want none: %v", room, err)
	}
	for name, next := range map[string]string{"producer/timed": "", "producer/untimed": "2"} {
		if p, err := st.Producer(t.Context(), name); p.Next != next || err != nil {
			t.Errorf("%s: %+v, %v; want next %q", name, p, err, next)
		}
	}
	if r := mustSend(t, d.url, untimed, numbered("untimed", 1)...); r.status != 409 {
		t.Errorf("the untimed producer sends another batch under the number: %+v", r)
	}
	old := fmt.Sprintf(`{"ts":%d,"table":"orders","pk":"a","op":"PutItem","wcu":2}`, time.Now().Add(-time.Hour+time.Minute).UnixMilli())
	if r := mustSend(t, d.url, old, numbered("timed", 1)...); r.Rejected["too_old"] != 1 || *r.Counted != 0 {
		t.Errorf("a batch of an hour ago comes again: %+v", r)
	}
}
