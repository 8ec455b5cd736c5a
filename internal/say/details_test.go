package say_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/detect/corroboration"
	"github.com/keyheat/keyheat/detect/whatif"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/testsupport/hostile"
	"github.com/keyheat/keyheat/internal/testsupport/prose"
	"github.com/keyheat/keyheat/sample"
)

// facts are what a finding's details are about, one a line.
func facts() []story {
	key := func(name string, tell func(*detect.Finding)) story {
		return story{name, detect.KeyWrites, "merchant#4711", func(f *detect.Finding) {
			f.Peak.WCU = detect.Figure{Value: 1680, Low: 1680, High: 1680}
			f.Utilization, f.Ground = 1.68, detect.GroundSplit
			f.Evidence = &detect.Evidence{Records: 400, Seconds: 16}
			tell(f)
		}}
	}
	split := func(s detect.Split) func(*detect.Finding) {
		return func(f *detect.Finding) { s.Seconds = 120; f.Evidence.Split = &s }
	}
	compared := func(c detect.CloudWatch) func(*detect.Finding) {
		return func(f *detect.Finding) { f.CloudWatch = &c }
	}
	quality := func(change func(*detect.Quality)) func(*detect.Finding) {
		return func(f *detect.Finding) { change(&f.Quality) }
	}
	events := func(m detect.Metric, n float64) detect.CloudWatch {
		return detect.CloudWatch{Verdict: detect.CloudWatchOtherCause, Throttles: map[detect.Metric]float64{m: n}}
	}
	return []story{
		key("splits help", split(detect.Split{Verdict: detect.SplitHelps, Splits: 1, Residual: 673, ResidualLow: 673, ResidualHigh: 673})),
		key("the load moves on", split(detect.Split{Verdict: detect.SplitMoving, Splits: 2, Residual: 1500, ResidualLow: 1500, ResidualHigh: 1500, Refused: 0.33})),
		key("no split", split(detect.Split{Verdict: detect.SplitUnknown, Residual: 600, ResidualLow: 600, ResidualHigh: 600})),
		key("a split between two places", split(detect.Split{Verdict: detect.SplitUnknown, Splits: 1, Residual: 800, ResidualLow: 600, ResidualHigh: 1100})),
		key("one item", split(detect.Split{Verdict: detect.SplitHotItem, Item: 1400, Residual: 1680, ResidualLow: 1680, ResidualHigh: 1680})),
		key("refused keys", func(f *detect.Finding) {
			f.RefusedKeys = []detect.RefusedKey{
				{Key: "cust#1", WCU: detect.Figure{Value: 32, Low: 30, High: 35}, Share: 0.7, Callers: []detect.Part{{Text: "web", Low: 0.5, High: 0.6}}},
				{Key: "cust#2", RCU: detect.Figure{Value: 12, Low: 12, High: 12}, Share: 0.3},
			}
		}),
		key("a contended item", func(f *detect.Finding) {
			f.Contention = &detect.Contention{
				Item: "total", Items: 2, Shape: detect.ShapeCounter, Conflicts: 20, ConditionsFailed: 3, Retried: 12, Failed: 0.5, WastedWCU: 3,
				Losers: []detect.Part{{Text: "cart", Low: 0.6, High: 0.6}, {Text: "checkout", Low: 0.4, High: 0.4}}, Writers: []detect.Part{{Text: "checkout", Low: 0.5, High: 0.6}},
			}
		}),
		key("retries", func(f *detect.Finding) {
			f.Evidence.Retries = &detect.Retries{From: f.FirstSeen, To: f.FirstSeen.Add(time.Minute), Waited: detect.Figure{Value: 41, Low: 33, High: 52}, Failed: detect.Figure{Value: 312, Low: 312, High: 312}, Partial: true}
		}),
		key("retries of an unmeasured wait", func(f *detect.Finding) {
			f.Evidence.Retries = &detect.Retries{From: f.FirstSeen, To: f.FirstSeen.Add(time.Minute), Waited: detect.Figure{High: 90_000}, Failed: detect.Figure{Value: 312, Low: 312, High: 312}}
		}),
		key("reads and writes together", func(f *detect.Finding) { f.Combined, f.Utilization = 1.37, 0.7 }),
		key("a global table", func(f *detect.Finding) {
			f.Replication = &detect.Replication{Regions: []string{"eu-west-1", "us-east-1"}, WCU: 700}
		}),
		{"growth of a collection", casebook.LargeCollection, "tenant#a", func(f *detect.Finding) { f.Evidence = &detect.Evidence{GrowthBytes: new(200 * 1024.)} }},
		key("a collection of unknown growth", func(f *detect.Finding) {
			f.Ground, f.Quality.Estimated = detect.GroundLocalIndex, new(false)
			f.Mean.WCU = detect.Figure{Value: 1200, Low: 1180, High: 1210}
		}),
		key("a collection that half of the writes delete from", func(f *detect.Finding) {
			f.Ground, f.Quality.Estimated = detect.GroundLocalIndex, new(false)
			f.Mean.WCU = detect.Figure{Value: 1200, Low: 1180, High: 1210}
			f.Evidence.Operations = []detect.Operation{{Op: "DeleteItem", Share: 0.4}, {Op: "PutItem", Share: 0.4}, {Op: "Query", Share: 0.2}}
		}),
		{"warm keys", detect.SubjectPartition, "", func(f *detect.Finding) {
			f.Members = detect.NewMembers(7, []sample.Text{"a", "b", "c", "d", "e", "f"})
		}},
		{"few values", casebook.FewValues, "", func(f *detect.Finding) {
			f.Members = &detect.Members{Count: detect.Figure{Value: 5, Low: 5, High: 9}}
		}},
		{"a lag", casebook.CollectionLags, "", func(f *detect.Finding) { f.Blind = &detect.Blind{Behind: 600, Records: 12_000} }},
		{"an unread partition", casebook.CollectionLags, "", func(f *detect.Finding) { f.Blind = &detect.Blind{Behind: 50, Names: []string{"orders/1"}} }},
		{"bad samples", casebook.BadSamples, "", func(f *detect.Finding) { f.Blind = &detect.Blind{BadShare: 0.1, Names: []string{"host-1"}} }},
		{"no room", casebook.TablesRefused, "", func(f *detect.Finding) { f.Blind = &detect.Blind{Tables: 2, Names: []string{"orders", "carts"}} }},
		{"coverage", casebook.CoverageFell, "", func(f *detect.Finding) {
			f.Blind = &detect.Blind{Before: &detect.Figure{Value: 0.9, Low: 0.88, High: 0.92}, Now: &detect.Figure{Value: 0.5, Low: 0.48, High: 0.52}}
		}},
		key("a stream", quality(func(q *detect.Quality) { *q = detect.NewQuality(detect.SourceChanges) })),
		key("a stream and samples", quality(func(q *detect.Quality) { *q = detect.NewQuality(detect.SourceMixed) })),
		key("minutes", quality(func(q *detect.Quality) { *q = detect.NewQuality(detect.SourceMinutes) })),
		key("batches", quality(func(q *detect.Quality) { q.CannotSee = []string{detect.BlindSeconds} })),
		key("calls at 1%", quality(func(q *detect.Quality) { q.Sampling, q.Rate = detect.SamplingByCall, new(0.01) })),
		key("an unstated method", quality(func(q *detect.Quality) { q.Sampling, q.CannotSee = detect.SamplingAssumed, []string{detect.BlindHosts} })),
		key("an unknown method", quality(func(q *detect.Quality) { q.Sampling, q.Rate = detect.SamplingUnknowable, new(0.1) })),
		key("computed units of hidden keys", quality(func(q *detect.Quality) { q.Estimated, q.KeysHidden = new(true), true })),
		key("confirmed", compared(detect.CloudWatch{Verdict: detect.CloudWatchConfirms, Throttles: map[detect.Metric]float64{corroboration.WriteKeyRangeThrottles: 12_340, corroboration.WriteAccountThrottles: 7}})),
		key("too little capacity", compared(events(corroboration.WriteProvisionedThrottles, 50))),
		key("the on-demand maximum", compared(events(corroboration.WriteOnDemandThrottles, 50))),
		key("no reason", compared(events(corroboration.WriteThrottles, 50))),
		key("quiet", compared(detect.CloudWatch{Verdict: detect.CloudWatchQuiet, Coverage: &detect.Figure{Value: 0.4, Low: 0.35, High: 0.45}})),
		key("contradicted", compared(detect.CloudWatch{Verdict: detect.CloudWatchContradicts, Coverage: &detect.Figure{Value: 1.5, Low: 1.4, High: 1.6}})),
		key("not read", compared(detect.CloudWatch{Verdict: detect.CloudWatchNotAssessed, Unread: detect.UnreadDenied})),
		key("not reported", compared(detect.CloudWatch{Verdict: detect.CloudWatchNotAssessed, Unread: detect.UnreadNotYet})),
	}
}

// designs are the verdicts on key designs, a rule each.
func designs() string {
	var text strings.Builder
	for _, rule := range []detect.DesignRule{
		detect.RuleLittleTraffic, detect.RuleNoKeys, detect.RuleIncomplete, detect.RuleMasked, detect.RuleOneKey, detect.RuleTimeKey, detect.RuleShards, detect.RuleUnevenShards, detect.RuleFewValues, detect.RuleFewKeys, detect.RuleUnknown,
		detect.RuleDominantKey, detect.RuleFullSecond, detect.RuleBurst, detect.RuleOrdered, detect.RuleLongKey, detect.RuleNoDelimiter, detect.RuleManyKeys, detect.RuleLargest, detect.RuleEven,
	} {
		v := detect.View{DistinctKeys: detect.Figure{Value: 40, Low: 40, High: 40}, WriteShare: 1, Template: detect.Template{Pattern: "user#<id>"}}
		v.Design = detect.Design{Rule: rule, Key: "user#42", Share: 0.4}
		v.Hottest.Utilization = 1.88
		fmt.Fprintf(&text, "%s: %s\n", rule, say.Design(&v))
	}
	drawn := detect.View{DistinctKeys: detect.Figure{Value: 2000, Low: 2000, High: 9000}, Design: detect.Design{Rule: detect.RuleDominantKey, Key: "settings", Share: 0.7, Seconds: 120}}
	fmt.Fprintf(&text, "reads of sampled keys: %s\n", say.Design(&drawn))
	drawn.Design.Rule = detect.RuleFewValues
	fmt.Fprintf(&text, "values that are read: %s\n", say.Design(&drawn))
	return text.String()
}

// tables are comparisons of tables with CloudWatch.
func tables() string {
	minute := time.Date(2026, 11, 24, 16, 55, 0, 0, time.UTC)
	all := []detect.TableCloudWatch{
		{Unread: detect.UnreadTooFew}, {Unread: detect.UnreadNoData}, {Unread: detect.UnreadFailed, Message: "no route"},
		{Write: &detect.Figure{Value: 0.97, Low: 0.95, High: 0.99}, Read: &detect.Figure{Value: 1, Low: 1, High: 1}},
	}
	var text strings.Builder
	for i := range all {
		fmt.Fprintf(&text, "table: %s\n", say.TableCloudWatch(&all[i]))
	}
	for _, throttled := range []detect.Throttled{{}, {Requests: 9, WCU: 6}, {Requests: 9}} {
		t := detect.Table{Seconds: 70, Requests: 1540, WCU: 77_000, Throttled: throttled}
		t.Provable.WCU = float64(throttled.Requests)
		for _, l := range say.TableLoad(&t) {
			fmt.Fprintf(&text, "%s: %s\n", l.Name, l.Text)
		}
	}
	top := func(shares ...float64) (all []detect.TopKey) {
		for i, n := range shares {
			k := detect.TopKey{Key: sample.Text(fmt.Sprintf("user#%d", i)), Share: detect.Figure{Value: n, Low: n, High: n}}
			all = append(all, k)
		}
		return all
	}
	mixed := &detect.View{Top: top(0.6, 0.3, 0.001), DistinctKeys: detect.Figure{Value: 40, Low: 40, High: 40}, WriteShare: 0.4}
	even := &detect.View{Top: top(0.025, 0.025), DistinctKeys: mixed.DistinctKeys}
	unproven := &detect.View{Top: top(0.025, 0.025), DistinctKeys: mixed.DistinctKeys}
	unproven.Top[0].Share.Low, unproven.Top[1].Share.Low = 0, 0
	small := &detect.View{Top: top(0.001, 0), DistinctKeys: mixed.DistinctKeys}
	for _, v := range []*detect.View{mixed, even, unproven, small} {
		fmt.Fprintf(&text, "most load: %s\n", say.HeaviestKeys(v))
	}
	for _, seconds := range []int64{1500, 20} {
		fmt.Fprintf(&text, "judged:%s\n", say.JudgedTime(&detect.Table{Seconds: seconds, View: &detect.View{From: minute, To: minute.Add(25 * time.Minute)}}))
	}
	return text.String()
}

// questions are the verdicts on numbers of key shards.
func questions() string {
	var text strings.Builder
	for _, w := range []whatif.Answer{
		{Limit: 1000, PerShard: 700, Shards: 2, Needed: 3, Item: 1400, Unit: "WCU"},
		{Limit: 3000, PerShard: 1700, Shards: 2, Needed: 2, AllAsked: true},
		{Limit: 1000, PerShard: 1400, Shards: 1, Needed: 3, Ground: detect.GroundSplit},
		{Limit: 1000, PerShard: 1200, Shards: 2, Needed: 4},
		{Limit: 1000, PerShard: 900, Shards: 2, Needed: 3},
		{Limit: 1000, PerShard: 525, Shards: 8, Needed: 7, Placements: []whatif.PlacementOdds{{Over: 1}}},
		{Limit: 1000, PerShard: 100, Shards: 8, Needed: 2},
	} {
		fmt.Fprintf(&text, "%s: %s\n", w.Verdict(), say.WhatIf(&w))
	}
	return text.String()
}

// TestDetails holds the facts behind answers, and the verdicts on key designs, tables and
// key shards, to a golden file.
func TestDetails(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for _, s := range facts() {
		fmt.Fprintf(&text, "=== %s\n", s.name)
		for _, l := range say.Details(s.finding()) {
			fmt.Fprintf(&text, "%s: %s\n", l.Name, l.Text)
		}
	}
	text.WriteString("=== key designs\n" + designs() + "=== tables\n" + tables() + "=== what if\n" + questions())
	for line := range strings.Lines(text.String()) {
		_, fact, _ := strings.Cut(line, ": ")
		for s := range strings.SplitSeq(fact, ". ") {
			if n := len(strings.Fields(s)); n > prose.LongestSentence {
				t.Errorf("a sentence of %d words: %s", n, s)
			}
			if found := prose.Vague.FindString(s); found != "" {
				t.Errorf("%q names nothing: %s", found, s)
			}
		}
	}
	compareGolden(t, "testdata/details.txt", text.String())
}

// TestHostileDetails gives every text field of findings and tables an attack.
func TestHostileDetails(t *testing.T) {
	t.Parallel()
	m := hostile.New(5)
	for n := range 2000 {
		f := m.Finding(hostile.Abouts()[n%len(hostile.Abouts())])
		table := m.Table(detect.Target{Table: m.Text()})
		texts := []string{say.Limits(&f.Quality), say.Design(table.View), say.JudgedTime(&table)}
		if len(table.View.Top) > 0 {
			texts = append(texts, say.HeaviestKeys(table.View))
		}
		for _, l := range say.Details(&f) {
			texts = append(texts, l.Text)
		}
		if table.CloudWatch != nil {
			texts = append(texts, say.TableCloudWatch(table.CloudWatch))
		}
		say.Tell(&f)
		texts = append(texts, f.Title, f.Summary)
		texts = append(texts, slices.Collect(strings.Lines(f.Text))...)
		for _, text := range texts {
			if wrong := hostile.FaultOfSentence(strings.TrimSuffix(text, "\n")); wrong != "" {
				t.Fatalf("%s lets %s through: %q", f.About(), wrong, text)
			}
		}
	}
}

// TestTell: a finding that is read again has no words of its own.
func TestTell(t *testing.T) {
	t.Parallel()
	f := detect.NewFinding(detect.KeyWrites, detect.Target{Table: "orders"}, sample.KeyString("k"))
	if say.Tell(&f); f.Title != say.Title(&f) || f.Summary != say.New(&f).Why || !strings.HasPrefix(f.Text, "Harm: ") {
		t.Errorf("it says %q, %q, %q", f.Title, f.Summary, f.Text)
	}
}
