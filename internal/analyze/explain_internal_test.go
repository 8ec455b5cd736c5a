package analyze

import (
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/whatif"
	"github.com/keyheat/keyheat/internal/analyze/intake"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// TestExplanationsDoNotMislead holds words to what they stand beside.
func TestExplanationsDoNotMislead(t *testing.T) {
	t.Parallel()
	p, e := &page{}, &explanation{}
	e.finding(p, &detect.Finding{
		Kind: detect.TooFewShards, KeyRef: detect.KeyRef{Target: detect.Target{Table: "orders"}, Key: "celebrity#SHARD_*"}, Severity: detect.Info, Reason: detect.Undetermined,
		Peak: detect.Peak{Loads: detect.Loads{WCU: detect.Figure{Value: 9000, Low: 9000, High: 9000}}},
	})
	for _, wrong := range []string{"share", "proven above the limit", "UNDETERMINED", "by itself"} {
		if strings.Contains(p.String(), wrong) {
			t.Errorf("a page about a sharded key says %q:\n%s", wrong, p)
		}
	}
	estimated := true
	for says, q := range map[string]detect.Quality{
		"The peak is exact if every request was sampled: no sample states a rate below 1, and": {Sampling: detect.SamplingNone},
		"some units were computed":         {Sampling: detect.SamplingNone, Estimated: &estimated},
		"not every request was sampled":    {Sampling: detect.SamplingByCall, Estimated: &estimated},
		"cannot be proven from such sampl": {Sampling: detect.SamplingUnknowable},
	} {
		p = &page{}
		f := detect.Finding{Quality: q, Peak: detect.Peak{Loads: detect.Loads{WCU: detect.Figure{Value: 9000, Low: 9000, High: 9000}}}}
		e.confidence(p, &f, measureOf(&f))
		text := strings.Join(strings.Fields(p.String()), " ")
		if !strings.Contains(text, says) || strings.Contains(text, "exact") != strings.HasPrefix(says, "The peak is exact") {
			t.Errorf("confidence in %+v: %s", q, text)
		}
	}
	e.samples = intake.Reading{Good: 10, Unsized: 9}
	p = &page{}
	f := detect.Finding{Quality: detect.Quality{Sampling: detect.SamplingNone, Estimated: &estimated}}
	e.confidence(p, &f, measureOf(&f))
	if !strings.Contains(p.String(), "What is said of loads is a lower bound: 90% of the samples") {
		t.Errorf("confidence in what counts as the least: %s", p)
	}
	e.samples = intake.Reading{}
	for says, f := range map[string]detect.Finding{
		"do not prove in which second": {Quality: detect.Quality{Sampling: detect.SamplingNone, CannotSee: []string{detect.BlindSeconds}}},
		"writes of other Regions":      {Quality: detect.Quality{Sampling: detect.SamplingNone}, Replication: &detect.Replication{WCU: 500}},
	} {
		p = &page{}
		e.confidence(p, &f, measureOf(&f))
		if text := strings.Join(strings.Fields(p.String()), " "); !strings.Contains(text, says) || strings.Contains(text, "exact") {
			t.Errorf("confidence, expecting %q: %s", says, text)
		}
	}
	second := func(at int64, wcu float64) whatif.Second {
		return whatif.Second{At: at, Low: sketch.Load{Write: detect.Milli(wcu)}}
	}
	for exact, highest := range map[bool]float64{true: 1323, false: 1348} {
		seen := &explanation{seconds: []keySeconds{{key: sample.KeyString("k"), seconds: []whatif.Second{second(99, 5000), second(100, 1323), second(101, highest)}}}}
		f := detect.Finding{KeyRef: detect.KeyRef{Key: "k"}, Quality: detect.Quality{Sampling: detect.SamplingNone}, FirstSeen: time.Unix(100, 0), LastSeen: time.Unix(101, 0),
			Peak: detect.Peak{Loads: detect.Loads{WCU: detect.Figure{Value: 1323, Low: 1323, High: 1323}}}}
		p = &page{}
		seen.confidence(p, &f, measureOf(&f))
		if strings.Contains(p.String(), "exact") != exact {
			t.Errorf("a peak of 1,323 of which the samples show %v: %s", highest, p)
		}
	}
	e = &explanation{policy: func(detect.Target) detect.Policy { return detect.DefaultPolicy() }, ofMany: []*detect.Finding{{KeyRef: detect.KeyRef{Target: detect.Target{Table: "orders"}}, Kind: detect.HotPartition}}}
	for table, refused := range map[string]bool{"orders": true, "carts": false} {
		p = &page{}
		e.withoutFinding(p, keySeconds{target: detect.Target{Table: table}, seconds: []whatif.Second{second(100, 300)}})
		if strings.Contains(p.String(), "--explain orders") != refused {
			t.Errorf("a key of %s without a finding is told:\n%s", table, p)
		}
	}
	level := detect.Finding{Kind: detect.HotKeyWrite, SaturatedSeconds: 12}
	if got := wording.Over(&level); !strings.Contains(got, "12 seconds (at least 3 of 5 in a row) in which 95 to 105% of the limit was served") {
		t.Errorf("a plateau of 12 seconds is told as %q", got)
	}
	mean := detect.Finding{Kind: detect.HotKeyWrite, OverSeconds: new(int), PossibleSeconds: 899, Seconds: 900, Peak: detect.Peak{Loads: detect.Loads{WCU: detect.Figure{Value: 1908, Low: 1488, High: 4159}}}}
	for low, want := range map[float64]string{1300: "899 seconds possibly above the limit", 1488: "899 seconds possibly above the limit, and the mean of 900 seconds is proven above it"} {
		mean.Mean.WCU = detect.Figure{Value: 1513, Low: low, High: 1539}
		if got := wording.Over(&mean); got != want {
			t.Errorf("with a mean of at least %v it says %q, want %q", low, got, want)
		}
	}
	batches := detect.Finding{Kind: detect.HotKeyWrite, Severity: detect.Warning, Evidence: &detect.Evidence{Records: 30, Seconds: 9, SortKeys: &detect.SortKeys{Distinct: 20}}, Quality: detect.Quality{CannotSee: []string{detect.BlindSeconds}}}
	p = &page{}
	(&explanation{verbose: true}).finding(p, &batches)
	if got := p.String(); strings.Contains(got, "hottest second") || strings.Contains(got, "peak        0 WCU at ") || !strings.Contains(got, "as a mean over the times between batches") {
		t.Errorf("what was written down in batches is explained by seconds:\n%s", got)
	}
	p = &page{}
	draw(p, []float64{1100, 900}, 1100, 1000)
	if got := p.String(); !strings.Contains(got, "1,100 ▆\n") || !strings.Contains(got, "1,000┄█▃\n") {
		t.Errorf("what is above the limit has no row above its line:\n%s", p)
	}
	if got := noFinding("k", 1_800_000, 0, detect.DefaultPolicy()); strings.Contains(got, "is not close") {
		t.Errorf("a key that is seen with 1,800 WCU, of which nothing is proven: %s", got)
	}
	if got := noFinding("k", 800_000, 0, detect.DefaultPolicy()); !strings.Contains(got, "up to 80% of what one partition serves, and a warning is of more than 80%") {
		t.Errorf("a key with just what a warning begins above: %s", got)
	}
	if got := noFinding("k#1", 1_800_000, 0, detect.Policy{Warning: 0.8, Exclude: []string{"k#*"}}); got != "No finding: the policy excludes the key." {
		t.Errorf("a key that the policy excludes: %s", got)
	}
	if got := noFinding("k", 300_000, 0, detect.DefaultPolicy()); !strings.Contains(got, "is not close") {
		t.Errorf("a key with 300 WCU: %s", got)
	}
}

// TestCellsThatSayNothing: a table as a whole is not held to one partition's limit, and
// shards are told only where they are an answer.
func TestCellsThatSayNothing(t *testing.T) {
	t.Parallel()
	steps := func(actions ...string) (all []detect.Step) {
		for _, a := range actions {
			all = append(all, detect.Step{Action: a, Effort: detect.EffortKeys})
		}
		return all
	}
	whole := &detect.Finding{Kind: detect.HotPartition, Utilization: 1, Shards: 1, Advice: steps(detect.ActionWait)}
	item := &detect.Finding{Kind: detect.HotKeyRead, Reason: detect.HotItem, Utilization: 1.2, Shards: 2, Advice: steps(detect.ActionCache, detect.ActionCopies)}
	large := &detect.Finding{Kind: detect.HotKeyWrite, Utilization: 1.2, Shards: 2, Advice: steps(detect.ActionCompress, detect.ActionObject)}
	few := &detect.Finding{Kind: detect.LowCardinalityKey, Utilization: 1.2, Shards: 2, Advice: steps(detect.ActionRename)}
	day := &detect.Finding{Kind: detect.RollingHotKey, Utilization: 1.2, Shards: 2, Advice: steps(detect.ActionRename)}
	sharded := &detect.Finding{Kind: detect.TooFewShards, Sharding: &detect.Sharded{}, Utilization: 1.2, Shards: 9, Advice: steps(detect.ActionShard)}
	shard := &detect.Finding{Kind: detect.HotKeyWrite, Utilization: 1.2, Shards: 2, Advice: steps(detect.ActionShard)}
	for _, c := range []struct {
		f, root *detect.Finding
		limit   string
		shards  string
	}{{whole, whole, "", ""}, {item, item, "120%", ""}, {large, large, "120%", ""}, {few, few, "120%", ""}, {day, day, "120%", "2"}, {sharded, sharded, "fullest 120%", "9"}, {shard, sharded, "120%", ""}, {shard, shard, "120%", "2"}} {
		_, limit, _ := peakCells(c.f)
		if shards := shardsCell(c.f, c.root); limit != c.limit || shards != c.shards {
			t.Errorf("%s under %s: %q of the limit, %q shards, want %q and %q", c.f.Kind, c.root.Kind, limit, shards, c.limit, c.shards)
		}
	}
	known := &detect.Finding{Kind: detect.RollingHotKey, OverSeconds: new(int)}
	if got := wording.OverSeconds(known); got != "0" {
		t.Errorf("0 seconds over are %q", got)
	}
	rolling := &detect.Finding{Kind: detect.RollingHotKey, Severity: detect.Critical, Utilization: 1.2}
	if got := wording.OverSeconds(rolling); got != "" {
		t.Errorf("an unknown number of seconds over is %q", got)
	}
	if got := wording.Over(rolling); !strings.Contains(got, "is not known") {
		t.Errorf("an unknown number of seconds over is %q", got)
	}
}
