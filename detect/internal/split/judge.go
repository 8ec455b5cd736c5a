package split

import (
	"maps"
	"math"
	"slices"

	"github.com/keyheat/keyheat/detect"
)

// timed is a place of the load that is judged.
type timed struct {
	second int64
	weight float64
	order  string
}

// seen is what a verdict rests on: reads or writes of some seconds.
type seen struct {
	first, last int64
	limit       float64  // what a partition serves, in units a second
	seconds     []loaded // in order
	places      []timed
}

// loaded is a second's load in units, with its variance.
type loaded struct {
	second          int64
	units, variance float64
	items           [itemsKept]item
}

// Judge returns whether splits would help what a kind is about, in the seconds from
// `from` on; nil when none of them is kept.
func (r *Ring) Judge(k detect.Kind, from int64) *detect.Split {
	asked := question{k, from}
	v, known := r.verdicts[asked]
	if !known {
		v = r.judge(k, from)
		if r.verdicts == nil {
			r.verdicts = make(map[question]*detect.Split, 2)
		}
		r.verdicts[asked] = v
	}
	if v == nil {
		return nil
	}
	own := *v
	return &own
}

// judge is Judge, each time anew.
func (r *Ring) judge(k detect.Kind, from int64) *detect.Split {
	s := r.see(k, from)
	if len(s.seconds) == 0 {
		return nil
	}
	v := s.judge()
	if v.ResidualHigh == 0 {
		v.ResidualLow, v.ResidualHigh = v.Residual, v.Residual
	}
	for _, figure := range []*float64{&v.Load, &v.Item, &v.Residual, &v.ResidualLow, &v.ResidualHigh, &v.Refused} {
		*figure = math.Round(*figure*1e4) / 1e4 // variances add with an error that depends on the order
	}
	return &v
}

// see returns what is kept of reads or writes since a second, in the window.
func (r *Ring) see(k detect.Kind, from int64) seen {
	s := seen{limit: detect.Units(detect.Limit(k)), first: math.MaxInt64, last: math.MinInt64}
	for i := range r.slots {
		for n := range r.slots[i].seconds {
			if r.slots[i].seconds[n].hot {
				s.last = max(s.last, r.slots[i].number*slotSeconds+int64(n))
			}
		}
	}
	from = max(from, s.last-window+1)
	for i := range r.slots {
		slot := &r.slots[i]
		began := slot.number * slotSeconds
		for n := range slot.seconds {
			if at := began + int64(n); slot.seconds[n].hot && at >= from {
				s.first = min(s.first, at)
				s.seconds = append(s.seconds, slot.seconds[n].load(k, at))
			}
		}
		for _, p := range slot.places {
			if at := began + int64(p.second); p.Write == (k != detect.HotKeyRead) && at >= from {
				s.places = append(s.places, timed{at, float64(max(p.Weight, uint64(slot.threshold))), p.Order})
			}
		}
	}
	return s
}

// load returns the reads or writes of a second. Of what is proven of an item all of the
// other may be part.
func (s *second) load(k detect.Kind, at int64) loaded {
	l := loaded{second: at, units: s.write, variance: s.writeVariance}
	unit, other := 1000*detect.WritesInReads, 1000*s.read
	if k == detect.HotKeyRead {
		l = loaded{second: at, units: s.read, variance: s.readVariance}
		unit, other = 1000, 1000*detect.WritesInReads*s.write
	}
	for i, of := range s.items {
		if own := float64(of.weight) - other; own > 0 {
			l.items[i] = item{of.hash, uint64(own / float64(unit) * 1000)}
		}
	}
	return l
}

// length returns how many seconds there are from the first to the last.
func (s *seen) length() int64 { return s.last - s.first + 1 }

// loadsBetween returns the seconds with load from one to another, and over how many seconds
// their mean is to be taken. Of n loads with pauses n−1 pauses are seen where the time
// begins with one of them: the first belongs to the pause before it, which is not.
func (s *seen) loadsBetween(from, to int64) (all []loaded, n float64) {
	if from == s.first && to > from && int64(len(s.seconds)) < s.length() {
		from++
	}
	for _, l := range s.seconds {
		if l.second >= from && l.second <= to {
			all = append(all, l)
		}
	}
	return all, float64(to - from + 1)
}

// load returns the mean load from one second to another, as a share of the limit, and
// its variance.
func (s *seen) load(from, to int64) (mean, variance float64) {
	seconds, n := s.loadsBetween(from, to)
	for _, l := range seconds {
		mean += l.units
		variance += l.variance
	}
	return mean / n / s.limit, variance / (n * n) / (s.limit * s.limit)
}

// placesBetween returns the places from one second to another.
func (s *seen) placesBetween(from, to int64) (places []timed) {
	for _, p := range s.places {
		if p.second >= from && p.second <= to {
			places = append(places, p)
		}
	}
	return places
}

// judge gives the verdict, and the figures that go with it.
func (s *seen) judge() detect.Split {
	mean, variance := s.load(s.first, s.last)
	v := detect.Split{Verdict: detect.SplitUnknown, Seconds: int(s.length()), Load: mean * s.limit}
	v.Item = s.item(variance) * s.limit
	if s.length() < earlySeconds || len(s.places) < earlyPlaces {
		return v
	}
	if alone := s.itemOver() * s.limit; v.Item <= s.limit && alone > s.limit && (mean <= 1 || s.peak() > burstPeak*mean) {
		// It is above the limit when one item is, and on average not: no split helps that.
		v.Verdict, v.Item, v.Residual = detect.SplitHotItem, alone, alone
		v.Refused = 1 - s.limit/alone
		return v
	}
	if v.Item > s.limit {
		all := comparison{after: shares(s.places)}
		v.Verdict, v.Residual = detect.SplitHotItem, max(v.Item, all.heaviest()*v.Load)
		v.Refused = (v.Residual - s.limit) / v.Load
		return v
	}
	if areHidden(s.places) {
		v.Verdict = detect.SplitHidden
		return v
	}
	third := (s.length() + 1) / 3
	before, after := s.placesBetween(s.first, s.first+third-1), s.placesBetween(s.last-third+1, s.last)
	if len(before) < eachPlaces || len(after) < eachPlaces {
		return v
	}
	c := comparison{
		before: shares(before), between: shares(s.placesBetween(s.first+third, s.last-third)), after: shares(after), places: after,
	}
	c.load, c.variance = s.load(s.last-third+1, s.last)
	if math.Abs(c.load-mean) <= deviations*math.Sqrt(c.variance+variance) && variance > 0 {
		c.load, c.variance = mean, variance // sampling leaves less open of the whole time
	}
	s.decide(&v, c)
	return v
}

// decide judges the comparison of the first third and the last.
func (s *seen) decide(v *detect.Split, c comparison) {
	shown := c.splitLoad(c.load, heatShare, median)
	v.Splits, v.Residual, v.Refused = len(shown.loads)-1, shown.most*c.load*s.limit, shown.refusedShare(c.load)
	v.ResidualLow, v.ResidualHigh = v.Residual, v.Residual
	for _, at := range [...]splitPoint{lowest, highest, middle} {
		other := c.splitLoad(c.load, heatShare, at).most * c.load * s.limit
		v.ResidualLow, v.ResidualHigh = min(v.ResidualLow, other), max(v.ResidualHigh, other)
	}
	at, variance := c.load, c.variance
	if at < 1 {
		at, variance = judgedAt, 0
	}
	byLoad, byKeys := c.splitLoad(at, coolShare, median), c.splitLoad(at, coolShare, middle)
	whole, halves := byLoad.bounds(at, variance, len(c.places)), byKeys.bounds(at, variance, len(c.places))
	inTurn := c.inTurn(byLoad)
	peak := s.peak()
	mean, _ := s.load(s.first, s.last)
	item := c.heaviest() * at
	switch {
	case c.moves(at, variance) && item <= 1:
		v.Verdict, v.Direction = detect.SplitMoving, c.direction(byLoad)
	case inTurn.low*(at-deviations*math.Sqrt(variance)) > 1 && item <= 1:
		// The parts are full in turn: limits are of a second, and splits of minutes.
		v.Verdict, v.Direction = detect.SplitMoving, c.direction(byLoad)
		v.Residual = inTurn.mean * c.load * s.limit
		v.ResidualLow, v.ResidualHigh = v.Residual, v.Residual
		v.Refused = max(v.Refused, 1-1/(inTurn.mean*c.load))
	case s.length() >= burstSeconds && peak > 1 && peak > burstPeak*mean && c.splitLoad(mean, heatShare, median).most*peak > 1:
		v.Verdict = detect.SplitBursts
	case inTurn.low > byLoad.pairs() && math.Sqrt(inTurn.mean)*at > 1:
	case c.goes() != "":
		// Head and tail of a queue are on parts of their own until the tail is where the
		// split was: that takes longer than what is seen.
		v.Direction = c.goes()
		if c.fills(at, heatShare, variance) && item <= 1 {
			v.Verdict = detect.SplitMoving
		}
	case s.length() >= window && whole.high <= 1 && halves.high <= 1 && 2*int64(len(s.seconds)) >= s.length():
		v.Verdict = detect.SplitHelps
	}
}

// moves reports whether splits at either point leave a part above the limit. Samples may
// leave open whether the key is over the limit at all: whether splits help it when it is
// does not depend on that, so it is judged at the load that they show and at the least
// that is worth a split.
func (c *comparison) moves(load, variance float64) bool {
	if c.fills(load, coolShare, variance) {
		return true
	}
	return load-deviations*math.Sqrt(variance) <= 1 && c.fills(max(load, judgedAt), coolShare, 0) && c.fills(judgedAt, coolShare, 0)
}

// fills reports whether at this load one part, of those that are split until they have at
// most a share of the limit, is above it for certain, for either split point.
func (c *comparison) fills(load, most, variance float64) bool {
	for _, at := range [...]splitPoint{median, middle} {
		if c.splitLoad(load, most, at).bounds(load, variance, len(c.places)).low <= 1 {
			return false
		}
	}
	return true
}

// peak returns the highest second, as a share of the limit, without what sampling
// alone adds to it.
func (s *seen) peak() (most float64) {
	for _, l := range s.seconds {
		most = max(most, (l.units-peakDeviations*math.Sqrt(l.variance))/s.limit)
	}
	return most
}

// item returns what is proven of the load of the heaviest item, as a share of the
// limit. variance is that of the mean load, in the same measure.
func (s *seen) item(variance float64) float64 {
	sums := map[uint64]uint64{}
	seconds, n := s.loadsBetween(s.first, s.last)
	for _, l := range seconds {
		for _, i := range l.items {
			if i.weight > 0 {
				sums[i.hash] += i.weight
			}
		}
	}
	var most uint64
	for _, w := range sums {
		most = max(most, w)
	}
	mean, _ := s.load(s.first, s.last)
	own := float64(most) / 1000 / n / s.limit
	if mean <= 0 {
		return 0
	}
	return max(0, own-deviations*math.Sqrt(variance*min(1, own/mean)))
}

// itemOver returns what is proven of the load of one item on average in the seconds in
// which the key is proven above the limit, as a share of the limit; 0 when there are too
// few of them.
func (s *seen) itemOver() float64 {
	sums, n := map[uint64]float64{}, 0.0
	for _, l := range s.seconds {
		deviation := peakDeviations * math.Sqrt(l.variance)
		if l.units-deviation <= s.limit {
			continue
		}
		n++
		for _, i := range l.items {
			own := float64(i.weight) / 1000
			sums[i.hash] += max(0, own-deviation*math.Sqrt(min(1, own/l.units)))
		}
	}
	if n < earlySeconds {
		return 0
	}
	most := 0.0
	for _, own := range sums {
		most = max(most, own)
	}
	return most / n / s.limit
}

// comparison is the load of sort keys before and after, and in the time between.
type comparison struct {
	before, after  []weighed
	between        []weighed
	places         []timed // after
	load, variance float64
}

// heaviest returns the share of the heaviest sort key after.
func (c *comparison) heaviest() (most float64) {
	for _, k := range c.after {
		most = max(most, k.share)
	}
	return most
}

// parts is what splits of the earlier load make of the later one.
type parts struct {
	from  []string  // where all but the first begin
	loads []float64 // shares
	most  float64
	which int
}

// split cuts the earlier keys as if they had this load.
func (c *comparison) splitLoad(load, most float64, at splitPoint) parts {
	from := cut(c.before, load, most, at)
	loads, which := fullest(from, c.after)
	return parts{from, loads, loads[which], which}
}

// refusedShare returns the share of the load beyond what each part serves.
func (p parts) refusedShare(load float64) (share float64) {
	if load <= 0 {
		return 0
	}
	for _, l := range p.loads {
		share += max(0, l*load-1) / load
	}
	return share
}

// bounds are those of the fullest part's load, as a share of the limit.
type bounds struct{ low, high float64 }

func (p parts) bounds(load, variance float64, n int) bounds {
	s := min(1, p.most) // sums of shares round
	e := deviations * math.Sqrt(load*load*s*(1-s)/float64(n)+s*s*variance)
	return bounds{s*load - e, s*load + e}
}

// pairs returns how likely two requests are on the same part: never more than the
// fullest part's share.
func (p parts) pairs() (same float64) {
	for _, l := range p.loads {
		same += l * l
	}
	return same
}

// turns is how likely two requests of the same second are on the same part: its mean
// over the seconds, and what that surely is.
type turns struct{ mean, low float64 }

// inTurn compares requests of the same second: where it is more likely than otherwise
// that they are on one part, parts are full in turn.
func (c *comparison) inTurn(p parts) turns {
	bySecond := map[int64][]float64{}
	for _, l := range c.places {
		if bySecond[l.second] == nil {
			bySecond[l.second] = make([]float64, len(p.loads))
		}
		bySecond[l.second][partOf(p.from, l.order)]++
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

// direction returns where the load went: up or down only where it went so all the time,
// since writers that take turns begin again with the first.
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
	switch goes := c.goes(); {
	case goes == detect.Rising && p.which == len(p.loads)-1 && beyond >= directed:
		return goes
	case goes == detect.Falling && p.which == 0 && below >= directed:
		return goes
	}
	return detect.Wandering
}

// goes returns in which direction the sort keys of each third are from those of the third
// before it; empty in none.
func (c *comparison) goes() string {
	switch {
	case shareAbove(c.before, c.between) >= stepped && shareAbove(c.between, c.after) >= stepped:
		return detect.Rising
	case shareAbove(c.between, c.before) >= stepped && shareAbove(c.after, c.between) >= stepped:
		return detect.Falling
	}
	return ""
}

// shareAbove returns how likely a request of `these` has a greater sort key than one of
// `those`; 1 where either has none, since nothing speaks against it then.
func shareAbove(those, these []weighed) (share float64) {
	if len(those) == 0 || len(these) == 0 {
		return 1
	}
	lower, i := 0.0, 0
	for _, k := range these {
		for i < len(those) && those[i].order < k.order {
			lower += those[i].share
			i++
		}
		same := 0.0
		if i < len(those) && those[i].order == k.order {
			same = those[i].share
		}
		share += k.share * (lower + same/2)
	}
	return share
}
