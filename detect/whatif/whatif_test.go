package whatif_test

import (
	"math"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/whatif"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

func TestWhatIf(t *testing.T) {
	t.Parallel()
	var seconds []whatif.Second
	for i, wcu := range []float64{500, 900, 1200, 4000, 100} {
		seconds = append(seconds, whatif.Second{At: 1_763_596_800 + int64(i), Low: sketch.Load{Write: sample.Milli(wcu * 1000)}, Requests: int64(wcu)})
	}
	for _, c := range []struct {
		question            string
		peak, perShard      float64
		needed, over, still int
	}{
		{"user#42=1", 4000, 4000, 6, 2, 2},
		{"user#42=6", 4000, 4000.0 / 6, 6, 2, 0},
		{"user#42=6,x10", 40_000, 40_000.0 / 6, 60, 4, 3},
		{"user#42=60,x10", 40_000, 40_000.0 / 60, 60, 4, 0},
	} {
		q, err := whatif.Parse(c.question)
		must.Succeed(t, err)
		w := whatif.Ask(q, detect.Target{Table: "orders"}, seconds, detect.DefaultPolicy())
		if w.Peak != c.peak || w.PerShard != c.perShard || w.Needed != c.needed || w.OverUnsharded != c.over || w.OverSharded != c.still {
			t.Errorf("%s: %+v", c.question, w)
		}
		// Of n Poisson counts with mean m the largest is about m + √(2 m ln n).
		m := c.peak / float64(q.Shards)
		if bound := m + 1.5*math.Sqrt(2*m*math.Log(float64(q.Shards)+1)); w.Fullest < w.PerShard || w.FullestP95 < w.Fullest || w.FullestP95 > bound {
			t.Errorf("%s: fullest %v, %v in 95 of 100, of %v each; at most some %v", c.question, w.Fullest, w.FullestP95, w.PerShard, bound)
		}
		if len(w.Placements) != 3 || q.Shards > 1 && w.Placements[0].Share < w.Placements[2].Share {
			t.Errorf("%s: placements %+v", c.question, w.Placements)
		}
	}
	if whatif.Ask(whatif.Question{Key: "k", Shards: 1, Factor: 1}, detect.Target{Table: "orders"}, nil, detect.DefaultPolicy()) != nil {
		t.Error("a key that was not seen is answered")
	}
}

func TestQuestions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]whatif.Question{
		"user#42=8":     {Key: "user#42", Shards: 8, Factor: 1},
		"a=b=8,x1.5":    {Key: "a=b", Shards: 8, Factor: 1.5},
		"user, x2=3,x2": {Key: "user, x2", Shards: 3, Factor: 2},
	} {
		if got, err := whatif.Parse(text); err != nil || got != want {
			t.Errorf("%q is %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "user#42", "=8", "user#42=", "user#42=0", "user#42=1.5", "user#42=8,10", "user#42=8,x0", "user#42=8,xNaN", "user#42=8,x1e9"} {
		if q, err := whatif.Parse(text); err == nil {
			t.Errorf("%q is taken for %+v", text, q)
		}
	}
}

// TestNamesTheCheaperFix says what is advised in place of shards, where no step makes
// some, and nothing where one does.
func TestNamesTheCheaperFix(t *testing.T) {
	t.Parallel()
	target, key := detect.Target{Table: "orders"}, sample.KeyString("user#42")
	seconds := []whatif.Second{{At: 1_763_596_800, Low: sketch.Load{Write: 1_200_000}, Requests: 600}}
	for fixes, want := range map[[2]detect.Fix]detect.Fix{
		{detect.FixConditionalWrite, detect.FixBackOff}: detect.FixConditionalWrite, {detect.FixConditionalWrite, detect.FixShardedKey}: "",
		{detect.FixWaitForSplit, detect.FixDividedCounter}: "", {}: "",
	} {
		f := detect.NewFinding(detect.KeyWrites, target, key)
		for _, fix := range fixes {
			if fix != "" {
				f.Advice = append(f.Advice, detect.NewStep(fix))
			}
		}
		w := whatif.Ask(whatif.Question{Key: "user#42", Shards: 2, Factor: 1}, target, seconds, detect.DefaultPolicy())
		if w.Agree(&f); w.Instead != want {
			t.Errorf("of %q it advises %q, want %q", fixes, w.Instead, want)
		}
	}
}

// TestAgreesWithTheVerdict says of a hot item that no number of shards carries it, also
// where each of them would have a small part of the load, and of others that it does.
func TestAgreesWithTheVerdict(t *testing.T) {
	t.Parallel()
	target, key := detect.Target{Table: "orders"}, sample.KeyString("user#42")
	seconds := []whatif.Second{{At: 1_763_596_800, Low: sketch.Load{Write: 4_000_000}, Requests: 4000}}
	finding := func(kind detect.Subject, ground detect.Ground, item float64) *detect.Finding {
		f := detect.NewFinding(kind, target, key)
		f.Ground, f.Evidence = ground, &detect.Evidence{Split: &detect.Split{Item: item}}
		return &f
	}
	for _, c := range []struct {
		f         *detect.Finding
		factor    float64
		undivided bool
		item      float64
	}{
		{finding(detect.KeyWrites, detect.GroundItem, 1200), 1, true, 1200},
		{finding(detect.KeyWrites, detect.GroundItem, 0), 1, true, 4000},
		{finding(detect.KeyWrites, detect.GroundSplit, 400), 1, false, 400},
		{finding(detect.KeyWrites, detect.GroundSplit, 400), 10, true, 4000},
		{finding(detect.KeyWrites, detect.GroundSortKey, 0), 1, false, 0},
		{finding(detect.KeyReads, detect.GroundItem, 5000), 1, false, 0}, // of its reads, not of these writes
	} {
		w := whatif.Ask(whatif.Question{Key: "user#42", Shards: 8, Factor: c.factor}, target, seconds, detect.DefaultPolicy())
		w.Agree(c.f)
		if w.IsUndivided() != c.undivided || w.Item != c.item {
			t.Errorf("%s of %v, %v times: %+v", c.f.Ground, c.f.Evidence.Split.Item, c.factor, w)
		}
	}
}

// TestShardsThatAllAreAsked follows the ledger where it says that shards may divide a
// load of queries or not.
func TestShardsThatAllAreAsked(t *testing.T) {
	t.Parallel()
	target, key := detect.Target{Table: "orders"}, sample.KeyString("user#42")
	seconds := []whatif.Second{{At: 1_763_596_800, Low: sketch.Load{Read: 3_400_000}, Requests: 3400}}
	for _, c := range []struct {
		high float64
		want bool
	}{{3400, true}, {1700, false}} {
		f := detect.NewFinding(detect.KeyReads, target, key)
		f.Advice = []detect.Step{{Action: detect.ActionShard, After: detect.NewAfter(detect.KeyReads, 1700, c.high)}}
		w := whatif.Ask(whatif.Question{Key: "user#42", Shards: 2, Factor: 1}, target, seconds, detect.DefaultPolicy())
		if w.Agree(&f); w.AllAsked != c.want {
			t.Errorf("shards that leave up to %v: %+v", c.high, w)
		}
	}
}
