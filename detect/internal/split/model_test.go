package split_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/testsupport/progress"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
)

// partition is one of the model's, independent of the code under test: it serves
// 1,000 units a second, saves nothing up, and is split after two minutes of which each
// was asked for 90% or more of that.
type partition struct {
	from    string
	minute  []string // the sort keys of this minute's requests
	heated  int      // minutes of heat in a row
	second  float64  // units asked for in this second
	refused float64  // units since the last measurement
	asked   float64
}

// model is the partitions of one key.
type model struct {
	parts []*partition
	at    func(keys []string) string // where a partition is split
	each  float64                    // units of a request
}

// medianKey splits what a minute asked for in halves.
func medianKey(keys []string) string { return keys[len(keys)/2] }

// middleKey splits the range of keys in halves, as digits of 256.
func middleKey(keys []string) string {
	a, b := keys[0], keys[len(keys)-1]
	digit := func(s string, i int) float64 {
		if i < len(s) {
			return float64(s[i])
		}
		return 0
	}
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	half := []byte(a[:i])
	value := 0.0
	for d := range 6 {
		value += (digit(a, i+d) + digit(b, i+d)) / 2 * math.Pow(256, float64(-d))
	}
	for d := range 6 {
		whole := min(255, math.Floor(value/math.Pow(256, float64(-d))))
		half = append(half, byte(whole))
		value -= whole * math.Pow(256, float64(-d))
	}
	return string(half)
}

func (m *model) of(key string) *partition {
	i, found := slices.BinarySearchFunc(m.parts, key, func(p *partition, k string) int {
		if p.from <= k {
			return -1
		}
		return 1
	})
	if found || i > 0 {
		return m.parts[i-1]
	}
	return m.parts[0]
}

func (m *model) request(key string) {
	p := m.of(key)
	p.minute = append(p.minute, key)
	p.second += m.each
}

func (m *model) endSecond() {
	for _, p := range m.parts {
		p.asked += p.second
		p.refused += max(0, p.second-1000)
		p.second = 0
	}
}

func (m *model) endMinute() {
	var all []*partition
	for _, p := range m.parts {
		all = append(all, p)
		if float64(len(p.minute))*m.each/60 < 900 {
			p.heated = 0
		} else if p.heated++; p.heated >= 2 {
			keys := slices.Sorted(slices.Values(p.minute))
			at := m.at(keys)
			if at <= keys[0] {
				i := slices.IndexFunc(keys, func(k string) bool { return k > keys[0] })
				if i < 0 {
					p.minute = p.minute[:0]
					continue // one item
				}
				at = keys[i]
			}
			all = append(all, &partition{from: at})
			p.heated = 0
		}
		p.minute = p.minute[:0]
	}
	m.parts = all
}

// outcome is the load after a quarter of an hour: what the fullest partition is asked
// for in its last minutes, and the share that is refused.
type outcome struct{ fullest, refused float64 }

// run lets a pattern load the model for 18 minutes and measures the last three: the
// fullest partition of each second, on average.
func (p *pattern) run(seed uint64, at func([]string) string) (o outcome) {
	r := rand.New(rand.NewPCG(seed, uint64(len(p.name))))
	m := &model{parts: []*partition{{}}, at: at, each: 5}
	offset := r.Float64() * 600
	asked, refused, seconds := 0.0, 0.0, 0.0
	for second := range 18 * 60 {
		if p.isOn(second) {
			n := scenario.Poisson(r, p.units/m.each)
			for i := range n {
				t := float64(second) + (float64(i)+r.Float64())/float64(n)
				m.request(string(p.sk(r, offset+t).AppendOrder(nil)))
			}
		}
		if second >= 15*60 && p.isOn(second) {
			most := 0.0
			for _, of := range m.parts {
				most = max(most, of.second)
			}
			o.fullest += most
			seconds++
		}
		m.endSecond()
		if second%60 == 59 {
			m.endMinute()
		}
		if second == 15*60-1 {
			for _, of := range m.parts {
				of.asked, of.refused = 0, 0
			}
		}
	}
	for _, of := range m.parts {
		asked, refused = asked+of.asked, refused+of.refused
	}
	return outcome{o.fullest / seconds, refused / asked}
}

// refusedAtMost is the share of refused load that a key may have which has healed: a
// partition of 900 units has seconds of more.
const refusedAtMost = 0.03

func (o outcome) healed() bool { return o.refused <= refusedAtMost }

// modelled is a pattern with the verdict after two minutes, and what the model makes of it.
type modelled struct {
	pattern
	seed               uint64
	v                  detect.Split
	byMedian, byMiddle outcome
}

// run fills in the verdict and the outcomes.
func (m *modelled) run() {
	m.v = m.verdicts(1, m.seed, []int{120})[120]
	m.byMedian, m.byMiddle = m.pattern.run(m.seed, medianKey), m.pattern.run(m.seed, middleKey)
}

// modelledPatterns are all patterns, with three loads if there is more than one seed.
func modelledPatterns() (all []modelled) {
	scales := []float64{1}
	if *evalSeeds > 1 {
		scales = append(scales, 1.6, 2.5)
	}
	for i, p := range append(slices.Clone(patterns), queue(90, 1300), queue(180, 1300), queue(600, 1300)) {
		if testing.Short() && i%3 > 0 {
			continue // make eval and make test-full run every pattern
		}
		for _, scale := range scales {
			for seed := range *evalSeeds {
				m := modelled{pattern: p, seed: uint64(seed) + 1}
				m.units *= scale
				all = append(all, m)
			}
		}
	}
	return all
}

// TestEvaluationOfSplitsAgainstAModel holds the verdict after two minutes against what
// a partition that splits for heat does in a quarter of an hour, for both plausible
// split points.
func TestEvaluationOfSplitsAgainstAModel(t *testing.T) {
	t.Parallel()
	all := modelledPatterns()
	finish := progress.Count(t, len(all))
	t.Run("patterns", func(t *testing.T) {
		for i := range all {
			t.Run(fmt.Sprintf("%s at %.0f, seed %d", all[i].name, all[i].units, all[i].seed), func(t *testing.T) {
				t.Parallel()
				all[i].run()
				finish()
			})
		}
	})
	out := table.NewWriter()
	out.AppendHeader(table.Row{"pattern", "load", "verdict", "residual", "by median", "by middle", "refused", "by median", "by middle"})
	bursts, burstsRight, ill, near := 0, 0, 0, 0
	for i := range all {
		p := &all[i]
		v, byMedian, byMiddle := p.v, p.byMedian, p.byMiddle
		out.AppendRow(table.Row{p.name, fmt.Sprintf("%.0f", p.units), v.Verdict, fmt.Sprintf("%.0f", v.Residual), fmt.Sprintf("%.0f", byMedian.fullest), fmt.Sprintf("%.0f", byMiddle.fullest),
			fmt.Sprintf("%.0f%%", 100*v.Refused), fmt.Sprintf("%.0f%%", 100*byMedian.refused), fmt.Sprintf("%.0f%%", 100*byMiddle.refused)})
		healed := byMedian.healed()
		switch {
		case v.Verdict == detect.SplitUnknown:
		case healed != byMiddle.healed():
			t.Errorf("%s at %.0f is %s where the models disagree", p.name, p.units, v.Verdict)
		case v.Verdict == detect.SplitBursts:
			bursts++
			if !healed {
				burstsRight++
			}
		case healed != (v.Verdict == detect.SplitHelps):
			t.Errorf("%s at %.0f is %+v, the model %+v and %+v", p.name, p.units, v, byMedian, byMiddle)
		case !healed:
			ill++
			if math.Abs(v.Residual-byMedian.fullest) <= 0.1*byMedian.fullest {
				near++
			}
		}
	}
	out.AppendFooter(table.Row{"", "", "", fmt.Sprintf("%d of %d within 10%%", near, ill)})
	if ill == 0 || float64(near) < 0.95*float64(ill) {
		t.Errorf("of %d that do not heal the residual of %d is within 10%%", ill, near)
	}
	if bursts > 0 && burstsRight < bursts {
		t.Errorf("%d of %d bursts do not heal", burstsRight, bursts)
	}
	if testing.Verbose() {
		out.SetStyle(table.StyleLight)
		fmt.Printf("\nVerdicts after two minutes against a partition that splits for heat\n%s\n", out.Render())
	}
}
