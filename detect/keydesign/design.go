package keydesign

import (
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
)

// traits are the facts that a partition key's design is judged by.
type traits struct {
	// peakWCU and peakRCU are the units of the table's highest second. Below minUnits the
	// design is not judged.
	peakWCU, peakRCU, minUnits float64
	// distinct is the number of keys, effective the number at a time (see
	// View.EffectiveKeys).
	distinct, effective float64
	// share is the largest share of the load that a key had while it was there; 0 if no
	// key stands out. It counts reads if they use more of the throughput, and otherwise
	// writes.
	share float64
	// used counts the seconds while that key was there; 0 means throughout.
	used int64
	// whole is the standard deviation of a share of 1 if sampling drew whole callers.
	whole float64
	// burst is the highest second of any key, as a share of a partition's limit.
	burst float64
	// key is the key with share, hottest the key with burst.
	key, hottest string
	// template is the form that most keys have, fits the share of keys that have it.
	template string
	fits     float64
	// index is set for an index, and for a table whose policy shards keys by bare
	// numbers: there, numbers are key shards.
	index bool
	// newest reports that keys are numbered and requests go to the newest.
	newest bool
}

// judgeDesign returns the verdict of the first rule that applies to a partition key.
func judgeDesign(t traits) detect.Design {
	for _, rule := range []func(traits) (detect.Design, bool){
		littleLoad, constantKey, timeKey, shardKey, fewValues, fewIDs, sharesUnknown, dominantKey, burstyKey, orderedIDs, longKey,
	} {
		if d, ok := rule(t); ok {
			return d
		}
	}
	switch {
	case t.distinct >= manyKeys && t.share < evenShare:
		return detect.Design{Verdict: detect.DesignExcellent, Rule: detect.RuleManyKeys}
	case t.share > 0:
		return t.withLargest(detect.DesignGood, detect.RuleLargest)
	}
	return detect.Design{Verdict: detect.DesignGood, Rule: detect.RuleEven}
}

// withLargest returns a verdict that names the key with the largest share.
func (t traits) withLargest(v detect.DesignVerdict, r detect.DesignRule) detect.Design {
	return detect.Design{Verdict: v, Rule: r, Key: sample.Text(t.key), Share: t.share, Seconds: t.used}
}

// littleLoad judges a table with too little traffic, or without keys.
func littleLoad(t traits) (detect.Design, bool) {
	switch {
	case max(t.peakWCU, t.peakRCU) < t.minUnits:
		return detect.Design{Verdict: detect.DesignUnjudged, Rule: detect.RuleLittleTraffic}, true
	case t.distinct < 0.5:
		return detect.Design{Verdict: detect.DesignUnjudged, Rule: detect.RuleNoKeys}, true
	}
	return detect.Design{}, false
}

// haveOneForm reports whether nearly all keys have the template's form, so that it
// explains their number.
func (t traits) haveOneForm() bool { return t.template != "" && t.fits >= oneForm }

// constantKey judges a table with a single key.
func constantKey(t traits) (detect.Design, bool) {
	return detect.Design{Verdict: detect.DesignCatastrophic, Rule: detect.RuleOneKey}, t.distinct < 1.5
}

// isTime reports whether a template consists only of times and words.
func isTime(template string) bool {
	times := 0
	for _, part := range tokens(template) {
		switch part {
		case partTime, partHour, partDate, partMonth:
			times++
		default:
			if !isWord(part) {
				return false
			}
		}
	}
	return times > 0
}

// timeKey judges a key that is only a time.
func timeKey(t traits) (detect.Design, bool) {
	if !t.haveOneForm() || !isTime(t.template) || t.effective >= 2 {
		return detect.Design{}, false
	}
	return detect.Design{Verdict: detect.DesignPoor, Rule: detect.RuleTimeKey, Share: max(t.share, 1/t.effective)}, true
}

// shardKey judges a key that is already spread over numbered key shards.
func shardKey(t traits) (detect.Design, bool) {
	bare := t.template == partNumber && t.distinct > 2 && t.index
	if !t.haveOneForm() || t.distinct > fewKeys || !bare && !strings.Contains(t.template, partShard) {
		return detect.Design{}, false
	}
	if t.share*t.distinct > evenShards {
		return t.withLargest(detect.DesignWatch, detect.RuleUnevenShards), true
	}
	return detect.Design{Verdict: detect.DesignGood, Rule: detect.RuleShards}, true
}

// fewValues judges a list of values, such as a status or a country.
func fewValues(t traits) (detect.Design, bool) {
	words := t.distinct <= fewWords && t.haveOneForm()
	for _, part := range tokens(t.template) {
		words = words && (isWord(part) || part == partWord)
	}
	numbers := t.distinct <= veryFewKeys && t.haveOneForm() && t.template == partNumber
	if !words && !numbers {
		return detect.Design{}, false
	}
	return t.withLargest(detect.DesignVeryPoor, detect.RuleFewValues), true
}

// fewIDs judges ids that are few now and could become many. It does not assume even use
// of some dozens of ids if one of them has more than all others.
func fewIDs(t traits) (detect.Design, bool) {
	switch {
	case t.distinct <= veryFewKeys:
		return detect.Design{Verdict: detect.DesignPoor, Rule: detect.RuleFewKeys}, true
	case t.distinct <= fewKeys && (t.share < majorityShare || t.whole >= unknownShares):
		return detect.Design{Verdict: detect.DesignWatch, Rule: detect.RuleFewKeys}, true
	}
	return detect.Design{}, false
}

// sharesUnknown withholds a verdict by shares if sampling may have drawn whole callers,
// because the shares would be theirs alone.
func sharesUnknown(t traits) (detect.Design, bool) {
	return detect.Design{Verdict: detect.DesignUnjudged, Rule: detect.RuleUnknown}, t.whole >= unknownShares
}

// dominantKey judges many keys with one that has much of the load.
func dominantKey(t traits) (detect.Design, bool) {
	switch {
	case t.share < dominantShare:
		return detect.Design{}, false
	case t.share >= majorityShare:
		return t.withLargest(detect.DesignPoor, detect.RuleDominantKey), true
	}
	return t.withLargest(detect.DesignWatch, detect.RuleDominantKey), true
}

// burstyKey judges many keys with one that exceeds its partition's limit within a second.
func burstyKey(t traits) (detect.Design, bool) {
	switch {
	case t.burst <= 1:
		return detect.Design{}, false
	case t.burst <= evenShards*t.evenBurst():
		return detect.Design{Verdict: detect.DesignWatch, Rule: detect.RuleFullSecond}, true
	}
	return detect.Design{Verdict: detect.DesignWatch, Rule: detect.RuleBurst, Key: sample.Text(t.hottest)}, true
}

// evenBurst returns each key's share of a partition's limit in the table's highest second
// if all keys had the same load.
func (t traits) evenBurst() float64 {
	return max(t.peakWCU/detect.Units(detect.PartitionWrite), t.peakRCU/detect.Units(detect.PartitionRead)) / t.distinct
}

// orderedIDs judges numbers that are used in order. DynamoDB places keys by hash, so the
// order alone does no harm.
func orderedIDs(t traits) (detect.Design, bool) {
	return detect.Design{Verdict: detect.DesignGood, Rule: detect.RuleOrdered}, t.newest
}

// longKey judges keys that spread well and have an awkward form.
func longKey(t traits) (detect.Design, bool) {
	parts := strings.FieldsFunc(t.template, func(r rune) bool { return strings.ContainsRune("#|:/", r) })
	switch {
	case len(parts) >= deepParts:
		return detect.Design{Verdict: detect.DesignGood, Rule: detect.RuleLongKey}, true
	case isUndelimited(t.template):
		return detect.Design{Verdict: detect.DesignGood, Rule: detect.RuleNoDelimiter}, true
	}
	return detect.Design{}, false
}

// isUndelimited reports whether a value in a template has no delimiter behind it, before
// the next token.
func isUndelimited(template string) bool {
	last := ""
	for {
		before, part, rest := nextToken(template)
		if part == "" {
			return false
		}
		if before == "" && last != "" && !isWord(last) {
			return true
		}
		last, template = part, rest
	}
}
