package say_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"

	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/testsupport/hostile"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/prose"
	"github.com/keyheat/keyheat/sample"
)

// fixesOfCode returns every detect.Fix, in the order of the source.
func fixesOfCode(t *testing.T) (all []detect.Fix) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../detect/fix.go", nil, 0)
	must.Succeed(t, err)
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, is := n.(*ast.ValueSpec); is && strings.HasPrefix(spec.Names[0].Name, "Fix") {
			text, err := strconv.Unquote(spec.Values[0].(*ast.CallExpr).Args[0].(*ast.BasicLit).Value)
			must.Succeed(t, err)
			all = append(all, detect.Fix(text))
		}
		return true
	})
	if sorted := slices.Sorted(slices.Values(all)); !slices.Equal(sorted, detect.Fixes()) {
		t.Errorf("the source has %v, and the fixes %v", sorted, detect.Fixes())
	}
	return all
}

// findingOf returns a finding with the step of a fix, and every argument.
func findingOf(fix detect.Fix) *detect.Finding {
	f := (&story{kind: detect.KeyWrites, key: "merchant#4711"}).finding()
	f.Peak.WCU, f.Evidence = detect.Figure{Value: 1680, Low: 1680, High: 1680}, &detect.Evidence{SortKeys: &detect.SortKeys{Known: 1}}
	f.Rolling, f.Sharding = &detect.Rolling{Period: "hour", Template: "log#<hour>"}, &detect.Sharded{Base: "total", Shards: 4, Needed: 14}
	s := step(fix, detect.NewAfter(f.Subject, 560, 840))
	s.Arguments = detect.Arguments{
		Count: 3, Share: 0.34, Units: 100, Bytes: 300 << 10, Attempts: 1200, Sent: 4.2, Seconds: 6, Caller: "web", Attribute: "status",
		From: 900, Every: 60, Region: "eu-west-1", Strong: true, AtLeast: true,
	}
	s.Cost = &detect.Cost{RCU: 100}
	f.Advice = []detect.Step{s}
	return f
}

// without leaves out what a fix may lack.
var without = []struct {
	fix detect.Fix
	cut func(*detect.Finding, *detect.Step)
}{
	{detect.FixWaitForSplit, func(_ *detect.Finding, s *detect.Step) { s.Arguments.Count = 1 }},
	{detect.FixOwnTimes, func(_ *detect.Finding, s *detect.Step) { s.Arguments.Caller = "" }},
	{detect.FixCache, func(_ *detect.Finding, s *detect.Step) { s.Arguments.Share = 0 }},
	{detect.FixCache, func(f *detect.Finding, _ *detect.Step) { f.Evidence.StrongReads = 0.9 }},
	{detect.FixCache, transactionalReads(1)},
	{detect.FixEventualRead, transactionalReads(1)},
	{detect.FixEventualRead, transactionalReads(0.5)},
	{detect.FixSpreadBurst, func(_ *detect.Finding, s *detect.Step) { s.Arguments.Every = 0 }},
	{detect.FixBackOff, func(_ *detect.Finding, s *detect.Step) { s.Arguments.Caller = "" }},
	{detect.FixBoundedRate, func(_ *detect.Finding, s *detect.Step) { s.Arguments.Caller = "" }},
	{detect.FixSlowScan, func(_ *detect.Finding, s *detect.Step) { s.Arguments.Units = 0 }},
	{detect.FixBoundedCollection, func(_ *detect.Finding, s *detect.Step) { s.Arguments.Bytes = 0 }},
	{detect.FixMigrateWrites, func(_ *detect.Finding, s *detect.Step) { s.Arguments.Region, s.Arguments.Strong = "", false }},
	{detect.FixCache, func(_ *detect.Finding, s *detect.Step) { s.Arguments.Share, s.After = 0, nil }},
	{detect.FixChangingItem, func(_ *detect.Finding, s *detect.Step) { s.Arguments.Attribute = "" }},
	{detect.FixCompression, func(_ *detect.Finding, s *detect.Step) { s.Arguments.Share = 0 }},
	{detect.FixShardedKey, withoutUnits},
	{detect.FixDividedCounter, withoutUnits},
	{detect.FixDividedItem, withoutUnits},
	{detect.FixCopies, withoutUnits},
	{detect.FixShardedKey, func(f *detect.Finding, s *detect.Step) {
		withoutUnits(f, s)
		s.Cost, s.Arguments.AtLeast, f.Evidence.SortKeys = nil, false, nil
	}},
}

// withoutUnits leaves no load on a key that a step does not divide.
func withoutUnits(_ *detect.Finding, s *detect.Step) { s.Arguments.Units = 0 }

// transactionalReads returns a change to reads that are transactional in a part, and
// otherwise strongly consistent.
func transactionalReads(share float64) func(*detect.Finding, *detect.Step) {
	return func(f *detect.Finding, _ *detect.Step) {
		f.Evidence.StrongReads = 1
		f.Evidence.Operations = []detect.Operation{{Op: sample.TransactGetItems.String(), Share: share}, {Op: sample.GetItem.String(), Share: 1 - share}}
	}
}

// TestSteps holds the words of every fix to a golden file and to their budgets.
func TestSteps(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	write := func(f *detect.Finding) {
		s := &f.Advice[0]
		do, why := say.Imperative(f, s), say.StepWhy(f, s)
		checkWords(t, s.Fix, do, why)
		fmt.Fprintf(&text, "%s: %s. %s\n", s.Fix, do, why)
	}
	for _, fix := range fixesOfCode(t) {
		write(findingOf(fix))
	}
	text.WriteString("\n")
	for _, w := range without {
		f := findingOf(w.fix)
		w.cut(f, &f.Advice[0])
		write(f)
	}
	compareGolden(t, "testdata/steps.txt", text.String())
}

func checkWords(t *testing.T, fix detect.Fix, do, why string) {
	t.Helper()
	if do == "" || do == string(fix) || why == string(fix) || !strings.HasSuffix(why, ".") || strings.HasSuffix(do, ".") {
		t.Errorf("%s has the words %q and %q", fix, do, why)
	}
	if n := len(strings.Fields(do)); n > 8 {
		t.Errorf("%s: an imperative of %d words: %s", fix, n, do)
	}
	if n := len(strings.Fields(why)); n > prose.LongestSentence {
		t.Errorf("%s: a reason of %d words: %s", fix, n, why)
	}
	if found := prose.Vague.FindString(do + why); found != "" {
		t.Errorf("%s: %q names nothing: %s", fix, found, why)
	}
}

// TestHostileSteps gives every text that a step can show an attack, through every fix.
func TestHostileSteps(t *testing.T) {
	t.Parallel()
	m := hostile.New(5)

	for _, fix := range fixesOfCode(t) {
		for _, about := range hostile.Abouts() {
			f := m.Finding(about)
			s := detect.NewStep(fix)
			s.After, s.Need = detect.NewAfter(f.Subject, 100, 550), &detect.Need{Unit: "wcu", Now: 2000, Low: 1000, High: 2000}
			s.Arguments = detect.Arguments{Count: 3, Units: 100, Caller: sample.Text(m.Text()), Attribute: sample.Text(m.Text()), Region: sample.Text(m.Text()), From: 200}
			texts := []string{say.Imperative(&f, &s), say.StepWhy(&f, &s)}
			for _, l := range say.StepFacts(&f, &s) {
				texts = append(texts, l.Text)
			}
			for _, text := range texts {
				if wrong := hostile.FaultOfSentence(text); wrong != "" {
					t.Fatalf("%s of %s lets %s through: %q", fix, f.About(), wrong, text)
				}
			}
		}
	}
}

// TestStepFacts holds the words for efforts, loads and capacity.
func TestStepFacts(t *testing.T) {
	t.Parallel()
	after := func(low, high float64) *detect.After { return detect.NewAfter(detect.KeyWrites, low, high) }
	for _, c := range []struct {
		fix    detect.Fix
		after  *detect.After
		takes  string
		leaves string
	}{
		{detect.FixShardedKey, after(550, 550), "new keys, and a migration", "at most 550 WCU/s a key shard, 55% of the limit"},
		{detect.FixShardedKey, after(500, 700), "new keys, and a migration", "500 to 700 WCU/s a key shard, 50% to 70% of the limit"},
		{detect.FixShardedKey, nil, "new keys, and a migration", "unknown"},
		{detect.FixTimeKey, after(550, 550), "new keys, and a migration", "at most 550 WCU/s a key, 55% of the limit"},
		{detect.FixWaitForSplit, after(620, 620), "no change of the table or its keys", "620 WCU/s on average, 62% of the limit"},
		{detect.FixShuffleInput, after(7, 7), "a setting of the table, client or job", "7 WCU/s on average on the busiest key, 0.7% of the limit"},
		{detect.FixBackOff, after(700, 1700), "a change of the callers' code", "700 to 1,700 WCU/s, 70% to 170% of the limit"},
		{detect.FixObjectStore, after(5, 5), "items made anew", "5 WCU/s, 0.5% of the limit"},
		{detect.FixProjection, after(5, 5), "an index made anew", "5 WCU/s, 0.5% of the limit"},
		{detect.FixIndexShards, after(5, 5), "items and an index made anew", "5 WCU/s, 0.5% of the limit"},
		{detect.FixStartCollector, nil, "a setting of the table, client or job", ""},
	} {
		s := step(c.fix, c.after)
		if takes, leaves := say.Takes(&s), say.Leaves(&s); takes != c.takes || leaves != c.leaves {
			t.Errorf("%s takes %q and leaves %q, want %q and %q", c.fix, takes, leaves, c.takes, c.leaves)
		}
	}
	for want, n := range map[string]*detect.Need{
		"": nil,
		"about 2,200 WCU/s for the table, as now":                                          {Unit: "wcu", Now: 2200, Low: 2200, High: 2200},
		"about 2,200 WCU/s for the table, as now; raise the provisioned 2,000 first":       {Unit: "wcu", Now: 2200, Low: 2200, High: 2200, Provisioned: 2000},
		"about 1,650 to 1,700 WCU/s for the table, now 2,200":                              {Unit: "wcu", Now: 2200, Low: 1650, High: 1700, Provisioned: 1700},
		"about 50,000 WCU/s for the table, as now; the default quota of a table is 40,000": {Unit: "wcu", Now: 50_000, Low: 50_000, High: 50_000},
		"about 2,200 WCU/s for a new index, beside the old one":                            {Unit: "wcu", Now: 2200, Low: 2200, High: 2200, NewIndex: true},
	} {
		f := findingOf(detect.FixShardedKey)
		if n != nil && n.NewIndex {
			f.Index = "by-status"
		}
		f.Advice[0].Need = n
		if got := say.Capacity(f, &f.Advice[0]); got != want {
			t.Errorf("it needs %q, want %q", got, want)
		}
	}
}

// TestAdds holds the words for the request units that a step adds.
func TestAdds(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]*detect.Cost{
		"":                               nil,
		"at least 4.5 RCU/s":             {RCU: 4.5},
		"at least 1,200 WCU/s":           {WCU: 1200},
		"at least 4 RCU/s ($0.04 a day)": {RCU: 4, DayUSD: new(0.0432)},
		"at least 0.1 RCU/s (less than $0.01 a day)":                                                               {RCU: 0.1, DayUSD: new(0.001)},
		"at least 4 WCU for each item that moves":                                                                  {ItemWCU: 4},
		"at least 900 WCU/s ($48.60 a day); at least 4.8 WCU for each item that moves ($3.00 for a million items)": {WCU: 900, ItemWCU: 4.8, DayUSD: new(48.6), ItemsUSD: new(3.0)},
	} {
		if got := say.Adds(c); got != want {
			t.Errorf("it adds %q, want %q", got, want)
		}
	}
}

// TestStepsNameShards: every way to read a step names its key shards, which a number key's users
// could not guess.
func TestStepsNameShards(t *testing.T) {
	t.Parallel()
	f := detect.Finding{Subject: detect.KeyWrites}
	s := detect.NewStep(detect.FixShardedKey)
	s.Names = &detect.ShardNames{Base: "4711", Shards: 3, Before: "#SHARD_", NewTable: true, Decimals: 2}
	facts := say.Text(say.StepFacts(&f, &s))
	if !strings.Contains(facts, "Names: “4711.01” to “4711.03”, or “4711#SHARD_0” to “4711#SHARD_2” in a new table") {
		t.Error(facts)
	}
}

// TestCallersWithoutAShare: a lower bound of nothing is not written.
func TestCallersWithoutAShare(t *testing.T) {
	t.Parallel()
	keys := []detect.RefusedKey{{Key: "k", WCU: detect.ExactFigure(300), Share: 1, Callers: []detect.Part{{Text: "web", Low: 0.04, High: 0.2}, {Text: "app", Low: 0.004, High: 0.2}}}}
	if text := say.Text(say.RefusedKeys(keys)); !strings.HasSuffix(text, ", by “web” ≥4%, “app”.") {
		t.Error(text)
	}
}

// TestShardNames names the key shards of a number key as fixed decimals: 4711.1 and 4711.10
// are one number, and 4711.0 is the old key.
func TestShardNames(t *testing.T) {
	t.Parallel()
	for want, n := range map[string]*detect.ShardNames{
		"“user#42#0” and with 3, 7, which lie apart":                                  {Base: "user#42", Shards: 3, Before: "#", Numbers: []int{0, 3, 7}},
		"“a#SHARD_0” to “a#SHARD_11”":                                                 {Base: "a", Shards: 12, Before: "#SHARD_"},
		"“4711.01” to “4711.12”, or “4711#SHARD_0” to “4711#SHARD_11” in a new table": {Base: "4711", Shards: 12, Before: "#SHARD_", NewTable: true, Decimals: 2},
		"“17.1” to “17.9”, or “17#SHARD_0” to “17#SHARD_8” in a new table":            {Base: "17", Shards: 9, Before: "#SHARD_", NewTable: true, Decimals: 1},
		"“4711.5#SHARD_0” to “4711.5#SHARD_2” in a new table":                         {Base: "4711.5", Shards: 3, Before: "#SHARD_", NewTable: true},
	} {
		if got := say.ShardNames(n); got != want {
			t.Errorf("the names are %s, want %s", got, want)
		}
	}
}
