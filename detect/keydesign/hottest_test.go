package keydesign_test

import (
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/keydesign"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
	"github.com/keyheat/keyheat/sketch"
)

// TestTheHottestSecondIsProven shows one busy second of a sampled key, which may
// be chance: a table's design is not judged by it as if it were sure.
func TestTheHottestSecondIsProven(t *testing.T) {
	t.Parallel()
	for _, sampled := range []bool{false, true} {
		c := keydesign.NewCensus()
		w := scenario.LoadedWindow(scenario.Began, 1700, "a")
		if sampled { // 17 samples of a unit each, at a rate of 1%
			w.Keys[0].WriteSpread = sketch.Spread{Variance: 1700 * 99, Largest: 100}
			w.Keys[0].Requests, w.Total.Requests, w.Total.WriteLargest = 17, 17, 100
		}
		c.Observe(w)
		got := c.View(detect.Target{Table: "orders"}, detect.DefaultPolicy()).Hottest.Utilization
		if over := got > 1; over == sampled {
			t.Errorf("sampled %v: the hottest second has %v of the limit", sampled, got)
		}
	}
}
