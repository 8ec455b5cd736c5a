package throttling

import (
	"cmp"
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

const (
	// spreadKeys is how many keys of a table are looked at for how far its throttling is
	// spread: those of the smallest hashes, so that every key has the same chance.
	spreadKeys = 256
	// leastSpread is of how many of them anything follows.
	leastSpread = 64
	// beyondOne is how many times what one partition serves the keys that were throttled
	// must have been served, for them to be in several partitions: their share is an
	// estimate, of some percent with so many keys.
	beyondOne = 1.5
)

// Spread is over how many of the keys that are not warm it is spread what a table's or
// index's partitions throttle: of a table that is short of partitions it is all of them, and
// of one full partition that one's. The zero value is ready.
type Spread struct {
	keys []spreadKey // by hash
	last int64       // the newest second in which a partition throttled
}

type spreadKey struct {
	hash      uint64
	served    sample.Milli // by weight
	throttled bool
}

// Observe counts a second, where partitions throttled in it, and nothing else did: a key
// does not tell why it was throttled.
func (s *Spread) Observe(w *sketch.Window) {
	for cause, n := range w.Total.Refused {
		if (n > 0) != (sample.ThrottleReason(cause) == sample.KeyRange) {
			return
		}
	}
	if w.Second > s.last+detect.ResolveSeconds {
		s.keys = nil
	}
	s.last = max(s.last, w.Second)
	for i := range w.Keys {
		if k := &w.Keys[i]; !isWarm(k) {
			s.add(k)
		}
	}
}

func (s *Spread) add(k *sketch.KeyLoad) {
	i, found := slices.BinarySearchFunc(s.keys, k.Hash, func(of spreadKey, hash uint64) int { return cmp.Compare(of.hash, hash) })
	if !found {
		if i == spreadKeys {
			return
		}
		s.keys = slices.Insert(s.keys[:min(len(s.keys), spreadKeys-1)], i, spreadKey{hash: k.Hash})
	}
	of := &s.keys[i]
	of.served += detect.Weight(detect.Sub(k.Low, k.Throttled))
	of.throttled = of.throttled || detect.Weight(k.Throttled) > 0
}

// share returns the share of what was served of the keys that is of those that were
// throttled, too; 0 where too few are known.
func (s *Spread) share() float64 {
	if len(s.keys) < leastSpread {
		return 0
	}
	throttled, all := sample.Milli(0), sample.Milli(0)
	for _, k := range s.keys {
		all += k.served
		if k.throttled {
			throttled += k.served
		}
	}
	return detect.Ratio(float64(throttled), float64(all))
}

// LoadBeyond returns what a second those of the keys were served that were throttled, given the
// pressure in so many seconds, and whether that is more than one partition serves: then
// several throttled.
func (s *Spread) LoadBeyond(p *Pressure, seconds int) (perSecond sketch.Load, several bool) {
	perSecond = detect.PartOf(p.Cool, detect.Ratio(s.share(), float64(seconds)))
	return perSecond, perSecond.Write > detect.ShareOf(detect.PartitionWrite, beyondOne) || perSecond.Read > detect.ShareOf(detect.PartitionRead, beyondOne)
}

// isWarm reports whether a key's load is worth following by itself.
func isWarm(k *sketch.KeyLoad) bool {
	return detect.Weight(k.Low) >= detect.ShareOf(detect.PartitionRead, detect.TrackShare)
}
