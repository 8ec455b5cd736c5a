package fixes

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/answer"
	"github.com/keyheat/keyheat/detect/wording"
	"github.com/keyheat/keyheat/sample"
)

// ownTimes is for producers who give requests the times of their batches, from which it
// cannot be told when a load was.
func ownTimes(_ *Adviser, c *Case) (fix, bool) {
	if !c.Quality.InBatches() {
		return fix{}, false
	}
	who := "whoever sends these samples"
	if e := c.Evidence; e != nil && len(e.Callers) > 0 && e.Callers[0].Low >= mostShare {
		who = wording.Quote(e.Callers[0].Text)
	}
	return fix{
		text: fmt.Sprintf("See first whether DynamoDB throttles for want of a partition, which the %s's metric %sKeyRangeThroughputThrottleEvents says and these times do not, and have %s write each request's own time, not that of a batch. Then it is seen in which seconds the key is over the limit.",
			c.tableOrIndex(), detect.Side(c.Kind, "Write", "Read"), who),
		basis: "the times that requests carry", place: ahead,
	}, true
}

// ForTimes returns what settles when a load was, of which requests carry the times of
// batches; false of others.
func ForTimes(f *detect.Finding) (detect.Step, bool) {
	found, applies := ownTimes(nil, &Case{Finding: f})
	return detect.Step{Action: detect.ActionPipeline, Text: found.text, Effort: detect.EffortCode, Basis: found.basis, Guide: "times-of-requests"}, applies
}

// testKey is a key that is named like a test, and written by one.
func testKey(_ *Adviser, c *Case) (fix, bool) {
	name, test := TestName(c.Key)
	if !test || !ByTest(c.Finding) {
		return fix{}, false
	}
	return fix{
		text:  fmt.Sprintf("The key is named like a test (%s), and so is its caller %s: stop or move what writes it, before anything else.", wording.Quote(name), wording.Quote(c.Evidence.Callers[0].Text)),
		basis: "the names of the key and of its caller", place: first, after: c.withoutCaller(),
	}, true
}

// singleCaller is a caller that has far more of the key's load than of the others'.
func singleCaller(_ *Adviser, c *Case) (fix, bool) {
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
	causes := "A loop or a retry storm"
	if c.reads() {
		causes = "A loop, a missing cache or a retry storm"
	}
	text := fmt.Sprintf("Look at %s: it makes %s of the key's load. %s there is mended faster than a key design.", wording.Quote(who.Text), wording.Between(who), causes)
	if share := c.refusedShare(); share >= worthShare {
		text = fmt.Sprintf("Look at %s: it makes %s of the key's load, and %.0f%% of the attempts are throttled and made again. Let it back off exponentially, with jitter and a limit on attempts, and look for a loop: that is mended faster than a key design.", wording.Quote(who.Text), wording.Between(who), 100*share)
	}
	return fix{
		text:  text,
		basis: fmt.Sprintf("it makes %s of the load of all other keys; how much of this key's load is needless is not known", OfRest(ShareOfRest(c.Finding, c.Callers))),
		place: first, after: c.after(1-c.OwnShare()*who.High, 1),
	}, true
}

// ForCaller returns what to do about the caller that makes a key hot; false where none
// does.
func ForCaller(f *detect.Finding, callers map[string]float64) (detect.Step, bool) {
	c := &Case{Finding: f, Callers: callers, Load: detect.Milli(f.Peak.WCU.Value)}
	if c.reads() {
		c.Load = detect.Milli(f.Peak.RCU.Value)
	}
	found, applies := testKey(nil, c)
	if !applies {
		found, applies = singleCaller(nil, c)
	}
	return detect.Step{Action: detect.ActionCaller, Text: found.text, Effort: detect.EffortSetting, After: found.after, Basis: found.basis, Guide: "callers"}, applies
}

// withoutCaller returns the load without that of the busiest caller.
func (c *Case) withoutCaller() *detect.After {
	who := c.Evidence.Callers[0]
	return c.after(1-c.OwnShare()*who.High, 1-c.OwnShare()*who.Low)
}

// starvedTable is a table that throttles the key's requests for want of capacity.
func starvedTable(_ *Adviser, c *Case) (fix, bool) {
	starved := answer.StarvedAttempts(c.Finding)
	if starved == 0 {
		return fix{}, false
	}
	return fix{
		text:  fmt.Sprintf("Check the table's capacity: %s attempts on the key were throttled in %s because the table or account had too little, not because of its partition.", wording.Count(starved), wording.Hottest(c.Evidence.Seconds)),
		basis: "the reasons of throttled requests; the key keeps its load", place: first, after: c.after(1, 1),
	}, true
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
func backOff(_ *Adviser, c *Case) (fix, bool) {
	n := c.throttled()
	if _, storms := Storm(c.Finding); n == 0 || storms {
		return fix{}, false
	}
	share := c.refusedShare()
	basis := fmt.Sprintf("%.0f%% of the attempts in the peak's second were throttled, and how many of these were retries is not known", 100*share)
	if r := c.Evidence.Retries; r != nil {
		basis = fmt.Sprintf("%s of %s attempts were refused, and each request was sent %.1f times", wording.Percent(detect.Ratio(r.Refused, r.Attempts)), wording.About(r.Attempts), r.Amplification)
	}
	least := 1 - share
	if r := c.Evidence.Retries; r != nil && !r.Partial {
		least = 1 // what is sent again is not in the demand
	}
	return fix{
		text:  fmt.Sprintf("Let clients back off exponentially, with jitter and a limit on attempts: at least %s attempts on the key were throttled in %s, and retries at once are load on the same partition.", wording.Count(n), wording.Hottest(c.Evidence.Seconds)),
		basis: basis,
		after: c.after(least, 1),
	}, true
}

// laterWrites spreads a short burst of writes over the seconds behind it.
func laterWrites(_ *Adviser, c *Case) (fix, bool) {
	rate := c.Policy.Warning * detect.Units(detect.Limit(c.Kind))
	if c.reads() || c.SecondsOver() == 0 || c.PossibleSeconds > 0 || c.Quality.InBatches() || c.Seconds < burstOf*int64(c.SecondsOver()) || c.mean() > calmShare*rate {
		return fix{}, false
	}
	waiting := float64(c.SecondsOver()) * (c.peak() - rate)
	delay := math.Ceil(waiting / (rate - c.mean()))
	if delay > shortDelay {
		return fix{}, false
	}
	return fix{
		text: fmt.Sprintf("If the burst comes again, and its writes may wait: put them through a queue whose reader writes at most %s a second, or spread them in the caller with jitter. What came above that in %s, at most %s write units, is then written up to %s later, without new keys.",
			c.amount(rate), wording.Seconds(c.SecondsOver()), wording.AtMost(waiting), wording.Seconds(int(delay))),
		basis: "as many units in each second over the limit as in the peak, after one another; whether the writes may wait is not known", place: first,
	}, true
}

// Retries returns what to do about the throttled requests of a table as a whole; nothing
// where none was.
func Retries(f *detect.Finding) []detect.Step {
	c := &Case{Finding: f}
	n := c.throttled()
	if n == 0 {
		return nil
	}
	return []detect.Step{{
		Action: detect.ActionRetry, Effort: detect.EffortCode, Guide: "retries", Basis: "how many of the throttled requests were retries is not known",
		Text: fmt.Sprintf("Let clients back off exponentially, with jitter and a limit on attempts: at least %s attempts were throttled in %s, and retries at once are load on the same partitions.", wording.Count(n), wording.Seconds(c.Evidence.Seconds)),
	}}
}

// conditionalWrite halves what a transaction costs.
func conditionalWrite(_ *Adviser, c *Case) (fix, bool) {
	part := c.part(sample.TransactWriteItems, sample.ExecuteTransaction)
	if c.reads() || c.Index != "" || part < worthShare {
		return fix{}, false
	}
	left := 1 - c.OwnShare()*part/2
	return fix{
		text: fmt.Sprintf("Replace transactions by conditional writes, where a transaction writes only this item or a condition can guard it: %.0f%% of the key's write units are transactional, which costs twice. The peak is then about %s write units a second instead of %s. Where the transaction is needed put several changes into one, or divide the item over some that each transaction chooses one of at random, and sum them on reading. Transactions on one item at the same time also cancel one another (TransactionConflict), and the key has about %s of them a second.",
			100*part, wording.About(c.peak()*left), wording.About(c.peak()), wording.Significant(c.requests(sample.TransactWriteItems, sample.ExecuteTransaction))),
		basis: "the operations of the requests", after: c.after(left, left),
	}, true
}

// eventualRead halves what a strongly consistent read costs. A global index is always
// read eventually.
func eventualRead(_ *Adviser, c *Case) (fix, bool) {
	if !c.reads() || c.ofGlobalIndex() || c.Evidence == nil || c.Evidence.StrongReads < worthShare {
		return fix{}, false
	}
	strong := c.Evidence.StrongReads
	transactional := min(strong, c.part(sample.TransactGetItems))
	saved := (strong-transactional)/2 + transactional*3/4
	return fix{
		text: fmt.Sprintf("%.0f%% of the read units are strongly consistent or transactional: read eventually consistently where a moment's delay does no harm. That spares at least %s of %s RCU in the peak's second.",
			100*strong, wording.AtLeast(saved*c.peak()), wording.About(c.peak())),
		basis: "the consistency that requests asked for", after: c.after(1-saved, 1-saved),
	}, true
}

// smallerQuery is for queries that read much.
func smallerQuery(_ *Adviser, c *Case) (fix, bool) {
	if !c.reads() || c.part(sample.Query) < mostShare {
		return fix{}, false
	}
	units := c.unitsOf(sample.Query)
	if units < largeQueryUnits {
		return fix{}, false
	}
	return fix{
		text:  fmt.Sprintf("Read fewer bytes a query: one costs %s read units on average. A narrower sort-key condition and a Limit bound what is read, and pages that nobody looks at need not be; a filter or a projection spares nothing, since units are those of what is read before both. Half of the bytes are half of the load.", wording.About(units)),
		basis: "the read units of the queries", after: c.after(detect.QueryMinimum/units, 1),
	}, true
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
func cache(_ *Adviser, c *Case) (fix, bool) {
	if !c.reads() {
		return fix{}, false
	}
	text := "Cache the reads, in DAX or in the application"
	strong := 0.0
	if c.Evidence != nil {
		strong = c.Evidence.StrongReads
	}
	hits, known := c.hitRate()
	f := fix{basis: "how often a sort key comes again is not known of these reads"}
	switch {
	case c.queriesOfAll() < readsShare:
	case c.Evidence.SortKeys != nil:
		f.basis = "a sample of a query has one sort key, and not all that the query reads, nor whether another one reads the same"
	default:
		f.basis = "the samples do not tell which items a query reads"
	}
	switch {
	case known && hits < worthShare:
		text += ", if they repeat: in the second with most of them hardly any sort key came twice, so only a cache that keeps items for longer helps"
		f.basis = "the sort keys of one second"
		f.after = c.after(0, 1)
	case known:
		text += fmt.Sprintf(": at least %s of the reads in the hottest second are for what was read in that second before, and a cache that keeps items for one second answers them", wording.PercentAtLeast(hits))
		f.basis = "the sort keys of one second; a cache that keeps items for longer answers more"
		f.after = c.after(strong, strong+(1-strong)*(1-hits))
	default:
		text += ". How many of the reads it would answer is not known: " + f.basis
	}
	text += "."
	switch {
	case strong >= 0.995:
		text += " DAX passes strongly consistent reads through, and these all are: DAX spares nothing before they are eventually consistent."
	case strong >= worthShare:
		text += " DAX passes strongly consistent reads through: only the others gain."
	case strong == 0 && c.Evidence != nil && c.Evidence.Records >= detect.MinRecords:
		text += " By the samples none of them is strongly consistent, so that DAX can answer them all."
	}
	f.text = text
	return f, true
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
