package board_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

var evalContended = flag.Int("eval.contended", 48, "how many contended items the evaluation of contention has for each sampling rate, of five minutes each")

// contendedItem is an item that gets some attempts a second, of which a part is lost from one
// second to another.
type contendedItem struct {
	attempts int
	lost     float64
	from, to int
}

// losses are all attempts of a second and the lost ones: what no sample knows.
type losses struct{ all, lost int }

// send adds the sampled attempts of a second to a shard, beside the writes of the key's other items.
func (c *contendedItem) send(r *rand.Rand, shard *sketch.Shard, second int, rate float64) (truth losses) {
	for i := range c.attempts + 20 {
		record := sample.Record{
			Time: (scenario.Began+int64(second))*1000 + r.Int64N(1000), Table: "orders", PK: sample.KeyString("k"), SK: sample.KeyString("contended"),
			Op: sample.TransactWriteItems, WCU: 2000, Rate: rate, N: 1, Calls: 1, Caller: fmt.Sprint(i % 3),
		}
		if i >= c.attempts {
			record.SK = sample.KeyString(fmt.Sprint(r.Uint64()))
		} else if truth.all++; c.from <= second && second < c.to && r.Float64() < c.lost {
			record.Conflicts, record.WCU = 1, 0
			truth.lost++
		}
		if r.Float64() >= rate {
			continue
		}
		if err := shard.Add(&record); err != nil {
			panic(err)
		}
	}
	return truth
}

// isContended reports whether a minute of an item reaches the thresholds, and not in a burst. Only
// minutes whose attempts are all known count: from a lost attempt on, until a minute has none.
func isContended(truth []losses) bool {
	since, last := -1, -1
	for at, s := range truth {
		if s.lost > 0 {
			if last < 0 || at-last > detect.OutageSeconds {
				since = at
			}
			last = at
		}
		from := at - detect.OutageSeconds + 1
		if since < 0 || from < since {
			continue
		}
		sum, parts := losses{}, map[int]bool{}
		for i, s := range truth[from : at+1] {
			sum.all, sum.lost = sum.all+s.all, sum.lost+s.lost
			if s.lost > 0 {
				parts[i*detect.OutageParts/detect.OutageSeconds] = true
			}
		}
		if sum.lost >= detect.OutageSeconds*detect.ContendedRate && float64(sum.lost) >= detect.ContendedShare*float64(sum.all) && len(parts) >= detect.OutageParts-1 {
			return true
		}
	}
	return false
}

// within counts how often a truth is within bounds.
type within struct{ all, right int }

func (w *within) add(truth, low, high float64) {
	w.all++
	w.right += detect.BoolToInt(truth >= low-1e-9 && truth <= high+1e-9)
}

// judgeContention judges an item for some seconds, and counts how often the bounds of its findings
// hold.
func judgeContention(c contendedItem, rate float64, seconds int, seed uint64, share, lost *within) (fired bool, truth []losses) {
	r := rand.New(rand.NewPCG(seed, 9))
	judgeEvery30(seconds, func(second int, shard *sketch.Shard) {
		truth = append(truth, c.send(r, shard, second, rate))
	}, func(f *detect.Finding) {
		if f.Case != casebook.Contention || f.State != detect.Firing {
			return
		}
		fired = true
		from, to := f.Contention.From.Unix()-scenario.Began, f.Contention.To.Unix()-scenario.Began
		sum := losses{}
		for _, s := range truth[from : to+1] {
			sum.all, sum.lost = sum.all+s.all, sum.lost+s.lost
		}
		share.add(detect.Ratio(float64(sum.lost), float64(sum.all)), f.Contention.ShareLow, f.Contention.ShareHigh)
		lost.add(float64(sum.lost)/detect.OutageSeconds, f.Contention.Lost.Low, f.Contention.Lost.High)
	})
	return fired, truth
}

// TestEvaluationOfContention compares what is said of contended items with all their attempts. If all
// were seen, every contended item fires and no other one. Of samples nothing fires that is not
// contended, the bounds hold in 95%, and what is far beyond the thresholds is found.
func TestEvaluationOfContention(t *testing.T) {
	t.Parallel()
	const seconds = 300
	var out strings.Builder
	rows := table.NewWriter()
	rows.SetOutputMirror(&out)
	rows.AppendHeader(table.Row{"SAMPLED", "ITEMS", "CONTENDED", "FIRED", "RIGHT", "SHARES WITHIN", "RATES WITHIN"})
	for _, rate := range []float64{1, 0.1, 0.01} {
		truths, fired, right, plain, missed := 0, 0, 0, 0, 0
		var share, lost within
		for n := range *evalContended {
			r := rand.New(rand.NewPCG(uint64(n), 8))
			c := contendedItem{attempts: []int{5, 12, 40, 150}[r.IntN(4)], lost: []float64{0, 0.04, 0.085, 0.095, 0.105, 0.12, 0.3, 0.6}[n%8], from: r.IntN(60)}
			c.to = c.from + 30 + r.IntN(200)
			got, all := judgeContention(c, rate, seconds, uint64(n), &share, &lost)
			truth := isContended(all)
			truths, fired = truths+detect.BoolToInt(truth), fired+detect.BoolToInt(got)
			right += detect.BoolToInt(truth && got)
			isPlain := truth && c.lost >= 0.3 && float64(c.attempts)*c.lost*rate >= 0.4 && c.to-c.from >= 120 // 24 of a minute were drawn
			plain += detect.BoolToInt(isPlain)
			missed += detect.BoolToInt(isPlain && !got)
		}
		rows.AppendRow(table.Row{fmt.Sprintf("%g%%", 100*rate), *evalContended, truths, fired, right, fmt.Sprintf("%d of %d", share.right, share.all), fmt.Sprintf("%d of %d", lost.right, lost.all)})
		if right < fired || rate == 1 && right < truths || missed > 0 || plain == 0 || fired == 0 {
			t.Errorf("sampled at %g: %d fired, %d of them right, of %d contended; %d of %d plain ones missed", rate, fired, right, truths, missed, plain)
		}
		if share.right*100 < 95*share.all || lost.right*100 < 95*lost.all || rate == 1 && share.right+lost.right < share.all+lost.all {
			t.Errorf("sampled at %g: the bounds hold for %d of %d shares, and %d of %d rates", rate, share.right, share.all, lost.right, lost.all)
		}
	}
	rows.Render()
	t.Log("\n" + out.String())
}
