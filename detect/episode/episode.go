package episode

import (
	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/detect/throttling"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// Episode is the verdict's memory of one kind for one key: a fold over its
// seconds in time order. An episode begins with a second above the policy's
// share and ends when it is resolved; the next one begins anew.
type Episode struct {
	state detect.State // empty before the first hot second
	// Write and read are the highest second; at and consumed belong to the
	// kind's own highest.
	Write, Read     sampling.Interval
	At              int64
	consumed        sketch.Load
	sum             sketch.Load
	sumLow, sumHigh sketch.Load
	sumTable        sketch.Load
	asked, changes  int64
	Seconds         int64
	Over, possible  int
	saturated       int
	isSaturated     bool
	warned          bool            // something was above the policy's share
	combined        float64         // the largest sum of both utilisations
	sustained       bool            // a mean is proven over the limit
	means           *sampling.Means // of a sampled key
	first, last     int64
	through         int64                     // the last second that was counted
	recent          [detect.SaturatedOf]int64 // seconds of a flat top, newest first
	hot             [detect.FireOf]int64      // seconds above the share, newest first
	Pressure        throttling.Pressure       // of a table as a whole
	// RestoredEvidence is what the judge before this one left.
	RestoredEvidence *detect.Evidence
}

// Rules are what an episode is judged by.
type Rules struct {
	Kind detect.Kind
	detect.Policy
	// oneEpisode keeps everything in one episode: a file is looked at whole.
	oneEpisode bool
	// largest is what one more sampled request of the table would have added.
	largest Largest
}

// Largest is by reads and by writes, in units.
type Largest struct{ Read, Write float64 }

// clone is an episode of its own.
func (e *Episode) clone() Episode {
	c := *e
	if e.means != nil {
		kept := *e.means
		c.means = &kept
	}
	return c
}

// steps takes the next seconds.
func (e *Episode) steps(points []point, r Rules, t Timeline) {
	for i := range points {
		e.step(&points[i], r, t)
	}
}

// step takes the next second.
func (e *Episode) step(p *point, r Rules, t Timeline) {
	if p.second <= e.through { // counted before a restart
		e.raise(p, r.largest)
		return
	}
	e.through = p.second
	if p.pressure != nil {
		e.suffer(p, r, t)
		return
	}
	seen := p.of(r.Kind)
	mean := e.mean(p, r.Kind)
	hot := seen.Proven > detect.ShareOf(detect.Limit(r.Kind), r.Warning)
	lasting := mean > detect.ShareOf(detect.Limit(r.Kind), r.Warning)
	flat := flatTop(p, r.Kind)
	both := p.both(r)
	e.settle(p.second-1, t)
	if e.state == detect.Resolved && !r.oneEpisode {
		if !hot && !lasting && !flat && !both {
			return
		}
		*e = Episode{through: p.second, means: e.means}
	}
	e.count(p, r)
	if both {
		e.warm(p.second)
	}
	if flat {
		e.saturate(p.second)
	}
	if hot {
		e.isSaturated = e.isSaturated || p.refusedByPartition(r.Kind)
		e.heat(p.second)
	}
	if lasting {
		e.sustained = e.sustained || mean > detect.Limit(r.Kind)
		e.fire(p.second, p.second)
	}
}

// mean is the largest mean of the last seconds that is proven; zero for a key
// that is not sampled, whose seconds prove themselves.
func (e *Episode) mean(p *point, k detect.Kind) sample.Milli {
	seen := p.of(k)
	if e.means == nil {
		if seen.Spread.Variance == 0 {
			return 0
		}
		e.means = &sampling.Means{}
	}
	e.means.Add(p.second, sampling.Estimate{Units: detect.Units(seen.Value), Spread: seen.Spread})
	return e.means.Proven(p.second, detect.TrackShare*detect.Units(detect.Limit(k)))
}

// count adds a second to the figures.
func (e *Episode) count(p *point, r Rules) {
	seen := p.of(r.Kind)
	if e.Seconds == 0 || seen.Value > FigureOf(r.Kind, e).Value {
		e.At, e.consumed = p.second, p.consumed()
	}
	high := e.raise(p, r.largest)
	if both := p.combined(); both > e.combined {
		e.combined = both
	}
	e.Seconds++
	e.sum = e.sum.Plus(sketch.Load{Read: p.Read.Value, Write: p.Write.Value})
	e.sumLow = e.sumLow.Plus(sketch.Load{Read: p.Read.Low, Write: p.Write.Low})
	e.sumHigh = e.sumHigh.Plus(high)
	e.sumTable = e.sumTable.Plus(p.table)
	e.asked, e.changes = e.asked+p.asked, e.changes+p.changes
	switch most := detect.Limit(r.Kind); {
	case seen.Proven > most:
		e.Over++
	case detect.Amount(r.Kind, high) > most || p.both(r):
		e.possible++
	}
}

// raise lifts the peaks, and answers the second's upper bounds.
func (e *Episode) raise(p *point, l Largest) (high sketch.Load) {
	high = sketch.Load{Read: p.Read.High(l.Read), Write: p.Write.High(l.Write)}
	e.Write = e.Write.Max(sampling.Interval{Value: p.Write.Value, Low: p.Write.Low, High: high.Write})
	e.Read = e.Read.Max(sampling.Interval{Value: p.Read.Value, Low: p.Read.Low, High: high.Read})
	return high
}

// saturate notes a second of a flat top; enough of them close together are
// saturation.
func (e *Episode) saturate(second int64) {
	e.saturated++
	copy(e.recent[1:], e.recent[:])
	e.recent[0] = second
	if earliest := e.recent[detect.SaturatedSeconds-1]; earliest != 0 && second-earliest < detect.SaturatedOf {
		e.isSaturated = true
		e.fire(earliest, second)
	}
}

// warm notes a second that is worth knowing.
func (e *Episode) warm(second int64) {
	if e.state == "" || e.state == detect.Resolved {
		e.state = detect.Pending
	}
	e.extend(second, second)
}

// heat notes a second above the policy's share.
func (e *Episode) heat(second int64) {
	e.warned = true
	e.warm(second)
	copy(e.hot[1:], e.hot[:])
	e.hot[0] = second
	if earliest := e.hot[detect.FireSeconds-1]; earliest != 0 && second-earliest < detect.FireOf {
		e.state = detect.Firing
	}
}

func (e *Episode) fire(from, to int64) {
	e.state, e.warned = detect.Firing, true
	e.extend(from, to)
}

// extend stretches the episode over some seconds.
func (e *Episode) extend(from, to int64) {
	if e.first == 0 || from < e.first {
		e.first = from
	}
	e.last = max(e.last, to)
}

// settle resolves the episode when enough complete seconds have passed by
// second, with nothing hot in them.
func (e *Episode) settle(second int64, t Timeline) {
	if (e.state == detect.Pending || e.state == detect.Firing) && t.complete(e.last, second) >= detect.ResolveSeconds {
		e.state = detect.Resolved
	}
}

// Severity is empty when there is nothing to find.
func (e *Episode) Severity() detect.Severity {
	switch {
	case e.Over > 0 || e.isSaturated || e.sustained:
		return detect.Critical
	case e.warned:
		return detect.Warning
	case e.state != "":
		return detect.Info
	}
	return ""
}

// suffer takes the next second of a table as a whole.
func (e *Episode) suffer(p *point, r Rules, t Timeline) {
	hit, refused := p.pressure.Hits(r.Kind)
	e.settle(p.second-1, t)
	if !hit {
		return
	}
	if e.state == detect.Resolved && !r.oneEpisode {
		*e = Episode{through: p.second}
	}
	if detect.Weight(p.table) > detect.Weight(sketch.Load{Read: e.Read.Value, Write: e.Write.Value}) {
		e.At, e.consumed = p.second, p.consumed()
	}
	e.raise(p, Largest{})
	e.Seconds++
	for _, sum := range []*sketch.Load{&e.sum, &e.sumLow, &e.sumHigh, &e.sumTable} {
		*sum = sum.Plus(p.table)
	}
	e.Pressure = e.Pressure.Plus(*p.pressure)
	if !refused {
		e.warm(p.second) // burst capacity still gives it: nobody is woken
		return
	}
	e.Over++
	e.heat(p.second)
}
