package episode

import (
	"math/rand/v2"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// TestNothingIsFoundOfAColdTrack compares Cold with the episodes themselves, of tracks whose
// seconds are below, about and above what a policy asks for, sampled and not, in order, late
// and again, folded, and under a policy that changes.
func TestNothingIsFoundOfAColdTrack(t *testing.T) {
	t.Parallel()
	const seconds = 60
	random := rand.New(rand.NewPCG(1, 2))
	cold, found := 0, 0
	for range 500 {
		track := NewTrack(Followed{Target: detect.Target{Table: "orders"}, Hash: 1, Key: sample.KeyString("k")})
		c := Conditions{Policy: detect.DefaultPolicy(), Table: func(int64, int64) sketch.Load { return sketch.Load{} }}
		c.Time.Settle(999, true)
		least, most := 0.0, []float64{0.3, 0.6, 1, 1.4}[random.IntN(4)]
		sampled := random.IntN(3) == 0
		if sampled && random.IntN(2) == 0 { // hot in the mean only
			least, most = 0.8, 1
		} else if random.IntN(5) == 0 { // a plateau, which a policy that warns late does not take for hot
			least, most, c.Policy.Warning = 0.96, 1, 1
		}
		for n := range int64(seconds) {
			for range random.IntN(3) {
				w, k := secondOfAKey(random, 1000+n-int64(random.IntN(4)), least, most, sampled)
				track.Observe(w, k, sampling.Batch{}, 900, Largest{}, false)
			}
			c.Time.Settle(1000+n-int64(random.IntN(3)), random.IntN(4) > 0)
			switch random.IntN(20) {
			case 0:
				track.Fold(1000+n-10, c)
			case 1:
				c.Policy.Warning = []float64{0.2, 0.5, 0.8, 1}[random.IntN(4)]
			}
			isCold := track.IsCold(c.Policy)
			for i, e := range track.Episodes(c) {
				if e.Severity() == "" {
					continue
				}
				if found++; isCold {
					t.Fatalf("%s of a cold track is %s", track.Followed.Sides()[i], e.Severity())
				}
			}
			if isCold {
				cold++
			}
		}
	}
	if cold < 2000 || found < 2000 {
		t.Errorf("%d times cold and %d findings: one of both is hardly tried", cold, found)
	}
}

// secondOfAKey returns a second of a table with one key, which has from so many to so many
// times a partition's limits.
func secondOfAKey(random *rand.Rand, second int64, least, most float64, sampled bool) (*sketch.Window, *sketch.KeyLoad) {
	part := func(limit sample.Milli) sample.Milli {
		return detect.ShareOf(limit, least+(most-least)*random.Float64())
	}
	k := &sketch.KeyLoad{Hash: 1, Key: sample.KeyString("k"), Requests: 1 + random.Int64N(500)}
	k.Low = sketch.Load{Read: part(detect.PartitionRead), Write: part(detect.PartitionWrite)}
	k.Err = sketch.Load{Write: part(detect.PartitionWrite)}
	changes := int64(0)
	if least > 0 { // of writes alone, since both together are over the budget, as a stream shows them
		k.Low.Read, changes = 0, k.Requests
	}
	if random.IntN(60) == 0 {
		k.Throttled = detect.PartOf(k.Low, 0.2)
		k.Evidence = &sketch.Evidence{Load: k.Low}
		k.Evidence.Refused[sample.KeyRange] = 5
	}
	if sampled && random.IntN(2) == 0 {
		k.WriteSpread = sketch.Spread{Variance: 20_000 * random.Float64(), Largest: 10}
		k.Draws = sketch.Draws{Assumed: 10 * random.Int64N(2), RateLow: 0.1, RateHigh: 0.1}
	}
	return &sketch.Window{Target: detect.Target{Table: "orders"}, Second: second, Total: sketch.Total{Load: k.Low, Requests: k.Requests, Changes: changes}, Keys: []sketch.KeyLoad{*k}}, k
}
