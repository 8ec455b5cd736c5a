package advice

import (
	"fmt"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/detect/wording"
)

// Diagnosis is why a table will not heal itself, in a word and in sentences.
type Diagnosis struct {
	Reason detect.Reason
	Why    string
}

// Diagnose returns why the table will not heal a hot key itself. What no split helps
// comes before what one might.
func Diagnose(f *detect.Finding, facts *detect.TableFacts) Diagnosis {
	for _, diagnose := range []func(*detect.Finding, *detect.TableFacts) (Diagnosis, bool){
		hotItem, rollingKey, lsiBlocked, monotonic, splittable,
	} {
		if b, found := diagnose(f, facts); found {
			return b
		}
	}
	return Diagnosis{detect.Undetermined, undetermined(f)}
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
	e := f.Evidence
	if e == nil || e.Records < detect.MinRecords || len(e.Items) == 0 || e.Items[0].Low < detect.HotItemShare {
		return Diagnosis{}, false
	}
	return Diagnosis{detect.HotItem, fmt.Sprintf("One item, sort key %s, has %s of the key's load (%d requests looked at): one item is held to a partition's limits for ever, and no split helps it.",
		wording.Quote(e.Items[0].Text), wording.Between(e.Items[0]), e.Records)}, true
}

// rollingKey diagnoses a key that is named after a time.
func rollingKey(f *detect.Finding, _ *detect.TableFacts) (Diagnosis, bool) {
	if f.Rolling == nil {
		return Diagnosis{}, false
	}
	return Diagnosis{detect.RollingKey, fmt.Sprintf("The key is named after its %s (%s): DynamoDB splits a partition only after minutes of heat, and by then the next %s's key is the hot one.",
		f.Rolling.Period, f.Rolling.Template, f.Rolling.Period)}, true
}

// lsiBlocked diagnoses a table with a local secondary index.
func lsiBlocked(f *detect.Finding, facts *detect.TableFacts) (Diagnosis, bool) {
	if f.Index != "" || facts == nil || len(facts.LSIs) == 0 {
		return Diagnosis{}, false
	}
	return Diagnosis{detect.LSIBlocked, fmt.Sprintf("The table has a local secondary index (%s): DynamoDB never splits an item collection of such a table, so that all items of the key stay in one partition.",
		strings.Join(facts.LSIs, ", "))}, true
}

// monotonic diagnoses writes that follow the sort key.
func monotonic(f *detect.Finding, _ *detect.TableFacts) (Diagnosis, bool) {
	e := f.Evidence
	if f.Kind == detect.HotKeyRead || e == nil || e.SortKeys == nil || e.SortKeys.Steps < detect.MinRecords {
		return Diagnosis{}, false
	}
	s := e.SortKeys
	rising, direction := s.Rising, "rising"
	if rising < 0.5 {
		rising, direction = 1-rising, "falling"
	}
	if sampling.Wilson(rising, s.Steps, -1) <= detect.MonotonicShare {
		return Diagnosis{}, false
	}
	return Diagnosis{detect.MonotonicSortKey, fmt.Sprintf("Writes follow the sort key: %.0f%% of %d steps were %s. Wherever DynamoDB splits the key's items, all new ones are on the same side.",
		100*rising, s.Steps, direction)}, true
}

// splittable diagnoses many sort keys, none of them a quarter of the load.
func splittable(f *detect.Finding, facts *detect.TableFacts) (Diagnosis, bool) {
	e := f.Evidence
	if e == nil || e.Records < detect.MinRecords || e.SortKeys == nil || e.SortKeys.Known < 0.8 {
		return Diagnosis{}, false
	}
	hottest := 0.0
	if len(e.Items) > 0 {
		hottest = e.Items[0].High
	}
	if hottest >= detect.HotItemShare || e.SortKeys.Distinct < 4 {
		return Diagnosis{}, false
	}
	why := fmt.Sprintf("The load is spread over some %.0f sort keys a second, the hottest with at most %.0f%%: adaptive capacity can split the key's items over partitions, after some minutes of sustained load.",
		e.SortKeys.Distinct, 100*hottest)
	if f.Index == "" && (facts == nil || facts.LSIs == nil) {
		why += " This holds as long as the table has no local secondary index: Keyheat was not told."
	}
	return Diagnosis{detect.Splittable, why}, true
}

func undetermined(f *detect.Finding) string {
	switch e := f.Evidence; {
	case e == nil || e.Records < detect.MinRecords:
		return "Too few requests could be looked at to say whether the table can heal itself."
	case e.SortKeys == nil:
		return "The samples do not tell sort keys, so that nothing says whether DynamoDB can split the key's items: if the key is one item, it cannot."
	}
	return "The sort keys that were seen do not decide whether DynamoDB can split the key's items."
}
