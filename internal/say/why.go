package say

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/answer"
	"github.com/keyheat/keyheat/internal/say/wording"
)

// tense returns now or, for a finding that is over, past.
func tense(f *detect.Finding, now, past string) string {
	if f.State == detect.Resolved {
		return past
	}
	return now
}

// cause is the cause in a sentence: in the past once the finding is over.
func cause(f *detect.Finding, a *answer.Answer) string {
	to := tense(f, " on ", " went to ")
	switch a.Cause {
	case answer.OneKey, answer.NearLimit, answer.OneCaller:
		text := capital(load(f, to+"one key")) + "."
		if answer.StarvedAttempts(f) > 0 {
			return "Refused for lack of the table's capacity. " + text
		}
		return text
	case answer.EventualReads:
		measured := "below"
		if f.Peak.RCU.High > detect.Units(detect.EventualRead) {
			measured = "near"
		}
		return fmt.Sprintf("%s%sone key, eventually consistent: above the documented %s, %s the %s that AWS measured.", capital(amount(f)), to, limit(f), measured, wording.Amount(detect.EventualRead))
	case answer.AtLimit:
		return capital(load(f, to+"one key, flat as if the rest were refused")) + "."
	case answer.OneItem:
		return capital(load(f, to+"one key, most"+tense(f, " on ", " to ")+"one item")) + "."
	case answer.MayBeOver:
		if figure := detect.SideOf(f, f.Peak.WCU, f.Peak.RCU); figure.High <= detect.Units(f.Limit()) {
			return fmt.Sprintf("%s WCU/s and %s RCU/s%sone key; one partition may not serve both.", wording.Significant(f.Peak.WCU.Value), wording.Significant(f.Peak.RCU.Value), to)
		}
		figure := sampledLoad(f)
		return fmt.Sprintf("%s %s%sone key, from few samples; one partition takes %s.", wording.Range(figure.Low, figure.High), detect.SideOf(f, "WCU/s", "RCU/s"), to, limit(f))
	case answer.IndexKey:
		return fmt.Sprintf("%s%sone index key; %s.", capital(amount(f)), to, failingWrites(f, a))
	case answer.Retries:
		return retries(f)
	case answer.Test:
		return capital(load(f, to+"a key named like a test")) + "."
	case answer.TimeKey:
		if f.Rolling != nil {
			return capital(load(f, to+"one "+wording.Printable(f.Rolling.Period)+"'s key")) + "."
		}
	case answer.MovingSpot:
		if slices.ContainsFunc(f.Advice, func(s detect.Step) bool { return s.Fix == detect.FixShuffleInput }) {
			return "A job " + tense(f, "writes", "wrote") + " key after key, each in one partition."
		}
		return fmt.Sprintf("One key after another %s up to %s.", tense(f, "gets", "got"), amount(f))
	case answer.FewValues:
		if f.Index != "" && !f.InReads() && f.Utilization > 1 {
			return capital(amount(f)) + to + oneOfFew(f) + "; " + failingWrites(f, a) + "."
		}
		return capital(load(f, to+oneOfFew(f))) + "."
	case answer.Shards, answer.UnevenShards:
		return sharding(f)
	case answer.Scan:
		if f.Kind == detect.TableStarvation {
			scans := tense(f, "A Scan asks for", "A Scan asked for")
			if len(a.Callers) > 1 {
				scans = tense(f, "Scans ask for", "Scans asked for")
			}
			if answer.Lack(f) == detect.GroundOwnMaximum {
				return fmt.Sprintf("%s %s of the read units; the %s's own maximum %s the excess.", scans, scanShare(f), targetWord(f), tense(f, "refuses", "refused"))
			}
			if answer.Lack(f) == detect.GroundNoReason {
				return fmt.Sprintf("%s %s of the read units; the samples do not say which limit %s.", scans, scanShare(f), tense(f, "refuses requests", "refused requests"))
			}
			return fmt.Sprintf("%s %s of the read units; the %s %s capacity for all.", scans, scanShare(f), targetWord(f), tense(f, "lacks", "lacked"))
		}
		return tense(f, "A Scan reads one partition after another, as fast as it can.", "A Scan read one partition after another, as fast as it could.")
	case answer.Walk:
		return "A job " + tense(f, "goes", "went") + " through the key space: a copy in Scan order, or a sorted load."
	case answer.Ramp:
		return ramp(f)
	case answer.SharedPartition:
		return sharedPartition(f)
	case answer.BackPressure:
		return fmt.Sprintf("A partition of an index %s at its limit; DynamoDB then refuses table writes.", tense(f, "is", "was"))
	case answer.Provisioned:
		if f.Index != "" && !f.InReads() {
			return fmt.Sprintf("The index as a whole %s more than its provisioned write capacity; DynamoDB then %s table writes.", tense(f, "needs", "needed"), tense(f, "refuses", "refused"))
		}
		return fmt.Sprintf("The %s as a whole %s more than its provisioned %s capacity. %s", targetWord(f), tense(f, "needs", "needed"), detect.SideOf(f, "write", "read"), noKey(f))
	case answer.OwnMaximum:
		return fmt.Sprintf("The %s reached the maximum throughput that its owner set. %s", targetWord(f), noKey(f))
	case answer.AccountQuota:
		return fmt.Sprintf("The %s reached the account's quota for one table in this Region. %s", targetWord(f), noKey(f))
	case answer.IndexCapacity:
		return fmt.Sprintf("An index %s too little write capacity; DynamoDB then refuses table writes.", tense(f, "has", "had"))
	case answer.NoReason:
		return tense(f, "No single key is known to be hot", "No single key was known to be hot") + ", and the samples lack DynamoDB's throttle reasons."
	case answer.LargeItem:
		if f.Evidence == nil {
			return ""
		}
		return fmt.Sprintf("Writes %s little of items of %s, and %s for all.", tense(f, "change", "changed"), wording.Size(f.Evidence.ItemBytes), tense(f, "pay", "paid"))
	case answer.Collection:
		return fmt.Sprintf("The items of %s %s; a local index limits them to 10 GB.", subject(f), tense(f, "grow", "grew"))
	}
	text := own[f.Kind]
	return tense(f, text.now, text.past)
}

// failingWrites is the harm of an index key above the limit.
func failingWrites(f *detect.Finding, a *answer.Answer) string {
	fail := "may fail"
	if !a.Harm.None() {
		fail = "fail"
	}
	return fmt.Sprintf("above %s, table writes %s", limit(f), fail)
}

func noKey(f *detect.Finding) string {
	return fmt.Sprintf("No single key or partition %s hot.", tense(f, "is", "was"))
}

// ramp writes the load of a table that grows faster than its partitions.
func ramp(f *detect.Finding) string {
	if f.Ramp == nil {
		return ""
	}
	units := func(n float64) string { return wording.Significant(n) + " " + strings.ToUpper(f.Ramp.Unit) + "/s" }
	if f.Ground == detect.GroundPreviousPeak {
		times := wording.Significant(math.Round(10*f.Ramp.Requested/f.Ramp.Previous) / 10)
		return fmt.Sprintf("%s requested of the %s, %s times its previous peak of %s.", units(f.Ramp.Requested), targetWord(f), times, wording.Significant(f.Ramp.Previous))
	}
	return fmt.Sprintf("%s requested of the %s; it %s about %s at once.", units(f.Ramp.Requested), targetWord(f), tense(f, "serves", "served"), units(f.Ramp.Serves))
}

// sharedPartition names the keys that a full partition refuses most.
func sharedPartition(f *detect.Finding) string {
	if f.Partition != nil {
		return causeInPartition(f)
	}
	if len(f.RefusedKeys) == 0 {
		return tense(f, "At least one partition takes no more, and no single key in it is known to be hot.",
			"At least one partition took no more, and no single key in it was known to be hot.")
	}
	if f.Ground == detect.GroundKeys {
		text := fmt.Sprintf("Several keys together %s one or more partitions, none of them hot.", tense(f, "fill", "filled"))
		var keys []string
		for i := range f.RefusedKeys[:min(len(f.RefusedKeys), shownRefused)] {
			if k := &f.RefusedKeys[i]; k.Share >= leastRefused {
				keys = append(keys, quote(k.Key)+" "+lostBy(k))
			}
		}
		if len(keys) > 0 {
			text += " Refused most: " + strings.Join(keys, ", ") + "."
		}
		return text
	}
	most := &f.RefusedKeys[0]
	whose := fmt.Sprintf("%s of the refusals", capital(wording.Part(most.Share)))
	if most.Share >= almostAll {
		whose = "Nearly all refusals"
	}
	return fmt.Sprintf("A partition %s full; which keys fill it is unknown. %s hit %s: %s refused.", tense(f, "is", "was"), whose, quote(most.Key), lostBy(most))
}

// almostAll is the least share of all refused load from which a title names one key alone.
const almostAll = 0.9

// soleRefused is the key that a partition refuses almost all load of; nil if there is none.
func soleRefused(f *detect.Finding) *detect.RefusedKey {
	if f.Kind != detect.HotPartition || len(f.RefusedKeys) == 0 || f.RefusedKeys[0].Share < almostAll {
		return nil
	}
	return &f.RefusedKeys[0]
}

// shownRefused is the most refused keys that a sentence names.
const shownRefused = 3

// lostBy writes what a key was refused: 31 WCU/s, or 31 requests/s if these carry no units.
func lostBy(k *detect.RefusedKey) string {
	var parts []string
	if k.WCU.Value == 0 && k.RCU.Value == 0 && k.Requests > 0 {
		return wording.Significant(k.Requests) + " requests/s"
	}
	if k.WCU.Value > 0 || k.RCU.Value == 0 {
		parts = append(parts, wording.Significant(k.WCU.Value)+" WCU/s")
	}
	if k.RCU.Value > 0 {
		parts = append(parts, wording.Significant(k.RCU.Value)+" RCU/s")
	}
	return strings.Join(parts, " and ")
}

// leastRefused is the least share of all refused load of which a line is written.
const leastRefused = 0.01

// RefusedKeys returns a line about each key that a table or index refused most.
func RefusedKeys(keys []detect.RefusedKey) (all []Line) {
	for i := range keys {
		k := &keys[i]
		if k.Share < leastRefused {
			break
		}
		text := fmt.Sprintf("%s %s", quote(k.Key), lostBy(k))
		if figure := largerOf(k); figure.Value > 0 && figure.Low != figure.High {
			text += fmt.Sprintf(" (%s to %s)", wording.Significant(figure.Low), wording.Significant(figure.High))
		}
		text += fmt.Sprintf(", %s of the refusals in the last minute with any", wording.Part(k.Share))
		var callers []string
		for _, c := range k.Callers[:min(len(k.Callers), shownRefused)] {
			callers = append(callers, newCaller(&c).text())
		}
		if len(callers) > 0 {
			text += ", by " + strings.Join(callers, ", ")
		}
		name := ""
		if i == 0 {
			name = "refused"
		}
		all = append(all, Line{name, text + "."})
	}
	return all
}

// largerOf returns the larger part of what a key was refused.
func largerOf(k *detect.RefusedKey) detect.Figure {
	if k.RCU.Value > k.WCU.Value {
		return k.RCU
	}
	return k.WCU
}

// scanShare writes the part of the reads that Scans make.
func scanShare(f *detect.Finding) string {
	for i := range f.Advice {
		if s := &f.Advice[i]; s.Fix == detect.FixSlowScan && s.Arguments.Share > 0 {
			return wording.Part(s.Arguments.Share)
		}
	}
	return "much"
}

// oneOfFew names the hottest value of a key with few values: “DE”, one of 8 key values.
func oneOfFew(f *detect.Finding) string {
	if f.Members == nil || len(f.Members.Keys) == 0 {
		return "one of few key values"
	}
	if f.Members.Count.Value == 1 {
		return quote(f.Members.Keys[0]) + ", the only key value"
	}
	return fmt.Sprintf("%s, one of %s key values", quote(f.Members.Keys[0]), wording.About(f.Members.Count.Value))
}

func retries(f *detect.Finding) string {
	if f.Evidence == nil || f.Evidence.Retries == nil || len(f.Evidence.Retries.Callers) == 0 {
		return ""
	}
	who := &f.Evidence.Retries.Callers[0]
	text := fmt.Sprintf("%s %s %s of all attempts on %s, %.1f a request",
		quote(who.Caller), tense(f, "makes", "made"), wording.Part(who.Share), subject(f), who.Amplification)
	if f.Utilization > 1 {
		text += ": " + load(f, "")
	}
	return text + "."
}

func sharding(f *detect.Finding) string {
	if f.Sharding == nil {
		return ""
	}
	s := f.Sharding
	if f.Kind == detect.UnevenShards {
		return fmt.Sprintf("Key shard %s %s %s, %.1f times the mean; one partition takes %s.",
			quote(s.Hottest), tense(f, "has", "had"), fullest(f), 1+s.Deviation, limit(f))
	}
	return fmt.Sprintf("%d key shards of %s %s up to %s each; one partition takes %s.", s.Shards, quote(s.Base), tense(f, "take", "took"), fullest(f), limit(f))
}

// fullest is the load of the fullest key shard.
func fullest(f *detect.Finding) string {
	return ofKey(f, f.Utilization*detect.Units(f.Limit()))
}

// own are the causes when Keyheat cannot see, or could not.
var own = map[detect.Kind]struct{ now, past string }{
	detect.CollectionStopped: {"No collector reports or can read its source, or event time stands still.", "No collector reported or could read its source, or event time stood still."},
	detect.CollectionLags:    {"Samples wait longer than usual before they are counted, or collectors cannot read a part of their source.", "Samples waited longer than usual before they were counted, or collectors could not read a part of their source."},
	detect.BadSamples:        {"A collector rejects a part of the samples, and their load is not seen.", "A collector rejected a part of the samples, and their load was not seen."},
	detect.TablesRefused:     {"A collector has no room for more tables, and their keys are not seen.", "A collector had no room for more tables, and their keys were not seen."},
	detect.SamplesLost:       {"Samples expired before they were read, and are never counted.", "Samples expired before they were read, and are never counted."},
	detect.SamplesStopped:    {"Samples arrived every minute and then stopped, although collectors can read.", "Samples arrived every minute and then stopped, although collectors could read."},
	detect.CoverageFell:      {"Samples show a smaller part of the table's load than before, by CloudWatch.", "Samples showed a smaller part of the table's load than before, by CloudWatch."},
	detect.UnseenKeys:        {"So many heavy keys are active that single ones cannot be told apart.", "So many heavy keys were active that single ones could not be told apart."},
	detect.TooManyHotKeys:    {"More keys are hot than Keyheat follows.", "More keys were hot than Keyheat follows."},
}
