package say

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/say/wording"
)

// futile closes a move where people would raise capacity, in vain.
const futile = " Capacity cannot help."

// now is the action for tonight.
func now(f *detect.Finding, a *casebook.Answer) string {
	text := act(f, a)
	if who := refusedMost(f, a); who != "" && slices.Contains(raises, a.Move.Act) {
		text += " Meanwhile slow " + who + "."
	}
	if a.Futile && a.Move.Act == casebook.SlowCallers && !a.Harm.None() {
		text += futile
	}
	return text
}

// refusedMost names the caller that stands out in the refusals of a table or partition; empty for
// none.
func refusedMost(f *detect.Finding, a *casebook.Answer) string {
	if !f.Subject.OfTable() || a.Code == casebook.Scan || len(a.Callers) == 0 || a.Alike || a.Callers[0].Low < manyRefused {
		return ""
	}
	return quote(a.Callers[0].Text)
}

// manyRefused is the least part of the refusals for which a caller that stands out is slowed.
const manyRefused = 0.3

// raises are the acts that take time, in which a caller can be slowed.
var raises = []casebook.Act{casebook.RaiseCapacity, casebook.RaiseMaximum, casebook.RaiseQuota, casebook.RaiseIndexCapacity, casebook.CheckReason}

func act(f *detect.Finding, a *casebook.Answer) string {
	w := requests(f)
	if own := cards[a.Code].now; own != nil && a.Move.Act != casebook.Nothing {
		return own.say(f, a)
	}
	switch a.Move.Act {
	case casebook.Nothing:
		if f.State == detect.Resolved && a.Harm.Failed > 0 {
			return fmt.Sprintf("Nothing at the table. Check the callers for lost %s.", w)
		}
		if f.State == detect.Resolved {
			return "Nothing."
		}
		if f.Healed != nil {
			return "Nothing: DynamoDB serves all of it."
		}
		if a.Harm.Refused > 0 {
			return "Nothing tonight: all requests have been served since."
		}
		return "Nothing tonight."
	case casebook.SlowCallers:
		return slowCallers(f, a)
	case casebook.SlowScan:
		if a.Move.To > 0 && a.Move.To < leastScan*a.Move.From {
			return "Pause the Scan" + busiest("by", a) + "."
		}
		if a.Move.To > 0 {
			return fmt.Sprintf("Slow the Scan%s from %s to %s, or stop it.", busiest("by", a), wording.Significant(a.Move.From), perSecond(a.Move.To, "rcu"))
		}
		return "Slow or stop the Scan" + busiest("by", a) + ": a rate limit, a smaller page or fewer segments."
	case casebook.SlowImport:
		if len(a.Move.Callers) > 0 && !a.Alike && a.Code != casebook.Walk {
			return "Slow" + busiest("", a) + boundedRate(f) + ", or pause it: it writes keys in order."
		}
		return "Slow or pause the job that writes keys in order."
	case casebook.StopTest:
		return fmt.Sprintf("Limit%s to %s, or stop it if it is a test.", cmp.Or(busiest("", a), " the load"), ofKey(f, a.Move.Total))
	case casebook.BackOff:
		if a.Code != casebook.RetryStorm {
			return fmt.Sprintf("Let %s %s%s back off, and wait some minutes for a split.", requestsTo(f), quote(f.RefusedKeys[0].Key), busiest("by", a))
		}
		return fmt.Sprintf("Slow %s, and let its retries back off with jitter and a limit.", cmp.Or(strings.TrimSpace(busiest("", a)), "the caller"))
	case casebook.Wait:
		if a.Harm.None() {
			return fmt.Sprintf("Wait some minutes for a split. %s, %s.", ifThrottled(f), shortRelief(f, a))
		}
		return fmt.Sprintf("Wait some minutes for a split, or %s.", lessLoad(f, a))
	case casebook.Prewarm:
		if a.Code == casebook.Ramp {
			return "Raise the table's warm throughput, or let the load grow more slowly."
		}
		if who := refusedMost(f, a); who != "" {
			return "Raise the table's warm throughput to add partitions, or slow " + who + "."
		}
		if a.Healing.Outlook == casebook.Likely {
			return "Raise the table's warm throughput to add partitions, or shed load until DynamoDB has split some."
		}
		return "Raise the table's warm throughput: that adds partitions."
	case casebook.RaiseCapacity:
		return "Raise the provisioned " + capacity(f, "capacity") + ", or switch the table to on-demand."
	case casebook.RaiseMaximum:
		return "Raise the maximum " + capacity(f, "throughput") + ", or remove the maximum."
	case casebook.RaiseQuota:
		asked, served := detect.SideOf(f, f.Peak.WCU.Value, f.Peak.RCU.Value), detect.SideOf(f, f.Consumed.WCU, f.Consumed.RCU)
		if t := f.Throttling; t != nil { // one second of few samples may have fewer refusals than most
			served = min(served, asked*(1-t.Share))
		}
		if 0 < served && served < asked {
			return fmt.Sprintf("Request a higher quota from AWS; meanwhile cut the %s by %s. No table setting helps.", requests(f), wording.Part(1-detect.RateBelow(served)/asked))
		}
		return "Shed load, and request a higher quota from AWS. No table setting helps."
	case casebook.RaiseIndexCapacity:
		return "Raise the write capacity of the index to the table's."
	case casebook.CheckReason:
		return fmt.Sprintf("See which of CloudWatch's %s…ThrottleEvents exceeds 0: KeyRangeThroughput, ProvisionedThroughput, MaxOnDemandThroughput or AccountLimit.", detect.SideOf(f, "Write", "Read"))
	case casebook.CheckSize:
		return fmt.Sprintf("Ask for its size: write to %s with ReturnItemCollectionMetrics.", subject(f))
	case casebook.CheckRefusals:
		return fmt.Sprintf("%s, %s.", ifThrottled(f), relief(f, a))
	}
	return ""
}

// ifThrottled names the metric that shows whether a partition refuses requests.
func ifThrottled(f *detect.Finding) string {
	if f.Index != "" {
		return "If the index's " + detect.SideOf(f, "Write", "Read") + "KeyRangeThroughputThrottleEvents exceeds 0"
	}
	return "If " + detect.SideOf(f, "Write", "Read") + "KeyRangeThroughputThrottleEvents exceeds 0"
}

// shortRelief is the rate to keep, of the first caller where that is known.
func shortRelief(f *detect.Finding, a *casebook.Answer) string {
	switch {
	case f.Subject.OfTable() || f.Case == casebook.TooFewShards || f.Case == casebook.UnevenShards || cards[a.Code].relief != nil:
		return lessLoad(f, a)
	case a.Move.To > 0:
		return fmt.Sprintf("limit those by %s to %s", quote(a.Move.Callers[0].Text), ofKey(f, a.Move.To))
	}
	return fmt.Sprintf("limit them to %s", ofKey(f, a.Move.Total))
}

// lessLoad is the way to less load: of a partition by the keys that it refuses most.
func lessLoad(f *detect.Finding, a *casebook.Answer) string {
	switch {
	case f.Subject.OfKey() && a.Move.Total == 0: // it does not fill its partition
		return "raise the " + targetWord(f) + "'s warm throughput"
	case f.Case == casebook.TooFewShards:
		return "limit each to " + ofKey(f, a.Move.Total)
	case f.Case == casebook.UnevenShards || cards[a.Code].relief != nil:
		return relief(f, a)
	case !f.Subject.OfTable():
		return fmt.Sprintf("limit %s %s to %s", requestsTo(f), subject(f), ofKey(f, a.Move.Total))
	case refusedMost(f, a) != "":
		return "slow " + refusedMost(f, a)
	case len(f.RefusedKeys) == 0:
		return "shed load"
	}
	var keys []string
	for i := range f.RefusedKeys[:min(len(f.RefusedKeys), 2)] {
		keys = append(keys, quote(f.RefusedKeys[i].Key))
	}
	return "slow " + requestsTo(f) + " " + wording.List(keys)
}

// boundedRate is the rate that a job's step names; empty without one.
func boundedRate(f *detect.Finding) string {
	for i := range f.Advice {
		if s := &f.Advice[i]; s.Fix == detect.FixBoundedRate {
			return " to " + ofKey(f, s.Arguments.Units)
		}
	}
	return ""
}

// leastScan is the part of its rate below which a Scan is paused: a slower one is of no use.
const leastScan = 0.05

// slowCallers names whom to slow, on condition that requests fail if no harm is seen.
func slowCallers(f *detect.Finding, a *casebook.Answer) string {
	switch {
	case a.Harm.None():
		return fmt.Sprintf("%s, %s.", ifThrottled(f), relief(f, a))
	case a.Harm.IsSlight():
		return fmt.Sprintf("Nothing yet: retries absorb so few. Above 1%% refused, %s.", relief(f, a))
	}
	return capital(relief(f, a)) + "."
}

// relief names the load to slow, and the rate to keep where it is known.
func relief(f *detect.Finding, a *casebook.Answer) string {
	if own := cards[a.Code].relief; own != nil {
		return own.say(f, a)
	}
	key := ""
	switch {
	case f.Case == casebook.FewValues:
		key = hottestValue(f)
	case f.Case == casebook.MovingSpot && f.Members != nil && len(f.Members.Keys) > 0:
		key = quote(f.Members.Keys[0])
	case f.Case == casebook.UnevenShards && f.Sharding != nil:
		key = quote(f.Sharding.Hottest)
	case f.Subject == detect.SubjectPartition && f.Ground == detect.GroundNotSeen && len(f.RefusedKeys) > 0:
		key = quote(f.RefusedKeys[0].Key)
	}
	if a.Move.To > 0 {
		name, preposition, _ := strings.Cut(requestsTo(f), " ")
		return fmt.Sprintf("limit %s by %s %s %s to %s", name, quote(a.Move.Callers[0].Text), preposition, cmp.Or(key, subject(f)), ofKey(f, a.Move.To))
	}
	if f.Case == casebook.TooFewShards && f.Sharding != nil && a.Move.Total > 0 {
		return fmt.Sprintf("limit %s to %s, %s a shard", quote(f.Sharding.Base), ofKey(f, float64(f.Sharding.Shards)*a.Move.Total), wording.Significant(a.Move.Total))
	}
	load := "the " + requests(f)
	if key != "" || f.Subject.OfKey() || !a.Harm.None() {
		load = requestsTo(f) + " " + cmp.Or(key, subject(f))
	}
	if f.IsPattern() {
		load = "the newest key"
	}
	if f.Subject == detect.KeyWrites && f.Index != "" {
		load = "table writes with " + subject(f)
	}
	if f.Case == casebook.MovingSpot && key != "" {
		load = requestsTo(f) + " each hot key"
	}
	if a.Move.Total > 0 {
		text := fmt.Sprintf("limit %s to %s", load, ofKey(f, a.Move.Total))
		if a.Alike || len(a.Move.Callers) == 0 && f.Evidence != nil && len(f.Evidence.Callers) > 1 {
			return text + " in all"
		}
		return text + first(a)
	}
	if a.Harm.None() {
		return "slow " + load + first(a)
	}
	if len(a.Move.Callers) > 0 && a.Move.Callers[0].Low >= almostAllCallers {
		return "pause the " + requests(f) + " of " + quote(a.Move.Callers[0].Text) + " to " + cmp.Or(key, subject(f))
	}
	return "slow or pause " + load + first(a)
}

// first names the caller to begin with; empty if none stands out.
func first(a *casebook.Answer) string {
	if len(a.Move.Callers) == 0 || a.Alike {
		return ""
	}
	return ", " + quote(a.Move.Callers[0].Text) + " first"
}

// hottestValue names the value with the most load, of a key with few values.
func hottestValue(f *detect.Finding) string {
	if f.Members == nil || len(f.Members.Keys) == 0 {
		return "the hottest value"
	}
	return quote(f.Members.Keys[0])
}

// targetWord names the table or the index that a finding is about.
func targetWord(f *detect.Finding) string {
	if f.Index != "" {
		return "index"
	}
	return "table"
}

// capacity names the capacity or throughput to raise, above the load.
func capacity(f *detect.Finding, word string) string {
	text := fmt.Sprintf("%s of the %s", word, targetWord(f))
	switch {
	case !f.Subject.OfTable() || f.Peak.RCU.Value+f.Peak.WCU.Value < 1:
		return text
	case f.InReads():
		return fmt.Sprintf("read %s to %s (peak: %s)", text, perSecond(f.Peak.RCU.Value*detect.DefaultHeadroom, "rcu"), wording.Significant(f.Peak.RCU.Value))
	}
	return fmt.Sprintf("write %s to %s (peak: %s)", text, perSecond(f.Peak.WCU.Value*detect.DefaultHeadroom, "wcu"), wording.Significant(f.Peak.WCU.Value))
}

// heals is the answer to whether the hot spot heals by itself.
func heals(f *detect.Finding, a *casebook.Answer) string {
	h := a.Healing
	if h.Outlook != casebook.Ended {
		if f.Severity == detect.Info || a.Harm.Own {
			return ""
		}
		if text := cards[a.Code].heals.say(f, a); text != "" {
			return text
		}
	}
	switch h.Outlook {
	case casebook.Ended:
		if f.Healed != nil {
			return fmt.Sprintf("It did: refusals ended at %s under the same load, so DynamoDB split the key.", f.Healed.Since.UTC().Format("15:04:05 UTC"))
		}
		if f.Partition != nil && f.Partition.Split != nil {
			return endedBySplit(f.Partition.Split)
		}
		if f.Ground == detect.GroundWarmKey {
			return "It was not hot: more samples show a load far below the limit."
		}
		return endedText(f, a) + f.LastSeen.UTC().Format("15:04:05 UTC") + "."
	case casebook.Likely:
		if h.Ground == detect.GroundKeys {
			if f.Partition != nil && len(f.Partition.Cuts) > 0 {
				return healsBySplit(f.Partition)
			}
			return "Likely, in minutes: DynamoDB can split the partition."
		}
		if a.Move.Act == casebook.Nothing && a.Harm.Refused > 0 {
			why := "whether by a split is unknown"
			if s := f.PredictedSplit(); s != nil && s.Load < detect.Units(f.Limit()) {
				why = "the load fell below the limit"
			}
			return fmt.Sprintf("It has been served since %s; %s.", a.Harm.To.Add(time.Second).UTC().Format("15:04:05 UTC"), why)
		}
		return "Likely, in minutes: a split."
	case casebook.Open:
		return fmt.Sprintf("Unknown; next update in about %s.", wording.Span(max(time.Minute, h.Known.Round(time.Minute))))
	case casebook.Unknown:
		if text := unknown[h.Ground]; text != "" {
			return "Unknown: " + text + "."
		}
		return "Unknown."
	}
	if h.Ground == casebook.GroundNoSplit {
		return "Not so far; most splits are quicker."
	}
	if text := grounds[h.Ground]; text != "" {
		return "No: " + text + "."
	}
	return "No."
}

// endedText is the reason why a hot spot is over, up to the time.
func endedText(f *detect.Finding, a *casebook.Answer) string {
	switch {
	case a.Harm.Own:
		return "It is over: last seen at "
	case f.Subject == detect.SubjectTable && a.Harm.None():
		return "It is over: it was above the stated capacity until "
	case f.Subject.OfTable():
		return "It is over: no request was refused after "
	case f.Case == casebook.LargeCollection:
		return "It is over: the items grew so until "
	case slices.ContainsFunc(f.Advice, func(s detect.Step) bool { return s.Arguments.Every > 0 || s.Fix == detect.FixSpreadBurst }):
		return "The burst is over: the load fell after " // another may come
	}
	return "It is over: the load fell after "
}

var grounds = map[detect.Ground]string{
	detect.GroundItem:       "one item never splits",
	detect.GroundLocalIndex: "a local index prevents splits",
	detect.GroundSortKey:    "new items always land at one end",
	detect.GroundMoving:     "the load moves on before a split",
	detect.GroundPositions:  "the load moves on before a split",
	detect.GroundPeriod:     "each new key starts in one partition",
	detect.GroundBursts:     "its average is too low for a split",
	casebook.GroundCapacity: "only more capacity or less load ends it",
	casebook.GroundDesign:   "the design is the cause",
}

var unknown = map[detect.Ground]string{
	casebook.GroundSplitDone: "DynamoDB may have split the key already",
	detect.GroundBursts:      "the load comes in bursts",
	detect.GroundPlaces:      "the load moves along the sort key in several places",
	detect.GroundNoSortKeys:  "samples lack sort keys",
	detect.GroundHashedKeys:  "sort keys are hashed and have no order",
	detect.GroundFewSamples:  "too few requests were sampled",
	detect.GroundBatchTimes:  "requests carry the times of batches",
	detect.GroundNotSeen:     "the samples do not show which keys share the partition",
	detect.GroundIndex:       "the samples do not show which keys share the partition",
	detect.GroundNoReason:    "the samples do not say why requests are refused",
	detect.GroundNotDecided:  "the sort keys seen do not decide it",
	detect.GroundCutShort:    "the samples show less than two minutes of heat",
	detect.GroundWarmKey:     "the key is not hot, but its partition is full",
	casebook.GroundMasked:    "the mask hides which keys these are",
}
