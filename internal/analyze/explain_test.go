package analyze_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/detect/recipe"
	"github.com/keyheat/keyheat/internal/analyze"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
	"github.com/keyheat/keyheat/sample"
)

// explained returns what --explain says of a key.
func explained(t *testing.T, text, key string, code ...recipe.Language) string {
	t.Helper()
	var out bytes.Buffer
	err := analyze.Run(t.Context(), analyze.Options{
		Paths: []string{"-"}, In: strings.NewReader(text), Out: &out, Explain: []string{key}, Verbose: true, Code: code,
	})
	if !errors.Is(err, analyze.ErrUnknownKey) {
		must(t, err)
	}
	return out.String()
}

// findingOf returns the finding of a kind about a key; empty for a table's as a whole.
func findingOf(t *testing.T, text string, kind any, key sample.Text) *detect.Finding {
	t.Helper()
	for _, f := range result(t, text).Findings {
		if scenario.IsAbout(&f, kind) && f.Key == key {
			return &f
		}
	}
	t.Fatalf("no finding %v of %q", kind, key)
	return nil
}

// stepOf returns the imperative of a finding's step.
func stepOf(t *testing.T, f *detect.Finding, fix detect.Fix) string {
	t.Helper()
	n := slices.IndexFunc(f.Advice, func(s detect.Step) bool { return s.Fix == fix })
	if n < 0 {
		t.Fatalf("%s of %q has no step %s: %+v", f.About(), f.Key, fix, f.Advice)
	}
	return say.Imperative(f, &f.Advice[n])
}

// hasLines fails unless a text has all lines.
func hasLines(t *testing.T, text string, lines []say.Line) {
	t.Helper()
	text = strings.Join(strings.Fields(text), " ")
	for _, l := range lines {
		if !strings.Contains(text, l.Name+" "+l.Text) {
			t.Errorf("it does not say %q, %q:\n%s", l.Name, l.Text, text)
		}
	}
}

// screen is how many lines a terminal shows.
const screen = 24

// TestTheFirstFixIsOnTheFirstScreen explains keys of several kinds: what to do first
// stands where on-call sees it, however much there is to say.
func TestTheFirstFixIsOnTheFirstScreen(t *testing.T) {
	t.Parallel()
	request := func(second int, rest string) string {
		return fmt.Sprintf(`{"ts":%d,"table":"orders",%s}`+"\n", 1763692032000+1000*second, rest)
	}
	for name, c := range map[string]struct {
		request, key string
		kind         any
		fix          detect.Fix
		number       string
	}{
		"throttled writes":       {`"pk":"k","sk":"%d","op":"PutItem","wcu":6,"throttle":"TableWriteKeyRangeThroughputExceeded"`, "k", detect.KeyWrites, detect.FixBackOff, ". "},
		"transactions":           {`"pk":"k","sk":"%d","op":"TransactWriteItems","wcu":6`, "k", detect.KeyWrites, detect.FixConditionalWrite, "1. "},
		"strong reads":           {`"pk":"k","sk":"%d","op":"GetItem","rcu":17,"read":"strong"`, "k", detect.KeyReads, detect.FixEventualRead, "1. "},
		"a key with two regions": {`"pk":"k","sk":"%d","account":"123456789012","region":"eu-west-1","op":"PutItem","wcu":6`, "k", detect.KeyWrites, detect.FixShardedKey, "1. "},
		"a number":               {`"pk":{"N":"7"},"sk":"%d","op":"UpdateItem","wcu":6`, "7", detect.KeyWrites, detect.FixShardedKey, "1. "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var text strings.Builder
			for s := range 5 {
				for i := range 200 {
					text.WriteString(request(s, strings.Replace(c.request, "%d", fmt.Sprint(i%97), 1)))
				}
			}
			out := explained(t, text.String(), c.key)
			lines := strings.Split(out, "\n")
			head := strings.Join(lines[:min(screen, len(lines))], "\n")
			if !strings.Contains(head, "\n  Harm   ") || !strings.Contains(head, "\n  Now    ") || !strings.Contains(head, "\n  Heals  ") {
				t.Errorf("the first screen lacks an answer:\n%s", out)
			}
			first := c.number + stepOf(t, findingOf(t, text.String(), c.kind, sample.Text(c.key)), c.fix)
			if _, steps, found := strings.Cut(out, "What to do, in order"); !found || !strings.Contains(steps, first) {
				t.Errorf("the steps do not say %q:\n%s", first, out)
			}
			for _, line := range lines {
				if n := len([]rune(line)); n > 80 {
					t.Errorf("a line of %d characters: %s", n, line)
				}
			}
		})
	}
}

// TestAKeyOfAnIncidentNamesItsRoot explains one of a few values: what explains it, and
// its first fix, come before the key's own.
func TestAKeyOfAnIncidentNamesItsRoot(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for s := range 90 {
		for i := range 22 {
			fmt.Fprintf(&text, `{"ts":%d,"table":"tasks","pk":"OPEN","sk":"%d","op":"PutItem","wcu":50}`+"\n", 1763692032000+1000*s, i)
			fmt.Fprintf(&text, `{"ts":%d,"table":"tasks","pk":"DONE","sk":"%d","op":"PutItem","wcu":20}`+"\n", 1763692032000+1000*s, i)
		}
	}
	out := explained(t, text.String(), "OPEN")
	root, own := strings.Index(out, "What to do first, for (whole table)"), strings.Index(out, "What can be done for this key alone")
	if root < 0 || own < root || !strings.Contains(out[root:own], stepOf(t, findingOf(t, text.String(), casebook.FewValues, ""), detect.FixMoreValues)) {
		t.Errorf("it says\n%s", out)
	}
}

// TestAKeyOfATimeRepeatsNoFix explains an hour's key: what is done about the pattern is
// said once, and then what can be done for the key alone.
func TestAKeyOfATimeRepeatsNoFix(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for s := range 120 {
		hour := 9 + s/60
		for i := range 24 {
			fmt.Fprintf(&text, `{"ts":%d,"table":"log","pk":"log#2025-11-21T%02d","sk":"%d","op":"PutItem","wcu":50}`+"\n", 1763719140000+1000*s, hour, i)
		}
	}
	out := strings.Join(strings.Fields(explained(t, text.String(), "log#2025-11-21T10")), " ")
	_, first, _ := strings.Cut(out, "What to do first, for log#")
	pattern := stepOf(t, findingOf(t, text.String(), casebook.TimeKey, "log#<hour>"), detect.FixTimeKey)
	own := stepOf(t, findingOf(t, text.String(), detect.KeyWrites, "log#2025-11-21T10"), detect.FixShardedKey)
	if strings.Count(first, pattern) != 1 || !strings.Contains(out, "What can be done for this key alone 1. "+own) {
		t.Errorf("it says\n%s", out)
	}
}

// TestShardsAreHeldToTheirOwnLimit explains ten shards, of which one is too full: nothing
// compares them together with what one partition serves, and they stand below what
// explains them.
func TestShardsAreHeldToTheirOwnLimit(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for s := range 5 {
		for shard := range 10 {
			units := 10
			if shard == 3 {
				units = 65
			}
			for i := range 20 {
				fmt.Fprintf(&text, `{"ts":%d,"table":"counters","pk":"total#SHARD_%d","sk":"%d","op":"PutItem","wcu":%d}`+"\n", 1763692032000+1000*s, shard, i, units)
			}
		}
	}
	out := explained(t, text.String(), "total#SHARD_*")
	f := findingOf(t, text.String(), casebook.UnevenShards, "total#SHARD_*")
	hasLines(t, out, append(say.Figures(f), say.Line{Name: say.LineWhy, Text: say.New(f).Why}))
	if f.Utilization != 1.3 || strings.Contains(out, "310% of") {
		t.Errorf("it says\n%s", out)
	}
	if base := explained(t, text.String(), "total"); base != out {
		t.Errorf("by the key without its shards it says\n%s", base)
	}
	rows := run(t, text.String(), analyze.FormatTable)
	root, shard := strings.Index(rows, " total#SHARD_*"), strings.Index(rows, "└ total#SHARD_3")
	if root < 0 || shard < root || !strings.Contains(rows, "130%") || strings.Contains(rows, "310%") {
		t.Errorf("the rows are\n%s", rows)
	}
}

// TestASortedImportIsOneMatter: the result begins with the incident and its first fix,
// and shows some of its rows; a key of it is told to shuffle the input, and not to be
// sharded.
func TestASortedImportIsOneMatter(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for key := range 60 {
		for s := range 3 {
			for range 26 {
				fmt.Fprintf(&text, `{"ts":%d,"table":"orders","pk":"cust-%02d-x","sk":"a","op":"PutItem","wcu":50}`+"\n", 1763692032000+1000*(3*key+s), key)
			}
		}
	}
	out := run(t, text.String(), analyze.FormatTable)
	head := strings.Join(strings.Split(out, "\n")[:6], "\n")
	import60 := findingOf(t, text.String(), casebook.MovingSpot, "")
	shuffle := stepOf(t, import60, detect.FixShuffleInput)
	if !strings.Contains(head, " Now: ") || !strings.Contains(head, " Then: "+shuffle) {
		t.Errorf("the result begins with\n%s", head)
	}
	if n := strings.Count(out, "hot_key"); n != 3 || strings.Count(out, "57") != 1 || !strings.Contains(out, "└ and 57 like these") || !strings.Contains(out, "-o csv, json or html has all") {
		t.Errorf("%d rows of keys:\n%s", n, out)
	}
	own := explained(t, text.String(), "cust-30-x")
	if !strings.Contains(own, "1. "+shuffle) || slices.ContainsFunc(import60.Advice, func(s detect.Step) bool { return s.Fix == detect.FixShardedKey }) {
		t.Errorf("a key of the import is told:\n%s", own)
	}
	whole := explained(t, text.String(), "orders")
	if !strings.Contains(whole, "moving_spot") || strings.Contains(whole, "is not in the samples") {
		t.Errorf("the table as a whole is told:\n%s", whole)
	}
	hasLines(t, whole, say.Requests(import60))
}

// TestNoThrottlingIsClaimedUnseen: a table that lacks capacity is not held to one
// partition's limit, and a plateau without a throttled request is none that throttles.
func TestNoThrottlingIsClaimedUnseen(t *testing.T) {
	t.Parallel()
	var starved, level strings.Builder
	for s := range 20 {
		for i := range 40 {
			fmt.Fprintf(&starved, `{"ts":%d,"table":"orders","pk":"k%d","op":"PutItem","wcu":15,"throttle":"TableWriteProvisionedThroughputExceeded"}`+"\n", 1763692032000+1000*s, i)
		}
		for i := range 100 {
			fmt.Fprintf(&level, `{"ts":%d,"table":"orders","pk":"k","sk":"%d","op":"PutItem","wcu":10}`+"\n", 1763692032000+1000*s, i)
		}
	}
	out := strings.Join(strings.Fields(explained(t, starved.String(), "(whole table)")), " ")
	f := findingOf(t, starved.String(), detect.SubjectTable, "")
	hasLines(t, out, append(say.Figures(f), say.Line{Name: say.LineWhy, Text: say.New(f).Why}))
	if a := casebook.New(f); a.Code != casebook.ShortOfCapacity || a.Move.Act != casebook.RaiseCapacity {
		t.Errorf("a table without capacity has the answers %+v", a)
	}
	if slices.ContainsFunc(say.Figures(f), func(l say.Line) bool { return l.Name == "of limit" }) {
		t.Errorf("a table is held to one partition's limit: %+v", say.Figures(f))
	}
	if a := casebook.New(findingOf(t, level.String(), detect.KeyWrites, "k")); !a.Harm.None() {
		t.Errorf("a level key has the harm %+v", a.Harm)
	}
}

// TestATableIsExplainedAsAWhole asks for two tables without a finding of their own: of one
// a key is hot, with the other nothing is wrong.
func TestATableIsExplainedAsAWhole(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for s := range 70 {
		for i := range 22 {
			fmt.Fprintf(&text, `{"ts":%d,"table":"jobs","pk":"mail","sk":"%d","op":"PutItem","wcu":50}`+"\n", 1763692032000+1000*s, i)
			fmt.Fprintf(&text, `{"ts":%d,"table":"carts","pk":"user#%d","sk":"a","op":"PutItem","wcu":10}`+"\n", 1763692032000+1000*s, i)
		}
	}
	for table, says := range map[string][]string{
		"jobs": {
			"jobs as a whole", "critical jobs: ", "(“mail”) Now: ", "hot_key mail: " + wording.LoadOfLimit(findingOf(t, text.String(), detect.KeyWrites, "mail")), "ceiling about 1,000 WCU/s of all keys",
		},
		"carts": {"carts as a whole", "Nothing is wrong"},
	} {
		out := strings.Join(strings.Fields(explained(t, text.String(), table)), " ")
		for _, want := range says {
			if !strings.Contains(out, want) {
				t.Errorf("the table %s is explained without %q:\n%s", table, want, out)
			}
		}
		tables := result(t, text.String()).Tables
		shown := tables[slices.IndexFunc(tables, func(s detect.Table) bool { return s.Table == table })]
		hasLines(t, out, append(say.TableLoad(&shown), say.Line{Name: "design " + string(shown.View.Design.Verdict) + ".", Text: say.Design(shown.View)}, say.Line{Name: "most load", Text: say.HeaviestKeys(shown.View)}))
		if strings.Contains(out, "not in the samples") {
			t.Errorf("the table %s is told not to be there:\n%s", table, out)
		}
	}
	if out := explained(t, text.String(), "nothing"); !strings.Contains(out, say.NotInSamples("nothing")) || strings.Contains(out, "as a whole") {
		t.Errorf("what is neither a key nor a table is told:\n%s", out)
	}
}

// TestTheVerdictSaysOverWhichSecondsItIs where a table had load in few of the seconds between its
// first and its last one: 20 of 25 minutes.
func TestTheVerdictSaysOverWhichSecondsItIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		last int // second
		says bool
	}{{1499, true}, {19, false}} {
		var text strings.Builder
		for s := range 20 {
			second := s
			if s == 19 {
				second = c.last
			}
			for i := range 300 {
				fmt.Fprintf(&text, `{"ts":%d,"table":"orders","pk":"k%d","op":"PutItem","wcu":4}`+"\n", 1763692032000+1000*second, i)
			}
		}
		words := say.JudgedTime(&result(t, text.String()).Tables[0])
		if (words != "") != c.says {
			t.Errorf("up to second %d it says %q", c.last, words)
		}
		var out bytes.Buffer
		must(t, analyze.Run(t.Context(), analyze.Options{Paths: []string{"-"}, In: strings.NewReader(text.String()), Out: &out}))
		for _, said := range []string{out.String(), explained(t, text.String(), "orders")} {
			if !strings.Contains(strings.Join(strings.Fields(said), " "), words) {
				t.Errorf("it does not say %q:\n%s", words, said)
			}
		}
	}
}

// TestChartOfASampledKey is as high as the key's peak: the highest of noisy seconds would make it
// twice as high.
func TestChartOfASampledKey(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(4, 4))
	var text strings.Builder
	for s := range 600 {
		for range scenario.Poisson(random, 14) { // of 1,400
			fmt.Fprintf(&text, `{"ts":%d,"table":"orders","pk":"acme","op":"PutItem","wcu":1,"rate":0.01,"calls":1}`+"\n", noon.UnixMilli()+1000*int64(s)+random.Int64N(1000))
		}
	}
	var out bytes.Buffer
	must(t, analyze.Run(t.Context(), analyze.Options{Paths: []string{"-"}, In: strings.NewReader(text.String()), Out: &out, Explain: []string{"acme"}}))
	f := result(t, text.String()).Findings[0]
	if top := fmt.Sprintf("\n    %s", wording.About(f.Peak.WCU.Value)); !strings.Contains(out.String(), top) || f.Peak.WCU.Value > 1700 {
		t.Errorf("the peak is %v:\n%s", f.Peak.WCU.Value, out.String())
	}
}
