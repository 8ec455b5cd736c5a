package partition

import (
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample/position"
)

// Range is one partition: the shard that it writes to, and its part of the key space.
type Range struct {
	Shard string `json:"shard"`
	// From and To are the outermost positions that other partitions leave to this one. Low
	// and High are its outermost keys. So its edges lie between From and Low, and between
	// High and To. All are zero without Keys.
	Keys bool              `json:"keys"`
	From position.Position `json:"from"`
	Low  position.Position `json:"low"`
	High position.Position `json:"high"`
	To   position.Position `json:"to"`
}

// Split is a partition that DynamoDB divided.
type Split struct {
	// At is about when, Shard the divided partition's shard.
	At    time.Time `json:"at"`
	Shard string    `json:"shard"`
	// Left and Right are the shards of the halves, or of partitions that continue them.
	Left  string `json:"left"`
	Right string `json:"right"`
	// Low and High were the partition's outermost keys. The cut lies between CutLow and
	// CutHigh; both are equal if it divides one item collection.
	Low     position.Position `json:"low"`
	High    position.Position `json:"high"`
	CutLow  position.Position `json:"cut_low"`
	CutHigh position.Position `json:"cut_high"`
}

// View is a table's partitions with their load, as far as its stream shows them.
type View struct {
	detect.Target
	State State `json:"state"`
	// Keys counts the keys behind the ranges, at least: of several keys in one 65,536th of
	// the key space one counts. Needed is about how many more would be enough.
	Keys   int `json:"keys"`
	Needed int `json:"needed"`
	// Evidence is the exponent of the chance that an unrelated hash would agree: 10^-Evidence.
	Evidence float64 `json:"evidence"`
	// Contradictions are positions that no ranges can explain, at most 16.
	Contradictions []position.Position `json:"contradictions"`
	// Partitions are the table's partitions, in the order of their ranges.
	Partitions []Load `json:"partitions"`
	// Splits are the divisions seen, the oldest first.
	Splits []Split `json:"splits"`
}

// Load is one partition with its load of writes. A stream shows only writes that succeeded.
type Load struct {
	Range
	// PeakWCU is the most write units of one second, at Peak. WCU is the sum of all.
	PeakWCU float64   `json:"peak_wcu"`
	Peak    time.Time `json:"peak"`
	WCU     float64   `json:"wcu"`
	// Busiest are the partition's busiest keys, the busiest first, if their place is certain.
	Busiest []BusyKey `json:"busiest"`
}

// BusyKey is a key with its share of its partition's write units.
type BusyKey struct {
	detect.KeyRef
	Share float64 `json:"share"`
}

// keysPerPartition is about how many keys for each partition make 95% of the key space
// certain, by simulation.
const keysPerPartition = 40

// View returns the partitions without their load.
func (m *Map) View(t detect.Target, now time.Time) View {
	v := View{Target: t, State: m.State(now), Evidence: m.Evidence(), Partitions: []Load{}, Splits: append([]Split{}, m.Splits()...)}
	examples, _ := m.Contradictions()
	v.Contradictions = append([]position.Position{}, examples...)
	for _, s := range m.Shards() {
		v.Keys += s.Cells
	}
	for _, r := range m.Ranges() {
		v.Partitions = append(v.Partitions, Load{Range: r, Busiest: []BusyKey{}})
	}
	v.Needed = max(0, keysPerPartition*len(v.Partitions)-v.Keys)
	return v
}

// Ranges returns the open shards with their ranges, in the order of the key space. A shard
// without a key comes last.
func (m *Map) Ranges() []Range {
	open := m.Shards()
	ranges := make([]Range, len(open))
	for i, s := range open {
		ranges[i] = Range{Shard: s.ID, Keys: s.Keys}
		if !s.Keys {
			continue
		}
		r := &ranges[i]
		r.Low, r.High, r.To = s.Low, s.High, ^position.Position(0)
		if i > 0 {
			r.From = open[i-1].High
		}
		if i+1 < len(open) && open[i+1].Keys {
			r.To = open[i+1].Low
		}
	}
	return ranges
}

// noteSplit keeps the division of a shard between two children, in order.
func (m *Map) noteSplit(s, left, right *Shard) {
	m.splits = append(m.splits, Split{
		At: s.Ended, Shard: s.ID, Left: left.ID, Right: right.ID,
		Low: s.Low, High: s.High, CutLow: left.High, CutHigh: right.Low,
	})
}

// renameInSplits continues a shard's splits under the name of its only child.
func (m *Map) renameInSplits(from, to string) {
	for i := range m.splits {
		s := &m.splits[i]
		if s.Left == from {
			s.Left = to
		}
		if s.Right == from {
			s.Right = to
		}
	}
}

// Splits returns the divisions seen, the oldest first. Their cuts get narrower with every key.
func (m *Map) Splits() []Split {
	for i := range m.splits {
		s := &m.splits[i]
		if left, right := m.shards[s.Left], m.shards[s.Right]; left != nil && right != nil && left.Keys && right.Keys {
			s.CutLow, s.CutHigh = max(s.CutLow, left.High), min(s.CutHigh, right.Low)
		}
	}
	slices.SortStableFunc(m.splits, func(a, b Split) int { return a.At.Compare(b.At) })
	return m.splits
}
