package keydesign

import (
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/sample"
)

type traits struct {
	// peakWCU and peakRCU are the units of the table's highest second. Below detect.MinUnits
	// the design is not judged.
	peakWCU, peakRCU float64
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
	by := func(v detect.DesignVerdict, r detect.DesignRule) detect.Design {
		return detect.Design{Verdict: v, Rule: r}
	}
	switch {
	case max(t.peakWCU, t.peakRCU) < detect.MinUnits:
		return by(detect.DesignUnjudged, detect.RuleLittleTraffic)
	case t.distinct < 0.5:
		return by(detect.DesignUnjudged, detect.RuleNoKeys)
	case casebook.IsMask(t.key) && (t.distinct < 1.5 || t.share >= dominantShare):
		return t.withLargest(detect.DesignUnjudged, detect.RuleMasked)
	case t.distinct < 1.5:
		return by(detect.DesignCatastrophic, detect.RuleOneKey)
	case t.haveOneForm() && isTime(t.template) && t.effective < 2:
		return detect.Design{Verdict: detect.DesignPoor, Rule: detect.RuleTimeKey, Share: max(t.share, 1/t.effective)}
	case t.areShards() && t.share*t.distinct > evenShards:
		return t.withLargest(detect.DesignWatch, detect.RuleUnevenShards)
	case t.areShards():
		return by(detect.DesignGood, detect.RuleShards)
	case t.areValues():
		return t.withLargest(detect.DesignVeryPoor, detect.RuleFewValues)
	case t.distinct <= veryFewKeys:
		return by(detect.DesignPoor, detect.RuleFewKeys)
	case t.distinct <= fewKeys && (t.share < majorityShare || t.whole >= unknownShares):
		// Ids that are few now could become many. Their use is not even if one has more
		// than all others.
		return by(detect.DesignWatch, detect.RuleFewKeys)
	case t.whole >= unknownShares: // shares would be those of the drawn callers alone
		return by(detect.DesignUnjudged, detect.RuleUnknown)
	case t.share >= majorityShare:
		return t.withLargest(detect.DesignPoor, detect.RuleDominantKey)
	case t.share >= dominantShare:
		return t.withLargest(detect.DesignWatch, detect.RuleDominantKey)
	case t.burst > 1 && t.burst <= evenShards*t.evenBurst():
		return by(detect.DesignWatch, detect.RuleFullSecond)
	case t.burst > 1:
		return detect.Design{Verdict: detect.DesignWatch, Rule: detect.RuleBurst, Key: sample.Text(t.hottest)}
	case t.newest: // DynamoDB places keys by hash, so the order alone does no harm
		return by(detect.DesignGood, detect.RuleOrdered)
	case len(strings.FieldsFunc(t.template, func(r rune) bool { return strings.ContainsRune("#|:/", r) })) >= deepParts:
		return by(detect.DesignGood, detect.RuleLongKey)
	case isUndelimited(t.template):
		return by(detect.DesignGood, detect.RuleNoDelimiter)
	case t.distinct >= manyKeys && t.share < evenShare:
		return by(detect.DesignExcellent, detect.RuleManyKeys)
	case t.share > 0:
		return t.withLargest(detect.DesignGood, detect.RuleLargest)
	}
	return by(detect.DesignGood, detect.RuleEven)
}

func (t traits) withLargest(v detect.DesignVerdict, r detect.DesignRule) detect.Design {
	return detect.Design{Verdict: v, Rule: r, Key: sample.Text(t.key), Share: t.share, Seconds: t.used}
}

// haveOneForm reports whether nearly all keys have the template's form, so that it
// explains their number.
func (t traits) haveOneForm() bool { return t.template != "" && t.fits >= oneForm }

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

func (t traits) areShards() bool {
	bare := t.template == partNumber && t.distinct > 2 && t.index
	return t.haveOneForm() && t.distinct <= fewKeys && (bare || strings.Contains(t.template, partShard))
}

// areValues reports whether the keys are a list of values, such as a status or a country.
func (t traits) areValues() bool {
	words := t.distinct <= fewWords
	for _, part := range tokens(t.template) {
		words = words && (isWord(part) || part == partWord)
	}
	return t.haveOneForm() && (words || t.distinct <= veryFewKeys && t.template == partNumber)
}

// evenBurst returns each key's share of a partition's limit in the table's highest second
// if all keys had the same load.
func (t traits) evenBurst() float64 {
	return max(t.peakWCU/detect.Units(detect.PartitionWrite), t.peakRCU/detect.Units(detect.PartitionRead)) / t.distinct
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
