package judge_test

import (
	"flag"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/judge"
	"github.com/keyheat/keyheat/internal/judge/fold"
	"github.com/keyheat/keyheat/internal/judge/verdict"
	"github.com/keyheat/keyheat/internal/testsupport/heap"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

var followedMemory = flag.Int64("followed.memory", 16, "judge.memory of TestMemoryOfFollowedKeys, in MiB: 1024 is for 20,000 keys")

// TestMemoryOfFollowedKeys follows as many keys as judge.memory allows through a horizon of
// event time: one in sixteen is sampled, and every eighth second comes again five seconds late.
// The heap stays within judge.memory, no key is evicted, and each hot key fires with every second counted.
func TestMemoryOfFollowedKeys(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	const tables, hot, seconds, every, late = 12, 6, detect.Horizon + 60, 60, 5
	memory := *followedMemory << 20
	limits := judge.LimitsOf(memory)
	before := heap.Live()
	s := newState(verdict.Options{MaxKeys: limits.OpenKeys, Keys: limits.Keys, KeyBytes: limits.KeyBytes, Tables: limits.Tables})
	begins := time.Now().Truncate(time.Hour).Unix() - 2*seconds
	var peak int64
	hottest := map[string]detect.Finding{}
	for second := range int64(seconds) {
		d := sketch.NewDelta(sketch.Config{Seed: 1})
		for n := range tables {
			table := fmt.Sprintf("table-%02d", n)
			d.Windows = append(d.Windows, warmSecond(table, begins+second, limits.Keys/tables, n < hot))
			if second%8 == 7 {
				d.Windows = append(d.Windows, lateSecond(table, begins+second-late))
			}
		}
		p := judgeDeltas(t, s, []fold.Delta{fold.NewDelta("w", second+1, d)}, fold.Horizon{Complete: begins + second + 1, Over: begins + second + 1}, time.Unix(begins+second+2, 0))
		for _, row := range p.Findings {
			f, err := detect.ReadFinding(row.Document)
			must(t, err)
			if f.Subject == detect.KeyWrites && f.Severity == detect.Critical {
				hottest[f.Fingerprint] = f
			}
		}
		if (second+1)%every == 0 {
			peak = max(peak, heap.Live()-before)
		}
	}
	runtime.KeepAlive(s)
	t.Logf("%d keys: %d MiB of %d MiB, %.1f KiB each", limits.Keys, peak>>20, memory>>20, float64(peak)/float64(limits.Keys)/(1<<10))
	if peak > memory {
		t.Errorf("the judge takes %d MiB, more than judge.memory", peak>>20)
	}
	equal(t, "evicted keys", s.Evictions(), int64(0))
	equal(t, "hot keys", len(hottest), hot)
	for _, f := range hottest {
		equal(t, "state", f.State, detect.Firing)
		equal(t, "seconds", f.Seconds, int64(seconds))
		equal(t, "seconds over the limit", f.SecondsOver(), seconds)
	}
}

// warmSecond returns a second of a table with so many warm keys, the first of them hot or not.
func warmSecond(table string, second int64, keys int, hot bool) sketch.Window {
	w := sketch.Window{Target: sample.Target{Table: table}, Second: second}
	for n := range keys {
		k := sketch.KeyLoad{Hash: uint64(n + 1), Key: sample.KeyString(fmt.Sprintf("customer#%06d", n))}
		k.Low.Write = sample.Milli(150_000 + 1000*(second+int64(n))%50_000)
		k.Requests = int64(k.Low.Write) / 1000
		switch {
		case n == 0 && hot:
			k.Low.Write, k.Requests = 1_200_000, 1200
			k.Evidence = &sketch.Evidence{
				Seen: 1200, Load: k.Low, Records: 256, Ops: []sketch.OpLoad{{Op: sample.UpdateItem, Requests: 1200, Load: k.Low}},
				Callers: sketch.Top{Entries: []sketch.Entry{{Hash: 7, Text: "orders-api", Weight: 3_600_000}}},
			}
		case n%16 == 1: // one request in a hundred
			k.Requests /= 100
			k.Low.Write = sample.Milli(100_000 * k.Requests)
			k.WriteSpread = sketch.Spread{Variance: 9900 * float64(k.Requests), Largest: 100}
			k.Draws = sketch.Draws{Assumed: k.Requests, RateLow: 0.01, RateHigh: 0.01}
		}
		w.Keys = append(w.Keys, k)
		w.Total.Load, w.Total.Requests = w.Total.Plus(k.Low), w.Total.Requests+k.Requests
	}
	return w
}

// lateSecond returns late samples of a table's third key.
func lateSecond(table string, second int64) sketch.Window {
	k := sketch.KeyLoad{Hash: 3, Key: sample.KeyString("customer#000002"), Requests: 5, Low: sketch.Load{Write: 5000}}
	w := sketch.Window{Target: sample.Target{Table: table}, Second: second, Keys: []sketch.KeyLoad{k}}
	w.Total.Load, w.Total.Requests = k.Low, k.Requests
	return w
}
