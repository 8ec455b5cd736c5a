package board_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/internal/testsupport/progress"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

var evalMeans = flag.Int("eval.means", 20, "how many means of each way of sampling are held to the truth")

// meanSeconds is of how many seconds each mean is.
const meanSeconds = 60

// meanLoad is the load of the key of which means are taken, in units a second.
const meanLoad = 4000.0

// folded is requests that were folded, so many to a record, before one record in ten
// was drawn: no record says so.
func folded(random *rand.Rand, at int64, truth *int) (all []sample.Record) {
	const size, rate = 50, 0.1
	*truth += size * scenario.Poisson(random, meanLoad/size*(1-rate))
	for range scenario.Poisson(random, meanLoad/size*rate) {
		*truth += size
		r := one(at, random.IntN(1000), rate)
		r.N = size
		all = append(all, r)
	}
	return all
}

// records returns those of a second's calls that were drawn. The others are counted
// as Poisson, too, which is the same as drawing each.
func (d *drawn) records(random *rand.Rand, at int64, truth *int) (all []sample.Record) {
	calls := meanLoad / float64(d.size)
	*truth += d.size * scenario.Poisson(random, calls*(1-d.rate))
	for call := range scenario.Poisson(random, calls*d.rate) {
		*truth += d.size
		r := one(at, random.IntN(1000), d.rate)
		d.tell(&r, call, d.size)
		for range d.size / int(r.N) {
			all = append(all, r)
		}
	}
	return all
}

// meanOf lets boards watch a key for a minute, the second one from the restart on, and
// returns its finding and the true mean of the seconds that it is about.
func meanOf(t *testing.T, random *rand.Rand, restart int64, second func(random *rand.Rand, at int64, truth *int) []sample.Record) (f *detect.Finding, truth float64) {
	shard := sketch.NewShard(sketch.Config{CounterBytes: 4096, Sets: 1})
	judge := board.New(board.Options{})
	judge.Settle(scenario.Began-1, true)
	var loads [meanSeconds]int
	var observed []*sketch.Window
	for i := range int64(meanSeconds) {
		at := scenario.Began + i
		if restart > 0 && i == restart {
			judge = handOver(t, judge, board.Options{}, observed)
		}
		for _, r := range second(random, at, &loads[i]) {
			if err := shard.Add(&r); err != nil {
				panic(err)
			}
		}
		for _, w := range scenario.SealedWindows(shard) {
			judge.Observe(&w)
			observed = append(observed, &w)
		}
		judge.Settle(at, true)
	}
	found := judge.Findings()
	for i := range found {
		if found[i].Subject == detect.KeyWrites {
			f = &found[i]
		}
	}
	if f == nil {
		return nil, 0
	}
	last := f.Through.Unix() - scenario.Began
	for i := last - f.Seconds + 1; i <= last; i++ {
		truth += float64(loads[max(0, i)])
	}
	return f, truth / float64(f.Seconds)
}

// meanWay is a way of sampling whose means of a minute are held to the truth.
type meanWay struct {
	name    string
	rate    float64
	size    float64 // units that are drawn together
	restart int64   // after how many seconds another judge goes on; 0 for none
	second  func(random *rand.Rand, at int64, truth *int) []sample.Record
}

// meanWays are all of them, with and without a restart.
func meanWays() (all []meanWay) {
	ways := []meanWay{{"folded, then sampled", 0.1, 50, 0, folded}}
	for i := range knowable {
		d := &knowable[i]
		ways = append(ways, meanWay{d.name, d.rate, float64(d.size), 0, d.records})
	}
	for _, w := range ways {
		all = append(all, w)
		if w.size <= 5 || w.rate >= 0.1 { // else the first half minute proves nothing that a finding could carry on
			w.restart = meanSeconds / 2
			all = append(all, w)
		}
	}
	return all
}

// hold draws so many means, and holds their intervals to the truth. finish counts each.
func (w *meanWay) hold(t *testing.T, means int, finish func()) table.Row {
	t.Helper()
	random := rand.New(rand.NewPCG(22, uint64(len(w.name))))
	held, none, width := 0, 0, 0.0
	for range means {
		f, truth := meanOf(t, random, w.restart, w.second)
		finish()
		if f == nil {
			none++
			continue
		}
		if f.Mean.WCU.Low <= truth && truth <= f.Mean.WCU.High {
			held++
		}
		width += (f.Mean.WCU.High - f.Mean.WCU.Low) / f.Mean.WCU.Value
	}
	n := means - none
	cover, wide := float64(held)/float64(n), width/float64(n)
	// Of a sum of calls of one size at rate p the deviation is the root of size × (1−p)/p
	// of the units; the interval has 3.92 of them.
	ideal := 3.92 * math.Sqrt(w.size*(1-w.rate)/w.rate/(meanLoad*meanSeconds))
	enough := 0.94*float64(n) - 1
	if n < 1000 {
		enough -= 3 * math.Sqrt(0.05*float64(n)) // few may miss by chance
	}
	if float64(held) < enough || none > means/20 {
		t.Errorf("the interval of the mean holds for %.2f%% of %d, of %d there is no finding", 100*cover, n, none)
	}
	if wide > 2*ideal {
		t.Errorf("the interval of the mean is %.1f%% wide, that of the sum %.1f%%", 100*wide, 100*ideal)
	}
	return table.Row{w.name, sampledAs(w.rate), w.restart > 0, n, fmt.Sprintf("%.2f%%", 100*cover), fmt.Sprintf("%.1f%%", 100*wide), fmt.Sprintf("%.1f%%", 100*ideal)}
}

// TestIntervalsCoverMeans holds the interval of 95% of a key's mean to the truth, and to
// being no wider than it must: that of a minute's sum, and not that of its seconds.
func TestIntervalsCoverMeans(t *testing.T) {
	t.Parallel()
	means, ways := brief(*evalMeans, 8), meanWays()
	if testing.Short() { // every other way as it is, and one with a restart: make eval holds all to the truth
		ways = slices.DeleteFunc(ways, func(w meanWay) bool {
			return w.restart > 0 && w.name != knowable[3].name || w.size == 1 && w.rate < 0.1
		})
	}
	rows := make([]table.Row, len(ways))
	finish := progress.Count(t, means*len(ways))
	t.Run("ways", func(t *testing.T) {
		for i := range ways {
			w := &ways[i]
			t.Run(fmt.Sprintf("%s, restart %d", w.name, w.restart), func(t *testing.T) {
				t.Parallel()
				rows[i] = w.hold(t, means, finish)
			})
		}
	})
	out := table.NewWriter()
	out.AppendHeader(table.Row{"sampled", "rate", "restart", "intervals", "hold", "width", "of sums"})
	out.AppendRows(rows)
	show("Intervals of 95% of the mean of a minute", out)
}

// TestTheMeanOfWholeCallers holds that where whole callers may have been drawn seconds do
// not even out: the mean of an hour says no more than one second.
func TestTheMeanOfWholeCallers(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(23, 1))
	for _, seconds := range []int64{30, 300} {
		found := judgedBy(seconds, seconds, func(at int64) []sample.Record {
			return unknowables[2].second(random, &world{truth: 500}, at)
		})
		for i := range found {
			if f := &found[i]; f.Subject == detect.KeyWrites && (f.Mean.WCU.Low > 500 || f.Mean.WCU.Value < 900) {
				t.Errorf("after %d s the mean is %+v, and the truth 500", seconds, f.Mean.WCU)
			}
		}
	}
}
