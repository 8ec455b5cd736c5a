package partition

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample/position"
)

// Shard is a stream shard: a partition, or one that was split since.
type Shard struct {
	// ID and Parent are the names of the shard and of the shard that it continues. Parent is
	// empty if the parent is unknown, or was dissolved.
	ID     string `json:"id"`
	Parent string `json:"parent"`
	// Keys reports whether a key was seen; Low and High are the outermost positions seen, of
	// the shard's own keys and of all shards that continue it.
	Keys bool              `json:"keys"`
	Low  position.Position `json:"low"`
	High position.Position `json:"high"`
	// Ended is the time when the shard was read to its end; zero for an open shard. Listed is
	// the time when the shard was first seen.
	Ended  time.Time `json:"ended"`
	Listed time.Time `json:"listed"`
	// Cells counts the cells of the key space whose first key this shard delivered.
	Cells int `json:"cells"`
	// Forecast is where DynamoDB may split the partition, when it was full last.
	Forecast []detect.PartitionCut `json:"forecast,omitempty"`

	parent   *Shard
	children []*Shard
}

// contains reports whether a position lies between the shard's outermost keys.
func (s *Shard) contains(p position.Position) bool { return s.Keys && s.Low <= p && p <= s.High }

// extend widens the range to a position.
func (s *Shard) extend(p position.Position) {
	if !s.Keys {
		s.Keys, s.Low, s.High = true, p, p
		return
	}
	s.Low, s.High = min(s.Low, p), max(s.High, p)
}

// single reports whether all keys of the shard have one position.
func (s *Shard) single() bool { return s.Keys && s.Low == s.High }

// Map is the partitions of one table, as far as its stream shows them. It is not safe for
// concurrent use.
type Map struct {
	kept
	shards map[string]*Shard
	top    []*Shard
	trust  trust
}

// kept is the part of a map that is stored as it is.
type kept struct {
	// Stream is the stream that Update took the shards from.
	Stream string `json:"stream"`
	// Shared means that two shards may hold one position: a table with a sort key splits a
	// collection.
	Shared bool `json:"shared"`
	// Coarse means that positions have 16 bits, since a key policy hides the keys. Two shards may
	// then hold one position.
	Coarse bool `json:"coarse,omitempty"`
	// Gone are the shards that left the map, and when: listings still show them.
	Gone   map[string]time.Time    `json:"gone"`
	Splits []detect.PartitionSplit `json:"splits"`
	// Revision counts the changes of edges, Edges the edges at its last change.
	Revision int64    `json:"revision"`
	Edges    []uint16 `json:"edges"`
}

// SettleTime is how long the children of an ended shard wait for more children. A shard's
// children are not listed at once.
const SettleTime = time.Minute

// listedTime is how long listings show a shard after it left the map. Streams keep shards for
// a day, and the store for three.
const listedTime = 96 * time.Hour

// New returns an empty map. sortKey reports whether the table has a sort key, or may have one.
func New(sortKey bool) *Map {
	return &Map{kept: kept{Shared: sortKey, Gone: map[string]time.Time{}}, shards: map[string]*Shard{}}
}

// Open adds a shard of a listing, unless the map has it already, or had it before.
func (m *Map) Open(id, parent string, now time.Time) {
	if m.isNew(id) {
		m.attach(&Shard{ID: id, Parent: parent, Listed: now})
	}
}

func (m *Map) isNew(id string) bool {
	_, left := m.Gone[id]
	return !left && m.shards[id] == nil
}

// openAll adds the shards of a listing, parents first. Of the first listing the parents may have
// expired. Later, a parent that nobody read is a gap in the lineage: then the map forgets all
// bounds, once, since a patched lineage makes wrong claims.
func (m *Map) openAll(parentsFirst []Listed, now time.Time) {
	first := len(m.shards)+len(m.Gone) == 0
	opened := map[string]bool{}
	isGap := func(s Listed) bool {
		opened[s.Name] = m.isNew(s.Name)
		return opened[s.Name] && m.shards[s.Parent] == nil && !opened[s.Parent]
	}
	for _, s := range parentsFirst {
		if !s.Open { // else a shard that ended stays in a map that forgets
			m.End(s.Name, s.Ended)
		}
	}
	if !first && slices.ContainsFunc(parentsFirst, isGap) {
		m.forget(now)
	}
	for _, s := range parentsFirst {
		m.Open(s.Name, s.Parent, now)
	}
}

// attach links a shard into the tree.
func (m *Map) attach(s *Shard) {
	m.shards[s.ID] = s
	if s.parent = m.shards[s.Parent]; s.parent != nil {
		s.parent.children = append(s.parent.children, s)
		return
	}
	s.Parent = ""
	m.top = append(m.top, s)
}

// forget keeps the open shards without bounds, and begins the evidence anew. The ended ones
// leave for good: listings show them for days.
func (m *Map) forget(now time.Time) {
	kept := m.shards
	m.shards, m.top = map[string]*Shard{}, nil
	m.trust.restart()
	for _, id := range slices.Sorted(maps.Keys(kept)) {
		if s := kept[id]; s.Ended.IsZero() {
			m.attach(&Shard{ID: id, Listed: s.Listed})
		} else {
			m.Gone[id] = now
		}
	}
}

// End marks a shard that was read to its end.
func (m *Map) End(id string, now time.Time) {
	if s := m.shards[id]; s != nil && s.Ended.IsZero() {
		s.Ended = now
	}
}

// siblings returns a shard and the shards beside it.
func (m *Map) siblings(s *Shard) []*Shard {
	if s.parent != nil {
		return s.parent.children
	}
	return m.top
}

// Add places a key that a shard delivered. It returns false for a contradiction: no set of
// contiguous, disjoint ranges, with children inside their parents, holds all keys so far and
// this one. Such a key changes no range.
func (m *Map) Add(id string, p position.Position, now time.Time) bool {
	s := m.shards[id]
	if s == nil {
		return true // read before it was listed, or long dissolved
	}
	if m.Coarse {
		p = p.Coarse()
	}
	var widened []*Shard
	for x := s; x != nil && !x.contains(p); x = x.parent {
		if m.clashes(x, p) {
			m.trust.contradict(p, now)
			return false
		}
		widened = append(widened, x)
	}
	for _, x := range widened {
		x.extend(p)
	}
	m.trust.count(false)
	m.AddCell(id, p.Cell(cellBits))
	return true
}

// coarsen keeps the first 16 bits of all positions.
func (m *Map) coarsen() {
	m.Coarse, m.Shared = true, true
	for _, s := range m.shards {
		s.Low, s.High = s.Low.Coarse(), s.High.Coarse()
	}
}

// AddCell counts a cell of the key space that a shard delivered a key of.
func (m *Map) AddCell(id string, cell int) {
	if s := m.shards[id]; s != nil && m.trust.fresh(cell) {
		s.Cells++
		m.trust.weigh(m.openCells())
	}
}

// openCells returns the numbers of cells that open shards were first in.
func (m *Map) openCells() (cells []int) {
	for _, s := range m.shards {
		if s.Ended.IsZero() && s.Cells > 0 {
			cells = append(cells, s.Cells)
		}
	}
	return cells
}

// clashes reports whether a shard cannot reach to a position without overlapping another one.
func (m *Map) clashes(s *Shard, p position.Position) bool {
	low, high := p, p
	if s.Keys {
		low, high = min(s.Low, p), max(s.High, p)
	}
	for _, y := range m.siblings(s) {
		if y == s || !y.Keys {
			continue
		}
		if m.Shared && low < y.High && high > y.Low || !m.Shared && low <= y.High && high >= y.Low {
			return true
		}
	}
	return false
}

// Dissolve takes shards out of the map that have ended and whose children hold all that is
// known of them. Call it from time to time.
func (m *Map) Dissolve(now time.Time) {
	maps.DeleteFunc(m.Gone, func(_ string, at time.Time) bool { return now.Sub(at) >= listedTime })
	for again := true; again; {
		again = false
		for _, id := range slices.Sorted(maps.Keys(m.shards)) {
			if s := m.shards[id]; s != nil && m.isSettled(s, now) && m.inherit(s) {
				m.replace(s)
				m.Gone[s.ID] = now
				again = true
			}
		}
	}
	m.trust.weigh(m.openCells())
}

// isSettled reports whether a shard has ended, and all its children are listed.
func (m *Map) isSettled(s *Shard, now time.Time) bool {
	if s.Ended.IsZero() || len(s.children) == 0 {
		return false
	}
	return !slices.ContainsFunc(s.children, func(c *Shard) bool { return now.Sub(c.Listed) < SettleTime })
}

// inherit gives a shard's range to its children, and reports whether it could: both children
// of a split must have keys, in ranges whose order is known.
func (m *Map) inherit(s *Shard) bool {
	switch len(s.children) {
	case 1:
		child := s.children[0]
		if s.Keys {
			child.extend(s.Low)
			child.extend(s.High)
		}
		child.Cells += s.Cells
		if len(child.Forecast) == 0 {
			child.Forecast = s.Forecast
		}
		m.renameInSplits(s.ID, child.ID)
		return true
	case 2:
		if !s.children[0].Keys || !s.children[1].Keys {
			return false
		}
		slices.SortFunc(s.children, compareShards)
		left, right := s.children[0], s.children[1]
		m.noteSplit(s, left, right)
		if left.single() && right.single() && left.Low == right.Low {
			return false
		}
		left.extend(s.Low)
		right.extend(s.High)
		return true
	}
	return false
}

// replace puts a shard's children into its place.
func (m *Map) replace(s *Shard) {
	for _, c := range s.children {
		c.parent = s.parent
		c.Parent = s.Parent
	}
	among := &m.top
	if s.parent != nil {
		among = &s.parent.children
	}
	i := slices.Index(*among, s)
	*among = slices.Replace(*among, i, i+1, s.children...)
	delete(m.shards, s.ID)
}

// compareShards orders shards by their ranges.
func compareShards(a, b *Shard) int {
	return cmp.Or(cmp.Compare(a.Low, b.Low), cmp.Compare(a.High, b.High))
}

// IsDivided reports whether the table has several partitions. The map may be nil.
func (m *Map) IsDivided() bool { return m != nil && len(m.shards) > 1 }

// Shards returns the open shards, in the order of their ranges; shards without a key come last.
func (m *Map) Shards() []*Shard {
	open := make([]*Shard, 0, len(m.shards))
	for _, s := range m.shards {
		if len(s.children) == 0 {
			open = append(open, s)
		}
	}
	slices.SortFunc(open, func(a, b *Shard) int {
		return cmp.Or(cmp.Compare(detect.BoolToInt(b.Keys), detect.BoolToInt(a.Keys)), compareShards(a, b), cmp.Compare(a.ID, b.ID))
	})
	return open
}
