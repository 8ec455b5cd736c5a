package episode

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// TestSettledSecondsAreJudgedOnce compares the episodes of a track with the same judged anew
// from all of its seconds: in order, late and again, flushed, folded, and under conditions
// that change.
func TestSettledSecondsAreJudgedOnce(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	kept, found := 0, 0
	for range 20 {
		track := NewTrack(Followed{Target: detect.Target{Table: "orders"}, Hash: 1, Key: sample.KeyString("k")})
		c := Conditions{Policy: detect.DefaultPolicy(), Table: func(int64, int64) sketch.Load { return sketch.Load{Write: 5000} }}
		c.Time.Settle(999, true)
		most, late := []float64{0.6, 1, 1.4}[random.IntN(3)], 1+random.Int64N(40)
		sampled, flushed := random.IntN(3) == 0, random.IntN(3) == 0
		for n := range int64(200) {
			at := 1000 + n
			if random.IntN(5) == 0 {
				at -= random.Int64N(late)
			}
			if oldest := c.Time.Settled - 50; random.IntN(3) > 0 {
				w, k := secondOfAKey(random, at, most/2, most, sampled)
				b := sampling.Batch{}
				if flushed && random.IntN(2) == 0 {
					b = sampling.Batch{Part: random.Float64(), At: 1 << random.IntN(3)}
				}
				track.Observe(w, k, b, oldest, c.Largest, false)
			}
			c.Time.Settle(1000+n-random.Int64N(4), random.IntN(10) > 0)
			if oldest := c.Time.Settled - 50; track.NeedsFold(oldest) {
				track.Fold(oldest, c)
			}
			switch random.IntN(60) {
			case 0:
				c.Policy.Warning = []float64{0.2, 0.5, 0.8}[random.IntN(3)]
			case 1:
				c.Largest.Write = 100 * random.Float64()
			}
			now := track.Episodes(c)
			if track.settled != noSecond {
				kept++
			}
			anew := *track
			anew.settled = noSecond
			if again := anew.Episodes(c); !reflect.DeepEqual(now, again) {
				t.Fatalf("after %d seconds the episodes differ:\n%+v\n%+v", n, now, again)
			}
			if now[0].Severity() != "" {
				found++
			}
		}
	}
	if kept < 1000 || found < 1000 {
		t.Errorf("%d times something was judged before, and %d findings: one of both is hardly tried", kept, found)
	}
}
