package board

import (
	"iter"
	"maps"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/internal/contention"
	"github.com/keyheat/keyheat/detect/internal/episode"
	"github.com/keyheat/keyheat/detect/keypatterns"
	"github.com/keyheat/keyheat/detect/partition"
	"github.com/keyheat/keyheat/sketch"
)

// Memory is what a board remembers of a table or index beside its last seconds, which are stored
// and are observed again. Package checkpoint writes it.
type Memory struct {
	target detect.Target
	// from is the first second to observe again. open are the ones before it whose load a flush
	// may have gathered.
	from      int64
	open      openSeconds
	sum       *sum
	tracks    []*episode.Track
	growing   map[uint64]bool
	crowd     *crowd
	callers   *tableCallers
	walk      *partition.WalkDetector
	groups    keypatterns.Known
	patterns  keypatterns.Rolling
	contended contention.Watch
	// related and evicted are findings as they were last returned.
	related, evicted related
}

// Target returns the table or index.
func (m *Memory) Target() detect.Target { return m.target }

// From returns the first second that a board has to observe again.
func (m *Memory) From() int64 { return m.from }

// Clock is how far a board has come.
type Clock struct {
	timeline       episode.Timeline
	newest, shedAt int64
}

// Clock returns how far the board has come.
func (b *Board) Clock() Clock { return Clock{b.timeline, b.newest, b.shedAt} }

// Change is how far a board has come with a table or index.
type Change struct {
	detect.Target
	// Newest is the newest second that changed what the board remembers.
	Newest int64
	// Follows reports that the board follows it, or a key of it. Walks reports that load walks
	// through its keys, which stored seconds may not show.
	Follows, Walks bool
}

// Memories returns what the board remembers of the tables and indexes that choose is true of. It
// shares the board's memory, and holds until the next call of another method.
func (b *Board) Memories(choose func(Change) bool) (all []*Memory) {
	if b.timeline.Settled == 0 {
		return nil
	}
	chosen := map[detect.Target]*Memory{}
	offer := func(target detect.Target) {
		c := Change{target, b.totals.sumOf(target).last, b.tracks.follows(target) || b.contention.Follows(target), b.Walk(target) != nil}
		if c.Follows || b.callers[target] != nil { // what is known of them changes with the time
			c.Newest = b.timeline.Settled
		}
		if chosen[target] == nil && choose(c) {
			chosen[target] = b.remember(c)
			all = append(all, chosen[target])
		}
	}
	for target := range b.totals {
		offer(target)
	}
	for target := range b.callers {
		offer(target)
	}
	if len(all) == 0 {
		return nil
	}
	for id, t := range b.tracks.all {
		if m := chosen[id.target]; m != nil && t.OutlivesItsSeconds() {
			m.tracks = append(m.tracks, t)
		}
	}
	return all
}

// remember returns what is kept of a table or index, but for its tracks.
func (b *Board) remember(c Change) *Memory {
	m := &Memory{
		target: c.Target, from: b.timeline.Settled - detect.Horizon, sum: b.totals[c.Target], growing: b.tracks.growing[c.Target], crowd: b.tracks.crowds[c.Target],
		callers: b.callers[c.Target], walk: b.walks[c.Target], groups: b.groups.Known(c.Target), patterns: b.patterns.Select(c.Target),
		contended: b.contention.Select(c.Target), related: b.related.selectTarget(c.Target), evicted: b.evicted.selectTarget(c.Target),
	}
	switch {
	case m.sum == nil:
	case c.Follows:
		m.open, m.sum = m.sum.open.between(m.from-detect.MeanLongest, m.from-1), m.sum.beforeReplay()
	default: // nothing asks for its open seconds again
		m.sum, m.from = m.sum.closeAll(), max(m.from, m.sum.last-detect.MeanLongest)
	}
	return m
}

// Restore continues what another board remembered. [Board.Replay] follows, and then
// [Board.Resume].
func (b *Board) Restore(all iter.Seq[*Memory]) {
	for m := range all {
		if m.sum != nil {
			m.sum.open, m.sum.counted = m.open, m.sum.last
			b.totals[m.target] = m.sum
		}
		for _, t := range m.tracks {
			b.tracks.add(trackID{m.target, t.Followed.Hash}, t.Followed.Key).Restore(t)
		}
		if m.growing != nil {
			b.tracks.growing[m.target] = m.growing
		}
		if m.crowd != nil {
			c := b.tracks.crowd(m.target)
			c.first, c.last, c.evicted = m.crowd.first, m.crowd.last, m.crowd.evicted
		}
		if m.callers != nil {
			b.callers[m.target] = m.callers
		}
		if m.walk != nil {
			b.walks[m.target] = m.walk
		}
		b.groups.Restore(m.groups)
		maps.Copy(b.patterns, m.patterns)
		maps.Copy(b.contention, m.contended)
		maps.Copy(b.related, m.related)
		maps.Copy(b.evicted, m.evicted)
	}
}

// Replay observes stored seconds again, in the order of time.
func (b *Board) Replay(windows iter.Seq[*sketch.Window]) {
	b.newest = 0
	for w := range windows {
		if len(w.Cells) > 0 { // else it lacks the positions of its cold keys
			b.ObserveWalk(w)
		}
		b.Observe(w)
	}
}

// Resume goes on where another board's clock stood.
func (b *Board) Resume(c Clock) {
	b.timeline, b.newest, b.shedAt = c.timeline, max(c.newest, b.newest), c.shedAt
	b.evict()
}
