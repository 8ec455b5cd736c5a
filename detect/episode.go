package detect

import (
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// episode is the verdict's memory of one kind for one key: a fold over its
// seconds in time order. An episode begins with a second above the policy's
// share and ends when it is resolved; the next one begins anew.
type episode struct {
	state State // empty before the first hot second
	// write and read are the highest second; at and consumed belong to the
	// kind's own highest.
	write, read     figure
	at              int64
	consumed        sketch.Load
	sum             sketch.Load
	sumLow, sumHigh sketch.Load
	sumTable        sketch.Load
	asked, changes  int64
	seconds         int64
	over, possible  int
	saturated       int
	isSaturated     bool
	warned          bool    // something was above the policy's share
	combined        float64 // the largest sum of both utilisations
	sustained       bool    // a mean is proven over the limit
	means           *means  // of a sampled key
	first, last     int64
	through         int64              // the last second that was counted
	recent          [SaturatedOf]int64 // seconds of a flat top, newest first
	hot             [FireOf]int64      // seconds above the share, newest first
	strain          strain             // of a table as a whole
	// toldEvidence is what the judge before this one left.
	toldEvidence *Evidence
}

// rules are what an episode is judged by.
type rules struct {
	kind Kind
	Policy
	// oneEpisode keeps everything in one episode: a file is looked at whole.
	oneEpisode bool
	// largest is what one more sampled request of the table would have added.
	largest largest
}

// largest is by reads and by writes, in units.
type largest struct{ read, write float64 }

// clone is an episode of its own.
func (e *episode) clone() episode {
	c := *e
	if e.means != nil {
		kept := *e.means
		c.means = &kept
	}
	return c
}

// steps takes the next seconds.
func (e *episode) steps(points []point, r rules, t timeline) {
	for i := range points {
		e.step(&points[i], r, t)
	}
}

// step takes the next second.
func (e *episode) step(p *point, r rules, t timeline) {
	if p.second <= e.through { // counted before a restart
		e.raise(p, r.largest)
		return
	}
	e.through = p.second
	if p.strain != nil {
		e.suffer(p, r, t)
		return
	}
	seen := p.of(r.kind)
	mean := e.mean(p, r.kind)
	hot := seen.proven > share(limit(r.kind), r.Warning)
	lasting := mean > share(limit(r.kind), r.Warning)
	flat := flatTop(p, r.kind)
	both := p.both(r)
	e.settle(p.second-1, t)
	if e.state == Resolved && !r.oneEpisode {
		if !hot && !lasting && !flat && !both {
			return
		}
		*e = episode{through: p.second, means: e.means}
	}
	e.count(p, r)
	if both {
		e.warm(p.second)
	}
	if flat {
		e.saturate(p.second)
	}
	if hot {
		e.isSaturated = e.isSaturated || p.refusedByPartition(r.kind)
		e.heat(p.second)
	}
	if lasting {
		e.sustained = e.sustained || mean > limit(r.kind)
		e.fire(p.second, p.second)
	}
}

// mean is the largest mean of the last seconds that is proven; zero for a key
// that is not sampled, whose seconds prove themselves.
func (e *episode) mean(p *point, k Kind) sample.Milli {
	seen := p.of(k)
	if e.means == nil {
		if seen.spread.Variance == 0 {
			return 0
		}
		e.means = &means{}
	}
	e.means.add(p.second, estimate{units(seen.value), seen.spread})
	return e.means.proven(p.second, trackShare*units(limit(k)))
}

// count adds a second to the figures.
func (e *episode) count(p *point, r rules) {
	seen := p.of(r.kind)
	if e.seconds == 0 || seen.value > figureOf(r.kind, e).value {
		e.at, e.consumed = p.second, p.consumed()
	}
	high := e.raise(p, r.largest)
	if both := p.combined(); both > e.combined {
		e.combined = both
	}
	e.seconds++
	e.sum = e.sum.Plus(sketch.Load{Read: p.read.value, Write: p.write.value})
	e.sumLow = e.sumLow.Plus(sketch.Load{Read: p.read.low, Write: p.write.low})
	e.sumHigh = e.sumHigh.Plus(high)
	e.sumTable = e.sumTable.Plus(p.table)
	e.asked, e.changes = e.asked+p.asked, e.changes+p.changes
	switch most := limit(r.kind); {
	case seen.proven > most:
		e.over++
	case amount(r.kind, high) > most || p.both(r):
		e.possible++
	}
}

// raise lifts the peaks, and answers the second's upper bounds.
func (e *episode) raise(p *point, l largest) (high sketch.Load) {
	high = sketch.Load{Read: p.read.high(l.read), Write: p.write.high(l.write)}
	e.write = e.write.max(figure{p.write.value, p.write.low, high.Write})
	e.read = e.read.max(figure{p.read.value, p.read.low, high.Read})
	return high
}

// saturate notes a second of a flat top; enough of them close together are
// saturation.
func (e *episode) saturate(second int64) {
	e.saturated++
	copy(e.recent[1:], e.recent[:])
	e.recent[0] = second
	if earliest := e.recent[SaturatedSeconds-1]; earliest != 0 && second-earliest < SaturatedOf {
		e.isSaturated = true
		e.fire(earliest, second)
	}
}

// warm notes a second that is worth knowing.
func (e *episode) warm(second int64) {
	if e.state == "" || e.state == Resolved {
		e.state = Pending
	}
	e.extend(second, second)
}

// heat notes a second above the policy's share.
func (e *episode) heat(second int64) {
	e.warned = true
	e.warm(second)
	copy(e.hot[1:], e.hot[:])
	e.hot[0] = second
	if earliest := e.hot[FireSeconds-1]; earliest != 0 && second-earliest < FireOf {
		e.state = Firing
	}
}

func (e *episode) fire(from, to int64) {
	e.state, e.warned = Firing, true
	e.extend(from, to)
}

// extend stretches the episode over some seconds.
func (e *episode) extend(from, to int64) {
	if e.first == 0 || from < e.first {
		e.first = from
	}
	e.last = max(e.last, to)
}

// settle resolves the episode when enough complete seconds have passed by
// second, with nothing hot in them.
func (e *episode) settle(second int64, t timeline) {
	if (e.state == Pending || e.state == Firing) && t.complete(e.last, second) >= ResolveSeconds {
		e.state = Resolved
	}
}

// severity is empty when there is nothing to find.
func (e *episode) severity() Severity {
	switch {
	case e.over > 0 || e.isSaturated || e.sustained:
		return Critical
	case e.warned:
		return Warning
	case e.state != "":
		return Info
	}
	return ""
}

// suffer takes the next second of a table as a whole.
func (e *episode) suffer(p *point, r rules, t timeline) {
	hit, refused := p.strain.hits(r.kind)
	e.settle(p.second-1, t)
	if !hit {
		return
	}
	if e.state == Resolved && !r.oneEpisode {
		*e = episode{through: p.second}
	}
	if weight(p.table) > weight(sketch.Load{Read: e.read.value, Write: e.write.value}) {
		e.at, e.consumed = p.second, p.consumed()
	}
	e.raise(p, largest{})
	e.seconds++
	for _, sum := range []*sketch.Load{&e.sum, &e.sumLow, &e.sumHigh, &e.sumTable} {
		*sum = sum.Plus(p.table)
	}
	e.strain = e.strain.plus(*p.strain)
	if !refused {
		e.warm(p.second) // burst capacity still gives it: nobody is woken
		return
	}
	e.over++
	e.heat(p.second)
}
