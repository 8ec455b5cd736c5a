package partition

import (
	"slices"
	"sort"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
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
	position.FindEach(len(w.Keys), func(i int) (sample.Key, sample.Place, bool) {
		k := &w.Keys[i]
		return k.Key, k.Place, !k.Cut
	}, func(i int, first, last position.Position) { yield(&w.Keys[i], first, last) })
}

// locator finds the partitions where keys and cells lie. last is where the last one lay.
type locator struct {
	m    *Map
	open []*Shard // in order
	last int
}

// locate yields the partitions where keys of a range can lie, as indexes of open; certain if
// there is one.
func (l *locator) locate(first, last position.Position, yield func(at int, certain bool)) {
	if len(l.open) == 0 {
		return
	}
	if l.m.Coarse {
		first, _ = first.CoarseRange()
		_, last = last.CoarseRange()
	}
	if !l.open[l.last].surrounds(first, last) {
		l.last = max(0, sort.Search(len(l.open), func(i int) bool { return !l.open[i].Keys || l.open[i].Low >= first })-1)
	}
	if l.open[l.last].surrounds(first, last) { // most keys
		yield(l.last, true)
		return
	}
	candidates := l.m.locateRange(first, last)
	if first == last {
		candidates = l.m.Locate(first)
	}
	for _, s := range candidates {
		yield(slices.Index(l.open, s), len(candidates) == 1)
	}
}

// cellWidth is the part of the key space that a cell covers.
const cellWidth = position.Position(1) << (64 - sketch.CellBits)

// locateCell yields the partitions where keys of a cell can lie.
func (l *locator) locateCell(cell uint16, yield func(at int, certain bool)) {
	first := position.Position(cell) * cellWidth
	l.locate(first, first+cellWidth-1, yield)
}

// MayExceed reports whether a partition can be proven above a limit in a second: whether the
// load that lies in it for certain is above. [Loads] bounds the load, and takes longer.
func (m *Map) MayExceed(w *sketch.Window) bool {
	l := locator{m: m, open: m.Shards()}
	loads := make([]sketch.Load, len(l.open))
	if len(loads) == 1 {
		loads[0] = w.Total.Load
	}
	eachPosition(w, func(k *sketch.KeyLoad, first, last position.Position) {
		l.locate(first, last, func(at int, certain bool) {
			if certain {
				loads[at] = loads[at].Plus(k.Low)
			}
		})
	})
	for _, c := range w.Cells {
		l.locateCell(c.At, func(at int, certain bool) {
			if certain {
				loads[at] = loads[at].Plus(sketch.Load{Read: c.Read, Write: c.Write})
			}
		})
	}
	return slices.ContainsFunc(loads, func(s sketch.Load) bool { return s.Write > detect.PartitionWrite || s.Read > detect.PartitionRead })
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
