package split

import (
	"math"

	"github.com/keyheat/keyheat/detect"
)

// request is a sampled request: its second, its weight and its sort key's order.
type request struct {
	second int64
	weight float64
	order  string
}

// evidence is the reads or writes of some seconds.
type evidence struct {
	first, last int64
	limit       float64      // limit of a partition, in units a second
	seconds     []secondLoad // in order
	requests    []request
}

// secondLoad is the load of a second in units, with its variance.
type secondLoad struct {
	second          int64
	units, variance float64
	items           [itemsKept]item
}

// collect returns the kept reads or writes of the window from a second on.
func (r *Ring) collect(k detect.Subject, from int64) evidence {
	s := evidence{limit: detect.Units(detect.Limit(k)), first: math.MaxInt64, last: math.MinInt64}
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
			if at := began + int64(p.second); p.Write == (k != detect.KeyReads) && at >= from {
				s.requests = append(s.requests, request{at, float64(max(p.Weight, uint64(slot.threshold))), p.Order})
			}
		}
	}
	return s
}

// load returns the reads or writes of a second. An item weighs its reads and writes
// together, so all of the other kind may be in its weight.
func (s *second) load(k detect.Subject, at int64) secondLoad {
	l := secondLoad{second: at, units: s.write, variance: s.writeVariance}
	unit, other := 1000*detect.WritesInReads, 1000*s.read
	if k == detect.KeyReads {
		l = secondLoad{second: at, units: s.read, variance: s.readVariance}
		unit, other = 1000, 1000*detect.WritesInReads*s.write
	}
	for i, kept := range s.items {
		if own := float64(kept.weight) - other; own > 0 {
			l.items[i] = item{kept.hash, uint64(own / float64(unit) * 1000)}
		}
	}
	return l
}

// length returns the number of seconds from the first to the last.
func (s *evidence) length() int64 { return s.last - s.first + 1 }

// loadsBetween returns the seconds with load in a range, and the number of seconds for
// their mean. If loads come with pauses, the pause before the first load is unknown, so a
// range that begins with it leaves the first second out.
func (s *evidence) loadsBetween(from, to int64) (all []secondLoad, n float64) {
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

// load returns the mean load in a range of seconds, as a share of the limit, and its
// variance.
func (s *evidence) load(from, to int64) (mean, variance float64) {
	seconds, n := s.loadsBetween(from, to)
	for _, l := range seconds {
		mean += l.units
		variance += l.variance
	}
	return mean / n / s.limit, variance / (n * n) / (s.limit * s.limit)
}

// requestsBetween returns the requests in a range of seconds.
func (s *evidence) requestsBetween(from, to int64) (requests []request) {
	for _, p := range s.requests {
		if p.second >= from && p.second <= to {
			requests = append(requests, p)
		}
	}
	return requests
}

// peak returns the highest second as a share of the limit, without the noise that
// sampling adds.
func (s *evidence) peak() (most float64) {
	for _, l := range s.seconds {
		most = max(most, (l.units-peakDeviations*math.Sqrt(l.variance))/s.limit)
	}
	return most
}

// heaviestItem returns the proven load of the heaviest item, as a share of the limit.
// variance is the variance of the mean load, in the same measure.
func (s *evidence) heaviestItem(variance float64) float64 {
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

// heaviestItemOver returns the proven mean load of the heaviest item in the seconds in
// which the key is proven above the limit. It is a share of the limit, and 0 if there are
// too few such seconds.
func (s *evidence) heaviestItemOver() float64 {
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
