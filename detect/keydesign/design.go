package keydesign

import (
	"fmt"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/wording"
)

// traits are the facts that a partition key's design is judged by.
type traits struct {
	// peakWCU and peakRCU are the units of the table's highest second. Below minUnits the
	// design is not judged.
	peakWCU, peakRCU, minUnits float64
	// distinct is the number of keys, effective the number at a time (see
	// View.EffectiveKeys).
	distinct, effective float64
	// drawn reports that distinct counts only keys of sampled requests.
	drawn bool
	// share is the largest share of the load that a key had while it was there; 0 if no
	// key stands out. It counts reads if reads is set, because they use more of the
	// throughput, and otherwise writes.
	share float64
	// used counts the seconds while that key was there; 0 means throughout.
	used  int64
	reads bool
	// whole is the standard deviation of a share of 1 if sampling drew whole callers.
	whole float64
	// burst is the highest second of any key, as a share of a partition's limit.
	burst float64
	// template is the form that most keys have, fits the share of keys that have it.
	// other is the key with share, otherHottest the key with burst, if they have another
	// form. matching is the number of compared keys beside other, if all of them have the
	// template's form; every reports that these are all other keys.
	template            string
	fits                float64
	other, otherHottest string
	matching            int
	// peers are other keys with about the same share.
	peers []string
	every bool
	// index is set for an index, and for a table whose policy shards keys by bare
	// numbers: there, numbers are key shards.
	index bool
	// newest reports that keys are numbered and requests go to the newest.
	newest bool
}

// judgeDesign returns the verdict of the first rule that applies to a partition key.
func judgeDesign(t traits) detect.Design {
	if max(t.peakWCU, t.peakRCU) < t.minUnits {
		return detect.Design{Verdict: detect.DesignUnjudged, Why: fmt.Sprintf("Too little traffic to judge: at most %s units in one second, and the policy asks for %s.",
			wording.SignificantAtMost(max(t.peakWCU, t.peakRCU)), wording.Significant(t.minUnits))}
	}
	if t.distinct < 0.5 {
		return detect.Design{Verdict: detect.DesignUnjudged, Why: "No request named a partition key."}
	}
	for _, rule := range []func(traits) (detect.Design, bool){
		constantKey, timeKey, shardKey, fewValues, fewIDs, sharesUnknown, dominantKey, burstyKey, orderedIDs, longKey,
	} {
		if d, ok := rule(t); ok {
			return d
		}
	}
	if t.distinct >= manyKeys && t.share < evenShare {
		return detect.Design{Verdict: detect.DesignExcellent, Why: fmt.Sprintf("%s, and none has 1%% of the %s.", t.keys(), t.loadWord())}
	}
	if t.share > 0 {
		return detect.Design{Verdict: detect.DesignGood, Why: fmt.Sprintf("%s, the largest with %s of the %s: watch it for power users.",
			t.keys(), wording.Percent(t.share), t.loadWord())}
	}
	return detect.Design{Verdict: detect.DesignGood, Why: fmt.Sprintf("%s, and none stands out.", t.keys())}
}

// amountOf writes the load that the given number of full partitions serves.
func (t traits) amountOf(partitions float64) string {
	limit := detect.PartitionWrite
	if t.reads {
		limit = detect.PartitionRead
	}
	return fmt.Sprintf("%s %s a second", wording.Significant(partitions*detect.Units(limit)), t.loadWord())
}

// carry writes the load that the given number of full partitions serves. For reads it is
// a lower bound: a partition may serve more eventually consistent ones.
func (t traits) carry(partitions float64) string {
	if t.reads {
		return "are certain to carry " + t.amountOf(partitions)
	}
	return "carry at most " + t.amountOf(partitions)
}

// fillsAt writes the load of all keys together at which a key with this share fills a
// partition alone. The table may be served more, since the other keys go on and a
// partition may serve more eventually consistent reads. If other keys share its
// partition, it fills earlier.
func (t traits) fillsAt(who string) string {
	fills := "fills"
	if t.reads {
		fills = "may fill"
	}
	return fmt.Sprintf("%s alone %s a partition at about %s of all keys together", who, fills, t.amountOf(1/t.share))
}

// inOnePartition is the condition of these figures, because DynamoDB can split a key's
// items.
const inOnePartition = ", while each key is in one partition"

// loadWord names the unit of share.
func (t traits) loadWord() string {
	if t.reads {
		return "read units"
	}
	return "write units"
}

// templatePhrase writes the template as a part of a sentence.
func (t traits) templatePhrase() string {
	switch {
	case t.template == "":
		return " of no common form"
	case !t.haveOneForm():
		return " (most of them like " + t.printableTemplate() + ")"
	}
	return " like " + t.printableTemplate()
}

// printableTemplate returns the template for a sentence: its words come from keys.
func (t traits) printableTemplate() string { return wording.Printable(t.template) }

// haveOneForm reports whether nearly all keys have the template's form, so that it
// explains their number.
func (t traits) haveOneForm() bool { return t.template != "" && t.fits >= oneForm }

// number writes a number of keys, as a minimum if requests were sampled.
func (t traits) number(n float64) string {
	if t.drawn {
		return "at least " + wording.Significant(n)
	}
	return "some " + wording.Significant(n)
}

// keys writes the number of keys and their form.
func (t traits) keys() string {
	n := t.number(t.distinct)
	return strings.ToUpper(n[:1]) + n[1:] + " keys" + t.templatePhrase()
}

// amongDrawn limits a small number to the sampled requests; it is empty if all requests
// were seen.
func (t traits) amongDrawn() string {
	if t.drawn {
		return " among the requests that were sampled"
	}
	return ""
}

// oneOfThem describes one of the keys. It names the key if its form differs from most.
func (t traits) oneOfThem(other string) string {
	if other == "" {
		return fmt.Sprintf("One of %s keys%s", t.number(t.distinct), t.templatePhrase())
	}
	like := t.templatePhrase()
	switch {
	case t.matching > 0 && t.every:
		like = ", all like " + t.printableTemplate()
	case t.matching > 0:
		like = fmt.Sprintf(", all %s compared like %s", wording.Count(int64(t.matching)), t.printableTemplate())
	case t.haveOneForm(): // more keys may have another form
		like = ", nearly all like " + t.printableTemplate()
	}
	return fmt.Sprintf("The key %s, beside %s others%s,", wording.Quote(other), t.number(t.distinct-1), like)
}

// constantKey judges a table with a single key.
func constantKey(t traits) (detect.Design, bool) {
	if t.distinct >= 1.5 {
		return detect.Design{}, false
	}
	everything := "everything"
	if t.drawn {
		everything = "every request that was sampled"
	}
	return detect.Design{Verdict: detect.DesignCatastrophic, Why: fmt.Sprintf("One key takes %s: that carries %s write and %s read units a second while the key is in one partition, whatever is provisioned.", everything, wording.Amount(detect.PartitionWrite), wording.Amount(detect.PartitionRead))}, true
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
	return detect.Design{Verdict: detect.DesignPoor, Why: fmt.Sprintf("The key %s is a time: the current one takes %s of the %s, and its successor will too.",
		t.printableTemplate(), wording.Percent(max(t.share, 1/t.effective)), t.loadWord())}, true
}

// shardKey judges a key that is already spread over numbered key shards.
func shardKey(t traits) (detect.Design, bool) {
	bare := t.template == partNumber && t.distinct > 2 && t.index
	if !t.haveOneForm() || t.distinct > fewKeys || !bare && !strings.Contains(t.template, partShard) {
		return detect.Design{}, false
	}
	if t.share*t.distinct > evenShards {
		return detect.Design{Verdict: detect.DesignWatch, Why: fmt.Sprintf("%s shards%s, of which the fullest has %.1f times its part: %s%s.",
			wording.Significant(t.distinct), t.amongDrawn(), t.share*t.distinct, t.fillsAt("it"), inOnePartition)}, true
	}
	return detect.Design{Verdict: detect.DesignGood, Why: fmt.Sprintf("%s shards%s, evenly used, %s%s.",
		wording.Significant(t.distinct), t.amongDrawn(), t.carry(t.distinct), inOnePartition)}, true
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
	text := fmt.Sprintf("Only %s values%s, and the list does not grow with the traffic: they %s", wording.Significant(t.distinct), t.amongDrawn(), t.carry(t.distinct))
	if t.share > 0 && 1/t.share < 0.9*t.distinct {
		text += fmt.Sprintf(", and with %s on one of them %s", wording.Percent(t.share), t.fillsAt("that one"))
	}
	return detect.Design{Verdict: detect.DesignVeryPoor, Why: text + inOnePartition + "."}, true
}

// fewIDs judges ids that are few now and could become many. It does not assume even use
// of some dozens of ids if one of them has more than all others.
func fewIDs(t traits) (detect.Design, bool) {
	switch {
	case t.distinct <= veryFewKeys:
		return detect.Design{Verdict: detect.DesignPoor, Why: fmt.Sprintf("Only %s keys%s%s: they %s%s.",
			wording.Significant(t.distinct), t.templatePhrase(), t.amongDrawn(), t.carry(t.distinct), inOnePartition)}, true
	case t.distinct <= fewKeys && (t.share < majorityShare || t.whole >= unknownShares):
		return detect.Design{Verdict: detect.DesignWatch, Why: fmt.Sprintf("Only %s keys%s%s: they %s, evenly used%s.",
			wording.Significant(t.distinct), t.templatePhrase(), t.amongDrawn(), t.carry(t.distinct), inOnePartition)}, true
	}
	return detect.Design{}, false
}

// sharesUnknown withholds a verdict by shares if sampling may have drawn whole callers,
// because the shares would be theirs alone.
func sharesUnknown(t traits) (detect.Design, bool) {
	if t.whole < unknownShares {
		return detect.Design{}, false
	}
	return detect.Design{Verdict: detect.DesignUnjudged, Why: fmt.Sprintf("%s; what each has of the %s cannot be proven from this sampling: if callers were drawn as a whole, other callers have other keys.",
		t.keys(), t.loadWord())}, true
}

// dominantKey judges many keys with one that has much of the load.
func dominantKey(t traits) (detect.Design, bool) {
	if t.share < dominantShare {
		return detect.Design{}, false
	}
	verdict := detect.DesignWatch
	if t.share >= majorityShare {
		verdict = detect.DesignPoor
	}
	if t.used > 0 {
		return detect.Design{Verdict: verdict, Why: fmt.Sprintf("%s had %s of the %s in the %s from its first request to its last: with that share %s then%s.",
			t.oneOfThem(t.other), wording.Percent(t.share), t.loadWord(), wording.Seconds(int(t.used)), t.fillsAt("it"), inOnePartition)}, true
	}
	beside, who := "", "each"
	switch {
	case len(t.peers) == 0:
		who = "it"
	case t.other == "": // the sentence names neither it nor its peers
		beside = fmt.Sprintf(", and %d of the others about as much each", len(t.peers))
	default:
		beside = fmt.Sprintf(", and %s about as much", wording.List(t.peers))
	}
	return detect.Design{Verdict: verdict, Why: fmt.Sprintf("%s has %s of the %s%s: with that share %s%s.",
		t.oneOfThem(t.other), wording.Percent(t.share), t.loadWord(), beside, t.fillsAt(who), inOnePartition)}, true
}

// burstyKey judges many keys with one that exceeds its partition's limit within a second.
func burstyKey(t traits) (detect.Design, bool) {
	if t.burst <= 1 {
		return detect.Design{}, false
	}
	if t.burst <= evenShards*t.evenBurst() {
		return detect.Design{Verdict: detect.DesignWatch, Why: fmt.Sprintf("%s share the load evenly, and are too few for it: in the highest second each of them had about a full partition's load or more.",
			t.keys())}, true
	}
	one := "one"
	if t.otherHottest != "" {
		one = wording.Quote(t.otherHottest)
	}
	return detect.Design{Verdict: detect.DesignWatch, Why: fmt.Sprintf("%s spread the load over time, but not within seconds: %s had %s of a partition's limit in a single second.",
		t.keys(), one, wording.Percent(t.burst))}, true
}

// evenBurst returns each key's share of a partition's limit in the table's highest second
// if all keys had the same load.
func (t traits) evenBurst() float64 {
	return max(t.peakWCU/detect.Units(detect.PartitionWrite), t.peakRCU/detect.Units(detect.PartitionRead)) / t.distinct
}

// orderedIDs judges numbers that are used in order. DynamoDB places keys by hash, so the
// order alone does no harm.
func orderedIDs(t traits) (detect.Design, bool) {
	if !t.newest {
		return detect.Design{}, false
	}
	return detect.Design{Verdict: detect.DesignGood, Why: fmt.Sprintf("%s, numbered in order, and requests are for the newest: placement is by hash, so that alone does no harm.",
		t.keys())}, true
}

// longKey judges keys that spread well and have an awkward form.
func longKey(t traits) (detect.Design, bool) {
	parts := strings.FieldsFunc(t.template, func(r rune) bool { return strings.ContainsRune("#|:/", r) })
	switch {
	case len(parts) >= deepParts:
		return detect.Design{Verdict: detect.DesignGood, Why: fmt.Sprintf("Spreads well, but %s has %d parts: a query must know all of them.", t.printableTemplate(), len(parts))}, true
	case isUndelimited(t.template):
		return detect.Design{Verdict: detect.DesignGood, Why: fmt.Sprintf("Spreads well, but the parts of %s stand together without a delimiter: different values can make the same key.", t.printableTemplate())}, true
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
