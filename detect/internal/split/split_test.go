package split_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/internal/split"
	"github.com/keyheat/keyheat/internal/testsupport/progress"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

var evalSeeds = flag.Int("eval.seeds", 1, "how many seeds each pattern has")

// lengths are after how many seconds a verdict is asked for.
var lengths = []int{3, 10, 20, 30, 60, 120}

// verdicts sends a pattern through a sketch and returns the verdict after each of some
// seconds.
func (p *pattern) verdicts(rate float64, seed uint64, after []int) map[int]detect.Split {
	r := rand.New(rand.NewPCG(seed, uint64(len(p.name))))
	shard := sketch.NewShard(sketch.Config{Seed: scenario.Seed, Sets: 16, CounterBytes: 1 << 12})
	offset := r.Float64() * 600
	var ring split.Ring
	found := map[int]detect.Split{}
	for second := range after[len(after)-1] {
		if p.isOn(second) {
			var all []sample.Record
			for i := range scenario.Poisson(r, p.units) {
				at := float64(second) + (float64(i)+r.Float64())/(p.units*1.2)
				if r.Float64() >= rate {
					continue
				}
				record := sample.Record{
					Time: scenario.Began*1000 + int64(at*1000), Table: "orders", PK: sample.KeyString("k"), SK: p.sk(r, offset+at),
					Op: sample.PutItem, WCU: 1000, Rate: rate, N: 1,
				}
				record.Time = min(record.Time, (scenario.Began+int64(second))*1000+999)
				all = append(all, record)
			}
			for _, record := range p.sent(r, all) {
				if err := shard.Add(&record); err != nil {
					panic(err)
				}
			}
			for _, w := range scenario.SealedWindows(shard) {
				ring.Add(w.Second, &w.Keys[0])
			}
		}
		for _, length := range after {
			if length == second+1 {
				if v := ring.Judge(detect.KeyWrites, scenario.Began); v != nil {
					found[length] = *v
				}
			}
		}
	}
	return found
}

// TestEvaluationOfSplits asks for a verdict on every pattern after 3 to 120 seconds,
// sampled at three rates: none may be wrong at any time, and after two minutes few may
// be unknown. `make eval` prints it.
func TestEvaluationOfSplits(t *testing.T) {
	t.Parallel()
	out := table.NewWriter()
	header := table.Row{"pattern", "sampled"}
	for _, length := range lengths {
		header = append(header, fmt.Sprintf("%d s", length))
	}
	out.AppendHeader(append(header, "residual", "refused"))
	type count struct{ right, wrong, unknown, moves, moving int }
	totals := map[int]*count{}
	for _, length := range lengths {
		totals[length] = &count{}
	}
	finish := progress.Count(t, len(patterns))
	for i := range patterns {
		p := &patterns[i]
		for _, rate := range []float64{1, 0.1, 0.01} {
			if testing.Short() && rate == 1 && i%6 > 0 {
				continue // every request takes ten times as long as a tenth
			}
			row := table.Row{p.name, fmt.Sprintf("%g%%", 100*rate)}
			last := detect.Split{}
			counts := map[int]*count{}
			for seed := range *evalSeeds {
				found := p.verdicts(rate, uint64(seed)+1, lengths)
				for _, length := range lengths {
					c := counts[length]
					if c == nil {
						c = &count{}
						counts[length] = c
					}
					v := found[length]
					last = v
					switch {
					case v.Verdict == p.want && (p.direction == "" || p.direction == v.Direction || length < 60):
						c.right++
					case v.Verdict == detect.SplitUnknown || v.Verdict == "":
						c.unknown++
					default:
						c.wrong++
						t.Errorf("%s at %g%% after %d s is %+v, want %s %s", p.name, 100*rate, length, v, p.want, p.direction)
					}
					if p.want == detect.SplitMoving {
						c.moves++
						if v.Verdict == detect.SplitMoving {
							c.moving++
						}
						if length >= 60 && !p.slow && v.Verdict != detect.SplitMoving {
							t.Errorf("%s at %g%% is not found to move after %d s: %+v", p.name, 100*rate, length, v)
						}
					}
				}
			}
			for _, length := range lengths {
				c := counts[length]
				row = append(row, fmt.Sprintf("%d/%d/%d", c.right, c.wrong, c.unknown))
				a := totals[length]
				a.right, a.wrong, a.unknown, a.moves, a.moving = a.right+c.right, a.wrong+c.wrong, a.unknown+c.unknown, a.moves+c.moves, a.moving+c.moving
			}
			out.AppendRow(append(row, fmt.Sprintf("%.0f", last.Residual), fmt.Sprintf("%.0f%%", 100*last.Refused)))
		}
		finish()
	}
	row, moving := table.Row{"all", ""}, table.Row{"moving found", ""}
	for _, length := range lengths {
		c := totals[length]
		row = append(row, fmt.Sprintf("%d/%d/%d", c.right, c.wrong, c.unknown))
		moving = append(moving, fmt.Sprintf("%d%%", 100*c.moving/c.moves))
	}
	out.AppendSeparator()
	out.AppendRow(row)
	out.AppendRow(moving)
	if c := totals[120]; float64(c.unknown) > 0.02*float64(c.right+c.wrong+c.unknown) {
		t.Errorf("after two minutes %d of %d are unknown", c.unknown, c.right+c.wrong+c.unknown)
	}
	if testing.Verbose() {
		out.SetStyle(table.StyleLight)
		fmt.Printf("\nVerdicts on splits, right/wrong/unknown, by how long a pattern was seen\n%s\n", out.Render())
	}
}

// TestMovesHoweverUncertainItsLoad holds that a key with one sort key a second is found
// to move where samples leave open whether it is over the limit at all: folded records
// that do not say what was drawn together do.
func TestMovesHoweverUncertainItsLoad(t *testing.T) {
	t.Parallel()
	p := patternOf(t, "epoch seconds, folded")
	for _, rate := range []float64{0.1, 0.01} {
		for seed := range uint64(6) {
			if v := p.verdicts(rate, seed+1, []int{60})[60]; v.Verdict != detect.SplitMoving || v.Direction != detect.Rising {
				t.Errorf("at %g%%, seed %d: %+v", 100*rate, seed, v)
			}
		}
	}
}

// TestWritersInTurnDoNotRise holds that sort keys which begin again with the first are
// not called rising, also where the last of two minutes are above the first.
func TestWritersInTurnDoNotRise(t *testing.T) {
	t.Parallel()
	for _, turn := range []float64{4, 7, 9.9} {
		for seed := range seeds(5) {
			began := math.Inf(1)
			p := pattern{name: "writers in turn", units: 1500, sk: func(_ *rand.Rand, at float64) sample.Key {
				began = min(began, at)
				return text("host-%d#%012.3f", int((at-began)/turn)%10, at)
			}}
			if v := p.verdicts(0.1, seed+1, []int{120})[120]; v.Verdict != detect.SplitMoving || v.Direction != detect.Wandering {
				t.Errorf("turns of %g s, seed %d: %+v", turn, seed, v)
			}
		}
	}
}

// TestAnItemInBursts holds that an item which alone is above the limit when the key is, is
// a hot item however long the pauses between, and that others are not taken for one.
func TestAnItemInBursts(t *testing.T) {
	t.Parallel()
	item := func(*rand.Rand, float64) sample.Key { return sample.KeyString("balance") }
	each := func(_ *rand.Rand, at float64) sample.Key { return text("%012d", int64(at)) }
	for _, c := range []struct {
		name         string
		units        float64
		every, lasts int
		sk           func(*rand.Rand, float64) sample.Key
		rate         float64
		hot          bool
	}{
		{"3 s of 10", 1500, 10, 3, item, 1, true},
		{"3 s of 60", 1500, 60, 3, item, 1, true},
		{"20 s of 60, one of ten sampled", 2000, 60, 20, item, 0.1, true},
		{"beside others", 3000, 20, 3, one(0.6, uuid), 1, true},
		{"no item of it alone", 3000, 20, 3, one(0.25, uuid), 1, false},
		{"another one each second", 1500, 20, 3, each, 1, false},
		{"below the limit, as 1% of it shows it", 700, 1, 1, item, 0.01, false},
		{"half of the time below the limit, as 1% of it shows it", 800, 20, 10, item, 0.01, false},
	} {
		for seed := range seeds(10) {
			p := pattern{name: c.name, units: c.units, on: func(second int) bool { return second%c.every < c.lasts }, sk: c.sk}
			if v := p.verdicts(c.rate, seed+1, []int{120})[120]; (v.Verdict == detect.SplitHotItem) != c.hot || c.hot && (v.Item <= 1000 || v.Item > c.units) {
				t.Errorf("%s, seed %d: %+v", c.name, seed, v)
			}
		}
	}
}

// TestAQueueIsNotSaidToHeal holds that head and tail, which are far apart, are not taken
// for a load that stays where it is.
func TestAQueueIsNotSaidToHeal(t *testing.T) {
	t.Parallel()
	for _, lag := range []float64{90, 120, 180, 300, 600} {
		for _, units := range []float64{1100, 1300, 1600} {
			for _, rate := range []float64{1, 0.01} {
				if testing.Short() && rate == 1 && units != 1300 {
					continue
				}
				p := queue(lag, units)
				if v := p.verdicts(rate, uint64(lag), []int{120})[120]; v.Verdict == detect.SplitHelps {
					t.Errorf("%g s long, %g at %g%%: %+v", lag, units, 100*rate, v)
				}
			}
		}
	}
}

// TestAQueueLeavesARange holds that what a split leaves of a queue is told for every place
// in which DynamoDB may split it: the median of the load is the whole gap between its tail
// and its head, and the tail comes into that.
func TestAQueueLeavesARange(t *testing.T) {
	t.Parallel()
	for _, lag := range []float64{300, 600} {
		p := queue(lag, 1100)
		if v := p.verdicts(1, uint64(lag), []int{120})[120]; v.ResidualLow > 650 || v.ResidualHigh < 1000 || v.Residual < v.ResidualLow || v.Residual > v.ResidualHigh {
			t.Errorf("%g s long: %+v", lag, v)
		}
	}
	p := patternOf(t, "epoch seconds, folded")
	if v := p.verdicts(1, 1, []int{120})[120]; v.ResidualHigh-v.ResidualLow > 0.01*v.Residual {
		t.Errorf("what rises is on one part wherever it is split: %+v", v)
	}
}

// seeds is the usual number of seeds, or a fifth of it with -short.
func seeds(usual uint64) uint64 {
	if testing.Short() {
		return usual / 5
	}
	return usual
}

func patternOf(t *testing.T, name string) *pattern {
	t.Helper()
	for i := range patterns {
		if patterns[i].name == name {
			return &patterns[i]
		}
	}
	t.Fatalf("there is no pattern %q", name)
	return nil
}

// TestItemStays: a load with nearly all of it on one item does not move with the others.
func TestItemStays(t *testing.T) {
	t.Parallel()
	for _, share := range []float64{0.9, 0.95} {
		p := pattern{name: "the newest items", units: 1020, sk: one(share, timestamp)}
		for seed := range uint64(3) {
			for seconds, v := range p.verdicts(0.2, seed+1, []int{60, 120}) {
				if v.Verdict == detect.SplitMoving {
					t.Errorf("an item with %g of the load moves after %d s: %+v", share, seconds, v)
				}
			}
		}
	}
}
