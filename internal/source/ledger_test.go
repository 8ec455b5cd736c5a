package source_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/source"
)

// ledger is a store as small as can be: positions moved by compare-and-swap
// under an epoch, and every value that was counted with them.
type ledger struct {
	mu      sync.Mutex
	entries map[string]*entry
	counted map[string]int
	gaps    []source.Gap
	folded  []source.Batch // without messages
	claims  int
	away    bool // the store cannot be reached
}

type entry struct {
	next     string
	epoch    int
	released int
}

func newLedger() *ledger {
	return &ledger{entries: make(map[string]*entry), counted: make(map[string]int)}
}

// steal raises a partition's epoch, as another owner's claim does.
func (l *ledger) steal(partition string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries[partition].epoch++
}

func (l *ledger) Claim(ctx context.Context, partition, first string) (source.Partition, error) {
	if err := l.reach(ctx); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.entries[partition]
	if e == nil {
		e = &entry{next: first}
		l.entries[partition] = e
	}
	e.epoch++
	l.claims++
	return &claimed{ledger: l, entry: e, epoch: e.epoch, stored: e.next, at: e.next, since: time.Now()}, nil
}

// reach waits while the store is away.
func (l *ledger) reach(ctx context.Context) error {
	for {
		l.mu.Lock()
		away := l.away
		l.mu.Unlock()
		if !away {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// claimed commits every 20 ms and on release, all or nothing.
type claimed struct {
	ledger     *ledger
	entry      *entry
	epoch      int
	stored, at string
	pending    []string
	gaps       []source.Gap
	since      time.Time
}

func (c *claimed) Position() string  { return c.at }
func (c *claimed) Committed() string { return c.stored }

func (c *claimed) Fold(ctx context.Context, b source.Batch) error {
	if err := c.ledger.reach(ctx); err != nil {
		return err
	}
	if b.Messages != nil {
		for m := range b.Messages {
			if m.Fault != "" {
				c.pending = append(c.pending, "fault: "+m.Fault)
				continue
			}
			c.pending = append(c.pending, string(m.Value))
		}
	}
	c.at = b.Next
	b.Messages = nil
	c.ledger.mu.Lock()
	c.ledger.folded = append(c.ledger.folded, b)
	c.ledger.mu.Unlock()
	if time.Since(c.since) < 20*time.Millisecond {
		return nil
	}
	return c.commit()
}

func (c *claimed) Gap(_ context.Context, g source.Gap) error {
	c.gaps = append(c.gaps, g)
	c.at = g.To
	return c.commit()
}

func (c *claimed) Release(context.Context) error {
	err := c.commit()
	c.ledger.mu.Lock()
	defer c.ledger.mu.Unlock()
	c.entry.released++
	return err
}

func (c *claimed) commit() error {
	l := c.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.entry.epoch != c.epoch || c.entry.next != c.stored {
		return source.ErrReclaim
	}
	for _, v := range c.pending {
		l.counted[v]++
	}
	l.gaps = append(l.gaps, c.gaps...)
	c.pending, c.gaps, c.since = nil, nil, time.Now()
	c.entry.next, c.stored = c.at, c.at
	return nil
}

// total is how many values were counted, and how many of them are different.
func (l *ledger) total() (all, different int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, n := range l.counted {
		all += n
	}
	return all, len(l.counted)
}

// expect waits until n different values are counted, and fails when one was
// counted twice.
func (l *ledger) expect(t *testing.T, n int) {
	t.Helper()
	eventually(t, "all values counted", func() bool { _, different := l.total(); return different >= n })
	if all, different := l.total(); all != n || different != n {
		t.Errorf("%d values counted, %d different, want %d of each", all, different, n)
	}
}

func (l *ledger) recordedGaps() []source.Gap {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]source.Gap(nil), l.gaps...)
}

// with runs f under the ledger's lock.
func (l *ledger) with(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; {
		if ok() {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("not in 30 s: %s", what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
