package diagnosis

import (
	"fmt"
	"math"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/wording"
)

// Diagnosis is why a table will not heal itself, in a word and in sentences.
type Diagnosis struct {
	Reason detect.Diagnosis
	Why    string
}

// Diagnose returns why the table will not heal a hot key itself. What no split helps
// comes before what one might; the verdict on splits is that of [detect.Split].
func Diagnose(f *detect.Finding, facts *detect.TableFacts) Diagnosis {
	d := diagnosis(f, facts)
	d.Why += served(f, d.Reason)
	return d
}

const (
	// servedLong is for how many seconds a key must have been seen for its mean to say
	// something of requests that may have been refused.
	servedLong = 60
	// heldFrom is the mean, as a share of the limit, from which on a key may be held at the
	// limit by what is refused of it.
	heldFrom = 0.9
)

// served says what it means that writes near or above the limit for long are not marked as
// throttled, in units that DynamoDB reports of what it served. A sentence more begins with a
// space; empty where nothing follows.
func served(f *detect.Finding, reason detect.Diagnosis) string {
	estimated := f.Quality.Estimated
	if f.Kind == detect.HotKeyRead || f.Quality.Source != detect.SourceRequests || estimated == nil || *estimated || f.Quality.InBatches() ||
		f.Evidence == nil || f.Evidence.Records < detect.MinRecords || f.Evidence.ThrottledRequests() > 0 || f.Seconds < servedLong {
		return ""
	}
	limit := detect.Units(detect.Limit(f.Kind))
	switch mean, undivided := f.Mean.WCU, reason == detect.HotItem || reason == detect.LSIBlocked; {
	case mean.Low > limit && undivided:
		return " No request is marked as throttled, although one partition cannot serve so much: the samples count attempts, and do not tell which were refused."
	case mean.Low > limit:
		return " No request is marked as throttled, although one partition cannot serve so much: either the key's items are on several partitions already, or the samples count attempts and do not tell which were refused."
	case mean.Value >= heldFrom*limit && f.SecondsOver() == 0:
		return " No request is marked as throttled. Samples of served requests alone cannot show what was refused, and a load that stays so near to the limit is also what a key looks like that is held at it: the metric WriteKeyRangeThroughputThrottleEvents tells."
	}
	return ""
}

// diagnosis returns why the table will not heal a hot key, by the first that says so.
func diagnosis(f *detect.Finding, facts *detect.TableFacts) Diagnosis {
	for _, diagnose := range []func(*detect.Finding, *detect.TableFacts) (Diagnosis, bool){
		hotItem, rollingKey, lsiBlocked, moving, splittable,
	} {
		if b, found := diagnose(f, facts); found {
			return b
		}
	}
	why := undetermined(f)
	if f.Index == "" && (facts == nil || facts.SortKey == nil) && f.Evidence != nil && f.Evidence.SortKeys == nil && f.Evidence.Records >= detect.MinRecords {
		why += " If the table has no sort key, sort_key: [] in its settings (the file of --tables) says so."
	}
	return Diagnosis{detect.Undetermined, why}
}

// splitOf returns the verdict on splits; the zero one where there is none.
func splitOf(f *detect.Finding) detect.Split {
	if f.Evidence == nil || f.Evidence.Split == nil {
		return detect.Split{Verdict: detect.SplitUnknown}
	}
	return *f.Evidence.Split
}

// hotItem diagnoses a single item, which is held to a partition's limits for ever. An
// index's sort key does not name an item.
func hotItem(f *detect.Finding, facts *detect.TableFacts) (Diagnosis, bool) {
	if f.Index != "" {
		return Diagnosis{}, false
	}
	if facts != nil && facts.SortKey != nil && len(facts.SortKey) == 0 {
		return Diagnosis{detect.HotItem, "The table has no sort key, so the key is one item, and one item is held to a partition's limits for ever: no split helps it."}, true
	}
	s := splitOf(f)
	if len(itemText(f)) == 0 {
		return Diagnosis{}, false
	}
	switch {
	case s.Verdict == detect.SplitHotItem && s.Load <= detect.Units(detect.Limit(f.Kind)) && f.Quality.InBatches():
		return Diagnosis{}, false // its seconds above the limit may be those of the times that requests carry
	case s.Verdict == detect.SplitHotItem:
		return Diagnosis{detect.HotItem, fmt.Sprintf("One item, %s, alone has at least %s, more than one partition serves: an item is held to a partition's limits for ever, and no split helps it.",
			itemText(f), perSecond(f, s.Item))}, true
	case isFull(f) && s.Item >= detect.SaturatedFrom*detect.Units(detect.Limit(f.Kind)):
		return Diagnosis{detect.HotItem, fmt.Sprintf("One item, %s, alone has all that its partition serves, %s, and what was throttled of it is not seen: an item is held to a partition's limits for ever, and no split helps it.",
			itemText(f), perSecond(f, s.Item))}, true
	}
	return Diagnosis{}, false
}

// isFull reports whether the key's partition throttles what is not seen.
func isFull(f *detect.Finding) bool {
	return f.Severity == detect.Critical && f.SecondsOver() == 0 && f.SaturatedSeconds > 0
}

// itemText names the hottest item by its sort key; empty when none is known.
func itemText(f *detect.Finding) string {
	if f.Evidence == nil || len(f.Evidence.Items) == 0 {
		return ""
	}
	return "sort key " + wording.Quote(f.Evidence.Items[0].Text)
}

// perSecond writes an amount of what the finding is about.
func perSecond(f *detect.Finding, units float64) string {
	return wording.PerSecond(detect.Milli(units), f.Kind) + " a second"
}

// rollingKey diagnoses a key that is named after a time.
func rollingKey(f *detect.Finding, _ *detect.TableFacts) (Diagnosis, bool) {
	if f.Rolling == nil {
		return Diagnosis{}, false
	}
	then := "DynamoDB splits a partition only after minutes of heat, and by then the next %s's key is the hot one."
	if f.Rolling.Period != "second" && f.Rolling.Period != "minute" {
		then = "what splits do for it ends with it, since the next %s's key begins in one partition again."
	}
	return Diagnosis{detect.RollingKey, fmt.Sprintf("The key is named after its %s (%s): "+then, f.Rolling.Period, wording.Printable(f.Rolling.Template), f.Rolling.Period)}, true
}

// lsiBlocked diagnoses a table with a local secondary index.
func lsiBlocked(f *detect.Finding, facts *detect.TableFacts) (Diagnosis, bool) {
	if f.Index != "" || facts == nil || len(facts.LSIs) == 0 {
		return Diagnosis{}, false
	}
	return Diagnosis{detect.LSIBlocked, fmt.Sprintf("The table has a local secondary index (%s): DynamoDB never splits an item collection of such a table, so that all items of the key stay in one partition.",
		wording.Printable(strings.Join(facts.LSIs, ", ")))}, true
}

// moving diagnoses a load that has moved on when a split comes.
func moving(f *detect.Finding, _ *detect.TableFacts) (Diagnosis, bool) {
	s := splitOf(f)
	if s.Verdict != detect.SplitMoving {
		return Diagnosis{}, false
	}
	reason, where := detect.MonotonicSortKey, fmt.Sprintf("The load follows the sort key, %s: wherever DynamoDB splits the key's items, what comes next is on the same side.", s.Direction)
	if s.Direction == detect.Wandering {
		reason, where = detect.MovingLoad, "The load wanders over the sort keys, as that of a queue or of writers in turn: a split follows the load of the last minutes, and by then the load is elsewhere."
	}
	return Diagnosis{reason, where + " " + residual(f, s)}, true
}

// alike is how far the loads of a fullest part may be apart, by where DynamoDB splits, for
// one of them to be said of all: predictions are within as much of a model of partitions.
const alike = 0.1

// residual writes what the splits that the last seconds would have caused leave. That is a
// mean: DynamoDB splits by the load of minutes, and a part may have more in a second.
func residual(f *detect.Finding, s detect.Split) string {
	if s.ResidualHigh-s.ResidualLow > alike*s.Residual {
		return fmt.Sprintf("As the load was in the last %s, splits leave from about %s to %s on average on the fullest part: which of these depends on where between the sort keys DynamoDB splits, and that is not published.",
			span(s.Seconds), wording.About(s.ResidualLow), perSecond(f, s.ResidualHigh))
	}
	after := "As the load was in the last " + span(s.Seconds) + ", the key's items are not split"
	if s.Splits > 0 {
		after = fmt.Sprintf("As the load was in the last %s, after %s", span(s.Seconds), splits(s.Splits))
	}
	text := fmt.Sprintf("%s the fullest part still has about %s on average", after, perSecond(f, s.Residual))
	if s.Splits == 0 {
		text = fmt.Sprintf("%s: they have %s on average", after, perSecond(f, s.Residual))
	}
	if s.Refused >= 0.005 {
		text += fmt.Sprintf(", and %.0f%% of the load is beyond what the parts serve", 100*s.Refused)
	}
	return text + "."
}

// span writes a time of up to some minutes.
func span(seconds int) string {
	if seconds >= 120 && seconds%60 == 0 {
		return fmt.Sprintf("%d minutes", seconds/60)
	}
	return wording.Seconds(seconds)
}

func splits(n int) string {
	if n == 1 {
		return "one split"
	}
	return wording.Count(int64(n)) + " splits"
}

// splittable diagnoses a load that splits would have divided.
func splittable(f *detect.Finding, facts *detect.TableFacts) (Diagnosis, bool) {
	s := splitOf(f)
	if s.Verdict != detect.SplitHelps || !sortKeysKnown(f) {
		return Diagnosis{}, false
	}
	each := "a second"
	if f.Quality.InBatches() {
		each = "in one batch"
	}
	why := fmt.Sprintf("The load is spread over at least %s sort keys %s: adaptive capacity can split the key's items over partitions, after some minutes of sustained load. ",
		wording.Count(int64(math.Round(f.Evidence.SortKeys.Distinct))), each)
	if s.Splits > 0 {
		heal := "heal it"
		if s.Residual > (1-alike)*detect.Units(detect.Limit(f.Kind)) {
			heal = "bring it to just below the limit"
		}
		why += fmt.Sprintf("If the load goes on as in the last %s, %s would %s: the fullest part then has about %s on average.", span(s.Seconds), splits(s.Splits), heal, perSecond(f, s.Residual))
	} else {
		why += fmt.Sprintf("In the last %s it was below the limit on average: whether DynamoDB splits then is not published.", span(s.Seconds))
	}
	if f.Index == "" && (facts == nil || facts.LSIs == nil) {
		why += " This holds as long as the table has no local secondary index: Keyheat was not told."
	}
	return Diagnosis{detect.Splittable, why}, true
}

// sortKeysKnown reports whether nearly all requests tell their sort keys.
func sortKeysKnown(f *detect.Finding) bool {
	return f.Evidence != nil && f.Evidence.SortKeys != nil && f.Evidence.SortKeys.Known >= 0.8
}

func undetermined(f *detect.Finding) string {
	e, s := f.Evidence, splitOf(f)
	limit := detect.Units(detect.Limit(f.Kind))
	switch {
	case e == nil || e.Records < detect.MinRecords:
		return "Too few requests could be looked at to say whether the table can heal itself."
	case e.SortKeys == nil:
		return "The samples do not tell sort keys, so that nothing says whether DynamoDB can split the key's items: if the key is one item, it cannot."
	case e.Split == nil:
		return "What the sort keys were like before Keyheat was restarted is not known: it takes two minutes of load to say whether DynamoDB can split the key's items."
	case s.Verdict == detect.SplitHidden:
		return "The sort keys are hidden by hashing and have no order: nothing says where DynamoDB would split the key's items, nor whether the load moves over them."
	case f.Quality.InBatches() && (s.Verdict == detect.SplitUnknown || s.Verdict == detect.SplitHotItem):
		return fmt.Sprintf("Whether DynamoDB can split the key's items depends on how the load lies between the times that requests carry: it splits by the load of minutes, %s a second on average over these %s, and that does not help bursts.", wording.PerSecond(detect.Milli(detect.Side(f.Kind, f.Mean.WCU, f.Mean.RCU).Value), f.Kind), wording.Seconds(int(f.Seconds)))
	case s.Verdict == detect.SplitBursts:
		had := "had"
		if f.SecondsOver() == 0 {
			had = "may have had"
		}
		return fmt.Sprintf("The load comes in bursts, and splits do not help bursts: DynamoDB splits by the load of minutes, %s a second on average over the last %s of it, and the highest second %s far more than the parts serve.", perSecondMean(f, s), wording.Seconds(s.Seconds), had)
	case s.Verdict == detect.SplitHotItem:
		return fmt.Sprintf("One %s of the index alone has at least %s, more than one partition serves. A split lies between sort keys, so that it helps none of them by itself.", itemText(f), perSecond(f, s.Item))
	case s.Item > 0.5*limit && s.Item <= limit && s.Load <= limit:
		return fmt.Sprintf("One item, %s, has at least %s of the key's load. That is below what one partition serves; no split helps the item if it grows.", itemText(f), perSecond(f, s.Item))
	case s.Seconds < detect.SplitSeconds:
		return fmt.Sprintf("The verdict on splits could go by %s of the key's load, from its first second near or above the limit on. It takes %s to say whether splits would help: a load that moves slowly looks like one that is spread.", wording.Seconds(s.Seconds), wording.Seconds(detect.SplitSeconds))
	}
	if s.Direction == detect.Rising || s.Direction == detect.Falling {
		return fmt.Sprintf("The load moves over the sort keys, %s, in several places at once, as of a queue, of which items are deleted behind those that are put: a split helps until the last of these places has passed the sort key of the split, and then all of it is in one part again. Nothing seen says that this lasts. %s", s.Direction, residual(f, s))
	}
	return "The sort keys that were seen do not decide whether DynamoDB can split the key's items. " + residual(f, s)
}

func perSecondMean(f *detect.Finding, s detect.Split) string {
	return wording.PerSecond(detect.Milli(s.Load), f.Kind)
}
