package split

import (
	"maps"
	"math"
	"slices"

	"github.com/keyheat/keyheat/detect"
)

// comparison is the load by sort key in the first third, in the last third and between.
type comparison struct {
	before, after  []keyLoad
	between        []keyLoad
	requests       []request // of after
	load, variance float64
}

// heaviest returns the largest share of a sort key in the last third.
func (c *comparison) heaviest() (most float64) {
	for _, k := range c.after {
		most = max(most, k.share)
	}
	return most
}

// parts are the later load on the parts that splits of the earlier load would leave.
type parts struct {
	starts  []string  // the first sort key of all parts but the first
	loads   []float64 // shares
	most    float64
	fullest int
}

// splitLoad cuts the earlier keys as if they had this load.
func (c *comparison) splitLoad(load, most float64, point splitPoint) parts {
	from := cut(c.before, load, most, point)
	loads, fullestPart := fullest(from, c.after)
	return parts{from, loads, loads[fullestPart], fullestPart}
}

// refusedShare returns the share of the load beyond the limits of the parts.
func (p parts) refusedShare(load float64) (share float64) {
	if load <= 0 {
		return 0
	}
	for _, l := range p.loads {
		share += max(0, l*load-1) / load
	}
	return share
}

// bounds limit the load of the fullest part, as a share of the limit.
type bounds struct{ low, high float64 }

func (p parts) bounds(load, variance float64, n int) bounds {
	s := min(1, p.most) // sums of shares round
	e := deviations * math.Sqrt(load*load*s*(1-s)/float64(n)+s*s*variance)
	return bounds{s*load - e, s*load + e}
}

// pairShare returns the probability that two requests are on the same part. It never
// exceeds the fullest part's share.
func (p parts) pairShare() (share float64) {
	for _, l := range p.loads {
		share += l * l
	}
	return share
}

// turns is the probability that two requests of the same second are on the same part: its
// mean over the seconds, and a lower bound.
type turns struct{ mean, low float64 }

// measureTurns compares requests of the same second. Parts are full in turn if two of
// these are on one part more often than other pairs.
func (c *comparison) measureTurns(p parts) turns {
	bySecond := map[int64][]float64{}
	for _, l := range c.requests {
		if bySecond[l.second] == nil {
			bySecond[l.second] = make([]float64, len(p.loads))
		}
		bySecond[l.second][partOf(p.starts, l.order)]++
	}
	var n, sum, squares float64
	for _, at := range slices.Sorted(maps.Keys(bySecond)) {
		same, all := 0.0, 0.0
		for _, count := range bySecond[at] {
			same += count * (count - 1)
			all += count
		}
		if all < 2 {
			continue
		}
		same /= all * (all - 1)
		n, sum, squares = n+1, sum+same, squares+same*same
	}
	if n < turnSeconds {
		return turns{}
	}
	mean := sum / n
	return turns{mean, mean - deviations*math.Sqrt(max(0, squares/n-mean*mean)/(n-1))}
}

// direction returns where the load went. It is up or down only if the load went so all
// the time, since writers that take turns begin again with the first key.
func (c *comparison) direction(p parts) string {
	first, last := c.before[0].order, c.before[len(c.before)-1].order
	beyond, below := 0.0, 0.0
	for _, k := range c.after {
		switch {
		case k.order > last:
			beyond += k.share
		case k.order < first:
			below += k.share
		}
	}
	switch drift := c.drift(); {
	case drift == detect.Rising && p.fullest == len(p.loads)-1 && beyond >= directed:
		return drift
	case drift == detect.Falling && p.fullest == 0 && below >= directed:
		return drift
	}
	return detect.Wandering
}

// drift returns the direction of the sort keys from each third to the next; empty if
// there is none.
func (c *comparison) drift() string {
	switch {
	case shareAbove(c.before, c.between) >= stepped && shareAbove(c.between, c.after) >= stepped:
		return detect.Rising
	case shareAbove(c.between, c.before) >= stepped && shareAbove(c.after, c.between) >= stepped:
		return detect.Falling
	}
	return ""
}

// shareAbove returns the probability that a request of upper has a greater sort key than
// a request of lower. It is 1 if either is empty, because nothing contradicts it then.
func shareAbove(lower, upper []keyLoad) (share float64) {
	if len(lower) == 0 || len(upper) == 0 {
		return 1
	}
	below, i := 0.0, 0
	for _, k := range upper {
		for i < len(lower) && lower[i].order < k.order {
			below += lower[i].share
			i++
		}
		equal := 0.0
		if i < len(lower) && lower[i].order == k.order {
			equal = lower[i].share
		}
		share += k.share * (below + equal/2)
	}
	return share
}

// moves reports whether splits at either point leave a part above the limit. Sampling may
// leave open whether the key exceeds the limit at all. The verdict must not depend on
// that, so it must hold at the measured load and at the least load that is worth a split.
func (c *comparison) moves(load, variance float64) bool {
	if c.fills(load, coolShare, variance) {
		return true
	}
	return load-deviations*math.Sqrt(variance) <= 1 && c.fills(max(load, judgedAt), coolShare, 0) && c.fills(judgedAt, coolShare, 0)
}

// fills reports whether one part is certain to exceed the limit at this load, for either
// split point. The parts are split until each has at most a share `most` of the limit.
func (c *comparison) fills(load, most, variance float64) bool {
	for _, point := range [...]splitPoint{median, middle} {
		if c.splitLoad(load, most, point).bounds(load, variance, len(c.requests)).low <= 1 {
			return false
		}
	}
	return true
}
