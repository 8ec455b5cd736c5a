package keypatterns

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

type group struct {
	// tooMany reports that there are too many members for shards. Nothing more is kept
	// then.
	tooMany bool
	// periods are the last periods of a horizon each, because an old load does not
	// measure today's. A file has one period.
	periods map[int64]*period
	// seconds are the seconds open to late data.
	seconds map[int64]groupSecond
	// mostWrite and mostRead are the upper bounds of the highest second ever seen.
	mostWrite, mostRead sample.Milli
	last                int64
	// flushes are the seconds with many requests that have the times of a flush.
	flushes sampling.Flushes
}

// period is the load of a sharded key in one period, or in several.
type period struct {
	keyType string
	members map[int]*member
	// digits is the least number of digits of a shard's number, if zeros are before it. hex
	// reports that some number has a digit above 9.
	digits int
	hex    bool
	// write and read are the peaks of all seconds, first and last the seconds of the
	// first and the last request.
	write, read groupPeak
	first, last int64
	// over counts the seconds in which any shard is proven above its partition's limit.
	over int
	// together is the most shards with load in one second.
	together int
	// unseen is the most that one shard can have had without being listed.
	unseen sample.Milli
	// whole is the highest standard deviation of a shard's share if sampling drew whole
	// callers.
	whole float64
}

type member struct {
	key string
	// counts sums the shard's seconds.
	counts
}

type counts struct {
	low, err sketch.Load
	requests int64
	// unseen is the most weight that the shard could have had unlisted in this second.
	unseen sample.Milli
}

// replace subtracts an earlier record of a second and adds a new one.
func (p *counts) replace(was, now counts) {
	p.low = detect.Sub(p.low.Plus(now.low), was.low)
	p.err = detect.Sub(p.err.Plus(now.err), was.err)
	p.requests += now.requests - was.requests
	p.unseen += now.unseen - was.unseen
}

// groupSecond is one second of a sharded key, sorted by shard. Most keys that look like
// shards are alone, so a slice saves memory over a map.
type groupSecond struct {
	parts  []shardCounts
	unseen sample.Milli
	isOver bool
}

type shardCounts struct {
	shard int
	counts
}

func (s *groupSecond) shardCounts(shard int) counts {
	i, found := slices.BinarySearchFunc(s.parts, shard, func(p shardCounts, n int) int { return cmp.Compare(p.shard, n) })
	if !found {
		return counts{}
	}
	return s.parts[i].counts
}

type groupPeak struct {
	sampling.Interval
	// proven holds with probability 1 − 10⁻⁶ if requests were sampled.
	proven sample.Milli
	at     int64
}

// put records a second, in place of an earlier record of it.
func (g *group) put(w *sketch.Window, seen []memberLoad, at int64, clocks *sampling.Clocks) {
	g.last = max(g.last, w.Second)
	e := g.periods[at]
	if e == nil {
		e = &period{members: map[int]*member{}, first: w.Second}
		if !g.tooMany {
			g.periods[at] = e
		}
	}
	if g.tooMany = g.tooMany || len(e.members) > maxMembers; g.tooMany {
		g.periods, g.seconds = nil, nil
		return
	}
	before := g.seconds[w.Second]
	now := groupSecond{parts: make([]shardCounts, 0, len(seen)), unseen: detect.Weight(w.Unseen)}
	e.unseen += now.unseen - before.unseen
	var write, read secondSum
	var batches sampling.Batches
	for _, x := range seen {
		k := x.key
		batches.Add(k.Low, clocks.Batch(w, k))
		whole := sampling.WholeCallers(w, k)
		e.whole = max(e.whole, whole.Deviation)
		has := counts{k.Low, k.Err, k.Requests, now.unseen}
		now.parts = append(now.parts, shardCounts{x.shard, has})
		write.add(k.Low.Write, k.Err.Write, k.WriteSpread, whole)
		read.add(k.Low.Read, k.Err.Read, k.ReadSpread, whole)
		e.digits, e.hex = max(e.digits, x.digits), e.hex || x.hex
		m := e.members[x.shard]
		if m == nil {
			if len(e.members) > maxMembers {
				continue
			}
			m = &member{key: k.Key.Text}
			e.members[x.shard], e.keyType = m, k.Key.Type
		}
		m.replace(before.shardCounts(x.shard), has)
	}
	slices.SortFunc(now.parts, func(a, b shardCounts) int { return cmp.Compare(a.shard, b.shard) })
	part, seconds := g.flushes.Sum(&batches, w.Second)
	now.isOver = slices.ContainsFunc(seen, func(m memberLoad) bool { return isOver(w, m.key, part) })
	e.addOver(before.isOver, now.isOver)
	g.addSecond(w.Second, now)
	e.write = e.write.max(write.peak(w.Second, w.Total.WriteLargest, part, seconds))
	e.read = e.read.max(read.peak(w.Second, w.Total.ReadLargest, part, seconds))
	e.together = max(e.together, len(seen))
	e.first, e.last = min(e.first, w.Second), max(e.last, w.Second)
	g.mostWrite, g.mostRead = max(g.mostWrite, write.upperBound(w.Total.WriteLargest)), max(g.mostRead, read.upperBound(w.Total.ReadLargest))
}

// isOver reports whether a shard is proven above its partition's limit. The part of its
// load that was flushed proves nothing.
func isOver(w *sketch.Window, k *sketch.KeyLoad, part float64) bool {
	if k.Low.Write <= detect.PartitionWrite && k.Low.Read <= detect.PartitionRead { // nearly every key
		return false
	}
	proven := detect.PartOf(sampling.Proven(w, k), 1-part)
	return proven.Write > detect.PartitionWrite || proven.Read > detect.PartitionRead
}

// addOver records whether a shard is over in a second, in place of an earlier record of
// it.
func (e *period) addOver(before, now bool) {
	if before {
		e.over--
	}
	if now {
		e.over++
	}
}

// addSecond keeps an open second, and now and then evicts closed ones.
func (g *group) addSecond(second int64, s groupSecond) {
	g.seconds[second] = s
	if len(g.seconds) > openSeconds+openSeconds/2 {
		maps.DeleteFunc(g.seconds, func(at int64, _ groupSecond) bool { return at < g.last-openSeconds })
	}
}

type secondSum struct {
	value, missing sample.Milli
	spread         sketch.Spread
	// whole is the standard deviation if sampling drew whole callers, largest the most
	// that one more caller would have added. The callers are the same for all shards.
	whole, largest float64
}

func (s *secondSum) add(value, missing sample.Milli, spread sketch.Spread, whole sampling.Whole) {
	s.value, s.missing = s.value+value, s.missing+missing
	s.spread = s.spread.Plus(spread)
	s.whole += whole.Deviation * detect.Units(value)
	s.largest += whole.Largest * detect.Units(value)
}

func (s *secondSum) amounts() sampling.Amounts {
	return sampling.NewAmounts(s.value, s.missing, sketch.Spread{Variance: max(s.spread.Variance, s.whole*s.whole), Largest: max(s.spread.Largest, s.largest)})
}

// upperBound returns the upper bound of the second's load, whenever its requests were
// made.
func (s *secondSum) upperBound(largest float64) sample.Milli {
	a := s.amounts()
	return a.High(largest)
}

// peak returns the second with its flushed part as the mean over the given seconds. The
// flushed part proves nothing.
func (s *secondSum) peak(second int64, largest, part, seconds float64) groupPeak {
	a := s.amounts()
	proven := a.SpreadOver(part, math.Inf(1)).Proven
	a = a.SpreadOver(part, seconds)
	return groupPeak{Interval: sampling.Interval{Value: a.Value, Low: a.Low, High: a.High(largest)}, proven: proven, at: second}
}

func (p groupPeak) max(o groupPeak) groupPeak {
	at := p.at
	if o.Value > p.Value || o.Value == p.Value && o.at < p.at || p.at == 0 {
		at = o.at
	}
	return groupPeak{Interval: p.Interval.Max(o.Interval), proven: max(p.proven, o.proven), at: at}
}

func (g *group) recentPeriods() *period {
	all := &period{members: map[int]*member{}}
	for _, e := range g.periods {
		if len(g.periods) == 1 {
			return e
		}
		for shard, m := range e.members {
			if all.members[shard] == nil {
				all.members[shard] = &member{key: m.key}
			}
			all.members[shard].replace(counts{}, m.counts)
		}
		all.keyType, all.over, all.digits, all.hex = e.keyType, all.over+e.over, max(all.digits, e.digits), all.hex || e.hex
		all.write, all.read, all.unseen = all.write.max(e.write), all.read.max(e.read), all.unseen+e.unseen
		if all.first == 0 || e.first < all.first {
			all.first = e.first
		}
		all.last, all.together, all.whole = max(all.last, e.last), max(all.together, e.together), max(all.whole, e.whole)
	}
	return all
}

func (g *group) utilization() (most float64) {
	for _, e := range g.periods {
		most = max(most, e.utilization())
	}
	return most
}
