package episode

import (
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/internal/throttling"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// Episode folds the seconds of a key or target, in time order, for one watched subject. An episode
// begins with a second above the policy's share of the limit and ends when it is
// resolved; the next one begins anew.
type Episode struct {
	state detect.State // empty before the first hot second
	// write and read are the highest seconds of each; At and consumed belong to the
	// highest second of the subject's side.
	write, read sampling.Interval
	At          int64
	consumed    sketch.Load
	// replicated is the part of that second's writes that other Regions made, replicatedTotal of
	// all counted seconds. The highest of many sampled seconds has mostly one Region's.
	replicated, replicatedTotal sample.Milli
	// readTotal and writeTotal are the subject's requested load in the counted seconds.
	// sumTable is the load of the whole table or index in the seconds with the subject.
	readTotal, writeTotal sampling.Total
	sumTable              sketch.Load
	// requests counts requests of the whole table or index; changes counts the ones from
	// a stream.
	requests, changes int64
	seconds           int64
	// Over counts seconds proven above the limit, possible seconds that may be above it,
	// saturated seconds on a plateau at it.
	Over, possible, saturated int
	// overIn are the seconds that Over counts.
	overIn []detect.Span
	// bursts are the newest of these ranges, of earlier episodes too.
	bursts []detect.Span

	isHarmed  bool            // load far above the limit, or refused requests, are critical
	warned    bool            // something was above the policy's share
	sustained bool            // a mean is proven over the limit
	combined  float64         // the largest sum of both utilisations
	means     *sampling.Means // of a sampled key
	sampled   bool
	peak      sampling.Peak // of a sampled key
	// whole are the peaks of writes and of reads of a sampled table or index; nil for others.
	whole *[2]noisyPeak
	// draws is how all requests were sampled. believed reports a second above the
	// policy's share only if requests were drawn independently, which the samples do not
	// state.
	draws    sketch.Draws
	believed bool
	// flushes are the seconds with times of a flush. flushed counts seconds above the
	// policy's share only if flush times are request times; exact counts the certain
	// ones.
	flushes        sampling.Flushes
	flushed, exact int
	// doubt is the highest load above the limit, in a second or on average over a minute,
	// whose times or sampling leave open whether the key had it; zero for none.
	doubt sample.Milli
	// opening is the flush that opens the figures, as added to them, until another flush
	// follows; nil otherwise.
	opening *point

	first, last int64                     // the hot seconds
	silence     sampling.Silence          // since the newest of them, as far as samples show it
	through     int64                     // the last second that was counted
	warm        int64                     // the newest second whose mean excludes a load near the limit
	plateaus    [detect.SaturatedOf]int64 // seconds just at the limit, newest first
	levelled    int64                     // the last second that is counted as saturated
	hottest     [detect.FireSeconds]int64 // seconds above the share, newest first

	// over, above and refused are the newest seconds over the limit, above the share, and
	// with requests that the partition refused. Each lists the newest first. harm judges the
	// refused share. lasting is the severity that lasting harm gives the episode.
	over, above [detect.HarmSeconds]int64
	refused     [detect.FireSeconds]int64
	harm        harmShare
	lasting     detect.Severity

	// watched is the subject of a table's or index's episode, empty for a key. escalated
	// reports that the throttling does not mend itself, or is an outage. minute is the
	// throttling since it began to be counted anew.
	watched   detect.Subject
	escalated bool
	minute    harmMinute
	// Pressure is the throttling of a table or index as a whole, in the seconds that count.
	// asked is what it was asked for from the first of them to the last, calm since. hotKey is
	// the newest second in which a hot key explained the refusals, refusedFrom the first with
	// refusals. burst is the used part of the burst capacity, in seconds of the stated capacity.
	Pressure    throttling.Pressure
	asked, calm askedUnits
	hotKey      int64
	refusedFrom int64
	burst       float64
	refusals    refusalSums
	// healing outlasts an episode: partitions are never merged again.
	healing healing
}

// Rules are the conditions that judge an episode of a watched subject.
type Rules struct {
	Watched detect.Subject
	Conditions
}

// Largest is the most that one sampled request of a table stands for, in units.
type Largest struct{ Read, Write float64 }

// noisyPeak is the highest load of sampled seconds, with the last of them.
type noisyPeak struct {
	means sampling.Means
	peak  sampling.Peak
}

// clone returns a copy that shares nothing with e.
func (e *Episode) clone() Episode {
	c := *e
	c.overIn, c.bursts = slices.Clone(e.overIn), slices.Clone(e.bursts)
	if e.means != nil {
		kept := *e.means
		c.means = &kept
	}
	if e.whole != nil {
		c.whole = new(*e.whole)
	}
	return c
}

// observe records the next second.
func (e *Episode) observe(p *point, r Rules) {
	s := e.view(p)
	if p.pressure == nil && r.Span == 0 && e.healing.observe(s.servedSecond(r.Watched), r.Watched, r.Time) {
		*e = Episode{through: p.second - 1, means: e.means, flushes: e.flushes, healing: e.healing}
	}
	if p.second <= e.through { // it came after the seconds behind it were folded
		e.raisePeaks(s.likely, r.Largest)
		return
	}
	since := e.advance(p.second, r.Span)
	if p.pressure != nil {
		e.observePressure(p, r)
		return
	}
	mean, believed := e.mean(s.likely, r.Watched)
	independent, _ := s.likely.believedAmounts(r.Watched)
	share := detect.ShareOf(detect.Limit(r.Watched), r.Warning)
	if s.likely.amounts(r.Watched).High(detect.Side(r.Watched, r.Largest.Write, r.Largest.Read)) <= share {
		mean, believed = 0, 0 // it is of the seconds before: the load fell
	}
	hot := s.certain.amounts(r.Watched).Proven > share
	sustained := mean > share && !s.flushed
	flush := s.flushed && !hot && (s.likely.amounts(r.Watched).Proven > share || mean > share)
	unproven := (independent.Proven > share || believed > share) && !hot && !sustained && !flush
	e.doubtLoad(s, r)
	refused := e.isRefused(p, r, share)
	if e.isWarm(p, r, share) {
		e.warm = p.second
	}
	flush, unproven = flush && !refused, unproven && !refused // refusals end the doubt
	plateau := isPlateau(p, r.Watched) && !s.flushed
	combined := s.certain.overCombined(r)
	e.settle(p.second-1, r.Time)
	if e.state == detect.Resolved {
		if !hot && !sustained && !plateau && !combined && !unproven && !flush && !refused {
			return
		}
		*e = Episode{through: e.through, means: e.means, flushes: e.flushes, healing: e.healing, bursts: e.bursts}
	}
	switch {
	case hot || sustained || refused:
		e.exact++
	case s.flushed && p.amounts(r.Watched).Proven > share:
		e.flushed++
	}
	e.count(s, r, 1+e.gather(s, since, r))
	e.silence.Observe(p.second, hot || sustained || plateau || combined || unproven || flush || refused, e.isOpen(), p.requests)
	units, requests := p.refusedParts(r.Watched)
	if r.Span > 0 {
		e.addSpan(s, r, hot || refused, units, requests)
		return
	}
	lasts := e.harm.Observe(p.second, units.Of+requests.Of > 0, units, requests)
	if unproven {
		e.believed = true
	}
	e.warned = e.warned || flush
	opens := e.state == "" || e.state == detect.Resolved
	if combined || unproven || flush {
		e.extendPending(p.second)
	}
	if flush && opens {
		e.backDate(p.second, r)
	}
	if plateau {
		e.addPlateau(p)
	}
	if hot || refused {
		e.addHot(p.second, detect.FireOf)
	}
	if hot {
		e.addHarm(s.certain, r)
	}
	if refused {
		most := max(independent.Proven, believed, mean, s.likely.amounts(r.Watched).Proven)
		e.addRefused(s, lasts || most > detect.Limit(r.Watched))
	}
	if sustained {
		if e.sustained = e.sustained || mean > detect.Limit(r.Watched); e.sustained {
			e.lasting = detect.Critical
		} else if e.lasting == "" {
			e.lasting = detect.Warning
		}
		e.fire(p.second, p.second)
	}
}

// advance goes on to a second, or to a span of seconds, and returns how many seconds it is after
// the last one; 0 for the first.
func (e *Episode) advance(second, span int64) (since int64) {
	if e.through > 0 {
		since = second - e.through
	}
	e.through = second + max(span, 1) - 1
	if since > 1 {
		e.plateaus = [detect.SaturatedOf]int64{} // nothing shows that the load stayed there
	}
	return since
}

// mean returns the largest proven mean of the last seconds, and the mean that would be
// proven if requests were drawn independently. Both are zero for a key that is not
// sampled, because its single seconds are exact.
func (e *Episode) mean(p *point, k detect.Subject) (proven, believed sample.Milli) {
	seen := p.sampledSecond(k)
	if e.means == nil {
		if seen.Spread.Variance == 0 {
			return 0, 0
		}
		e.means = &sampling.Means{}
	}
	e.means.Add(p.second, seen)
	return e.means.Proven(p.second, detect.TrackShare*detect.Units(detect.Limit(k)))
}

// doubtLoad records a load above the limit that is not proven.
func (e *Episode) doubtLoad(s view, r Rules) {
	load, limit := s.amounts(r.Watched), detect.Limit(r.Watched)
	independent, _ := s.believedAmounts(r.Watched)
	if (s.flushed && load.Proven > limit || independent.Proven > limit) && s.certain.amounts(r.Watched).Proven <= limit {
		e.doubt = max(e.doubt, load.Value)
	}
	if e.means != nil {
		e.doubt = max(e.doubt, e.means.LikelyOver(s.second, limit))
	}
}

// Doubt returns the highest load above the limit that the key may have had in a second, or
// on average over a minute. It is zero if there is none, or if such a load is proven.
func (e *Episode) Doubt() sample.Milli {
	if e.Over > 0 || e.isHarmed || e.sustained {
		return 0
	}
	return e.doubt
}

// view is a second as its times show it.
type view struct {
	*point
	// certain is the second without its flushed load; likely spreads the flushed load to
	// its mean.
	certain, likely *point
	flushed         bool
}

// view returns a second as its times show it.
func (e *Episode) view(p *point) view {
	if p.batch.Part > 0 {
		if span, flushed := e.flushes.Span(p.second, p.load(), p.batch, p.ahead); flushed {
			certain, likely := p.certainPoint(), p.spreadOver(span)
			return view{p, &certain, &likely, true}
		}
	}
	return view{p, p, p, false}
}

// servedSecond returns what shows in a second whether splits have healed the key.
func (s view) servedSecond(k detect.Subject) servedSecond {
	return servedSecond{
		second: s.second, units: detect.Units(detect.Amount(k, s.likely.consumedLoad())), marked: s.marking,
		refused: s.mayRefuse(k), sampled: s.sampledSecond(k),
	}
}

// count adds a second to the figures: its likely load to peaks, its whole load to sums.
// The second stands for standsFor seconds, counted by gather.
func (e *Episode) count(s view, r Rules, standsFor int64) {
	p := s.point
	if e.seconds == 0 || s.likely.amounts(r.Watched).Value > e.Peak(r.Watched).Value {
		e.At, e.consumed, e.replicated = p.second, s.likely.consumedLoad(), s.likely.replicated
	}
	high := e.raisePeaks(s.likely, r.Largest)
	if both := s.certain.combinedShare(); both > e.combined {
		e.combined = both
	}
	if e.seconds == 0 && s.flushed {
		p, e.opening = s.likely, s.likely // the samples do not show how long the first flush gathered
	}
	e.seconds++
	load := p.sampledSecond(r.Watched)
	e.refusals.Add(p.second, sampling.Part{Of: detect.Units(detect.Amount(r.Watched, p.throttled)), All: load.Units, Variance: load.Spread.Variance})
	e.readTotal.Add(p.read, p.sampledSecond(detect.KeyReads))
	e.writeTotal.Add(p.write, p.sampledSecond(detect.KeyWrites))
	e.sumTable, e.replicatedTotal = e.sumTable.Plus(p.table), e.replicatedTotal+p.replicated
	e.sampled = e.sampled || p.write.Spread.Variance > 0 || p.read.Spread.Variance > 0
	if e.seconds == 1 {
		e.draws = p.draws
	} else {
		e.draws = e.draws.Plus(p.draws)
	}
	if e.means != nil {
		e.peak.Raise(e.means, p.second)
	}
	e.requests, e.changes = e.requests+p.tableRequests, e.changes+p.tableChanges
	switch most := detect.Limit(r.Watched); {
	case s.certain.amounts(r.Watched).Proven > most:
		e.addOver(p.second)
	case detect.Amount(r.Watched, high) > most || s.certain.overCombined(r), s.flushed && detect.Milli(e.total(r.Watched).Mean(0).Value) > most:
		e.possible += int(standsFor)
	}
}

// addOver records a second proven above the limit.
func (e *Episode) addOver(second int64) {
	e.Over++
	e.overIn = detect.AddSecond(e.overIn, second)
	if n := len(e.bursts); n >= detect.KeptBursts && second > e.bursts[n-1].To+1 {
		e.bursts = slices.Delete(e.bursts, 0, 1)
	}
	e.bursts = detect.AddSecond(e.bursts, second)
}

// backDate moves the episode's start back to when the flushed load began to gather. The
// mean is unknown until some flushes show that time. A load hot on average over all of it
// was hot before anyone could notice.
func (e *Episode) backDate(noticed int64, r Rules) {
	all := e.total(r.Watched)
	if detect.Milli(all.Mean(0).Value) > detect.ShareOf(detect.Limit(r.Watched), r.Warning) {
		e.extend(noticed-all.Seconds()+1, noticed)
	}
}

// smooth raises the peak of a flushed load to its mean. The first flush gathered for an
// unknown time, so the likely loads of the next flushes stay too low for a while.
func (e *Episode) smooth(r Rules) {
	if e.flushed == 0 {
		return
	}
	before := e.Peak(r.Watched).Value
	e.write = e.write.Max(intervalOf(e.writeTotal.Mean(r.Largest.Write)))
	e.read = e.read.Max(intervalOf(e.readTotal.Mean(r.Largest.Read)))
	if grown := detect.Ratio(float64(e.Peak(r.Watched).Value), float64(before)); grown > 1 {
		e.consumed, e.replicated = detect.PartOf(e.consumed, grown), detect.ShareOf(e.replicated, grown)
	}
}

// gather counts the seconds since the key's last one, and returns the number of seconds
// that the flush gathered over. For a sampled key it counts the complete seconds, because
// the key may have had load in them. A mean over only the seconds with samples would be
// too high.
func (e *Episode) gather(s view, since int64, r Rules) (gathered int64) {
	switch {
	case since <= 1:
		return 0
	case s.flushed && e.seconds > 0:
		e.leaveOpening()
		gathered = min(since, detect.MeanLongest) - 1
		e.pass(gathered)
		if r.Table != nil {
			e.sumTable = e.sumTable.Plus(r.Table(s.second-gathered, s.second-1))
		}
	case !s.flushed && since <= detect.ResolveSeconds && (e.sampled || s.write.Spread.Variance > 0 || s.read.Spread.Variance > 0):
		e.pass(r.Time.CompleteSeconds(s.second-since, s.second-1))
	}
	return gathered
}

// leaveOpening takes the first flush out of the sums: only the second flush's load lies
// between the two.
func (e *Episode) leaveOpening() {
	p := e.opening
	if p == nil {
		return
	}
	e.opening = nil
	e.readTotal.Remove(p.read, p.sampledSecond(detect.KeyReads))
	e.writeTotal.Remove(p.write, p.sampledSecond(detect.KeyWrites))
	e.sumTable, e.replicatedTotal = detect.Sub(e.sumTable, p.table), e.replicatedTotal-p.replicated
}

func (e *Episode) pass(seconds int64) {
	e.readTotal.Pass(seconds)
	e.writeTotal.Pass(seconds)
}

// raisePeaks raises the peaks to a second's, and returns its upper bounds.
func (e *Episode) raisePeaks(p *point, l Largest) (high sketch.Load) {
	high = sketch.Load{Read: p.read.High(l.Read), Write: p.write.High(l.Write)}
	e.write = e.write.Max(sampling.Interval{Value: p.write.Value, Low: p.write.Low, High: high.Write})
	e.read = e.read.Max(sampling.Interval{Value: p.read.Value, Low: p.read.Low, High: high.Read})
	return high
}
