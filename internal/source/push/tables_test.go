package push_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/source/push"
	"github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/counted"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
	"github.com/keyheat/keyheat/store"
)

// tablesBatch returns a sample of each of so many tables.
func tablesBatch(prefix string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"ts":%d,"table":"%s%d","pk":"a","op":"PutItem","wcu":2,"id":"%s%d"}`+"\n", time.Now().UnixMilli(), prefix, i, prefix, i)
	}
	return b.String()
}

// TestOneUsersTablesDrownNobodyElses: a user names fifty times as many tables as there is room for.
// The response says what was refused, why, and which setting helps. Another user's tables are
// counted. A batch that is refused as a whole counts for nothing, and once when there is room.
func TestOneUsersTablesDrownNobodyElses(t *testing.T) {
	t.Parallel()
	st := openStore(t, pgtest.Quick(t))
	geometry := small
	geometry.Tables = 10
	d := openDoorWith(t, st, "one", push.Config{}, geometry)
	noisy := func(text, producer string) reply {
		return mustSend(t, d.url, text, append(numbered(producer, 1), "User", "noisy")...)
	}
	r := noisy(tablesBatch("flood", 500), "a")
	var refused int64
	for _, n := range r.Refused {
		refused += n
	}
	if r.status != 200 || *r.Counted != 10 || r.Rejected["too_many_tables"] != 490 || refused != 490 || len(r.Refused) > 65 || !strings.Contains(r.Remedy, "collect.tables") {
		t.Errorf("the flood gets %+v", r)
	}
	await.Until(t, "another user's table is counted", func() bool {
		noisy(tablesBatch("flood", 500), fmt.Sprint("b", time.Now().UnixNano()))
		r := mustSend(t, d.url, tablesBatch("orders", 1), "User", "quiet")
		return r.status == 200 && *r.Counted == 1
	})
	var whole, producer string
	leave := func(text string, headers ...string) { // before the commit
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		_, _ = send(ctx, d.url, text, append(headers, "User", "noisy")...)
	}
	await.Until(t, "a batch is refused as a whole", func() bool { // the flood has its places for two commits
		d.store.dead.Store(true)
		leave(tablesBatch("flood", 500))
		producer = fmt.Sprint("d", time.Now().UnixNano())
		whole = tablesBatch(producer, 3)
		leave(whole, numbered(producer, 1)...)
		d.store.dead.Store(false)
		r = noisy(whole, producer)
		return r.status == 429
	})
	if r.after != "10" || r.Counted != nil || !strings.Contains(r.Error, "collect.tables") || len(r.Refused) != 3 {
		t.Errorf("a batch of which nothing has room gets %+v", r)
	}
	bad, seen := badIn(t, st), counted.Requests(t, st)
	await.Until(t, "there is room again", func() bool {
		r = noisy(whole, producer)
		return r.status == 200
	})
	rejected := r.Rejected["too_many_tables"]
	if *r.Counted == 0 || *r.Counted+rejected != 3 || r.Duplicate {
		t.Errorf("sent again it gets %+v, want three samples", r)
	}
	if n, b := counted.Requests(t, st)-seen, badIn(t, st)-bad; n != *r.Counted || b != rejected {
		t.Errorf("the store has %d more samples and %d more bad ones, want %d and %d", n, b, *r.Counted, rejected)
	}
}

// badIn returns how many bad samples a store has.
func badIn(t *testing.T, st *store.Store) (n int64) {
	t.Helper()
	all, err := st.BadSamples(t.Context(), store.BadQuery{Limit: 1000})
	must.Succeed(t, err)
	for _, b := range all {
		n += b.Count
	}
	return n
}
