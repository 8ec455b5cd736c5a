package throttling_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/internal/throttling"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// TestSpread throttles keys of 5,000 writes a second in all, by the partitions in which they
// are: where those that were throttled are served more than one partition serves, there are
// several.
func TestSpread(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		story       string
		throttle    func(key int) bool
		cause       sample.ThrottleReason
		keys        int
		several     bool
		least, most float64 // WCU a second that those keys were served
	}{
		{"all of five partitions", func(int) bool { return true }, sample.KeyRange, 3000, true, 4400, 4600},
		{"one of five", func(key int) bool { return key%5 == 0 }, sample.KeyRange, 3000, false, 500, 1300},
		{"for want of capacity", func(int) bool { return true }, sample.Provisioned, 3000, false, 0, 0},
		{"keys that are warm", func(int) bool { return true }, sample.KeyRange, 20, false, 0, 0},
	} {
		random := rand.New(rand.NewPCG(5, 5))
		spread, all := &throttling.Spread{}, throttling.Pressure{}
		const seconds = 120
		for second := range int64(seconds) {
			w := &sketch.Window{Target: sample.Target{Table: "orders"}, Second: 1_700_000_000 + second}
			each := detect.Milli(5000 / float64(c.keys))
			for key := range c.keys {
				of := sample.KeyString(fmt.Sprint("u", key))
				k := sketch.KeyLoad{Hash: sketch.Hash(w.Target, of, 1), Key: of, Requests: 10, Low: sketch.Load{Write: each}}
				if c.throttle(key) && random.IntN(10) == 0 {
					k.Throttled.Write = each
					w.Total.Refused[c.cause]++
				}
				w.Total.Requests += k.Requests
				w.Total.Load, w.Total.Throttled = w.Total.Plus(k.Low), w.Total.Throttled.Plus(k.Throttled)
				w.Keys = append(w.Keys, k)
			}
			spread.Observe(w)
			all = all.Plus(throttling.Measure(w, w.Total.Load, 0.8, nil, func(k *sketch.KeyLoad) (sketch.Load, bool) { return k.High(), true }))
		}
		served, several := spread.ThrottledKeysLoad(&all, seconds)
		if got := detect.Units(served.Write); several != c.several || got < c.least || got > c.most {
			t.Errorf("%s: %v write units a second were served, of several partitions: %v", c.story, got, several)
		}
	}
}
