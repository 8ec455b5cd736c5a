package keydesign

import (
	"fmt"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/wording"
)

// traits are what a partition key's design is judged by.
type traits struct {
	// peakWCU and peakRCU are the table's highest second, minUnits from which on
	// it is judged.
	peakWCU, peakRCU, minUnits float64
	// distinct is how many keys there were, effective how many at a time (see
	// View.EffectiveKeys).
	distinct, effective float64
	// drawn reports that distinct are those of the requests that were drawn.
	drawn bool
	// share is the largest part of any key in the load while it was there; 0
	// when none stands out. It is of reads where reads says that these have more
	// of the throughput, otherwise of writes.
	share float64
	// used is in how many seconds that key was there; 0 throughout.
	used  int64
	reads bool
	// whole is what sampling leaves open of share if callers were drawn as a whole, as a
	// standard deviation of 1.
	whole float64
	// burst is the highest second of any key, as a share of a partition's limit.
	burst float64
	// template is what most keys have in common, fits the share of them that have it.
	// other and otherHottest are the key that share is of, and that of burst, where these
	// have another form. alike says of how many keys it is known that they have the form, if
	// all that were compared but other have it; every is whether these are all others.
	template            string
	fits                float64
	other, otherHottest string
	alike               int
	// beside are other keys that have about as much as share is.
	beside []string
	every  bool
	// index reports whether it is that of an index, or of a table that the policy
	// says is sharded by numbers: there, bare numbers are shards.
	index bool
	// newest reports whether keys are numbered and requests are for the newest.
	newest bool
}

// judgeDesign returns the verdict on a partition key.
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

// amountOf writes what so many full partitions serve.
func (t traits) amountOf(partitions float64) string {
	limit := detect.PartitionWrite
	if t.reads {
		limit = detect.PartitionRead
	}
	return fmt.Sprintf("%s %s a second", wording.Significant(partitions*detect.Units(limit)), t.loadWord())
}

// carry says what so many full partitions serve at most. Of reads that are eventually
// consistent one may serve more than is certain.
func (t traits) carry(partitions float64) string {
	if t.reads {
		return "are certain to carry " + t.amountOf(partitions)
	}
	return "carry at most " + t.amountOf(partitions)
}

// fillsAt says at which load of all keys together a key with the share fills a partition
// alone. That is no bound of what all are served: the others go on, and of reads the partition
// may serve more; and where others share its partition, that is full before.
func (t traits) fillsAt(who string) string {
	fills := "fills"
	if t.reads {
		fills = "may fill"
	}
	return fmt.Sprintf("%s alone %s a partition at about %s of all keys together", who, fills, t.amountOf(1/t.share))
}

// inOnePartition is what these hold for: DynamoDB can split a key's items.
const inOnePartition = ", while each key is in one partition"

// loadWord names what share is of.
func (t traits) loadWord() string {
	if t.reads {
		return "read units"
	}
	return "write units"
}

// likeTemplate returns the template as a part of a sentence.
func (t traits) likeTemplate() string {
	switch {
	case t.template == "":
		return " of no common form"
	case !t.haveOneForm():
		return " (most of them like " + t.shownTemplate() + ")"
	}
	return " like " + t.shownTemplate()
}

// shownTemplate returns the template for a sentence: its words are parts of keys.
func (t traits) shownTemplate() string { return wording.Printable(t.template) }

// haveOneForm reports whether what the template says holds for nearly all keys: what
// their number means follows from it then.
func (t traits) haveOneForm() bool { return t.template != "" && t.fits >= oneForm }

// number writes how many keys there are; of requests that were drawn the least.
func (t traits) number(n float64) string {
	if t.drawn {
		return "at least " + wording.Significant(n)
	}
	return "some " + wording.Significant(n)
}

// keys says how many there are, and what they are like.
func (t traits) keys() string {
	n := t.number(t.distinct)
	return strings.ToUpper(n[:1]) + n[1:] + " keys" + t.likeTemplate()
}

// amongDrawn says of a small number that it is that of the requests that were drawn; empty
// where all were seen.
func (t traits) amongDrawn() string {
	if t.drawn {
		return " among the requests that were sampled"
	}
	return ""
}

// oneOfThem names one of the keys, by itself where it has another form than most.
func (t traits) oneOfThem(other string) string {
	if other == "" {
		return fmt.Sprintf("One of %s keys%s", t.number(t.distinct), t.likeTemplate())
	}
	like := t.likeTemplate()
	switch {
	case t.alike > 0 && t.every:
		like = ", all like " + t.shownTemplate()
	case t.alike > 0:
		like = fmt.Sprintf(", all %s compared like %s", wording.Count(int64(t.alike)), t.shownTemplate())
	case t.haveOneForm(): // of nearly all: there may be more of another form
		like = ", nearly all like " + t.shownTemplate()
	}
	return fmt.Sprintf("The key %s, beside %s others%s,", wording.Quote(other), t.number(t.distinct-1), like)
}

// constantKey judges one key for everything.
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

// isTime reports whether keys of a template are nothing but a time, and words.
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

// timeKey judges a key that is nothing but a time.
func timeKey(t traits) (detect.Design, bool) {
	if !t.haveOneForm() || !isTime(t.template) || t.effective >= 2 {
		return detect.Design{}, false
	}
	return detect.Design{Verdict: detect.DesignPoor, Why: fmt.Sprintf("The key %s is a time: the current one takes %s of the %s, and its successor will too.",
		t.shownTemplate(), wording.Percent(max(t.share, 1/t.effective)), t.loadWord())}, true
}

// shardKey judges a key that is already spread over numbered shards.
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

// fewIDs judges keys that could become many, and are few. What some dozens carry if evenly used
// is no answer where one of them is known to have more than all others.
func fewIDs(t traits) (detect.Design, bool) {
	switch {
	case t.distinct <= veryFewKeys:
		return detect.Design{Verdict: detect.DesignPoor, Why: fmt.Sprintf("Only %s keys%s%s: they %s%s.",
			wording.Significant(t.distinct), t.likeTemplate(), t.amongDrawn(), t.carry(t.distinct), inOnePartition)}, true
	case t.distinct <= fewKeys && (t.share < majorityShare || t.whole >= unknownShares):
		return detect.Design{Verdict: detect.DesignWatch, Why: fmt.Sprintf("Only %s keys%s%s: they %s, evenly used%s.",
			wording.Significant(t.distinct), t.likeTemplate(), t.amongDrawn(), t.carry(t.distinct), inOnePartition)}, true
	}
	return detect.Design{}, false
}

// sharesUnknown judges nothing by shares that are those of the callers who were drawn,
// where callers may have been drawn as a whole.
func sharesUnknown(t traits) (detect.Design, bool) {
	if t.whole < unknownShares {
		return detect.Design{}, false
	}
	return detect.Design{Verdict: detect.DesignUnjudged, Why: fmt.Sprintf("%s; what each has of the %s cannot be proven from this sampling: if callers were drawn as a whole, other callers have other keys.",
		t.keys(), t.loadWord())}, true
}

// dominantKey judges one key among many that has much of the load.
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
	case len(t.beside) == 0:
		who = "it"
	case t.other == "": // it has no name here, nor need the others
		beside = fmt.Sprintf(", and %d of the others about as much each", len(t.beside))
	default:
		beside = fmt.Sprintf(", and %s about as much", wording.List(t.beside))
	}
	return detect.Design{Verdict: verdict, Why: fmt.Sprintf("%s has %s of the %s%s: with that share %s%s.",
		t.oneOfThem(t.other), wording.Percent(t.share), t.loadWord(), beside, t.fillsAt(who), inOnePartition)}, true
}

// burstyKey judges a key that is one of many in the long run, and too much for its
// partition in a second.
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

// evenBurst is what each key would have of a partition's limit in the table's highest
// second, if all had the same.
func (t traits) evenBurst() float64 {
	return max(t.peakWCU/detect.Units(detect.PartitionWrite), t.peakRCU/detect.Units(detect.PartitionRead)) / t.distinct
}

// orderedIDs judges numbers that are used as they come. Placement is by hash, so
// that does no harm by itself.
func orderedIDs(t traits) (detect.Design, bool) {
	if !t.newest {
		return detect.Design{}, false
	}
	return detect.Design{Verdict: detect.DesignGood, Why: fmt.Sprintf("%s, numbered in order, and requests are for the newest: placement is by hash, so that alone does no harm.",
		t.keys())}, true
}

// longKey judges keys that spread well and are trouble otherwise.
func longKey(t traits) (detect.Design, bool) {
	parts := strings.FieldsFunc(t.template, func(r rune) bool { return strings.ContainsRune("#|:/", r) })
	switch {
	case len(parts) >= deepParts:
		return detect.Design{Verdict: detect.DesignGood, Why: fmt.Sprintf("Spreads well, but %s has %d parts: a query must know all of them.", t.shownTemplate(), len(parts))}, true
	case isUndelimited(t.template):
		return detect.Design{Verdict: detect.DesignGood, Why: fmt.Sprintf("Spreads well, but the parts of %s stand together without a delimiter: different values can make the same key.", t.shownTemplate())}, true
	}
	return detect.Design{}, false
}

// isUndelimited reports whether two values of a template have nothing between them that
// ends the first.
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
