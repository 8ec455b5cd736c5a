package fixes

import (
	"cmp"
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
)

// Case is a hot key, and what is known of its table beside the finding.
type Case struct {
	*detect.Finding
	// Load is the peak that a fix has to bring down.
	Load   sample.Milli
	Policy detect.Policy
	// Facts are nil where nothing is known.
	Facts *detect.TableFacts
	// Callers are their shares of the load of the whole table or index.
	Callers map[string]float64
	// FewValues reports that few key values bound the whole table or index.
	FewValues bool
	// TargetRCU are the read units of the whole table or index that were seen.
	TargetRCU float64
}

// fix is what applies to a case.
type fix struct {
	text, basis string
	after       *detect.After
	names       *detect.ShardNames
	place       place
	// takes is the effort where it is not the ledger's.
	takes detect.Effort
	with  []detect.Step // what belongs to the fix
	// then is the text of a fix that names the action of the next one, where it comes first.
	then func(action string) string
}

// place is where a fix stands whatever its effect.
type place int

const (
	byEffect place = iota // by effect for effort
	first                 // before every design of keys
	last                  // behind the fixes that do not depend on luck
	ahead                 // before all: it shows whether there is anything to fix
)

// entry is a line of the ledger: what is done, its effort, where the documentation has
// more, and the function that says whether it applies and what it leaves.
type entry struct {
	action string
	effort detect.Effort
	guide  string
	find   func(*Adviser, *Case) (fix, bool)
}

// ledger is every fix for a hot key, the least effort first.
var ledger = []entry{
	{detect.ActionWait, detect.EffortNone, "capacity", seeWhetherThrottled},
	{detect.ActionWait, detect.EffortNone, "waiting", splitForHeat},
	{detect.ActionWait, detect.EffortNone, "waiting", throttlesStill},
	{detect.ActionShard, detect.EffortNone, "shards", oneShard},
	{detect.ActionCaller, detect.EffortSetting, "callers", testKey},
	{detect.ActionRetry, detect.EffortSetting, "retries", retryStorm},
	{detect.ActionCaller, detect.EffortSetting, "callers", singleCaller},
	{detect.ActionCapacity, detect.EffortSetting, "capacity", starvedTable},
	{detect.ActionPipeline, detect.EffortCode, "times-of-requests", ownTimes},
	{detect.ActionRetry, detect.EffortCode, "retries", backOff},
	{detect.ActionSpread, detect.EffortCode, "retries", laterWrites},
	{detect.ActionTransaction, detect.EffortCode, "conditional-writes", conditionalWrite},
	{detect.ActionRead, detect.EffortCode, "reads", eventualRead},
	{detect.ActionQuery, detect.EffortCode, "queries", smallerQuery},
	{detect.ActionSplit, detect.EffortCode, "counters", dividedCounter},
	{detect.ActionCache, detect.EffortComponent, "caches", cache},
	{detect.ActionVertical, detect.EffortItems, "large-items", smallItemOfChanges},
	{detect.ActionVertical, detect.EffortItems, "large-items", smallItemOfReads},
	{detect.ActionVertical, detect.EffortItems, "large-items", smallItemOfWrites},
	{detect.ActionCompress, detect.EffortItems, "large-items", compression},
	{detect.ActionObject, detect.EffortItems, "large-items", objectStore},
	{detect.ActionSparse, detect.EffortItems, "indexes", sparseIndex},
	{detect.ActionProject, detect.EffortItems, "indexes", smallerProjection},
	{detect.ActionIndex, detect.EffortKeys, "indexes", keyOfQueries},
	{detect.ActionShard, detect.EffortKeys, "indexes", shardedIndex},
	{detect.ActionIndex, detect.EffortKeys, "indexes", keyOfWrites},
	{detect.ActionCopies, detect.EffortKeys, "caches", copies},
	{detect.ActionSplit, detect.EffortKeys, "counters", dividedItem},
	{detect.ActionRename, detect.EffortKeys, "time-keys", renamedKey},
	{detect.ActionShard, detect.EffortKeys, "shards", shardedKey},
}

// forInfo are the actions that a finding which is only worth knowing has.
var forInfo = []string{detect.ActionCaller, detect.ActionRetry, detect.ActionSpread, detect.ActionCapacity, detect.ActionWait, detect.ActionPipeline}

// applied is a fix with its line of the ledger.
type applied struct {
	*entry
	fix
}

// Steps returns what to do about a hot key, in order, and remarks behind that.
func (a *Adviser) Steps(c *Case) []detect.Step {
	var all []applied
	for i := range ledger {
		e := &ledger[i]
		if c.Severity == detect.Info && !slices.Contains(forInfo, e.action) {
			continue
		}
		if f, applies := e.find(a, c); applies {
			if f.takes != "" {
				own := *e
				e, own.effort = &own, f.takes
			}
			all = append(all, applied{e, f})
		}
	}
	all = withoutNeedless(all, c)
	slices.SortStableFunc(all, func(x, y applied) int { return c.compare(&x, &y) })
	if len(all) > 1 && all[0].then != nil {
		all[0].text = all[0].then(all[1].action)
	}
	steps := []detect.Step{}
	for _, f := range all {
		steps = append(steps, detect.Step{Action: f.action, Text: f.text, Effort: f.effort, After: f.after, Basis: f.basis, Guide: f.guide, Names: f.names, Capacity: c.needs(f.entry, &f.fix)})
		steps = append(steps, f.with...)
	}
	return append(steps, remarks(c)...)
}

// withoutNeedless leaves new keys out where a fix that leaves keys as they are suffices
// for certain: what waits for DynamoDB, stops a caller, divides a counter, or leaves
// out what nobody asked for so far, is not that.
func withoutNeedless(all []applied, c *Case) []applied {
	if !slices.ContainsFunc(all, func(f applied) bool {
		return f.place == byEffect && f.effort != detect.EffortNone && f.action != detect.ActionSparse && !divides(f) && rank(f.effort) < rank(detect.EffortKeys) && c.suffices(f.after)
	}) {
		return all
	}
	return slices.DeleteFunc(all, divides)
}

// divides reports whether a fix divides a key or an item.
func divides(f applied) bool {
	return f.action == detect.ActionShard || f.action == detect.ActionSplit
}

// compare orders two fixes, the better one first.
func (c *Case) compare(x, y *applied) int {
	at := func(f *applied) int { return map[place]int{ahead: 0, first: 1, byEffect: 2, last: 3}[f.place] }
	return cmp.Or(
		cmp.Compare(at(x), at(y)),
		cmp.Compare(rank(x.effort)+c.doubt(x.after), rank(y.effort)+c.doubt(y.after)),
		cmp.Compare(c.doubt(x.after), c.doubt(y.after)),
		cmp.Compare(rank(x.effort), rank(y.effort)),
		cmp.Compare(highOf(x.after), highOf(y.after)),
	)
}

// rank returns the place of an effort in their order.
func rank(e detect.Effort) int { return slices.Index(detect.Efforts(), e) }

// doubt returns by how many efforts a fix is set back because of its effect: by none
// if it suffices, by one if that is open, and by three if it does not.
func (c *Case) doubt(a *detect.After) int {
	switch {
	case a == nil:
		return 1
	case c.suffices(a):
		return 0
	case a.LowUtilization <= c.Policy.Warning:
		return 1
	}
	return 3
}

// suffices reports whether a load that a fix leaves makes no finding.
func (c *Case) suffices(a *detect.After) bool {
	return a != nil && a.HighUtilization <= c.Policy.Warning
}

func highOf(a *detect.After) float64 {
	if a == nil {
		return 0
	}
	return a.High
}

// reads reports whether the case is about reads.
func (c *Case) reads() bool { return c.Kind == detect.HotKeyRead }

// peak returns the load in units a second.
func (c *Case) peak() float64 { return detect.Units(c.Load) }

// after returns the load that is left, between two shares of the peak.
func (c *Case) after(low, high float64) *detect.After {
	return detect.NewAfter(c.Kind, c.peak()*low, c.peak()*high)
}

// ofGlobalIndex reports whether the key is one of a global index: what is known of a
// local one says so.
func (c *Case) ofGlobalIndex() bool {
	return c.Index != "" && (c.Facts == nil || !slices.Contains(c.Facts.LSIs, c.Index))
}

// part returns the share that some operations have of the load that the case is about.
func (c *Case) part(ops ...sample.Op) float64 {
	if c.Evidence == nil {
		return 0
	}
	some, all := 0.0, 0.0
	for _, o := range c.Evidence.Operations {
		op, _ := sample.ParseOp(o.Op)
		if c.reads() != op.IsRead() && (op.IsRead() || op.IsWrite()) {
			continue
		}
		all += o.Share
		if slices.Contains(ops, op) {
			some += o.Share
		}
	}
	return detect.Ratio(some, all)
}

// requests returns those of some operations, a second.
func (c *Case) requests(ops ...sample.Op) (n float64) {
	if c.Evidence == nil {
		return 0
	}
	for _, o := range c.Evidence.Operations {
		if op, _ := sample.ParseOp(o.Op); slices.Contains(ops, op) {
			n += o.Requests
		}
	}
	return n
}

// throttled returns how many requests on the key were throttled in the seconds looked
// at.
func (c *Case) throttled() int64 { return c.Evidence.ThrottledRequests() }
