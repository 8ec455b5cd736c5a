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
	locator
	all []carrying
}

// Loads returns a measurement without a second.
func (m *Map) Loads() *Loads {
	open := m.Shards()
	ranges := rangesOf(open)
	l := &Loads{locator{m: m, open: open}, make([]carrying, len(ranges))}
	for i := range ranges {
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
	// Of the second at hand: the load of keys and cells that lie in the partition for certain,
	// the part of it that keys prove alone, what may lie there, and what it refused.
	value, low, refused sketch.Load
	may                 possible
	keys                []placed
	cells               []placedCell
	total               sample.Milli // of keys and cells, as a weight
}

// possible sums up load that may lie in a partition.
type possible struct{ read, write sampling.Amounts }

func (p *possible) add(l sketch.Load, read, write sketch.Spread) {
	p.read.Value += l.Read
	p.write.Value += l.Write
	p.read.Spread, p.write.Spread = p.read.Spread.Plus(read), p.write.Spread.Plus(write)
}

// addUnlisted adds load of a second that no key counts. Sampling makes it as uncertain as a
// part of the total.
func (p *possible) addUnlisted(w *sketch.Window, l sketch.Load) {
	read, write := w.Total.ReadLargest, w.Total.WriteLargest
	p.add(l, sketch.Spread{Variance: detect.Units(l.Read) * read, Largest: read}, sketch.Spread{Variance: detect.Units(l.Write) * write, Largest: write})
}

// placed is a key that lies in the partition for certain, with its load.
type placed struct {
	key    sample.Key
	at     position.Position
	weight sample.Milli
}

// placedCell is a cell that lies in the partition for certain, with its load.
type placedCell struct {
	at     uint16
	weight sample.Milli
}

// Add adds one second.
func (l *Loads) Add(w *sketch.Window) {
	for i := range l.all {
		c := &l.all[i]
		c.value, c.low, c.refused, c.may = sketch.Load{}, sketch.Load{}, sketch.Load{}, possible{}
	}
	rest := w.Total.Load
	eachPosition(w, func(k *sketch.KeyLoad, first, last position.Position) {
		rest = detect.Sub(rest, k.Low)
		l.locate(first, last, func(at int, certain bool) {
			c := &l.all[at]
			c.may.add(k.Low, k.ReadSpread, k.WriteSpread)
			if certain {
				c.add(w, k, first)
			}
		})
	})
	rest = l.addCells(w, rest)
	for i := range l.all {
		c := &l.all[i]
		if len(l.all) == 1 { // all load is its own
			c.value = w.Total.Load
		}
		c.may.addUnlisted(w, rest)
		c.low = detect.MaxLoad(c.low, sampling.ProvenTotal(w, c.value))
		c.raise(w)
	}
}

// addCells adds the load of the second's cells, and returns the rest without it.
func (l *Loads) addCells(w *sketch.Window, rest sketch.Load) sketch.Load {
	for _, cell := range w.Cells {
		load := sketch.Load{Read: cell.Read, Write: cell.Write}
		rest = detect.Sub(rest, load)
		l.locateCell(cell.At, func(at int, certain bool) {
			c := &l.all[at]
			c.may.addUnlisted(w, load)
			if certain {
				c.addCell(cell.At, load)
			}
		})
	}
	return rest
}

// addCell adds a cell that lies in the partition for certain.
func (c *carrying) addCell(at uint16, load sketch.Load) {
	weight := detect.Weight(load)
	c.value, c.total = c.value.Plus(load), c.total+weight
	if len(c.cells) == cap(c.cells) {
		c.sumCells()
		c.cells = slices.Grow(c.cells, 16+len(c.cells))
	}
	c.cells = append(c.cells, placedCell{at, weight})
}

// sumCells joins the loads that a cell had in several seconds.
func (c *carrying) sumCells() {
	c.cells = joinEqual(c.cells, func(a, b placedCell) int { return cmp.Compare(a.at, b.at) }, func(a *placedCell, b placedCell) { a.weight += b.weight })
}

// sumKeys joins the loads that a key had in several seconds.
func (c *carrying) sumKeys() {
	byKey := func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.key.Text, b.key.Text), cmp.Compare(a.key.Type, b.key.Type))
	}
	c.keys = joinEqual(c.keys, byKey, func(a *placed, b placed) { a.weight += b.weight })
}

// joinEqual sorts elements in place, and joins equal ones.
func joinEqual[T any](all []T, compare func(a, b T) int, join func(a *T, b T)) []T {
	slices.SortFunc(all, compare)
	n := 0
	for _, t := range all {
		if n > 0 && compare(all[n-1], t) == 0 {
			join(&all[n-1], t)
		} else {
			all[n], n = t, n+1
		}
	}
	return all[:n]
}

// add adds a key that lies in the partition for certain.
func (c *carrying) add(w *sketch.Window, k *sketch.KeyLoad, at position.Position) {
	c.value, c.low = c.value.Plus(k.Low), c.low.Plus(sampling.Proven(w, k))
	if len(c.keys) == cap(c.keys) {
		c.sumKeys()
		c.keys = slices.Grow(c.keys, 16+len(c.keys))
	}
	weight := detect.Weight(k.Low)
	c.keys = append(c.keys, placed{key: k.Key, at: at, weight: weight})
	c.total += weight
	c.refused = c.refused.Plus(k.Throttled)
}

// raise ends a second.
func (c *carrying) raise(w *sketch.Window) {
	at := time.Unix(w.Second, 0).UTC()
	if c.value.Write >= detect.Milli(c.WCU.Value) {
		c.WCU, c.WritePeak = figure(c.value.Write, c.low.Write, c.may.write.High(w.Total.WriteLargest)), at
	}
	c.RefusedWCU, c.RefusedRCU = max(c.RefusedWCU, detect.Units(c.refused.Write)), max(c.RefusedRCU, detect.Units(c.refused.Read))
	if c.value.Read >= detect.Milli(c.RCU.Value) {
		c.RCU, c.ReadPeak = figure(c.value.Read, c.low.Read, c.may.read.High(w.Total.ReadLargest)), at
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
	c.sumKeys()
	keys := slices.Clone(c.keys)
	slices.SortFunc(keys, func(a, b placed) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.key.Text, b.key.Text))
	})
	c.KeyCount, c.Busiest = len(keys), []detect.BusyKey{}
	for _, p := range keys[:min(len(keys), maxBusiest)] {
		ref := detect.KeyRef{Key: sample.Text(p.key.Text), KeyType: p.key.Type}
		c.Busiest = append(c.Busiest, detect.BusyKey{KeyRef: ref, Share: detect.Ratio(float64(p.weight), float64(c.total))})
	}
	c.sumCells()
	for _, cell := range c.cells {
		keys = append(keys, placed{at: position.Position(cell.at)*cellWidth + cellWidth/2, weight: cell.weight})
	}
	c.Cuts = c.cuts(keys)
	return c.PartitionLoad
}

// cuts returns where DynamoDB may split the partition, whose keys are given, with cells in their
// middle. A cut never goes through a key.
func (c *carrying) cuts(keys []placed) []detect.PartitionCut {
	cuts := []detect.PartitionCut{}
	if len(keys) < 2 || c.total == 0 {
		return cuts
	}
	slices.SortFunc(keys, func(a, b placed) int { return cmp.Compare(a.at, b.at) })
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
