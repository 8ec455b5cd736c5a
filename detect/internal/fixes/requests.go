package fixes

import (
	"cmp"
	"math"
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/sample"
)

// ownTimes is for producers that give requests the times of their batches: the seconds of
// the load are then unknown.
func ownTimes(c *Case) (fix, bool) {
	if !c.Quality.InBatches() {
		return fix{}, false
	}
	f := fix{place: ahead}
	if e := c.Evidence; e != nil && len(e.Callers) > 0 && e.Callers[0].Low >= mostShare {
		f.arguments.Caller = e.Callers[0].Text
	}
	return f, true
}

// ForTimes returns the step for requests with the times of batches.
func ForTimes(f *detect.Finding) (detect.Step, bool) {
	found, applies := ownTimes(&Case{Finding: f})
	return found.step(detect.FixOwnTimes), applies
}

// isBehind reports whether bursts come again before the last one would be done at a rate
// that the key takes.
func (c *Case) isBehind() bool {
	b := c.bursts()
	return b.interval > 0 && b.mean > detect.DefaultWarning*detect.Units(detect.Limit(c.Subject))
}

// caseOf returns the case of a finding alone.
func caseOf(f *detect.Finding) *Case {
	return &Case{Finding: f, Load: detect.Milli(detect.Side(f.Subject, f.Peak.WCU, f.Peak.RCU).Value)}
}

// starvedTable is a table that throttles the key's requests for lack of capacity.
func starvedTable(c *Case) (fix, bool) {
	starved := casebook.StarvedAttempts(c.Finding)
	return fix{arguments: detect.Arguments{Attempts: starved}, place: first, after: c.newAfter(1, 1)}, starved > 0
}

// refusedShare returns the throttled share of the peak's load.
func (c *Case) refusedShare() float64 {
	peak, consumed := detect.Side(c.Subject, c.Peak.WCU, c.Peak.RCU).Value, detect.Side(c.Subject, c.Consumed.WCU, c.Consumed.RCU)
	return max(0, detect.Ratio(peak-consumed, peak))
}

// backOff is for clients that repeat throttled requests.
func backOff(c *Case) (fix, bool) {
	n := c.Evidence.ThrottledRequests()
	if _, storms := Storm(c.Finding); n == 0 || storms {
		return fix{}, false
	}
	least := 1 - c.refusedShare()
	if r := c.Evidence.Retries; r != nil && !r.Partial {
		if r.BackOff() {
			return fix{}, false
		}
		least = 1 // repeated attempts are not demand
	}
	f := fix{arguments: detect.Arguments{Attempts: n, Seconds: c.Evidence.Seconds}, after: c.newAfter(least, 1)}
	if _, may := c.Resends(); may { // what of the load is left then shows what else it needs
		f.place, f.after = first, c.newAfter(1, detect.SideOf(c.Finding, c.Peak.WCU, c.Peak.RCU).Value/c.peak())
	}
	if who, most := mostRetries(c.Finding); most {
		f.arguments.Caller, f.arguments.Sent = who.Caller, who.Amplification
	}
	return f, true
}

// laterWrites spreads a short burst over the seconds after it. Reads wait only if they
// come at fixed times.
func laterWrites(c *Case) (fix, bool) {
	rate := cmp.Or(c.Policy.Warning, detect.DefaultWarning) * detect.Units(detect.Limit(c.Subject))
	if !c.exceeds() || c.Quality.InBatches() {
		return fix{}, false
	}
	b := c.bursts()
	if b.elapsed < burstOf*b.over || b.mean > calmShare*rate || c.reads() && (b.interval == 0 || c.isStampede()) {
		return fix{}, false
	}
	waiting := float64(b.longest) * (c.peak() - rate)
	delay := math.Ceil(waiting / (rate - b.mean))
	if delay > shortDelay {
		return fix{}, false
	}
	return fix{arguments: detect.Arguments{Units: rate, Seconds: int(delay), Every: b.interval, Count: b.times, AtLeast: b.times == detect.KeptBursts}, place: first}, true
}

// isStampede reports whether bursts at fixed times read the same item again and again, as the
// callers of a cache do once its entry has expired.
func (c *Case) isStampede() bool {
	hits, known := c.hitRate()
	return known && hits >= mostShare && c.bursts().interval > 0
}

// refilledCache is for readers that all miss a cache at once.
func refilledCache(c *Case) (fix, bool) {
	b := c.bursts()
	return fix{arguments: detect.Arguments{Every: b.interval, Count: b.times, AtLeast: b.times == detect.KeptBursts}, place: first},
		c.reads() && c.exceeds() && b.elapsed >= burstOf*b.over && c.isStampede()
}

// exceeds reports whether a key has been above the limit: for certain, or by a peak that leaves
// the noise of sampling out.
func (c *Case) exceeds() bool {
	return c.SecondsOver() > 0 || c.PossibleSeconds > 0 && c.peak() > detect.Units(detect.Limit(c.Subject))
}

// bursts are the seconds of a key that are, or may be, above the limit, in the time since the first of them. The
// key may have no request between them.
type bursts struct {
	elapsed, over, longest int64
	mean                   float64 // load of all this time
	interval               int     // 0 if they do not come at fixed times
	times                  int     // how often they came, of the newest; 0 without an interval
}

func (c *Case) bursts() bursts {
	b := bursts{elapsed: int64(c.LastSeen.Sub(c.FirstSeen).Seconds()) + 1, interval: interval(c.Bursts)}
	for _, s := range c.Bursts {
		b.elapsed = max(b.elapsed, c.LastSeen.Unix()-s.From+1)
		b.over, b.longest = b.over+s.To-s.From+1, max(b.longest, s.To-s.From+1)
	}
	b.elapsed = max(b.elapsed, c.Seconds)
	if b.interval > 0 {
		b.times = len(c.Bursts)
	}
	if len(c.Bursts) == 0 {
		b.over, b.longest = int64(c.SecondsOver()), int64(c.SecondsOver())
	}
	b.over, b.longest = b.over+int64(c.PossibleSeconds), b.longest+int64(c.PossibleSeconds)
	b.mean = max(c.mean()*float64(c.Seconds), c.peak()*float64(b.over)) / float64(b.elapsed)
	return b
}

// interval returns the seconds between the starts of bursts that come at fixed times; 0
// if they do not, or are few.
func interval(bursts []detect.Span) int {
	if len(bursts) < fewBursts {
		return 0
	}
	least := bursts[1].From - bursts[0].From
	for i := range bursts[1:] {
		least = min(least, bursts[i+1].From-bursts[i].From)
	}
	if least < burstOf {
		return 0
	}
	for i := range bursts[1:] {
		gap := bursts[i+1].From - bursts[i].From
		if over := gap % least; over > intervalError && least-over > intervalError {
			return 0
		}
	}
	return int(least)
}

// Retries returns the steps for throttled requests of a table as a whole, if there were
// any.
func Retries(f *detect.Finding) []detect.Step {
	n := f.Evidence.ThrottledRequests()
	if n == 0 {
		return nil
	}
	s := detect.NewStep(detect.FixBackOff)
	s.Arguments = detect.Arguments{Attempts: n, Seconds: f.Evidence.Seconds}
	return []detect.Step{s}
}

// conditionalWrite halves the price of a transaction.
func conditionalWrite(c *Case) (fix, bool) {
	part := c.part(sample.TransactWriteItems, sample.ExecuteTransaction)
	left := 1 - c.OwnShare()*part/2
	return fix{arguments: detect.Arguments{Share: part}, after: c.newAfter(left, left)}, !c.reads() && c.Index == "" && part >= worthShare
}

// eventualRead halves the price of a strongly consistent read. A global index has only
// eventual reads.
func eventualRead(c *Case) (fix, bool) {
	if !c.reads() || c.ofGlobalIndex() || c.Evidence == nil || c.Evidence.StrongReads < worthShare {
		return fix{}, false
	}
	strong := c.Evidence.StrongReads
	transactional := min(strong, c.part(sample.TransactGetItems))
	saved := (strong-transactional)/2 + transactional*3/4
	return fix{arguments: detect.Arguments{Share: strong, Units: saved * c.peak()}, after: c.newAfter(1-saved, 1-saved)}, true
}

// smallerQuery is for large queries.
func smallerQuery(c *Case) (fix, bool) {
	if !c.reads() || c.part(sample.Query) < mostShare || c.unitsOf(sample.Query) < largeQueryUnits {
		return fix{}, false
	}
	units := c.unitsOf(sample.Query)
	least := detect.QueryMinimum / units * (1 + c.Evidence.StrongReads) // a strong read costs twice as much
	return fix{arguments: detect.Arguments{Units: units}, after: c.newAfter(min(1, least), 1)}, true
}

// unitsOf returns the mean units of one request of an operation.
func (c *Case) unitsOf(op sample.Op) float64 {
	i := slices.IndexFunc(c.Evidence.Operations, func(o detect.Operation) bool { return o.Op == op.String() })
	if i < 0 {
		return 0
	}
	return c.Evidence.Operations[i].Units
}

// cache is for reads that repeat.
func cache(c *Case) (fix, bool) {
	if !c.reads() {
		return fix{}, false
	}
	strong := 0.0
	if c.Evidence != nil {
		strong = c.Evidence.StrongReads
	}
	hits, known := c.hitRate()
	switch {
	case known && hits < worthShare:
		return fix{after: c.newAfter(0, 1)}, true
	case known:
		// A cache in the application may answer strong reads, too; DAX passes them through.
		return fix{arguments: detect.Arguments{Share: hits}, after: c.newAfter(0, strong+(1-strong)*(1-hits))}, true
	}
	return fix{}, true
}

// hitRate returns the least share of reads that a cache of one second would answer, if the
// samples show it.
func (c *Case) hitRate() (float64, bool) {
	if c.Evidence == nil {
		return 0, false
	}
	single := c.part(sample.GetItem, sample.BatchGetItem, sample.TransactGetItems)
	if c.Quality.InBatches() {
		return 0, false // one time stands for many seconds
	}
	if single < readsShare {
		return 0, false // a query reads many items, and samples do not name them
	}
	if c.Facts != nil && c.Facts.SortKey != nil && len(c.Facts.SortKey) == 0 {
		if n := c.requests(sample.GetItem, sample.BatchGetItem, sample.TransactGetItems); n > 1 {
			return 1 - 1/n, true
		}
		return 0, false
	}
	s := c.Evidence.SortKeys
	if s == nil || s.Known < knownShare || c.readsOfAll() < readsShare {
		return 0, false
	}
	return s.Repeated, true
}

// readsOfAll returns the share of reads in all requests.
func (c *Case) readsOfAll() float64 {
	reads, all := 0.0, 0.0
	for op, o := range c.operations() {
		if op.IsRead() {
			reads += o.Requests
		}
		all += o.Requests
	}
	return detect.Ratio(reads, all)
}
