package partition

import (
	"slices"

	"github.com/keyheat/keyheat/sample/position"
	"github.com/keyheat/keyheat/sketch"
)

// Locate returns the open shards where a key at a position can lie, the only one if that is
// certain. Shards that ended without known children count as open.
func (m *Map) Locate(p position.Position) (candidates []*Shard) {
	if m.Coarse {
		return m.locateRange(p.CoarseRange())
	}
	return locate(m.top, func(among []*Shard) []*Shard { return m.reach(among, p) })
}

// locate returns the open shards among the shards that reach chooses, from the top down.
func locate(among []*Shard, reach func(among []*Shard) []*Shard) (found []*Shard) {
	for _, s := range reach(among) {
		if len(s.children) > 0 {
			found = append(found, locate(s.children, reach)...)
		} else {
			found = append(found, s)
		}
	}
	return found
}

// reach returns the siblings whose range holds a position, or may hold it.
func (m *Map) reach(among []*Shard, p position.Position) (here []*Shard) {
	within, below, above := false, false, false
	for _, s := range among {
		if !s.contains(p) {
			continue
		}
		here = append(here, s)
		within = within || !m.Shared || s.Low < p && p < s.High
		below = below || !m.Shared || s.Low < p
		above = above || !m.Shared || s.High > p
	}
	if within {
		return here
	}
	var left, right []*Shard
	for _, s := range among {
		switch {
		case !s.Keys:
			here = append(here, s)
		case s.High < p:
			left = nearest(left, s, func(s *Shard) position.Position { return p - s.High })
		case s.Low > p:
			right = nearest(right, s, func(s *Shard) position.Position { return s.Low - p })
		}
	}
	if !below {
		here = append(here, left...)
	}
	if !above {
		here = append(here, right...)
	}
	return here
}

// surrounds reports whether a range lies between the shard's outermost keys, so that no other
// shard has a part of it.
func (s *Shard) surrounds(first, last position.Position) bool {
	return s.Keys && s.Low < first && last < s.High
}

// eachPosition yields the listed keys of a second with a known position, in no order. The position of a hidden
// key lies between the two; for others they are one.
func eachPosition(w *sketch.Window, yield func(k *sketch.KeyLoad, first, last position.Position)) {
	var batch position.Batch
	var waiting [position.BatchSize]*sketch.KeyLoad
	settle := func() {
		for i, at := range batch.Find() {
			yield(waiting[i], at, at)
		}
	}
	for i := range w.Keys {
		k := &w.Keys[i]
		if k.Place > 0 {
			if first, last, known := position.Range(k.Key, k.Place); known {
				yield(k, first, last)
			}
			continue
		}
		waiting[batch.Len()] = k
		if !k.Cut && batch.Add(k.Key) && batch.Len() == position.BatchSize {
			settle()
		}
	}
	settle()
}

// locateRange returns the open shards where keys of a range can lie.
func (m *Map) locateRange(first, last position.Position) []*Shard {
	return locate(m.top, func(among []*Shard) []*Shard { return m.reachIn(among, first, last) })
}

// reachIn returns the siblings that have a part of a range, or may have one: the ones within,
// and the ones that reach its ends. A gap within may belong to a shard without keys.
func (m *Map) reachIn(among []*Shard, first, last position.Position) (here []*Shard) {
	for _, s := range among {
		if s.surrounds(first, last) {
			return []*Shard{s}
		}
	}
	left, right := m.reach(among, first), m.reach(among, last)
	for _, s := range among {
		if !s.Keys || s.Low <= last && s.High >= first || slices.Contains(left, s) || slices.Contains(right, s) {
			here = append(here, s)
		}
	}
	return here
}

// nearest keeps the shards at the smallest distance.
func nearest(so []*Shard, s *Shard, distance func(*Shard) position.Position) []*Shard {
	if len(so) == 0 || distance(s) < distance(so[0]) {
		return []*Shard{s}
	}
	if distance(s) == distance(so[0]) {
		return append(so, s)
	}
	return so
}
