package partition

import (
	"cmp"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/position"
	"github.com/keyheat/keyheat/sketch"
)

// maxBusiest is how many busiest keys of a partition are named.
const maxBusiest = 5

// Loads measures what each partition of a map carries in some seconds.
type Loads struct {
	m    *Map
	all  []carrying
	open map[*Shard]int // the index in all
}

// Loads returns a measurement without a second.
func (m *Map) Loads() *Loads {
	open := m.Shards()
	ranges := rangesOf(open)
	l := &Loads{m: m, all: make([]carrying, len(ranges)), open: make(map[*Shard]int, len(open))}
	for i, s := range open {
		l.open[s] = i
		l.all[i].PartitionRange = ranges[i]
	}
	return l
}

// Carry returns what each partition carried in some seconds of the table, in the order of
// [Map.Ranges].
func (m *Map) Carry(seconds []sketch.Window) []detect.PartitionLoad {
	l := m.Loads()
	for i := range seconds {
		l.Add(&seconds[i])
	}
	return l.List()
}

// carrying sums up a partition.
type carrying struct {
	detect.PartitionLoad
	value, low, high, refused sketch.Load // of the second at hand
	keys                      map[sample.Key]*placed
	total                     sample.Milli
}

// placed is a key that lies in the partition for certain, with its load.
type placed struct {
	key    sample.Key
	at     position.Position
	weight sample.Milli
}

// Add adds one second.
func (l *Loads) Add(w *sketch.Window) {
	for i := range l.all {
		c := &l.all[i]
		c.value, c.low, c.high, c.refused = sketch.Load{}, sketch.Load{}, sketch.Load{}, sketch.Load{}
	}
	rest := w.Total.Load
	for i := range w.Keys {
		k := &w.Keys[i]
		at, known := position.Find(k.Key)
		if k.Cut || !known {
			continue // part of the rest
		}
		rest = detect.Sub(rest, k.Low)
		candidates := l.m.Locate(at)
		for _, s := range candidates {
			c := &l.all[l.open[s]]
			c.high = c.high.Plus(sampling.MostLoad(w, k))
			if len(candidates) == 1 {
				c.add(w, k, at)
			}
		}
	}
	if len(l.all) == 1 { // all load is its own
		c := &l.all[0]
		c.value, c.low = w.Total.Load, detect.MaxLoad(c.low, sampling.ProvenTotal(w, w.Total.Load))
	}
	for i := range l.all {
		l.all[i].raise(w.Second, rest)
	}
}

// add adds a key that lies in the partition for certain.
func (c *carrying) add(w *sketch.Window, k *sketch.KeyLoad, at position.Position) {
	c.value, c.low = c.value.Plus(k.Low), c.low.Plus(sampling.Proven(w, k))
	if c.keys == nil {
		c.keys = map[sample.Key]*placed{}
	}
	p := c.keys[k.Key]
	if p == nil {
		p = &placed{key: k.Key, at: at}
		c.keys[k.Key] = p
	}
	weight := detect.Weight(k.Low)
	p.weight += weight
	c.total += weight
	c.refused = c.refused.Plus(k.Throttled)
}

// raise ends a second.
func (c *carrying) raise(second int64, rest sketch.Load) {
	at := time.Unix(second, 0).UTC()
	if c.value.Write >= detect.Milli(c.WCU.Value) {
		c.WCU, c.WritePeak = figure(c.value.Write, c.low.Write, c.high.Write+rest.Write), at
	}
	c.RefusedWCU, c.RefusedRCU = max(c.RefusedWCU, detect.Units(c.refused.Write)), max(c.RefusedRCU, detect.Units(c.refused.Read))
	if c.value.Read >= detect.Milli(c.RCU.Value) {
		c.RCU, c.ReadPeak = figure(c.value.Read, c.low.Read, c.high.Read+rest.Read), at
	}
}

func figure(value, low, high sample.Milli) detect.Figure {
	return detect.Figure{Value: detect.Units(value), Low: detect.Units(low), High: detect.Units(high)}
}

// List returns what each partition carried, in the order of [Map.Ranges].
func (l *Loads) List() []detect.PartitionLoad {
	carried := make([]detect.PartitionLoad, len(l.all))
	for i := range l.all {
		carried[i] = l.all[i].result()
	}
	return carried
}

// ListStrained returns what the partitions carried that are proven above a limit, or refused
// requests.
func (l *Loads) ListStrained() (all []detect.PartitionLoad) {
	for i := range l.all {
		if c := &l.all[i]; c.Utilization() > 1 || c.RefusedWCU+c.RefusedRCU > 0 {
			all = append(all, c.result())
		}
	}
	return all
}

func (c *carrying) result() detect.PartitionLoad {
	keys := make([]*placed, 0, len(c.keys))
	for _, p := range c.keys {
		keys = append(keys, p)
	}
	slices.SortFunc(keys, func(a, b *placed) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.key.Text, b.key.Text))
	})
	c.KeyCount, c.Busiest = len(keys), []detect.BusyKey{}
	for _, p := range keys[:min(len(keys), maxBusiest)] {
		ref := detect.KeyRef{Key: sample.Text(p.key.Text), KeyType: p.key.Type}
		c.Busiest = append(c.Busiest, detect.BusyKey{KeyRef: ref, Share: detect.Ratio(float64(p.weight), float64(c.total))})
	}
	c.Cuts = c.cuts(keys)
	return c.PartitionLoad
}

// cuts returns where DynamoDB may split the partition. A cut never goes through a key.
func (c *carrying) cuts(keys []*placed) []detect.PartitionCut {
	cuts := []detect.PartitionCut{}
	if len(keys) < 2 || c.total == 0 {
		return cuts
	}
	slices.SortFunc(keys, func(a, b *placed) int { return cmp.Compare(a.at, b.at) })
	between := func(a, b position.Position) position.Position { return a + (b-a)/2 }
	from, to := between(c.From, c.Low), between(c.High, c.To)
	if c.From == 0 {
		from = 0
	}
	if c.To == ^position.Position(0) {
		to = c.To
	}
	median := detect.PartitionCut{Rule: detect.CutMedian, Fuller: 1}
	middle := detect.PartitionCut{Rule: detect.CutMiddle, At: between(from, to), Fuller: 1}
	left := sample.Milli(0)
	for i, p := range keys {
		if left += p.weight; i+1 == len(keys) {
			break
		}
		fuller := detect.Ratio(float64(max(left, c.total-left)), float64(c.total))
		if fuller < median.Fuller {
			median.At, median.Fuller = between(p.at, keys[i+1].at), fuller
		}
		if p.at < middle.At && middle.At <= keys[i+1].at {
			middle.Fuller = fuller
		}
	}
	return append(cuts, median, middle)
}
