// Package sinktest is a source.Sink for the tests of sources: it keeps positions
// and counts values in memory.
package sinktest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/sample"
)

// Recorder is a source.Sink that records what it takes: positions, moved by
// compare-and-swap under an epoch, and every value that was counted with them.
// Tests that run beside a source read its fields inside [Recorder.With].
type Recorder struct {
	mu sync.Mutex
	// Entries are the partitions, by name.
	Entries map[string]*Entry
	// Counted is how often each value was counted.
	Counted map[string]int
	gaps    []sample.Gap
	// Folded are the batches, without their messages.
	Folded []source.Batch
	// Claims is how many claims there were.
	Claims int
	// Away makes every call wait, as while a store cannot be reached.
	Away bool
}

// Entry is one partition.
type Entry struct {
	// Next is the stored position.
	Next string
	// Mark is the source's note that is stored with it.
	Mark string
	// Log is what the newest claim told of the log.
	Log   source.Log
	epoch int
	// Released is how many handles were released.
	Released int
}

// New returns an empty recorder.
func New() *Recorder {
	return &Recorder{Entries: make(map[string]*Entry), Counted: make(map[string]int)}
}

// Steal raises a partition's epoch, as another owner's claim does.
func (r *Recorder) Steal(partition string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Entries[partition].epoch++
}

// Claim implements source.Sink.
func (r *Recorder) Claim(ctx context.Context, c source.Claim) (source.Partition, error) {
	if err := r.reach(ctx); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.Entries[c.Partition]
	if e == nil {
		e = &Entry{Next: c.First}
		r.Entries[c.Partition] = e
	}
	if e.Log.ID != "" && c.Log.ID != "" && e.Log.ID != c.Log.ID {
		r.gaps = append(r.gaps, sample.Gap{Partition: c.Partition, From: e.Next, To: c.Log.Start, Reason: "created again"})
		e.Next, e.Mark = c.Log.Start, ""
	}
	e.Log = c.Log
	e.epoch++
	r.Claims++
	return &handle{recorder: r, entry: e, epoch: e.epoch, stored: e.Next, at: e.Next, mark: e.Mark, since: time.Now()}, nil
}

// reach waits while the store is away.
func (r *Recorder) reach(ctx context.Context) error {
	for {
		r.mu.Lock()
		away := r.Away
		r.mu.Unlock()
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

// handle commits every 20 ms and on release, all or nothing.
type handle struct {
	recorder   *Recorder
	entry      *Entry
	epoch      int
	stored, at string
	mark       string
	pending    []string
	gaps       []sample.Gap
	since      time.Time
}

// Position implements source.Partition.
func (h *handle) Position() string { return h.at }

// Mark implements source.Partition.
func (h *handle) Mark() string { return h.mark }

// Committed implements source.Partition.
func (h *handle) CommittedPosition() string { return h.stored }

// Fold implements source.Partition.
func (h *handle) Fold(ctx context.Context, b source.Batch) error {
	if err := h.recorder.reach(ctx); err != nil {
		return err
	}
	if b.Messages != nil {
		for m := range b.Messages {
			if m.Fault != "" {
				h.pending = append(h.pending, "fault: "+m.Fault)
				continue
			}
			h.pending = append(h.pending, string(m.Value))
		}
	}
	h.at, h.mark = b.Next, b.Mark
	b.Messages = nil
	h.recorder.mu.Lock()
	h.recorder.Folded = append(h.recorder.Folded, b)
	h.recorder.mu.Unlock()
	if time.Since(h.since) < 20*time.Millisecond {
		return nil
	}
	return h.commit()
}

// Gap implements source.Partition. A gap is counted at once.
func (h *handle) Gap(_ context.Context, g sample.Gap) error {
	h.gaps = append(h.gaps, g)
	h.at, h.mark = g.To, ""
	return h.commit()
}

// Release implements source.Partition.
func (h *handle) Release(context.Context) error {
	err := h.commit()
	h.recorder.mu.Lock()
	defer h.recorder.mu.Unlock()
	h.entry.Released++
	return err
}

func (h *handle) commit() error {
	r := h.recorder
	r.mu.Lock()
	defer r.mu.Unlock()
	if h.entry.epoch != h.epoch || h.entry.Next != h.stored {
		return source.ErrReclaim
	}
	for _, v := range h.pending {
		r.Counted[v]++
	}
	r.gaps = append(r.gaps, h.gaps...)
	h.pending, h.gaps, h.since = nil, nil, time.Now()
	h.entry.Next, h.entry.Mark, h.stored = h.at, h.mark, h.at
	return nil
}

// Total returns how many values were counted, and how many of them are different.
func (r *Recorder) Total() (all, different int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range r.Counted {
		all += n
	}
	return all, len(r.Counted)
}

// Expect waits until n different values are counted, and fails when one was
// counted twice.
func (r *Recorder) Expect(t *testing.T, n int) {
	t.Helper()
	Eventually(t, "all values counted", func() bool { _, different := r.Total(); return different >= n })
	if all, different := r.Total(); all != n || different != n {
		t.Errorf("%d values counted, %d different, want %d of each", all, different, n)
	}
}

// Gaps returns the gaps that were recorded.
func (r *Recorder) Gaps() []sample.Gap {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]sample.Gap(nil), r.gaps...)
}

// OnlyGap returns the one gap that was recorded; any other number fails the test.
func (r *Recorder) OnlyGap(t *testing.T) sample.Gap {
	t.Helper()
	gaps := r.Gaps()
	if len(gaps) != 1 {
		t.Fatalf("%d gaps, want 1: %+v", len(gaps), gaps)
	}
	return gaps[0]
}

// With runs f under the recorder's lock.
func (r *Recorder) With(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
}

// Eventually is [await.Until].
func Eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	await.Until(t, what, ok)
}
