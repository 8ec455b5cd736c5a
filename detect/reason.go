package detect

import (
	"fmt"
	"strings"
)

// because is why a table will not heal itself, in a word and in sentences.
type because struct {
	reason Reason
	why    string
}

// heal says why the table will not heal a hot key itself. What no split helps
// comes before what one might.
func heal(f *Finding, facts *TableFacts) because {
	for _, look := range []func(*Finding, *TableFacts) (because, bool){
		oneItem, rolls, blocked, follows, splits,
	} {
		if b, yes := look(f, facts); yes {
			return b
		}
	}
	return because{Undetermined, undetermined(f)}
}

// oneItem: a single item is held to 1,000 and 3,000 for ever. An index's sort
// key does not name an item.
func oneItem(f *Finding, facts *TableFacts) (because, bool) {
	if f.Index != "" {
		return because{}, false
	}
	if facts != nil && facts.SortKey != nil && len(facts.SortKey) == 0 {
		return because{HotItem, "The table has no sort key, so the key is one item, and one item is held to a partition's limits for ever: no split helps it."}, true
	}
	e := f.Evidence
	if e == nil || e.Records < fewest || len(e.Items) == 0 || e.Items[0].Low < HotItemShare {
		return because{}, false
	}
	return because{HotItem, fmt.Sprintf("One item, sort key %s, has %s of the key's load (%d requests looked at): one item is held to a partition's limits for ever, and no split helps it.",
		quoted(e.Items[0].Text), between(e.Items[0]), e.Records)}, true
}

func rolls(f *Finding, _ *TableFacts) (because, bool) {
	if f.Rolling == nil {
		return because{}, false
	}
	return because{RollingKey, fmt.Sprintf("The key is named after its %s (%s): DynamoDB splits a partition only after minutes of heat, and by then the next %s's key is the hot one.",
		f.Rolling.Period, f.Rolling.Template, f.Rolling.Period)}, true
}

func blocked(f *Finding, facts *TableFacts) (because, bool) {
	if f.Index != "" || facts == nil || len(facts.LSIs) == 0 {
		return because{}, false
	}
	return because{LSIBlocked, fmt.Sprintf("The table has a local secondary index (%s): DynamoDB never splits an item collection of such a table, so that all items of the key stay in one partition.",
		strings.Join(facts.LSIs, ", "))}, true
}

func follows(f *Finding, _ *TableFacts) (because, bool) {
	e := f.Evidence
	if f.Kind == HotKeyRead || e == nil || e.SortKeys == nil || e.SortKeys.Steps < fewest {
		return because{}, false
	}
	s := e.SortKeys
	rising, direction := s.Rising, "rising"
	if rising < 0.5 {
		rising, direction = 1-rising, "falling"
	}
	if wilson(rising, s.Steps, -1) <= MonotonicShare {
		return because{}, false
	}
	return because{MonotonicSortKey, fmt.Sprintf("Writes follow the sort key: %.0f %% of %d steps were %s. Wherever DynamoDB splits the key's items, all new ones are on the same side.",
		100*rising, s.Steps, direction)}, true
}

// splits: many sort keys, none of them a quarter of the load.
func splits(f *Finding, facts *TableFacts) (because, bool) {
	e := f.Evidence
	if e == nil || e.Records < fewest || e.SortKeys == nil || e.SortKeys.Known < 0.8 {
		return because{}, false
	}
	hottest := 0.0
	if len(e.Items) > 0 {
		hottest = e.Items[0].High
	}
	if hottest >= HotItemShare || e.SortKeys.Distinct < 4 {
		return because{}, false
	}
	why := fmt.Sprintf("The load is spread over some %.0f sort keys a second, the hottest with at most %.0f %%: adaptive capacity can split the key's items over partitions, after some minutes of sustained load.",
		e.SortKeys.Distinct, 100*hottest)
	if f.Index == "" && (facts == nil || facts.LSIs == nil) {
		why += " This holds as long as the table has no local secondary index: Keyheat was not told."
	}
	return because{Splittable, why}, true
}

func undetermined(f *Finding) string {
	switch e := f.Evidence; {
	case e == nil || e.Records < fewest:
		return "Too few requests could be looked at to say whether the table can heal itself."
	case e.SortKeys == nil:
		return "The samples do not tell sort keys, so that nothing says whether DynamoDB can split the key's items: if the key is one item, it cannot."
	}
	return "The sort keys that were seen do not decide whether DynamoDB can split the key's items."
}

// between words a share with its bounds.
func between(p Part) string {
	low, high := 100*p.Low, 100*p.High
	if high-low < 1 {
		return fmt.Sprintf("%.0f %%", low)
	}
	return fmt.Sprintf("%.0f to %.0f %%", low, high)
}

// quoted is a key as a text within a sentence.
func quoted(key string) string { return "“" + key + "”" }
