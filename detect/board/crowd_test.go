package board_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// flooded returns a second of the table orders: n keys that are hot in this one only,
// with 3,000 units each, and the key that is hot in all, with 1,500.
func flooded(second int64, n int) *sketch.Window {
	w := &sketch.Window{Target: sample.Target{Table: "orders"}, Second: second}
	add := func(key string, units float64) {
		k, l := sample.KeyString(key), sketch.Load{Write: scenario.Milli(units)}
		w.Total.Requests += int64(units)
		w.Total.Load = w.Total.Plus(l)
		w.Keys = append(w.Keys, sketch.KeyLoad{Hash: scenario.Hash(w.Table, "", k), Key: k, Requests: int64(units), Low: l})
	}
	for i := range n {
		add(fmt.Sprintf("flood-%d-%d", second, i), 3000)
	}
	add("real", 1500)
	return w
}

// TestAFloodOfHotKeys has 10,000 keys a second that are each hot once, with twice the
// load of the one key that is hot all the time: that one fires within ten seconds, the
// board follows a bounded number, says how many it does not, and all end when it is
// over.
func TestAFloodOfHotKeys(t *testing.T) {
	t.Parallel()
	b := board.New(board.Options{})
	b.Settle(scenario.Began-1, true)
	known := map[string]detect.Finding{} // the last of each, as a store has them
	var firedAfter int64 = -1
	var slowest time.Duration
	second := scenario.Began
	pass := func(n int) (crowd *detect.Finding) {
		b.Observe(flooded(second, n))
		b.Settle(second, true)
		began := time.Now()
		for _, f := range b.Findings() {
			known[f.Fingerprint] = f
			switch {
			case f.Case == casebook.TooManyHotKeys:
				crowd = &f
			case f.Key == "real" && f.Subject == detect.KeyWrites && f.State == detect.Firing && firedAfter < 0:
				firedAfter = second - scenario.Began
			}
		}
		slowest = max(slowest, time.Since(began))
		second++
		return crowd
	}
	for range brief(30, 8) {
		if crowd := pass(10_000); second > scenario.Began+3 && (crowd == nil || crowd.State != detect.Firing) {
			t.Fatalf("after %d seconds of the flood the finding about it is %+v", second-scenario.Began, crowd)
		}
	}
	t.Logf("the real key fires after %d s; %d findings in all; the slowest pass took %s", firedAfter, len(known), slowest)
	if firedAfter < 0 || firedAfter > 10 {
		t.Errorf("the key that is hot all the time fires after %d s", firedAfter)
	}
	if len(known) > 5000 {
		t.Errorf("%d findings of 300,000 hot keys were returned: they are to be bounded", len(known))
	}
	for range 10 {
		for range 9 { // a look at all findings is what takes long
			b.Observe(flooded(second, 0))
			b.Settle(second, true)
			second++
		}
		pass(0)
	}
	open := map[detect.State]int{}
	for _, f := range known {
		open[f.State]++
	}
	if real := open[detect.Firing]; real != 1 || open[detect.Pending] != 0 {
		t.Errorf("100 seconds after the flood there are, by state, %v: want the real key's only", open)
	}
}
