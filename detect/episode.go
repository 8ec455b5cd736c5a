package detect

import (
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// point is one second of one key.
type point struct {
	second int64
	// low and high bound the demand; throttled is the refused part of low.
	low, high, throttled sketch.Load
	// table is the demand of the whole table or index in that second.
	table sketch.Load
}

// consumed is what got through.
func (p *point) consumed(k Kind) sample.Milli {
	return amount(k, p.low) - amount(k, p.throttled)
}

// figure is an amount with its bounds.
type figure struct{ value, low, high sample.Milli }

func (f figure) max(o figure) figure {
	return figure{max(f.value, o.value), max(f.low, o.low), max(f.high, o.high)}
}

// span is a stretch of seconds, both ends included.
type span struct{ from, to int64 }

// timeline is what is known of event time: seconds after since and up to settled
// are closed, and of those all but the incomplete ones were wholly seen.
type timeline struct {
	since      int64 // where this judge began
	settled    int64
	incomplete []span // in order, apart from each other
}

// complete counts the seconds after from, up to and including to, that are
// settled and were wholly seen.
func (t timeline) complete(from, to int64) int64 {
	from, to = max(from, t.since), min(to, t.settled)
	n := max(0, to-from)
	for _, s := range t.incomplete {
		n -= max(0, min(s.to, to)-max(s.from, from+1)+1)
	}
	return max(0, n)
}

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
	sumLow, sumHigh sketch.Load
	sumTable        sketch.Load
	seconds         int64
	over, possible  int
	saturated       int
	isSaturated     bool
	first, last     int64
	through         int64              // the last second that was counted
	recent          [SaturatedOf]int64 // seconds of a flat top, newest first
	hot             [FireOf]int64      // seconds above the share, newest first
}

// rules are what an episode is judged by.
type rules struct {
	kind Kind
	Policy
	// oneEpisode keeps everything in one episode: a file is looked at whole.
	oneEpisode bool
}

// step takes the next second.
func (e *episode) step(p *point, r rules, t timeline) {
	if p.second <= e.through { // counted before a restart
		e.raise(p)
		return
	}
	e.through = p.second
	hot := amount(r.kind, p.low) > share(limit(r.kind), r.Warning)
	flat := e.flatTop(p, r)
	e.settle(p.second-1, t)
	if e.state == Resolved && (hot || flat) && !r.oneEpisode {
		*e = episode{through: p.second}
	}
	if e.state == Resolved && !hot && !flat && !r.oneEpisode {
		return
	}
	e.count(p, r)
	if flat {
		e.saturate(p.second)
	}
	if hot {
		e.heat(p.second)
	}
}

// count adds a second to the figures.
func (e *episode) count(p *point, r rules) {
	kind := func() sample.Milli {
		return max(amount(r.kind, sketch.Load{Read: e.read.value, Write: e.write.value}), 0)
	}
	if e.seconds == 0 || amount(r.kind, p.low) > kind() {
		e.at = p.second
		e.consumed = sketch.Load{Read: p.low.Read - p.throttled.Read, Write: p.low.Write - p.throttled.Write}
	}
	e.raise(p)
	e.seconds++
	e.sumLow, e.sumHigh, e.sumTable = e.sumLow.Plus(p.low), e.sumHigh.Plus(p.high), e.sumTable.Plus(p.table)
	switch most := limit(r.kind); {
	case amount(r.kind, p.low) > most:
		e.over++
	case amount(r.kind, p.high) > most:
		e.possible++
	}
}

// raise lifts the peaks.
func (e *episode) raise(p *point) {
	e.write = e.write.max(figure{p.low.Write, p.low.Write, p.high.Write})
	e.read = e.read.max(figure{p.low.Read, p.low.Read, p.high.Read})
}

// flatTop says whether the second lies just at the limit with what it consumed.
func (e *episode) flatTop(p *point, r rules) bool {
	used := p.consumed(r.kind)
	return used >= share(limit(r.kind), SaturatedFrom) && used <= share(limit(r.kind), SaturatedTo)
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

// heat notes a second above the policy's share.
func (e *episode) heat(second int64) {
	if e.state == "" || e.state == Resolved {
		e.state = Pending
	}
	e.extend(second, second)
	copy(e.hot[1:], e.hot[:])
	e.hot[0] = second
	if earliest := e.hot[FireSeconds-1]; earliest != 0 && second-earliest < FireOf {
		e.state = Firing
	}
}

func (e *episode) fire(from, to int64) {
	e.state = Firing
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
	case e.over > 0 || e.isSaturated:
		return Critical
	case e.state != "":
		return Warning
	}
	return ""
}
