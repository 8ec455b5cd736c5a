package partition

import (
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/position"
)

// View is a table's partitions with their load, as far as they are known.
type View struct {
	detect.Target
	State State `json:"state"`
	// Keys counts the keys behind the ranges, at least: of several keys in one 65,536th of
	// the key space one counts. Needed is about how many more would be enough.
	Keys   int `json:"keys"`
	Needed int `json:"needed"`
	// Revision rises with each change of Cuts. They are the edges between the partitions, as
	// the first 16 bits of positions; empty while a partition has no key.
	Revision int64    `json:"revision"`
	Cuts     []uint16 `json:"cuts"`
	// Evidence is the exponent of the chance that an unrelated hash would agree: 10^-Evidence.
	Evidence float64 `json:"evidence"`
	// Contradictions are positions that no ranges can explain, at most 16.
	Contradictions []position.Position `json:"contradictions"`
	// Partitions are what each carried, in the order of their ranges.
	Partitions []detect.PartitionLoad `json:"partitions"`
	// Splits are the divisions seen, the oldest first.
	Splits []detect.PartitionSplit `json:"splits"`
}

// keysPerPartition is about how many keys for each partition make 95% of the key space
// certain, by simulation.
const keysPerPartition = 40

// View returns the partitions without their load.
func (m *Map) View(t detect.Target, now time.Time) View {
	v := View{Target: t, State: m.State(now), Revision: m.Revision, Cuts: append([]uint16{}, m.Edges...), Evidence: m.trust.Evidence, Partitions: m.Loads().List(), Splits: append([]detect.PartitionSplit{}, m.Splits()...)}
	v.Contradictions = append([]position.Position{}, m.Contradictions(now)...)
	for _, s := range m.Shards() {
		v.Keys += s.Cells
	}
	v.Needed = max(0, keysPerPartition*len(v.Partitions)-v.Keys)
	return v
}

// Ranges returns the open shards with their ranges, in the order of the key space. A shard
// without a key comes last.
func (m *Map) Ranges() []detect.PartitionRange { return rangesOf(m.Shards()) }

func rangesOf(open []*Shard) []detect.PartitionRange {
	ranges := make([]detect.PartitionRange, len(open))
	for i, s := range open {
		ranges[i] = detect.PartitionRange{Shard: s.ID, Keys: s.Keys}
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

// Cuts returns the edges between partitions, as the first 16 bits of positions; nil if a
// partition has no key yet. The map may be nil.
func (m *Map) Cuts() (cuts []uint16) {
	if m == nil {
		return nil
	}
	for i, r := range m.Ranges() {
		if !r.Keys {
			return nil
		}
		if cut := uint16((r.From + (r.Low-r.From)/2) >> 48); i > 0 && cut > 0 && !slices.Contains(cuts, cut) { //nolint:gosec // 16 bits
			cuts = append(cuts, cut)
		}
	}
	return cuts
}

// noteSplit keeps the division of a shard, once. Its halves are known before their order is.
func (m *Map) noteSplit(s, left, right *Shard) {
	if slices.ContainsFunc(m.kept.Splits, func(known detect.PartitionSplit) bool { return known.Shard == s.ID }) {
		return
	}
	m.kept.Splits = append(m.kept.Splits, detect.PartitionSplit{
		At: s.Ended, Shard: s.ID, Left: left.ID, Right: right.ID,
		Low: s.Low, High: s.High, CutLow: left.High, CutHigh: right.Low, Forecast: append([]detect.PartitionCut{}, s.Forecast...),
	})
}

// Predict keeps the forecast of a full partition's split.
func (m *Map) Predict(full *detect.PartitionLoad) {
	if s := m.shards[full.Shard]; s != nil && s.Ended.IsZero() {
		s.Forecast = full.Cuts
	}
}

// scoreTime is how long the halves of a split gather keys before its forecast is scored.
const scoreTime = 5 * time.Minute

// scoreForecasts compares forecasts with the splits that came.
func (m *Map) scoreForecasts(now time.Time) {
	for i, s := range m.Splits() {
		if s.Outcome == "" && len(s.Forecast) > 0 && now.Sub(s.At) >= scoreTime {
			m.kept.Splits[i].Score()
		}
	}
}

// renameInSplits continues a shard's splits under the name of its only child.
func (m *Map) renameInSplits(from, to string) {
	for i := range m.kept.Splits {
		s := &m.kept.Splits[i]
		if s.Left == from {
			s.Left = to
		}
		if s.Right == from {
			s.Right = to
		}
	}
}

// SplitSince returns the first split of a partition since a time; nil if none is known.
func (m *Map) SplitSince(r *detect.PartitionRange, since time.Time) *detect.PartitionSplit {
	for _, s := range m.Splits() {
		if !s.At.Before(since) && s.Low <= r.High && r.Low <= s.High {
			return &s
		}
	}
	return nil
}

// MayHold reports whether a key may lie in a partition.
func (m *Map) MayHold(shard string, k sample.Key) bool {
	at, known := position.Find(k)
	return !known || slices.ContainsFunc(m.Locate(at), func(s *Shard) bool { return s.ID == shard })
}

// AreTogether reports whether two keys are known to lie in one partition, as far as its edges are
// known.
func (m *Map) AreTogether(a, b sample.Key) bool {
	at, known := position.Find(a)
	if _, other := position.Find(b); m == nil || !known || !other {
		return false
	}
	here := m.Locate(at)
	return len(here) == 1 && m.MayHold(here[0].ID, b)
}

// Splits returns the divisions seen, the oldest first. Their cuts get narrower with every key.
func (m *Map) Splits() []detect.PartitionSplit {
	for i := range m.kept.Splits {
		s := &m.kept.Splits[i]
		left, right := m.shards[s.Left], m.shards[s.Right]
		if left == nil || right == nil || !left.Keys || !right.Keys {
			continue
		}
		if compareShards(left, right) > 0 {
			left, right, s.Left, s.Right = right, left, s.Right, s.Left
		}
		s.CutLow, s.CutHigh = max(s.CutLow, left.High), min(s.CutHigh, right.Low)
	}
	slices.SortStableFunc(m.kept.Splits, func(a, b detect.PartitionSplit) int { return a.At.Compare(b.At) })
	return m.kept.Splits
}
