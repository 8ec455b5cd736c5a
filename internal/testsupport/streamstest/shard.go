package streamstest

import (
	"slices"
	"time"
)

// Shard is a shard as it is, not as DescribeStream shows it.
type Shard struct {
	ID, Parent string
	// Created and Closed are when it began and ended; Closed is zero while it is
	// open.
	Created, Closed time.Time
	// Records is how many it holds that are not trimmed.
	Records int
	// First and Last are the sequence numbers of the oldest and the newest of
	// them; empty when it holds none.
	First, Last string
	// Low and High are the range of positions of its partition.
	Low, High uint64
}

// Shards lists the shards of the table's newest stream that are left, parents
// before their children.
func (t *Table) Shards() []Shard {
	t.fake.mu.Lock()
	defer t.fake.mu.Unlock()
	if t.stream == nil {
		return nil
	}
	t.stream.settle(t.fake.now())
	var all []Shard
	for _, sh := range t.stream.shards {
		one := Shard{ID: sh.id, Parent: sh.parent, Created: sh.created, Closed: sh.closed, Records: len(sh.records), Low: sh.low, High: sh.high}
		if n := len(sh.records); n > 0 {
			one.First, one.Last = sequence(sh.records[0].position), sequence(sh.records[n-1].position)
		}
		all = append(all, one)
	}
	return all
}

// OpenShards lists the names of those that take records.
func (t *Table) OpenShards() []string {
	var open []string
	for _, sh := range t.Shards() {
		if sh.Closed.IsZero() {
			open = append(open, sh.ID)
		}
	}
	return open
}

// Split closes an open shard in favour of two children, each with half of its
// keys, and returns their names. A shard that is closed, gone, or has only one
// key left to split, stays as it is and has no answer.
func (t *Table) Split(id string) (children []string) { return t.divide(id, true) }

// Roll closes an open shard in favour of one child with the same keys, as
// happens every four hours, and returns its name; empty when it is not open.
func (t *Table) Roll(id string) (child string) {
	for _, child = range t.divide(id, false) {
		return child
	}
	return ""
}

func (t *Table) divide(id string, split bool) (children []string) {
	t.fake.mu.Lock()
	defer t.fake.mu.Unlock()
	if !t.streaming() {
		return nil
	}
	s, now := t.stream, t.fake.now()
	s.settle(now)
	sh, err := s.shard(id)
	if err != nil || !sh.closed.IsZero() || split && sh.low == sh.high {
		return nil
	}
	s.close(sh, now)
	if !split {
		return []string{s.add(id, sh.low, sh.high, now).id}
	}
	middle := sh.low + (sh.high-sh.low)/2
	return []string{s.add(id, sh.low, middle, now).id, s.add(id, middle+1, sh.high, now).id}
}

// Trim removes the oldest n records of a shard of the table's newest stream, as
// their age would.
func (t *Table) Trim(id string, n int) {
	t.fake.mu.Lock()
	defer t.fake.mu.Unlock()
	if t.stream == nil {
		return
	}
	if sh, err := t.stream.shard(id); err == nil {
		sh.trim(min(n, len(sh.records)))
	}
}

// Vanish removes a shard of the table's newest stream altogether, as happens to
// closed ones after 24 hours. It must be closed.
func (t *Table) Vanish(id string) {
	t.fake.mu.Lock()
	defer t.fake.mu.Unlock()
	if t.stream == nil {
		return
	}
	t.stream.shards = slices.DeleteFunc(t.stream.shards, func(sh *shard) bool { return sh.id == id && !sh.closed.IsZero() })
}

// VanishStream removes the table's newest stream altogether, as happens 24 hours
// after it was disabled.
func (t *Table) VanishStream() {
	t.fake.mu.Lock()
	defer t.fake.mu.Unlock()
	t.disable()
	t.fake.streams = slices.DeleteFunc(t.fake.streams, func(s *stream) bool { return s == t.stream })
	t.stream = nil
}
