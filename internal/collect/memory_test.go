package collect_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// memory is a store in memory, for tests in virtual time, where SQL would
// block the clock. TestMemoryKeepsTheContract holds it against the real ones.
type memory struct {
	targets   []sample.Target // OldestTargets
	mu        sync.Mutex
	writers   map[string]int64
	reported  map[string]store.WriterStatus
	stopped   map[string]bool
	positions map[store.PartitionID]store.Position
	marks     map[store.PartitionID]store.Watermark
	deltas    []store.Delta
	gaps      []store.Gap
	bad       []store.BadSample
	commits   []store.Commit
	// clock is by how much the store's clock is ahead of the hosts'.
	clock time.Duration
	// took is how long a commit takes.
	took time.Duration
}

func newMemory() *memory {
	pass(time.Until(noon)) // the bubble's clock begins earlier
	return &memory{
		writers: make(map[string]int64), reported: make(map[string]store.WriterStatus), stopped: make(map[string]bool),
		positions: make(map[store.PartitionID]store.Position), marks: make(map[store.PartitionID]store.Watermark),
	}
}

// Now is the store's clock; clock is its offset from the hosts' clocks.
func (m *memory) Now(context.Context) (time.Time, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return time.Now().Add(m.clock), nil
}

func (m *memory) StartWriter(_ context.Context, w store.Writer) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.writers[w.ID] += 0
	return nil
}

func (m *memory) RestartWriter(ctx context.Context, w store.Writer) error {
	return m.StartWriter(ctx, w)
}

func (m *memory) ReportWriter(_ context.Context, id string, s store.WriterStatus) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.writers[id]; !known {
		return store.ErrNotFound
	}
	m.reported[id] = s
	return nil
}

// StreamedTables knows no stream.
func (m *memory) OldestTargets(context.Context, int) ([]sample.Target, error) { return m.targets, nil }

func (m *memory) StreamedTables(context.Context) ([]sample.Target, error) { return nil, nil }

func (m *memory) Watermarks(context.Context) (all []store.Watermark, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Collect(maps.Values(m.marks)), nil
}

// goBack sets the store back to before the first commit, under claims that stand.
func (m *memory) goBack() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for writer := range m.writers {
		m.writers[writer] = 0
	}
	for id, p := range m.positions {
		p.Next = "0"
		m.positions[id] = p
	}
	m.deltas, m.gaps, m.bad, m.commits = nil, nil, nil, nil
}

func (m *memory) mark(name string) store.Watermark {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.marks[partitionID(name)]
}

func (m *memory) statusOf(id string) store.WriterStatus {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.reported[id]
}

func (m *memory) StopWriter(_ context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stopped[id] = true
	return nil
}

func (m *memory) Claim(_ context.Context, writer string, c store.Claim) (store.Position, error) {
	id, first := c.PartitionID, c.First
	m.mu.Lock()
	defer m.mu.Unlock()
	p, ok := m.positions[id]
	if !ok {
		p = store.Position{PartitionID: id, Next: first}
		m.marks[id] = store.Watermark{PartitionID: id, Time: store.Beginning}
	}
	p.Epoch++
	p.Writer = writer
	m.positions[id] = p
	w := m.marks[id]
	w.Epoch, w.Seen = p.Epoch, time.Now()
	m.marks[id] = w
	return p, nil
}

func (m *memory) IsCommitted(_ context.Context, writer string, seq int64) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.writers[writer] >= seq, nil
}

func (m *memory) Commit(ctx context.Context, c store.Commit) error {
	m.mu.Lock()
	took := m.took
	m.mu.Unlock()
	if took > 0 {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", store.ErrUnavailable, ctx.Err())
		case <-time.After(took):
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch last := m.writers[c.Writer]; {
	case last >= c.Seq:
		return store.ErrDuplicate
	case last < c.After:
		return store.ErrWentBack
	}
	var lost []store.PartitionID
	for _, move := range c.Moves {
		if p := m.positions[move.PartitionID]; p.Epoch != move.Epoch || p.Next != move.From {
			lost = append(lost, move.PartitionID)
		}
	}
	if lost != nil {
		return &store.FencedError{Lost: lost}
	}
	m.apply(c)
	return nil
}

func (m *memory) apply(c store.Commit) {
	m.writers[c.Writer] = c.Seq
	for _, move := range c.Moves {
		p := m.positions[move.PartitionID]
		p.Next, p.Mark, p.Ended, p.Writer = move.To, move.Mark, move.Ended, c.Writer
		m.positions[move.PartitionID] = p
	}
	for _, w := range c.Watermarks {
		if m.marks[w.PartitionID].Epoch <= w.Epoch {
			w.Seen = time.Now()
			m.marks[w.PartitionID] = w
		}
	}
	if c.Body != nil {
		m.deltas = append(m.deltas, store.Delta{Writer: c.Writer, Seq: c.Seq, Version: c.Version, Body: c.Body})
	}
	m.gaps = append(m.gaps, c.Gaps...)
	m.bad = append(m.bad, c.Bad...)
	m.commits = append(m.commits, c)
}

// take sets how long a commit takes.
func (m *memory) take(took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.took = took
}

func (m *memory) position(name string) store.Position {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.positions[partitionID(name)]
}

func (m *memory) watermark(name string) store.Watermark {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.marks[partitionID(name)]
}

func (m *memory) stored() []store.Commit {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.commits)
}

// Read, BadSamples and Gaps are the methods that the totals of a store need.
func (m *memory) Read(context.Context, map[string]int64, store.ReadLimit) (store.Snapshot, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return store.Snapshot{Deltas: slices.Clone(m.deltas)}, nil
}

func (m *memory) BadSamples(context.Context, store.BadQuery) ([]store.BadSample, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.bad), nil
}

func (m *memory) Gaps(context.Context, store.GapQuery) ([]store.Gap, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.gaps), nil
}

func (m *memory) Positions(context.Context, string) ([]store.Position, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []store.Position
	for _, p := range m.positions {
		all = append(all, p)
	}
	return all, nil
}

func partitionID(name string) store.PartitionID {
	return store.PartitionID{Source: "test", Name: name}
}
