package judge_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/judge"
	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// passes is a store that knows the round trips of each pass that has read something.
type passes struct {
	*store.Store
	turns *atomic.Int64
	mu    sync.Mutex
	began int64
	busy  bool
	each  []int64
}

func (p *passes) Read(ctx context.Context, after map[string]int64, l store.ReadLimit) (store.Snapshot, error) {
	p.mu.Lock()
	now := p.turns.Load()
	if p.busy {
		p.each = append(p.each, now-p.began)
	}
	p.began = now
	p.mu.Unlock()
	snap, err := p.Store.Read(ctx, after, l)
	p.mu.Lock()
	p.busy = err == nil && len(snap.Deltas) > 0
	p.mu.Unlock()
	return snap, err
}

// count returns how many passes have read something.
func (p *passes) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.each)
}

// TestRoundTripsDoNotGrowWithTables: a database may be far away, and a pass of many tables
// must not take longer for that.
func TestRoundTripsDoNotGrowWithTables(t *testing.T) {
	t.Parallel()
	few, many := 5, 100
	if testing.Short() {
		few, many = 2, 20
	}
	atFew, atMany := mostRoundTrips(t, few), mostRoundTrips(t, many)
	t.Logf("round trips of a pass, at most: %d with %d tables, %d with %d", atFew, few, atMany, many)
	if atMany > atFew+10 || atMany == 0 {
		t.Errorf("a pass of %d tables takes %d round trips, one of %d tables %d", many, atMany, few, atFew)
	}
}

// mostRoundTrips returns how many round trips a pass takes at most: one of so many tables
// with a hot key each.
func mostRoundTrips(t *testing.T, tables int) (most int64) {
	database := pgtest.Database(t)
	direct, start := open(t, database), begin()
	counter, through := pgtest.Turns(t, database)
	p := &passes{Store: open(t, through), turns: counter}
	c := quick()
	c.Poll, c.ViewDelay, c.Lease = 50*time.Millisecond, time.Minute, time.Minute
	j, err := judge.New(c, p, "judge", slog.New(slog.DiscardHandler))
	must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() { _ = j.Run(ctx) })
	defer group.Wait()
	defer stop()
	writer := collect(t, direct, "a", 0, start)
	// A minute turns in the second half: by then all statements are known to the connections.
	const seconds = 66
	for second := range seconds {
		for n := range tables {
			units := 5
			if second >= 20 && second < 40 {
				units = 1200
			}
			must(t, writer.shard.Add(&sample.Record{
				Time: start.Add(time.Duration(second) * time.Second).UnixMilli(), Table: fmt.Sprint("table-", n), PK: sample.KeyString("k"),
				Op: sample.UpdateItem, WCU: sample.Milli(units) * 1000, Rate: 1, N: 1,
			}))
		}
		before := p.count()
		writer.commit(second + 1)
		await(t, func() bool { return p.count() > before })
	}
	must(t, ctx.Err())
	for _, n := range p.each[10:] {
		most = max(most, n)
	}
	return most
}
