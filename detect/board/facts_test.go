package board_test

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/forecast"
	"github.com/keyheat/keyheat/detect/keydesign"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/detect/whatif"
	"github.com/keyheat/keyheat/sample"
)

// TestSamplingArithmetic restates docs/FACTS.md, "Sampling": at 1 % a key at
// 1,000 WCU a second of 1 KB items gives 10 samples, one standard deviation is
// 32 % on one second and 4 % on a minute; Σ w²(1−p)/p² is the variance; and a
// 95 % bound on each second would call a key at 79 % of the limit critical more
// than a hundred times a day.
func TestSamplingArithmetic(t *testing.T) {
	t.Parallel()
	const rate, load = 0.01, 1000.0
	perSample := (1 - rate) / (rate * rate) // of one sampled request of 1 unit
	deviation := func(seconds float64) float64 {
		return math.Sqrt(seconds*load*rate*perSample) / (seconds * load)
	}
	if one, minute := deviation(1), deviation(60); math.Abs(one-0.32) > 0.01 || math.Abs(minute-0.04) > 0.005 {
		t.Errorf("one standard deviation is %.3f on a second and %.3f on a minute, want 0.32 and 0.04", one, minute)
	}

	random := rand.New(rand.NewPCG(1, 3))
	var sum, squares float64
	const rounds = 20_000
	for range rounds {
		estimate := float64(poisson(random, load*rate)) / rate
		sum, squares = sum+estimate, squares+estimate*estimate
	}
	mean := sum / rounds
	variance := squares/rounds - mean*mean
	// Poisson's own variance is load/p; of that, load(1−p)/p is the sampling's.
	if math.Abs(mean-load) > 5 || math.Abs(variance/(load/rate)-1) > 0.05 {
		t.Errorf("estimates have mean %.0f and variance %.0f, want %v and %v", mean, variance, load, load/rate)
	}

	critical := 0
	for range 24 * 3600 {
		n := float64(poisson(random, 790*rate))
		if n-1.96*math.Sqrt(n) > load*rate { // the normal interval's lower end, per second
			critical++
		}
	}
	if critical < 20 {
		t.Errorf("a 95 %% bound a second calls a key at 79 %% critical only %d times a day: the rule of 10⁻⁶ would not be needed", critical)
	}
}

// TestProvable restates the design's figure: sampling 1 % of requests of 1 KB
// proves single seconds from some 2,900 WCU on.
func TestProvable(t *testing.T) {
	t.Parallel()
	if got := sampling.Provable(detect.PartitionWrite, 100); got < 2700 || got > 3100 {
		t.Errorf("at 1 %% a second is proven from %v on, want some 2,900", got)
	}
	if got := sampling.Provable(detect.PartitionWrite, 0); got != 0 {
		t.Errorf("unsampled, a second is proven from %v on, want 0 for any", got)
	}
	if few, many := sampling.Provable(detect.PartitionWrite, 100), sampling.Provable(detect.PartitionWrite, 10); many >= few {
		t.Errorf("10 %% proves from %v on, 1 %% from %v", many, few)
	}
}

// TestGrowthAsksForMoreShards takes a key that grows by 10 WCU a day: 4,000 now
// are 4,900 in 90 days.
func TestGrowthAsksForMoreShards(t *testing.T) {
	t.Parallel()
	f := detect.Finding{Kind: detect.HotKeyWrite, Advice: []detect.Step{{Action: detect.ActionShard, Text: "Spread the key over 6 shards."}}}
	f.Peak.WCU.Value = 4000
	before := f.Advice[0].Text
	forecast.Foresee(&f, &detect.Forecast{Unit: "wcu", Level: 3900, Growth: detect.Figure{Value: 10, Low: 8, High: 12}}, 1.5)
	if want := "ceil(4,900 / 1,000 × 1.5) = 8 shards"; !strings.Contains(f.Advice[0].Text, want) || f.Forecast == nil {
		t.Errorf("%q does not say %q", f.Advice[0].Text, want)
	}
	f.Advice[0].Text = before
	if forecast.Foresee(&f, nil, 1.5); f.Advice[0].Text != before || f.Forecast != nil {
		t.Errorf("without a forecast the advice is %q", f.Advice[0].Text)
	}
}

// TestPlacementOfTheSources restates docs/FACTS.md, "Shards": with 8 suffixes the
// chance that three or more share one of 8 equal partitions is 49 %, of 16 17 %,
// of 32 5 %.
func TestPlacementOfTheSources(t *testing.T) {
	t.Parallel()
	for partitions, want := range map[int]float64{8: 0.49, 16: 0.17, 32: 0.05} {
		if got := whatif.Place(8, partitions, 1, 1).Chance(3); math.Abs(got-want) > 0.015 {
			t.Errorf("over %d partitions: %.3f, want %v", partitions, got, want)
		}
	}
}

// TestCeilingsOfTheSources restates docs/FACTS.md, "Shards" and "Key design": a key with the
// share s of the writes caps the table at 1,000/s, and five values carry 5,000.
func TestCeilingsOfTheSources(t *testing.T) {
	t.Parallel()
	ceiling := func(world []asked) float64 {
		c := keydesign.NewCensus()
		for _, w := range windowsOf(world, 60) {
			c.Observe(w)
		}
		v := c.View("orders", "", detect.DefaultPolicy())
		if v == nil || v.Ceiling.WCU == nil {
			t.Fatalf("no ceiling in %+v", v)
		}
		return *v.Ceiling.WCU
	}
	if got := ceiling(append([]asked{{key: "open", units: 800}}, keys("k%d", 20, asked{units: 10})...)); math.Abs(got-1250) > 5 {
		t.Errorf("with 80 %% on one value the table carries %v, want 1,250", got)
	}
	if got := ceiling(statuses(400, asked{})); math.Abs(got-5000) > 50 {
		t.Errorf("five even values carry %v, want 5,000", got)
	}
}

// TestWeight restates docs/FACTS.md, "Throttling": ConsumedThroughputUnits are
// 3·WCU + RCU, in which both of a partition's limits are the same 3,000.
func TestWeight(t *testing.T) {
	t.Parallel()
	if sample.Milli(detect.WritesInReads)*detect.PartitionWrite != detect.PartitionRead {
		t.Errorf("%d × %d is not %d", detect.WritesInReads, detect.PartitionWrite, detect.PartitionRead)
	}
}

// TestFactsNameTheirTests keeps docs/FACTS.md true: every test that it names is
// there.
func TestFactsNameTheirTests(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/FACTS.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`([a-z/]+)\\.(Test[A-Za-z0-9]+)(/[^`]+)?`").FindAllStringSubmatch(string(text), -1)
	if len(named) < 40 {
		t.Fatalf("only %d tests are named", len(named))
	}
	for _, m := range named {
		files, err := filepath.Glob("../../" + m[1] + "/*_test.go")
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			found = found || strings.Contains(string(source), "func "+m[2]+"(")
		}
		if !found {
			t.Errorf("%s has no %s", m[1], m[2])
		}
		if row, ok := strings.CutPrefix(m[3], "/"); ok && m[1] == "detect/board" && m[2] == "TestStories" && !told(row) {
			t.Errorf("no story is called %q", row)
		}
	}
}

func told(name string) bool {
	for _, s := range stories {
		if s.name == name {
			return true
		}
	}
	return false
}
