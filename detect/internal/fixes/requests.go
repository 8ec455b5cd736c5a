package fixes

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/answer"
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

// testKey is a key with a test's name and a test's caller.
func testKey(c *Case) (fix, bool) {
	_, test := TestName(string(c.Key))
	if !test || !ByTest(c.Finding) {
		return fix{}, false
	}
	return fix{arguments: detect.Arguments{Caller: c.Evidence.Callers[0].Text}, place: first, after: c.withoutCaller()}, true
}

// singleCaller is a caller with a far larger share of the key's load than of all others'.
func singleCaller(c *Case) (fix, bool) {
	if !MakesHot(c.Finding, c.Callers) {
		return fix{}, false
	}
	if _, test := TestName(string(c.Key)); test && ByTest(c.Finding) {
		return fix{}, false
	}
	who := c.Evidence.Callers[0]
	if storming, storms := Storm(c.Finding); storms && storming.Caller == who.Text {
		return fix{}, false
	}
	if _, job := boundedJob(c); job {
		return fix{}, false
	}
	if _, burst := laterWrites(c); burst || c.isBehind() {
		return fix{}, false
	}
	return fix{
		arguments: detect.Arguments{Caller: who.Text, Share: who.Low},
		place:     first, after: c.newAfter(1-c.OwnShare()*who.High, 1),
	}, true
}

// ForCaller returns the steps for the caller that makes a key hot; nil if none does.
func ForCaller(f *detect.Finding, callers map[string]float64) (all []detect.Step) {
	c := caseOf(f)
	c.Callers = callers
	if found, applies := testKey(c); applies {
		return []detect.Step{found.step(detect.FixStopTest)}
	}
	for _, e := range []entry{{detect.FixBoundedRate, boundedJob}, {detect.FixShuffleInput, shuffledImport}, {detect.FixMendCaller, singleCaller}} {
		if found, applies := e.find(c); applies {
			all = append(all, found.step(e.code))
		}
	}
	return all
}

// job returns the caller that makes the key's load as a job does: an import, or a caller
// that is named like a job.
func (c *Case) job() (detect.Part, bool) {
	if who, imports := c.importer(); imports {
		return who, true
	}
	who, alone := c.onlyCaller()
	return who, alone && hasWord(string(who.Text), jobWords)
}

// IsJob reports whether requests look like a job's: they are in batches, or come from a
// caller that is named like one.
func IsJob(e *detect.Evidence) bool {
	c := &Case{Finding: &detect.Finding{Kind: detect.HotKeyWrite, Evidence: e}}
	return c.part(sample.BatchWriteItem) >= mostShare ||
		slices.ContainsFunc(e.Callers, func(p detect.Part) bool { return hasWord(string(p.Text), jobWords) })
}

// isBehind reports whether bursts come again before the last one would be done at a rate
// that the key takes.
func (c *Case) isBehind() bool {
	b := c.bursts()
	return b.interval > 0 && b.mean > detect.DefaultWarning*detect.Units(detect.Limit(c.Kind))
}

// importer returns the caller that writes the key's items in batches, in their order.
func (c *Case) importer() (detect.Part, bool) {
	who, alone := c.onlyCaller()
	if !alone || c.reads() || c.part(sample.BatchWriteItem) < mostShare {
		return who, false
	}
	s := c.Evidence.SortKeys
	return who, c.movesOn() || s != nil && s.Steps >= detect.MinRecords && s.Rising >= risingShare
}

// onlyCaller returns the caller that has nearly all of the key's load.
func (c *Case) onlyCaller() (who detect.Part, alone bool) {
	if c.Evidence == nil || len(c.Evidence.Callers) == 0 || c.Evidence.Records < detect.MinRecords {
		return who, false
	}
	who = c.Evidence.Callers[0]
	return who, who.Text != "" && who.Low*c.OwnShare() >= detect.CallerShare
}

// boundedJob slows a job to the rate that leaves room for the rest of the key's load.
func boundedJob(c *Case) (fix, bool) {
	who, is := c.job()
	most := detect.DefaultWarning * detect.Units(detect.Limit(c.Kind))
	if _, burst := laterWrites(c); !is || burst || c.isBehind() {
		return fix{}, false
	}
	from := c.peak() * c.OwnShare() * (who.Low + who.High) / 2
	to := from - (c.peak() - most)
	if to <= 0 || to >= from {
		return fix{}, false
	}
	return fix{
		arguments: detect.Arguments{Caller: who.Text, Share: who.Low, From: from, Units: to},
		place:     first, after: detect.NewAfter(c.Kind, most, most),
	}, true
}

// shuffledImport is for an import in the order of its keys.
func shuffledImport(c *Case) (fix, bool) {
	_, is := c.importer()
	return fix{place: first}, is
}

// caseOf returns the case of a finding alone.
func caseOf(f *detect.Finding) *Case {
	return &Case{Finding: f, Load: detect.Milli(detect.Side(f.Kind, f.Peak.WCU, f.Peak.RCU).Value)}
}

// withoutCaller returns the load without the busiest caller's.
func (c *Case) withoutCaller() *detect.After {
	who := c.Evidence.Callers[0]
	return c.newAfter(1-c.OwnShare()*who.High, 1-c.OwnShare()*who.Low)
}

// starvedTable is a table that throttles the key's requests for lack of capacity.
func starvedTable(c *Case) (fix, bool) {
	starved := answer.StarvedAttempts(c.Finding)
	if starved == 0 {
		return fix{}, false
	}
	return fix{arguments: detect.Arguments{Attempts: starved}, place: first, after: c.newAfter(1, 1)}, true
}

// refusedShare returns the throttled share of the peak's load.
func (c *Case) refusedShare() float64 {
	peak, consumed := c.Peak.WCU.Value, c.Consumed.WCU
	if c.reads() {
		peak, consumed = c.Peak.RCU.Value, c.Consumed.RCU
	}
	return max(0, detect.Ratio(peak-consumed, peak))
}

// backOff is for clients that repeat throttled requests.
func backOff(c *Case) (fix, bool) {
	n := c.throttledRequests()
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
	if who, most := mostRetries(c.Finding); most {
		f.arguments.Caller, f.arguments.Sent = who.Caller, who.Amplification
	}
	return f, true
}

// laterWrites spreads a short burst over the seconds after it. Reads wait only if they
// come at fixed times.
func laterWrites(c *Case) (fix, bool) {
	rate := cmp.Or(c.Policy.Warning, detect.DefaultWarning) * detect.Units(detect.Limit(c.Kind))
	if c.SecondsOver() == 0 || c.PossibleSeconds > 0 || c.Quality.InBatches() {
		return fix{}, false
	}
	b := c.bursts()
	if b.elapsed < burstOf*b.over || b.mean > calmShare*rate || c.reads() && b.interval == 0 {
		return fix{}, false
	}
	waiting := float64(b.longest) * (c.peak() - rate)
	delay := math.Ceil(waiting / (rate - b.mean))
	if delay > shortDelay {
		return fix{}, false
	}
	return fix{arguments: detect.Arguments{Units: rate, Seconds: int(delay), Every: b.interval}, place: first}, true
}

// bursts are the seconds of a key above the limit, in the time since the first of them. The
// key may have no request between them.
type bursts struct {
	elapsed, over, longest int64
	mean                   float64 // load of all this time
	interval               int     // 0 if they do not come at fixed times
}

func (c *Case) bursts() bursts {
	b := bursts{elapsed: int64(c.LastSeen.Sub(c.FirstSeen).Seconds()) + 1, interval: interval(c.Bursts)}
	for _, s := range c.Bursts {
		b.elapsed = max(b.elapsed, c.LastSeen.Unix()-s.From+1)
		b.over, b.longest = b.over+s.To-s.From+1, max(b.longest, s.To-s.From+1)
	}
	b.elapsed = max(b.elapsed, c.Seconds)
	if len(c.Bursts) == 0 {
		b.over, b.longest = int64(c.SecondsOver()), int64(c.SecondsOver())
	}
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
	if c.reads() || c.Index != "" || part < worthShare {
		return fix{}, false
	}
	left := 1 - c.OwnShare()*part/2
	return fix{arguments: detect.Arguments{Share: part}, after: c.newAfter(left, left)}, true
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
	if !c.reads() || c.part(sample.Query) < mostShare {
		return fix{}, false
	}
	units := c.unitsOf(sample.Query)
	if units < largeQueryUnits {
		return fix{}, false
	}
	return fix{arguments: detect.Arguments{Units: units}, after: c.newAfter(detect.QueryMinimum/units, 1)}, true
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
	for _, o := range c.Evidence.Operations {
		if op, _ := sample.ParseOp(o.Op); op.IsRead() {
			reads += o.Requests
		}
		all += o.Requests
	}
	return detect.Ratio(reads, all)
}

// MakesHot reports whether one caller alone makes the key hot: it has most of the key's
// load, and far less of all other load. The only caller of a table is no news. callers has
// each caller's share of the whole table's or index's load.
func MakesHot(f *detect.Finding, callers map[string]float64) bool {
	if f.Evidence == nil || len(f.Evidence.Callers) == 0 || f.Evidence.Records < detect.MinRecords || len(callers) == 0 || f.Share > detect.WholeShare {
		return false
	}
	c := f.Evidence.Callers[0]
	return c.Low*f.OwnShare() >= detect.CallerShare && ShareOfRest(f, callers)*detect.CallerExcess <= c.Low
}

// ShareOfRest returns the share of the key's busiest caller in the load of all other keys
// of the table.
func ShareOfRest(f *detect.Finding, callers map[string]float64) float64 {
	c := f.Evidence.Callers[0]
	return min(1, max(0, detect.Ratio(callers[string(c.Text)]-f.Share*(c.Low+c.High)/2, 1-f.Share)))
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
	_, test := TestName(string(f.Evidence.Callers[0].Text))
	return test
}

// testWords are parts of names that customers' traffic does not have.
var testWords = []string{
	"test", "tests", "testing", "loadtest", "perftest", "smoketest", "benchmark", "bench", "dummy", "canary", "healthcheck", "synthetic", "probe",
}

// jobWords are parts of the names of jobs, which nobody waits for.
var jobWords = []string{
	"job", "jobs", "cron", "batch", "nightly", "import", "importer", "export", "exporter", "backfill", "reindex", "loader", "etl", "migration",
}

// TestName returns the part of a name that is such a word, if there is one.
func TestName(name string) (string, bool) {
	parts := partsOf(name)
	if i := slices.IndexFunc(parts, func(part string) bool { return slices.Contains(testWords, strings.ToLower(part)) }); i >= 0 {
		return parts[i], true
	}
	return "", false
}

// hasWord reports whether a part of a name is one of the words.
func hasWord(name string, words []string) bool {
	return slices.ContainsFunc(partsOf(name), func(part string) bool { return slices.Contains(words, strings.ToLower(part)) })
}

func partsOf(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("#:/|-_. ", r) })
}
