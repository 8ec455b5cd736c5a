package whatif_test

import (
	"math"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/whatif"
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
		if err != nil {
			t.Fatal(err)
		}
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
