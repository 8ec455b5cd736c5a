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

// Carried is what one partition carried in some seconds.
type Carried struct {
	Range
	// WCU and RCU are of the partition's highest second of each, at WritePeak and ReadPeak.
	// Low is the proven load of keys that lie there for certain, Value their load. High adds
	// each key that may lie there, and all load without a listed key.
	WCU       detect.Figure `json:"wcu"`
	RCU       detect.Figure `json:"rcu"`
	WritePeak time.Time     `json:"write_peak"`
	ReadPeak  time.Time     `json:"read_peak"`
	// RefusedWCU and RefusedRCU are the most units of one second that DynamoDB refused, at
	// least: of keys that lie there for certain.
	RefusedWCU float64 `json:"refused_wcu"`
	RefusedRCU float64 `json:"refused_rcu"`
	// Busiest are the keys with the most load, the busiest first, with their shares of the
	// certain load.
	Busiest []BusyKey `json:"busiest"`
}

// Utilization returns the certain part of the limit in the highest second, of writes or of
// reads.
func (c *Carried) Utilization() float64 {
	return max(c.WCU.Low/detect.Units(detect.PartitionWrite), c.RCU.Low/detect.Units(detect.PartitionRead))
}

// maxBusiest is how many busiest keys of a partition are named.
const maxBusiest = 5

// Carry returns what each partition carried in some seconds of the table, in the order of
// [Map.Ranges].
func (m *Map) Carry(seconds []sketch.Window) []Carried {
	all, open := make([]carrying, len(m.shards)), map[*Shard]int{}
	ranges := m.Ranges()
	for i, s := range m.Shards() {
		open[s] = i
		all[i].Range = ranges[i]
	}
	all = all[:len(ranges)]
	for i := range seconds {
		m.carry(&seconds[i], all, open)
	}
	carried := make([]Carried, len(all))
	for i := range all {
		carried[i] = all[i].result()
	}
	return carried
}

// carrying sums up a partition.
type carrying struct {
	Carried
	value, low, high, refused sketch.Load // of the second at hand
	keys                      map[sample.Key]sample.Milli
	total                     sample.Milli
}

// carry adds one second.
func (m *Map) carry(w *sketch.Window, all []carrying, open map[*Shard]int) {
	for i := range all {
		c := &all[i]
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
		candidates := m.Locate(at)
		for _, s := range candidates {
			c := &all[open[s]]
			c.high = c.high.Plus(sampling.MostLoad(w, k))
			if len(candidates) == 1 {
				c.add(w, k)
			}
		}
	}
	for i := range all {
		all[i].raise(w.Second, rest)
	}
}

// add adds a key that lies in the partition for certain.
func (c *carrying) add(w *sketch.Window, k *sketch.KeyLoad) {
	c.value, c.low = c.value.Plus(k.Low), c.low.Plus(sampling.Proven(w, k))
	if c.keys == nil {
		c.keys = map[sample.Key]sample.Milli{}
	}
	weight := detect.Weight(k.Low)
	c.keys[k.Key] += weight
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

func (c *carrying) result() Carried {
	c.Busiest = []BusyKey{}
	for key, weight := range c.keys {
		c.Busiest = append(c.Busiest, BusyKey{KeyRef: detect.KeyRef{Key: sample.Text(key.Text), KeyType: key.Type}, Share: detect.Ratio(float64(weight), float64(c.total))})
	}
	slices.SortFunc(c.Busiest, func(a, b BusyKey) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(a.Key, b.Key))
	})
	c.Busiest = c.Busiest[:min(len(c.Busiest), maxBusiest)]
	return c.Carried
}
