package episode

import (
	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/internal/throttling"
	"github.com/keyheat/keyheat/sample"
)

// addPlateau records a second just at the limit; enough of them close together are a
// plateau. A load that rises and falls also crosses the limit, but only in single
// seconds: they are no plateau.
func (e *Episode) addPlateau(second int64) {
	copy(e.plateaus[1:], e.plateaus[:])
	e.plateaus[0] = second
	earliest := e.plateaus[detect.SaturatedSeconds-1]
	if earliest == 0 || second-earliest >= detect.SaturatedOf {
		return
	}
	for _, at := range e.plateaus {
		if at > e.levelled && second-at < detect.SaturatedOf {
			e.saturated++
		}
	}
	e.levelled = second
	e.isSaturated, e.lasting = true, detect.Critical
	e.fire(earliest, second)
}

// extendPending extends the episode by a second worth knowing, or begins it.
func (e *Episode) extendPending(second int64) {
	if e.state == "" || e.state == detect.Resolved {
		e.state = detect.Pending
	}
	e.extend(second, second)
}

// addHot records a second above the policy's share.
func (e *Episode) addHot(second int64) {
	e.warned = true
	e.extendPending(second)
	if pushWithin(e.hottest[:], second, detect.FireOf) {
		e.state = detect.Firing
	}
}

// addHarm records the harm of a second above the policy's share.
func (e *Episode) addHarm(p *point, r Rules) {
	if pushWithin(e.above[:], p.second, detect.HarmOf) && e.lasting == "" {
		e.lasting = detect.Warning
	}
	if p.amounts(r.Kind).Proven > detect.Limit(r.Kind) && pushWithin(e.over[:], p.second, detect.HarmOf) ||
		p.throttledByPartition(r.Kind) && pushWithin(e.refused[:], p.second, detect.FireOf) {
		e.lasting = detect.Critical
	}
}

// fire makes the episode firing, and extends it by some seconds.
func (e *Episode) fire(from, to int64) {
	e.state, e.warned = detect.Firing, true
	e.extend(from, to)
}

// extend makes the episode cover some seconds.
func (e *Episode) extend(from, to int64) {
	if e.first == 0 || from < e.first {
		e.first = from
	}
	e.last = max(e.last, to)
}

// settle resolves the episode once enough complete seconds have passed with nothing hot
// in them.
func (e *Episode) settle(second int64, t Timeline) {
	if (e.state == detect.Pending || e.state == detect.Firing) && t.completeSeconds(e.last, second) >= detect.ResolveSeconds {
		e.state = detect.Resolved
	}
}

// Severity returns the episode's worst severity; empty when there is no finding.
// Throttling of a table as a whole is a warning, since a setting or a split mends it. It
// is worse if it is an outage, if splits have had time and not mended it, or if an index
// holds back its table's writes.
func (e *Episode) Severity() detect.Severity {
	switch {
	case e.escalated:
		return detect.Critical
	case e.kind.OfTable() && e.warned:
		return detect.Warning
	case e.Over > 0 || e.isSaturated || e.sustained:
		return detect.Critical
	case e.warned:
		return detect.Warning
	case e.state != "":
		return detect.Info
	}
	return ""
}

// isCold reports whether the episode has no finding and no doubt yet, and no mean of
// recent seconds that could help a finding to fire.
func (e *Episode) isCold() bool { return e.Severity() == "" && e.means == nil && e.doubt == 0 }

// observePressure records the next second of a table or index as a whole.
func (e *Episode) observePressure(p *point, r Rules) {
	hit, throttled := p.pressure.Hits(r.Kind)
	e.settle(p.second-1, r.Time)
	if !hit {
		e.calm = e.calm.plus(asked{p.pressure.Requests, p.pressure.Load.Write})
		return
	}
	if e.state == detect.Resolved && !r.OneEpisode {
		*e = Episode{through: p.second}
	}
	if e.seconds > 0 {
		e.between = e.between.plus(e.calm)
	}
	e.calm = asked{}
	e.kind = r.Kind
	if detect.Weight(p.table) > detect.Weight(e.PeakLoad()) {
		e.At, e.consumed = p.second, p.consumedLoad()
	}
	e.raisePeaks(p, Largest{})
	e.seconds++
	e.readTotal.Add(p.read, p.sampledSecond(detect.HotKeyRead))
	e.writeTotal.Add(p.write, p.sampledSecond(detect.HotKeyWrite))
	e.sumTable = e.sumTable.Plus(p.table)
	e.Pressure = e.Pressure.Plus(p.pressure.ExcludeExplained(r.Kind))
	if !throttled {
		e.extendPending(p.second) // burst capacity still serves it: no alert
		return
	}
	e.addOver(p.second)
	e.addHot(p.second)
	e.escalated = e.escalated || e.minute.isOutage(p.second, p.pressure) ||
		r.Kind == detect.HotPartition && (p.pressure.HoldsWritesBack() || e.lasts())
}

// asked is what a table or index was asked for in some seconds.
type asked struct {
	requests int64
	write    sample.Milli
}

func (a asked) plus(o asked) asked { return asked{a.requests + o.requests, a.write + o.write} }

// minute is the throttling of a table or index in up to OutageSeconds.
type minute struct {
	from, seconds       int64
	throttled, requests int64
}

// isOutage counts a throttled second, and reports whether the minute that it completes was
// an outage. Seconds that throttle nothing count as calm, without their requests.
func (m *minute) isOutage(second int64, p *throttling.Pressure) bool {
	if second-m.from >= detect.OutageSeconds {
		*m = minute{from: second}
	}
	m.seconds++
	m.requests += p.Requests
	for _, n := range p.Refused {
		m.throttled += n
	}
	calm := second - m.from + 1 - m.seconds
	return second-m.from == detect.OutageSeconds-1 && calm <= detect.OutageSeconds/10 &&
		float64(m.throttled) >= detect.OutageShare*float64(m.requests)
}

// lasts reports whether a partition has throttled for longer than splits take, and not
// only at the ends of that time.
func (e *Episode) lasts() bool {
	span := e.last - e.first + 1
	return span >= detect.HealSeconds && float64(e.Over) >= detect.HealShare*float64(span)
}
