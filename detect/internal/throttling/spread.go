package throttling

import (
	"cmp"
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

const (
	// spreadKeys is the number of keys of a table that Spread keeps: the smallest hashes,
	// so that every key has the same chance.
	spreadKeys = 256
	// leastSpread is the least number of keys to conclude from.
	leastSpread = 64
	// beyondOne times one partition's limit, as served load of throttled keys, proves
	// several partitions. The load is an estimate, with an error of some percent for
	// spreadKeys keys.
	beyondOne = 1.5
)

// Spread measures over how many of a table's or index's cool keys the throttling of its
// partitions is spread. A table short of partitions throttles all of its keys, and one
// full partition its own. The zero value is ready.
type Spread struct {
	keys []spreadKey // by hash
	last int64       // newest second with throttling by a partition
}

type spreadKey struct {
	hash      uint64
	served    sample.Milli // by weight
	throttled bool
}

// Observe counts a second if partitions throttled requests in it and nothing else did,
// because a key does not carry its throttle reason.
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
	i, found := slices.BinarySearchFunc(s.keys, k.Hash, func(key spreadKey, hash uint64) int { return cmp.Compare(key.hash, hash) })
	if !found {
		if i == spreadKeys {
			return
		}
		s.keys = slices.Insert(s.keys[:min(len(s.keys), spreadKeys-1)], i, spreadKey{hash: k.Hash})
	}
	kept := &s.keys[i]
	kept.served += detect.Weight(detect.Sub(k.Low, k.Throttled))
	kept.throttled = kept.throttled || detect.Weight(k.Throttled) > 0
}

// throttledShare returns the share of the kept keys' served load that throttled keys
// have; 0 if too few keys are known.
func (s *Spread) throttledShare() float64 {
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

// ThrottledKeysLoad returns the load that throttled keys were served a second, given the
// pressure of some seconds. It reports whether that exceeds one partition's limit, so
// that several partitions throttled.
func (s *Spread) ThrottledKeysLoad(p *Pressure, seconds int) (perSecond sketch.Load, several bool) {
	perSecond = detect.PartOf(p.coolServed, detect.Ratio(s.throttledShare(), float64(seconds)))
	return perSecond, perSecond.Write > detect.ShareOf(detect.PartitionWrite, beyondOne) || perSecond.Read > detect.ShareOf(detect.PartitionRead, beyondOne)
}

// isWarm reports whether a key has enough load for a track of its own.
func isWarm(k *sketch.KeyLoad) bool {
	return detect.Weight(k.Low) >= detect.ShareOf(detect.PartitionRead, detect.TrackShare)
}
