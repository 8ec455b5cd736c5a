package fixes

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/answer"
	"github.com/keyheat/keyheat/sample"
)

// ownTimes is for producers who give requests the times of their batches, from which it
// cannot be told when a load was.
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

// ForTimes returns the step that settles when a load was, if requests carry the times of
// batches.
func ForTimes(f *detect.Finding) (detect.Step, bool) {
	found, applies := ownTimes(&Case{Finding: f})
	return found.step(detect.FixOwnTimes), applies
}

// testKey is a key that is named like a test, and written by one.
func testKey(c *Case) (fix, bool) {
	_, test := TestName(c.Key)
	if !test || !ByTest(c.Finding) {
		return fix{}, false
	}
	return fix{arguments: detect.Arguments{Caller: c.Evidence.Callers[0].Text}, place: first, after: c.withoutCaller()}, true
}

// singleCaller is a caller that has far more of the key's load than of the others'.
func singleCaller(c *Case) (fix, bool) {
	if !MakesHot(c.Finding, c.Callers) {
		return fix{}, false
	}
	if _, test := TestName(c.Key); test && ByTest(c.Finding) {
		return fix{}, false
	}
	who := c.Evidence.Callers[0]
	if storming, storms := Storm(c.Finding); storms && storming.Caller == who.Text {
		return fix{}, false
	}
	return fix{
		arguments: detect.Arguments{Caller: who.Text, Share: who.Low},
		place:     first, after: c.after(1-c.OwnShare()*who.High, 1),
	}, true
}

// ForCaller returns the step for the caller that makes a key hot, if one does.
func ForCaller(f *detect.Finding, callers map[string]float64) (detect.Step, bool) {
	c := caseOf(f)
	c.Callers = callers
	if found, applies := testKey(c); applies {
		return found.step(detect.FixStopTest), true
	}
	found, applies := singleCaller(c)
	return found.step(detect.FixMendCaller), applies
}

// caseOf returns the case of a finding alone.
func caseOf(f *detect.Finding) *Case {
	return &Case{Finding: f, Load: detect.Milli(detect.Side(f.Kind, f.Peak.WCU, f.Peak.RCU).Value)}
}

// withoutCaller returns the load without that of the busiest caller.
func (c *Case) withoutCaller() *detect.After {
	who := c.Evidence.Callers[0]
	return c.after(1-c.OwnShare()*who.High, 1-c.OwnShare()*who.Low)
}

// starvedTable is a table that throttles the key's requests for want of capacity.
func starvedTable(c *Case) (fix, bool) {
	starved := answer.StarvedAttempts(c.Finding)
	if starved == 0 {
		return fix{}, false
	}
	return fix{arguments: detect.Arguments{Attempts: starved}, place: first, after: c.after(1, 1)}, true
}

// refusedShare returns the share of the peak's load that was throttled.
func (c *Case) refusedShare() float64 {
	peak, consumed := c.Peak.WCU.Value, c.Consumed.WCU
	if c.reads() {
		peak, consumed = c.Peak.RCU.Value, c.Consumed.RCU
	}
	return max(0, detect.Ratio(peak-consumed, peak))
}

// backOff is for throttled requests, each of which the client makes again.
func backOff(c *Case) (fix, bool) {
	n := c.throttled()
	if _, storms := Storm(c.Finding); n == 0 || storms {
		return fix{}, false
	}
	least := 1 - c.refusedShare()
	if r := c.Evidence.Retries; r != nil && !r.Partial {
		least = 1 // what is sent again is not in the demand
	}
	return fix{arguments: detect.Arguments{Attempts: n, Seconds: c.Evidence.Seconds}, after: c.after(least, 1)}, true
}

// laterWrites spreads a short burst of writes over the seconds behind it.
func laterWrites(c *Case) (fix, bool) {
	rate := c.Policy.Warning * detect.Units(detect.Limit(c.Kind))
	if c.reads() || c.SecondsOver() == 0 || c.PossibleSeconds > 0 || c.Quality.InBatches() || c.Seconds < burstOf*int64(c.SecondsOver()) || c.mean() > calmShare*rate {
		return fix{}, false
	}
	waiting := float64(c.SecondsOver()) * (c.peak() - rate)
	delay := math.Ceil(waiting / (rate - c.mean()))
	if delay > shortDelay {
		return fix{}, false
	}
	return fix{arguments: detect.Arguments{Units: rate, Seconds: int(delay)}, place: first}, true
}

// Retries returns what to do about the throttled requests of a table as a whole; nothing
// where none was.
func Retries(f *detect.Finding) []detect.Step {
	n := f.Evidence.ThrottledRequests()
	if n == 0 {
		return nil
	}
	s := detect.NewStep(detect.FixBackOff)
	s.Arguments = detect.Arguments{Attempts: n, Seconds: f.Evidence.Seconds}
	return []detect.Step{s}
}

// conditionalWrite halves what a transaction costs.
func conditionalWrite(c *Case) (fix, bool) {
	part := c.part(sample.TransactWriteItems, sample.ExecuteTransaction)
	if c.reads() || c.Index != "" || part < worthShare {
		return fix{}, false
	}
	left := 1 - c.OwnShare()*part/2
	return fix{arguments: detect.Arguments{Share: part}, after: c.after(left, left)}, true
}

// eventualRead halves what a strongly consistent read costs. A global index is always
// read eventually.
func eventualRead(c *Case) (fix, bool) {
	if !c.reads() || c.ofGlobalIndex() || c.Evidence == nil || c.Evidence.StrongReads < worthShare {
		return fix{}, false
	}
	strong := c.Evidence.StrongReads
	transactional := min(strong, c.part(sample.TransactGetItems))
	saved := (strong-transactional)/2 + transactional*3/4
	return fix{arguments: detect.Arguments{Share: strong, Units: saved * c.peak()}, after: c.after(1-saved, 1-saved)}, true
}

// smallerQuery is for queries that read much.
func smallerQuery(c *Case) (fix, bool) {
	if !c.reads() || c.part(sample.Query) < mostShare {
		return fix{}, false
	}
	units := c.unitsOf(sample.Query)
	if units < largeQueryUnits {
		return fix{}, false
	}
	return fix{arguments: detect.Arguments{Units: units}, after: c.after(detect.QueryMinimum/units, 1)}, true
}

// unitsOf returns the units that a request of an operation costs on average.
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
		return fix{after: c.after(0, 1)}, true
	case known:
		return fix{arguments: detect.Arguments{Share: hits}, after: c.after(strong, strong+(1-strong)*(1-hits))}, true
	}
	return fix{}, true
}

// hitRate returns the least share of reads that a cache of one second would answer, and
// whether the samples tell.
func (c *Case) hitRate() (float64, bool) {
	if c.Evidence == nil {
		return 0, false
	}
	single := c.part(sample.GetItem, sample.BatchGetItem, sample.TransactGetItems)
	if c.Quality.InBatches() {
		return 0, false // what is of one time is of many seconds
	}
	if single < readsShare {
		return 0, false // a query reads many items, and which ones is not told
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

// readsOfAll returns the share of the requests that are reads.
func (c *Case) readsOfAll() float64 {
	reads, all := 0.0, 0.0
	for _, o := range c.Evidence.Operations {
		if op, _ := sample.ParseOp(o.Op); op.IsRead() {
			reads += o.Requests
		}
		all += o.Requests
	}
	return detect.Ratio(reads, all)
}

// MakesHot reports whether one caller alone makes the key hot: it has most of the
// key's load, and far less of the load of all others. The one caller of a service's own
// table is no news. callers are the shares of the load of the whole table or index.
func MakesHot(f *detect.Finding, callers map[string]float64) bool {
	if f.Evidence == nil || len(f.Evidence.Callers) == 0 || f.Evidence.Records < detect.MinRecords || len(callers) == 0 || f.Share > detect.WholeShare {
		return false
	}
	c := f.Evidence.Callers[0]
	return c.Low*f.OwnShare() >= detect.CallerShare && ShareOfRest(f, callers)*detect.CallerExcess <= c.Low
}

// ShareOfRest returns the share that the key's busiest caller has of the load of all
// other keys of the table.
func ShareOfRest(f *detect.Finding, callers map[string]float64) float64 {
	c := f.Evidence.Callers[0]
	return min(1, max(0, detect.Ratio(callers[c.Text]-f.Share*(c.Low+c.High)/2, 1-f.Share)))
}

// OfRest writes a share that is not known to the percent.
func OfRest(share float64) string {
	if share < 0.01 {
		return "less than 1%"
	}
	return fmt.Sprintf("about %.0f%%", 100*share)
}

// ByTest reports whether the key's busiest caller is named like a test.
func ByTest(f *detect.Finding) bool {
	if f.Evidence == nil || len(f.Evidence.Callers) == 0 || f.Evidence.Callers[0].Low*f.OwnShare() < detect.CallerShare {
		return false
	}
	_, test := TestName(f.Evidence.Callers[0].Text)
	return test
}

// testWords are parts of names that nobody gives to what customers do.
var testWords = []string{
	"test", "tests", "testing", "loadtest", "perftest", "smoketest", "benchmark", "bench", "dummy", "canary", "healthcheck", "synthetic", "probe",
}

// TestName reports whether a part of a name is such a word, and returns it.
func TestName(name string) (string, bool) {
	for _, part := range strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("#:/|-_. ", r) }) {
		if slices.Contains(testWords, strings.ToLower(part)) {
			return part, true
		}
	}
	return "", false
}
