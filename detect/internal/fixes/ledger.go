package fixes

import (
	"cmp"
	"iter"
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
)

// Case is a hot key, with facts about its table.
type Case struct {
	*detect.Finding
	// Load is the peak to bring down.
	Load   sample.Milli
	Policy detect.Policy
	// Facts are nil if unknown.
	Facts *detect.TableFacts
	// Callers has each caller's share of the load of the whole table or index.
	Callers map[string]float64
	// FewValues reports that few key values bound the whole table or index.
	FewValues bool
	// Cuts are the edges of the table's partitions; nil if they are unknown.
	Cuts []uint16
	// TargetRCU is the read load of the whole table or index.
	TargetRCU float64
}

// fix is a fix that applies to a case.
type fix struct {
	arguments detect.Arguments
	after     *detect.After
	names     *detect.ShardNames
	place     place
	// takes is the effort if it is not the fix's usual one.
	takes detect.Effort
	with  []detect.Step // companion steps
}

// place is the rank of a fix before its effect counts.
type place int

const (
	byEffect place = iota // by effect for effort
	first                 // before every design of keys
	last                  // behind the fixes that do not depend on luck
	ahead                 // before all: it shows whether there is anything to fix
)

// entry is a line of the ledger: a fix, and the function that reports whether it applies,
// with the load that it leaves.
type entry struct {
	code detect.Fix
	find func(*Case) (fix, bool)
}

// ledger is every fix for a hot key, the least effort first.
var ledger = []entry{
	{detect.FixCheckCombined, checkCombined},
	{detect.FixWaitForSplit, waitForSplit},
	{detect.FixAwaitVerdict, awaitVerdict},
	{detect.FixSplitMeanwhile, splitMeanwhile},
	{detect.FixCheckSplit, checkSplit},
	{detect.FixKeepKey, keptKey},
	{detect.FixStopTest, testKey},
	{detect.FixMissingValue, missingValue},
	{detect.FixMaskedKey, maskedKey},
	{detect.FixCalmRetries, retryStorm},
	{detect.FixBoundedRate, boundedJob},
	{detect.FixShuffleInput, shuffledImport},
	{detect.FixMendCaller, singleCaller},
	{detect.FixCheckCapacity, starvedTable},
	{detect.FixOwnTimes, ownTimes},
	{detect.FixBackOff, backOff},
	{detect.FixSpreadBurst, laterWrites},
	{detect.FixRefilledCache, refilledCache},
	{detect.FixConditionalWrite, conditionalWrite},
	{detect.FixEventualRead, eventualRead},
	{detect.FixSmallerQuery, smallerQuery},
	{detect.FixLease, lease},
	{detect.FixNumberBlocks, numberBlocks},
	{detect.FixWorkQueue, workQueue},
	{detect.FixFewerWrites, fewerWrites},
	{detect.FixDividedCounter, dividedCounter},
	{detect.FixCache, cache},
	{detect.FixChangingItem, smallItemOfChanges},
	{detect.FixReadItem, smallItemOfReads},
	{detect.FixWrittenItem, smallItemOfWrites},
	{detect.FixCompression, compression},
	{detect.FixObjectStore, objectStore},
	{detect.FixSparseIndex, sparseIndex},
	{detect.FixProjection, smallerProjection},
	{detect.FixIndexKeyOfQueries, keyOfQueries},
	{detect.FixShardedIndex, shardedIndex},
	{detect.FixIndexKeyOfWrites, keyOfWrites},
	{detect.FixCopies, copies},
	{detect.FixDividedItem, dividedItem},
	{detect.FixTimeKey, renamedKey},
	{detect.FixShardedKey, shardedKey},
}

// forInfo are the actions for info findings.
var forInfo = []string{detect.ActionCaller, detect.ActionRetry, detect.ActionSpread, detect.ActionCapacity, detect.ActionWait, detect.ActionPipeline}

// applied is a step with its place.
type applied struct {
	detect.Step
	place place
	with  []detect.Step
}

// step returns a fix as a step.
func (f *fix) step(code detect.Fix) detect.Step {
	s := detect.NewStep(code)
	s.Arguments, s.After, s.Names = f.arguments, f.after, f.names
	if f.takes != "" {
		s.Effort = f.takes
	}
	return s
}

// Steps returns the steps for a hot key, in order.
func Steps(c *Case) []detect.Step {
	var all []applied
	for _, e := range ledger {
		if c.Severity == detect.Info && !slices.Contains(forInfo, detect.NewStep(e.code).Action) {
			continue
		}
		if f, applies := e.find(c); applies {
			all = append(all, applied{f.step(e.code), f.place, f.with})
		}
	}
	all = withoutNeedless(all, c)
	if c.isPlaceholder() {
		all = slices.DeleteFunc(all, ofKey)
	}
	slices.SortStableFunc(all, func(x, y applied) int { return c.compare(&x, &y) })
	if c.shape() == "" {
		all = askBeforeDividing(all)
	}
	steps := []detect.Step{}
	for _, f := range all {
		f.Need = c.need(&f.Step)
		steps = append(append(steps, f.Step), f.with...)
	}
	for i := range steps {
		steps[i].Cost = c.cost(&steps[i])
	}
	return steps
}

// askBeforeDividing moves the step to write an item less often before the one that divides it.
// Samples do not show what an item is: a lock, a session or a sequence must stay one.
func askBeforeDividing(all []applied) []applied {
	divided := slices.IndexFunc(all, func(f applied) bool { return f.Action == detect.ActionSplit })
	fewer := slices.IndexFunc(all, func(f applied) bool { return f.Fix == detect.FixFewerWrites })
	if divided < 0 || fewer < divided {
		return all
	}
	moved := all[fewer]
	return slices.Insert(slices.Delete(all, fewer, fewer+1), divided, moved)
}

// withoutNeedless leaves new keys out if a fix that keeps the keys certainly suffices. To
// wait for DynamoDB, to stop a caller, to divide a counter or to leave items out of an
// index is no such fix. A burst that may be late, and an import that may be slower, need
// no other keys.
func withoutNeedless(all []applied, c *Case) []applied {
	_, imports := c.importer()
	if !imports && !slices.ContainsFunc(all, func(f applied) bool {
		if f.Fix == detect.FixSpreadBurst || f.Fix == detect.FixRefilledCache {
			return true
		}
		return f.place == byEffect && f.Effort != detect.EffortNone && f.Action != detect.ActionSparse && !divides(f) && rank(f.Effort) < rank(detect.EffortKeys) && c.suffices(f.After)
	}) {
		return all
	}
	return slices.DeleteFunc(all, divides)
}

// divides reports whether a fix divides a key or an item.
func divides(f applied) bool {
	return f.Action == detect.ActionShard || f.Action == detect.ActionSplit
}

// ofKey reports whether a fix is about what the key is, or holds.
func ofKey(f applied) bool {
	return divides(f) || f.Action == detect.ActionGather || f.Action == detect.ActionWait
}

// compare orders two fixes, the better one first.
func (c *Case) compare(x, y *applied) int {
	at := func(f *applied) int { return map[place]int{ahead: 0, first: 1, byEffect: 2, last: 3}[f.place] }
	return cmp.Or(
		cmp.Compare(at(x), at(y)),
		cmp.Compare(rank(x.Effort)+c.doubt(x.After), rank(y.Effort)+c.doubt(y.After)),
		cmp.Compare(c.doubt(x.After), c.doubt(y.After)),
		cmp.Compare(rank(x.Effort), rank(y.Effort)),
		cmp.Compare(highOf(x.After), highOf(y.After)),
	)
}

// rank returns the place of an effort in their order.
func rank(e detect.Effort) int { return slices.Index(detect.Efforts(), e) }

// doubt returns the efforts by which a fix is set back for its effect: none if it suffices,
// one if it may, three if it does not.
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

// suffices reports whether the load after a fix makes no finding.
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
// loadsIndex reports whether the writes are those of an index's key.
func (c *Case) loadsIndex() bool { return c.Subject == detect.KeyWrites && c.Index != "" }

func (c *Case) reads() bool { return c.Subject == detect.KeyReads }

// peak returns the load in units a second.
func (c *Case) peak() float64 { return detect.Units(c.Load) }

// newAfter returns the load after a fix, between two shares of the peak.
func (c *Case) newAfter(low, high float64) *detect.After {
	return detect.NewAfter(c.Subject, c.peak()*low, c.peak()*high)
}

// ofGlobalIndex reports whether the key is a global index's. Local indexes are known from
// the table's facts.
func (c *Case) ofGlobalIndex() bool {
	return c.Index != "" && (c.Facts == nil || !slices.Contains(c.Facts.LSIs, c.Index))
}

// part returns the share of some operations in the load of the case's side.
func (c *Case) part(ops ...sample.Op) float64 {
	some, all := 0.0, 0.0
	for op, o := range c.operations() {
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

// requests returns the requests a second of some operations.
func (c *Case) requests(ops ...sample.Op) (n float64) {
	for op, o := range c.operations() {
		if slices.Contains(ops, op) {
			n += o.Requests
		}
	}
	return n
}

// operations returns the operations of the key's requests; none without evidence.
func (c *Case) operations() iter.Seq2[sample.Op, detect.Operation] {
	return func(yield func(sample.Op, detect.Operation) bool) {
		if c.Evidence == nil {
			return
		}
		for _, o := range c.Evidence.Operations {
			if op, _ := sample.ParseOp(o.Op); !yield(op, o) {
				return
			}
		}
	}
}
