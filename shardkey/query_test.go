package shardkey_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/keyheat/keyheat/shardkey"
)

// item is a row: its sort key and where it is.
type item struct {
	sort  int
	shard string
}

func less(a, b item) bool { return a.sort < b.sort }

// table is shards with pages and delays, as a client would see them.
type table struct {
	shards map[string][]item
	page   int
	delay  func() time.Duration
	fail   string // this shard's second page fails
	calls  atomic.Int64
	mu     sync.Mutex
	now    int
	most   int
}

var errThrottled = errors.New("throttled")

func (tb *table) fetch(ctx context.Context, name string, next any) (shardkey.Page[item], error) {
	tb.calls.Add(1)
	tb.enter(1)
	defer tb.enter(-1)
	select {
	case <-time.After(tb.delay()):
	case <-ctx.Done():
		return shardkey.Page[item]{}, ctx.Err()
	}
	from, _ := next.(int)
	if name == tb.fail && from > 0 {
		return shardkey.Page[item]{}, errThrottled
	}
	all := tb.shards[name]
	to := min(from+tb.page, len(all))
	p := shardkey.Page[item]{Items: all[from:to]}
	if to < len(all) {
		p.Next = to
	}
	return p, nil
}

func (tb *table) enter(n int) {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	tb.now += n
	tb.most = max(tb.most, tb.now)
}

// fill spreads n items with equal sort keys among them over shards.
func fill(names []string, n, page int, random *rand.Rand) *table {
	tb := &table{shards: map[string][]item{}, page: page}
	var mu sync.Mutex
	tb.delay = func() time.Duration {
		mu.Lock()
		defer mu.Unlock()
		return time.Duration(random.IntN(20)) * time.Millisecond
	}
	for range n {
		name := names[random.IntN(len(names))]
		tb.shards[name] = append(tb.shards[name], item{random.IntN(n), name})
	}
	for _, items := range tb.shards {
		slices.SortStableFunc(items, func(a, b item) int { return cmp.Compare(a.sort, b.sort) })
	}
	return tb
}

// sequential returns the order that one reader of one shard after another, sorting in
// the end, would answer.
func (tb *table) sequential(names []string) (all []item) {
	for _, name := range names {
		all = append(all, tb.shards[name]...)
	}
	slices.SortStableFunc(all, func(a, b item) int { return cmp.Compare(a.sort, b.sort) })
	return all
}

func read(t *testing.T, r shardkey.Reader[item], names []string) (got []item, failed error) {
	t.Helper()
	for it, err := range r.Query(t.Context(), names) {
		if failed != nil {
			t.Fatal("something follows an error")
		}
		if err != nil {
			failed = err
			continue
		}
		got = append(got, it)
	}
	return got, failed
}

// TestQueryEqualsSequential draws tables, pages, delays and bounds.
func TestQueryEqualsSequential(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(rt, "shards")
		rows := rapid.IntRange(0, 80).Draw(rt, "rows")
		page := rapid.IntRange(1, 7).Draw(rt, "page")
		parallel := rapid.IntRange(0, 4).Draw(rt, "parallel")
		limit := rapid.IntRange(0, 100).Draw(rt, "limit")
		seed := rapid.Uint64().Draw(rt, "seed")
		synctest.Test(t, func(t *testing.T) {
			names, _ := must(t, n, shardkey.HashNumber()).All("b")
			tb := fill(names, rows, page, rand.New(rand.NewPCG(seed, 1)))
			got, err := read(t, shardkey.Reader[item]{Fetch: tb.fetch, Less: less, Parallel: parallel, Limit: limit}, names)
			want := tb.sequential(names)
			if limit > 0 {
				want = want[:min(limit, len(want))]
			}
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf("read %v (%v), want %v", got, err, want)
			}
			if most := cmp.Or(parallel, 8); tb.most > most {
				t.Fatalf("%d queries at once, at most %d are allowed", tb.most, most)
			}
		})
	})
}

// TestQueryErrors checks that the error names the failed shard, and comes after everything
// before it.
func TestQueryErrors(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		names, _ := must(t, 4, shardkey.HashNumber()).All("b")
		tb := fill(names, 200, 5, rand.New(rand.NewPCG(7, 1)))
		tb.fail = names[2]
		got, err := read(t, shardkey.Reader[item]{Fetch: tb.fetch, Less: less}, names)
		if !errors.Is(err, errThrottled) || err.Error() != fmt.Sprintf("query shard %q: throttled", names[2]) {
			t.Fatalf("error %v", err)
		}
		if want := tb.sequential(names); !slices.Equal(got, want[:len(got)]) || len(got) == 0 {
			t.Fatalf("before the error came %v", got)
		}
	})
}

// TestQueryStops reads no further than it is asked to.
func TestQueryStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		names, _ := must(t, 8, shardkey.HashNumber()).All("b")
		tb := fill(names, 4000, 10, rand.New(rand.NewPCG(7, 1)))
		got, err := read(t, shardkey.Reader[item]{Fetch: tb.fetch, Less: less, Limit: 5}, names)
		if err != nil || len(got) != 5 {
			t.Fatalf("%d items, %v", len(got), err)
		}
		// The first page of each shard, and one read ahead.
		if calls := tb.calls.Load(); calls > 16 {
			t.Errorf("%d queries for 5 items", calls)
		}
	})
}

// TestQueryIsCancelled with the caller's context, also before anything came.
func TestQueryIsCancelled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		names, _ := must(t, 4, shardkey.HashNumber()).All("b")
		tb := fill(names, 100, 5, rand.New(rand.NewPCG(7, 1)))
		tb.delay = func() time.Duration { return time.Hour }
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var failed error
		for _, err := range (shardkey.Reader[item]{Fetch: tb.fetch, Less: less}).Query(ctx, names) {
			failed = err
		}
		if !errors.Is(failed, context.DeadlineExceeded) {
			t.Fatalf("error %v", failed)
		}
	})
}

func TestReaderIsChecked(t *testing.T) {
	t.Parallel()
	for _, r := range []shardkey.Reader[item]{{}, {Fetch: (&table{}).fetch}, {Fetch: (&table{}).fetch, Less: less, Parallel: -1}} {
		if _, err := read(t, r, nil); err == nil {
			t.Errorf("%+v is accepted", r)
		}
	}
}
