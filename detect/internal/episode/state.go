package episode

import (
	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/internal/throttling"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// addPlateau records a second just at the limit; enough of them close together are a
// plateau. A load that rises and falls also crosses the limit, but only in single
// seconds: they are no plateau. It is critical where samples are blind to refusals. Elsewhere
// their share decides.
func (e *Episode) addPlateau(p *point) {
	second := p.second
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
	if p.isBlind() {
		e.isHarmed, e.lasting = true, detect.Critical
	}
	e.fire(earliest, second)
}

// extendPending extends the episode by a second worth knowing, or begins it.
func (e *Episode) extendPending(second int64) {
	if e.state == "" || e.state == detect.Resolved {
		e.state = detect.Pending
	}
	e.extend(second, second)
}

// addHot records a second that fires with another one in so many seconds: one above the
// policy's share, or with throttled requests of a table.
func (e *Episode) addHot(second, within int64) {
	e.warned = true
	e.extendPending(second)
	if pushWithin(e.hottest[:], second, within) {
		e.state = detect.Firing
	}
}

// addHarm records the harm of a second above the policy's share. A second just above the limit
// proves none where refusals would be seen.
func (e *Episode) addHarm(p *point, r Rules) {
	if pushWithin(e.above[:], p.second, detect.HarmOf) && e.lasting == "" {
		e.lasting = detect.Warning
	}
	load, limit := p.amounts(r.Watched).Proven, detect.Limit(r.Watched)
	if load > limit && pushWithin(e.over[:], p.second, detect.HarmOf) {
		e.isHarmed, e.lasting = true, detect.Critical
	}
	if !p.isBlind() {
		limit = detect.ShareOf(limit, detect.NearLimit)
	}
	e.isHarmed = e.isHarmed || load > limit
}

// addSpan records a span of seconds whose mean is above the policy's share, or with refused
// requests: some of its seconds have as much, at least.
func (e *Episode) addSpan(s view, r Rules, hot bool, units, requests sampling.Part) {
	if !hot {
		return
	}
	e.possible += int(r.Span) - 1
	if units.Of+requests.Of > 0 {
		e.refused[0] = s.second
	}
	if s.certain.amounts(r.Watched).Proven > detect.Limit(r.Watched) || isHarmful(units) || isHarmful(requests) {
		e.isHarmed, e.lasting = true, detect.Critical
	} else if e.lasting == "" {
		e.lasting = detect.Warning
	}
	e.fire(s.second, e.through)
}

// isRefused reports whether a second counts because the key's partition refused requests in it:
// the load may be near the limit, as far as samples show it, or the episode goes on. One that
// samples only left possible ends once its mean is known.
func (e *Episode) isRefused(p *point, r Rules, share sample.Milli) bool {
	if p.keyRange+p.noReason == 0 || !p.mayRefuse(r.Watched) {
		return false
	}
	return !e.isWarm(p, r, share) && (e.isOpen() || p.amounts(r.Watched).High(detect.Side(r.Watched, r.Largest.Write, r.Largest.Read)) > share)
}

// isWarm reports whether samples now exclude a load near the limit that they only left possible.
func (e *Episode) isWarm(p *point, r Rules, share sample.Milli) bool {
	mean, known := e.means.Most(p.second, detect.Side(r.Watched, r.Largest.Write, r.Largest.Read))
	return known && mean+p.amounts(r.Watched).Missing <= share && e.above[0] == 0 && !e.sustained
}

// addRefused counts a second with refused requests. They are harm by themselves, and critical
// if their share lasts or the load is likely above the limit.
func (e *Episode) addRefused(s view, critical bool) {
	e.isHarmed = e.isHarmed || critical
	if !pushWithin(e.refused[:], s.second, refusedWithin(s.flushed || s.draws.RateLow > 0)) {
		return
	}
	if critical {
		e.lasting = detect.Critical
	} else if e.lasting == "" {
		e.lasting = detect.Warning
	}
	e.fire(s.second, s.second)
}

// refusedWithin returns the window of FireSeconds with refused requests. Samples show them in
// few of the seconds that have some, and so do flushes.
func refusedWithin(rarely bool) int64 {
	if rarely {
		return detect.MeanLongest
	}
	return detect.FireOf
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

// isOpen reports whether the episode has begun and is not resolved.
func (e *Episode) isOpen() bool { return e.state == detect.Pending || e.state == detect.Firing }

// isRecent reports whether a resolved episode is still returned: for longer than the findings that
// follow from it, which are returned for a horizon once it is resolved.
func (e *Episode) isRecent(settled int64) bool {
	kept := int64(detect.Horizon + 2*detect.ResolveSeconds)
	if e.sampled { // it may take a horizon to resolve
		kept += detect.Horizon
	}
	return e.state == detect.Resolved && e.last+kept >= settled
}

// settle resolves the episode once enough complete seconds have passed with nothing hot
// in them. Of a sampled load that must be no chance of sampling, unless it was known meanwhile.
func (e *Episode) settle(second int64, t Timeline) {
	isQuiet := e.isOpen() && t.CompleteSeconds(e.last, second) >= detect.ResolveSeconds
	if isQuiet && (!e.sampled || e.warm > e.last || e.silence.IsEnd(t.CompleteSeconds(e.silence.Last(), second))) {
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
	case e.watched.OfTable() && e.warned:
		return detect.Warning
	case e.isHarmed || e.sustained:
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
	if p.pressure.RefusesHotKey {
		e.hotKey = p.second
	} else if p.pressure.Guessed { // until enough seconds are known
		e.hotKey = max(e.hotKey, p.second-detect.ResolveSeconds+detect.MeanShort)
	}
	pressure := p.pressure
	if p.second-e.hotKey < detect.ResolveSeconds {
		pressure = pressure.ExplainedByHotKey()
	}
	hit, throttled := pressure.Hits(r.Watched)
	e.useBurst(pressure.Demand, throttled)
	hit = hit && (throttled || e.burst < detect.BurstSeconds || r.Watched == detect.SubjectPartition)
	e.settle(p.second-1, r.Time)
	if e.state == detect.Resolved && hit {
		*e = Episode{through: e.through, hotKey: e.hotKey, burst: e.burst}
	}
	e.sampled = e.sampled || p.pressure.Sampled
	e.silence.Observe(p.second, hit, e.isOpen(), p.requests)
	this := askedIn(pressure, r.Watched)
	e.escalated = e.minute.IsOutage(p.second, this.Requests, throttled, e.sampled) || e.escalated
	if !hit {
		e.calm = e.calm.Plus(this)
		return
	}
	if throttled && e.refusedFrom == 0 { // what burst capacity served before is no part of it
		e.refusedFrom, e.asked, e.calm, e.Pressure = p.second, askedUnits{}, askedUnits{}, throttling.Pressure{}
	}
	if e.seconds > 0 {
		e.asked = e.asked.Plus(e.calm)
	}
	e.asked, e.calm = e.asked.Plus(this), askedUnits{}
	e.watched = r.Watched
	if detect.Weight(p.table) > detect.Weight(sketch.Load{Read: e.read.Value, Write: e.write.Value}) {
		e.At, e.consumed = p.second, p.consumedLoad()
	}
	e.raisePeaks(p, Largest{})
	e.seconds++
	e.countWhole(p)
	e.sumTable = e.sumTable.Plus(p.table)
	e.Pressure = e.Pressure.Plus(pressure.ExcludeExplained(r.Watched))
	if !throttled {
		e.extendPending(p.second)
		if r.Watched == detect.SubjectTable && e.burst >= detect.BurstTold*detect.BurstSeconds {
			e.fire(p.second, p.second)
		}
		return
	}
	e.addOver(p.second)
	if e.addHot(p.second, refusedWithin(e.sampled)); r.Span > 0 {
		e.fire(p.second, e.through)
		e.escalated = e.escalated || r.Span >= detect.OutageSeconds && this.Requests.Part(e.sampled).Lower(detect.DecideTail) >= detect.OutageShare
	}
	e.escalated = e.escalated || r.Watched == detect.SubjectPartition && (pressure.HoldsWritesBack() || e.lasts())
}

// useBurst counts the burst capacity that a second uses, as its demand is of the stated capacity.
// None is left where the table refused requests. What it serves beyond that shows that its
// capacity was raised: then only refusals count, until a load below the stated capacity.
func (e *Episode) useBurst(demand float64, throttled bool) {
	if throttled {
		e.burst = detect.BurstSeconds
	} else {
		e.burst = min(detect.BurstSeconds, max(0, e.burst+demand-1))
	}
}

// countWhole adds a second of a table or index as a whole to the sums, and to the peaks if requests
// were sampled.
func (e *Episode) countWhole(p *point) {
	read, write := p.sampledSecond(detect.KeyReads), p.sampledSecond(detect.KeyWrites)
	e.readTotal.Add(p.read, read)
	e.writeTotal.Add(p.write, write)
	if !e.sampled {
		return
	}
	if e.draws = e.draws.Plus(p.draws); e.whole == nil {
		e.whole, e.draws = &[2]noisyPeak{}, p.draws
	}
	for i, seen := range []sampling.Second{write, read} {
		n := &e.whole[i]
		n.means.Add(p.second, seen)
		n.peak.Raise(&n.means, p.second)
	}
}

// lasts reports whether a partition has throttled for longer than splits take, and not
// only at the ends of that time.
func (e *Episode) lasts() bool {
	span := e.last - e.first + 1
	return span >= detect.HealSeconds && float64(e.Over) >= detect.HealShare*float64(span)
}
