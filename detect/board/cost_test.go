package board_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// busySecond returns a second of 100 tables with 7,000 keys, of which three in each
// are hot.
func busySecond(second int64) (all []*sketch.Window) {
	for table := range 100 {
		w := &sketch.Window{Target: sample.Target{Table: fmt.Sprintf("table-%d", table)}, Second: second}
		for i := range 70 {
			units := 20 + float64(i)
			if i < 3 {
				units = 1200 + float64(100*i)
			}
			k := sample.KeyString(fmt.Sprintf("customer#%d#%d", 1000*table+i, i))
			l := sketch.Load{Write: scenario.Milli(units)}
			w.Total.Requests += int64(units)
			w.Total.Load = w.Total.Plus(l)
			load := sketch.KeyLoad{Hash: scenario.Hash(w.Table, "", k), Key: k, Requests: int64(units), Low: l}
			if units >= 100 {
				e := &sketch.Evidence{Seen: 256, Records: 256, Load: l, Sorted: 256, Rises: 128, Falls: 127}
				for n := range 8 {
					e.Items.Entries = append(e.Items.Entries, sketch.Entry{Hash: uint64(n), Text: fmt.Sprint(n), Weight: 3000})
				}
				load.Evidence = e
			}
			w.Keys = append(w.Keys, load)
		}
		all = append(all, w)
	}
	return all
}

// BenchmarkJudge is what a second costs the judge of 100 tables with 7,000 keys
// and 300 findings that have lasted ten minutes; it has one second for it.
func BenchmarkJudge(b *testing.B) {
	judged := board.New(board.Options{})
	judged.Settle(scenario.Began-1, true)
	second := scenario.Began
	judge := func() (observe, find time.Duration, n int) {
		windows := busySecond(second)
		start := time.Now()
		for _, w := range windows {
			judged.Observe(w)
		}
		judged.Settle(second, true)
		observed := time.Now()
		n = len(judged.Findings())
		second++
		return observed.Sub(start), time.Since(observed), n
	}
	for range 600 {
		for _, w := range busySecond(second) {
			judged.Observe(w)
		}
		judged.Settle(second, true)
		second++
	}
	var observe, find time.Duration
	var n int
	b.ResetTimer()
	for range b.N {
		o, f, found := judge()
		observe, find, n = observe+o, find+f, found
	}
	b.ReportMetric(observe.Seconds()*1000/float64(b.N), "observe-ms")
	b.ReportMetric(find.Seconds()*1000/float64(b.N), "findings-ms")
	b.ReportMetric(float64(n), "findings")
}
