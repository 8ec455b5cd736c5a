package detect

import (
	"math"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// point is one second of one key.
type point struct {
	second int64
	// read and write are the demand; throttled is the refused part of it.
	read, write amounts
	throttled   sketch.Load
	// requests is how many were seen, keyRange how many of the key's were
	// refused because of their partition, as far as evidence tells.
	requests, keyRange int64
	// asked is how many requests of the whole table or index were seen, changes
	// those of them that a stream told.
	asked, changes int64
	// strain is what a table as a whole suffered; nil for a key.
	strain *strain
	// table is the demand of the whole table or index in that second.
	table sketch.Load
}

// newPoint is what a window says of one of its keys.
func newPoint(w *sketch.Window, k *sketch.KeyLoad) point {
	p := point{
		second: w.Second, requests: k.Requests, asked: w.Total.Requests, changes: w.Total.Changes,
		read:      amountsOf(k.Low.Read, k.Err.Read, k.ReadSpread),
		write:     amountsOf(k.Low.Write, k.Err.Write, k.WriteSpread),
		throttled: k.Throttled, table: w.Total.Load,
	}
	if k.Evidence != nil {
		p.keyRange = k.Evidence.Refused[sample.KeyRange]
	}
	return p
}

// of is the part of the second that a kind is about.
func (p *point) of(k Kind) *amounts {
	if k == HotKeyRead {
		return &p.read
	}
	return &p.write
}

// consumed is what got through.
func (p *point) consumed() sketch.Load {
	return sketch.Load{Read: p.read.value - p.throttled.Read, Write: p.write.value - p.throttled.Write}
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

// both says whether reads and writes together are over a partition's budget, if
// they share one, while each is below its limit. It is told with the writes.
func (p *point) both(r rules) bool {
	return r.kind != HotKeyRead && p.combined() > 1 && p.write.proven <= PartitionWrite && p.read.proven <= PartitionRead
}

// combined is the proven sum of both utilisations.
func (p *point) combined() float64 {
	return units(p.write.proven)/units(PartitionWrite) + units(p.read.proven)/units(PartitionRead)
}

// refusedByPartition says that DynamoDB refused requests of the key, of what the
// kind is about, because their partition had enough.
func (p *point) refusedByPartition(k Kind) bool {
	return p.keyRange > 0 && amount(k, p.throttled) > 0
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

// flatTop says whether the second lies just at the limit with what it consumed,
// as far as sampling lets it be seen.
func flatTop(p *point, k Kind) bool {
	if math.Sqrt(p.of(k).spread.Variance) > flatSpread*units(limit(k)) {
		return false
	}
	used := amount(k, p.consumed())
	return used >= share(limit(k), SaturatedFrom) && used <= share(limit(k), SaturatedTo)
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
