package keydesign

import (
	"fmt"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/wording"
)

// Traits are what a partition key's design is judged by.
type Traits struct {
	// PeakWCU and PeakRCU are the table's highest second, MinUnits from which on
	// it is judged.
	PeakWCU, PeakRCU, MinUnits float64
	// Distinct is how many keys there were, Effective how many at a time (see
	// View.EffectiveKeys).
	Distinct, Effective float64
	// Share is the largest part of any key in the load while it was there; 0
	// when none stands out. It is of reads where Reads says that these have more
	// of the throughput, otherwise of writes.
	Share float64
	Reads bool
	// Burst is the highest second of any key, as a share of a partition's limit.
	Burst float64
	// Template is what the keys have in common.
	Template string
	// Newest says that keys are numbered and requests are for the newest.
	Newest bool
}

// DesignOf judges a partition key.
func DesignOf(t Traits) detect.Design {
	if max(t.PeakWCU, t.PeakRCU) < t.MinUnits {
		return detect.Design{Verdict: detect.DesignUnjudged, Why: fmt.Sprintf("Too little traffic to judge: at most %s units in one second, and the policy asks for %s.",
			wording.Significant(max(t.PeakWCU, t.PeakRCU)), wording.Significant(t.MinUnits))}
	}
	if t.Distinct < 0.5 {
		return detect.Design{Verdict: detect.DesignUnjudged, Why: "No request named a partition key."}
	}
	for _, rule := range []func(Traits) (detect.Design, bool){
		constantKey, timeKey, shardKey, fewValues, fewIDs, dominantKey, burstyKey, orderedIDs, longKey,
	} {
		if d, ok := rule(t); ok {
			return d
		}
	}
	if t.Distinct >= manyKeys && t.Share < evenShare {
		return detect.Design{Verdict: detect.DesignExcellent, Why: fmt.Sprintf("Some %s keys%s, and none has 1%% of the %s.", wording.Significant(t.Distinct), t.likeTemplate(), t.loadWord())}
	}
	if t.Share > 0 {
		return detect.Design{Verdict: detect.DesignGood, Why: fmt.Sprintf("Some %s keys%s, the largest with %s of the %s: watch it for power users.",
			wording.Significant(t.Distinct), t.likeTemplate(), wording.Percent(t.Share), t.loadWord())}
	}
	return detect.Design{Verdict: detect.DesignGood, Why: fmt.Sprintf("Some %s keys%s, and none stands out.", wording.Significant(t.Distinct), t.likeTemplate())}
}

// carry is what so many full partitions carry.
func (t Traits) capacityOf(partitions float64) string {
	if t.Reads {
		return wording.Significant(partitions*detect.Units(detect.PartitionRead)) + " read units a second"
	}
	return wording.Significant(partitions*detect.Units(detect.PartitionWrite)) + " write units a second"
}

// what is what Share is of.
func (t Traits) loadWord() string {
	if t.Reads {
		return "reads"
	}
	return "writes"
}

// named is the template, in a sentence.
func (t Traits) likeTemplate() string {
	if t.Template == "" {
		return ""
	}
	return " like " + t.Template
}

// constantKey is one key for everything.
func constantKey(t Traits) (detect.Design, bool) {
	if t.Distinct >= 1.5 {
		return detect.Design{}, false
	}
	return detect.Design{Verdict: detect.DesignCatastrophic, Why: "One key takes everything: the table carries 1,000 write and 3,000 read units a second, whatever is provisioned."}, true
}

// timeKey is a key that is nothing but a time.
func timeKey(t Traits) (detect.Design, bool) {
	placeholders := 0
	for _, part := range token.FindAllString(t.Template, -1) {
		switch part {
		case partTime, partHour, partDate, partMonth:
			placeholders++
		default:
			if !isWord(part) {
				return detect.Design{}, false
			}
		}
	}
	if placeholders == 0 || t.Effective >= 2 {
		return detect.Design{}, false
	}
	return detect.Design{Verdict: detect.DesignPoor, Why: fmt.Sprintf("The key %s is a time: the current one takes %s of the %s, and its successor will too.",
		t.Template, wording.Percent(max(t.Share, 1/t.Effective)), t.loadWord())}, true
}

// shardKey is a key that is already spread over numbered shards.
func shardKey(t Traits) (detect.Design, bool) {
	bare := t.Template == partNumber && t.Distinct > 2
	if t.Distinct > fewKeys || !bare && !strings.Contains(t.Template, partShard) {
		return detect.Design{}, false
	}
	if t.Share*t.Distinct > evenShards {
		return detect.Design{Verdict: detect.DesignWatch, Why: fmt.Sprintf("%s shards carry at most %s, and the fullest has %.1f times its part.",
			wording.Significant(t.Distinct), t.capacityOf(1/t.Share), t.Share*t.Distinct)}, true
	}
	return detect.Design{Verdict: detect.DesignGood, Why: fmt.Sprintf("%s shards, evenly used, carry at most %s.",
		wording.Significant(t.Distinct), t.capacityOf(t.Distinct))}, true
}

// fewValues is a list of values, such as a status or a country.
func fewValues(t Traits) (detect.Design, bool) {
	words := t.Distinct <= fewWords && t.Template != ""
	for _, part := range token.FindAllString(t.Template, -1) {
		words = words && (isWord(part) || part == partWord)
	}
	boolean := t.Distinct <= 2.5 && t.Template == partNumber
	if !words && !boolean {
		return detect.Design{}, false
	}
	text := fmt.Sprintf("Only %s values, and the list does not grow with the traffic: they carry at most %s", wording.Significant(t.Distinct), t.capacityOf(t.Distinct))
	if t.Share > 0 && 1/t.Share < 0.9*t.Distinct {
		text += fmt.Sprintf(", and with %s on one of them %s", wording.Percent(t.Share), t.capacityOf(1/t.Share))
	}
	return detect.Design{Verdict: detect.DesignVeryPoor, Why: text + "."}, true
}

// fewIDs are keys that could become many, and are few.
func fewIDs(t Traits) (detect.Design, bool) {
	switch {
	case t.Distinct <= veryFewKeys:
		return detect.Design{Verdict: detect.DesignPoor, Why: fmt.Sprintf("Only %s keys%s: they carry at most %s.",
			wording.Significant(t.Distinct), t.likeTemplate(), t.capacityOf(t.Distinct))}, true
	case t.Distinct <= fewKeys:
		return detect.Design{Verdict: detect.DesignWatch, Why: fmt.Sprintf("Only %s keys%s: they carry at most %s, evenly used.",
			wording.Significant(t.Distinct), t.likeTemplate(), t.capacityOf(t.Distinct))}, true
	}
	return detect.Design{}, false
}

// giant is one key among many that has much of the load.
func dominantKey(t Traits) (detect.Design, bool) {
	if t.Share < dominantShare {
		return detect.Design{}, false
	}
	verdict := detect.DesignWatch
	if t.Share >= majorityShare {
		verdict = detect.DesignPoor
	}
	return detect.Design{Verdict: verdict, Why: fmt.Sprintf("One of some %s keys%s has %s of the %s: the table carries %s at most.",
		wording.Significant(t.Distinct), t.likeTemplate(), wording.Percent(t.Share), t.loadWord(), t.capacityOf(1/t.Share))}, true
}

// bursts are of a key that is one of many in the long run, and too much for its
// partition in a second.
func burstyKey(t Traits) (detect.Design, bool) {
	if t.Burst <= 1 {
		return detect.Design{}, false
	}
	return detect.Design{Verdict: detect.DesignWatch, Why: fmt.Sprintf("Some %s keys%s spread the load over time, but not within seconds: one had %s of a partition's limit in a single one.",
		wording.Significant(t.Distinct), t.likeTemplate(), wording.Percent(t.Burst))}, true
}

// orderedIDs are numbers that are used as they come. Placement is by hash, so
// that does no harm by itself.
func orderedIDs(t Traits) (detect.Design, bool) {
	if !t.Newest {
		return detect.Design{}, false
	}
	return detect.Design{Verdict: detect.DesignGood, Why: fmt.Sprintf("Some %s keys%s, numbered in order, and requests are for the newest: placement is by hash, so that alone does no harm.",
		wording.Significant(t.Distinct), t.likeTemplate())}, true
}

// shape is about keys that spread well and are trouble otherwise.
func longKey(t Traits) (detect.Design, bool) {
	parts := strings.FieldsFunc(t.Template, func(r rune) bool { return strings.ContainsRune("#|:/", r) })
	switch {
	case len(parts) >= deepParts:
		return detect.Design{Verdict: detect.DesignGood, Why: fmt.Sprintf("Spreads well, but %s has %d parts: a query must know all of them.", t.Template, len(parts))}, true
	case undelimited(t.Template):
		return detect.Design{Verdict: detect.DesignGood, Why: fmt.Sprintf("Spreads well, but the parts of %s stand together without a delimiter: different values can make the same key.", t.Template)}, true
	}
	return detect.Design{}, false
}

// glued says that two values of a template have nothing between them that ends
// the first.
func undelimited(template string) bool {
	places := token.FindAllStringIndex(template, -1)
	for i := 1; i < len(places); i++ {
		before := template[places[i-1][0]:places[i-1][1]]
		if places[i-1][1] == places[i][0] && !isWord(before) {
			return true
		}
	}
	return false
}
