package fixes

import (
	"slices"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/testsupport/hostile"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/shardkey"
)

// hostileCases is how many cases are drawn: each fix applies to several of so many.
const hostileCases = 4_000

// TestNoFixShowsATextRaw draws cases at random of which every text is an attack, until each
// fix of the ledger has applied: a fix that is added is among them.
func TestNoFixShowsATextRaw(t *testing.T) {
	t.Parallel()
	m := hostile.New(1)
	applied, a := make([]int, len(ledger)), New()
	kinds := []detect.Kind{detect.HotKeyWrite, detect.HotKeyRead, detect.HotGSIKey}
	for n := range hostileCases {
		c := hostileCase(m, kinds[n%len(kinds)])
		for i := range ledger {
			found, applies := ledger[i].find(a, c)
			if !applies {
				continue
			}
			applied[i]++
			steps := append(found.with, detect.Step{Text: found.text, Basis: found.basis, Capacity: c.needs(&ledger[i], &found)})
			if found.then != nil {
				for _, action := range []string{detect.ActionShard, detect.ActionSplit} {
					steps = append(steps, detect.Step{Text: found.then(action)})
				}
			}
			checkInert(t, ledger[i].action, steps)
		}
		checkInert(t, "remarks", remarks(c))
		checkInert(t, "a large item", []detect.Step{LargeItem(c.Finding)})
		if step, storms := ForStorm(c.Finding); storms {
			checkInert(t, "a storm", []detect.Step{step})
		}
	}
	for i, n := range applied {
		if n == 0 {
			t.Errorf("fix %d, %s under %s, applied to no case: draw more, or cases that it is for", i, ledger[i].action, ledger[i].guide)
		}
	}
}

// checkInert holds sentences of steps to one line each, without anything that does more than
// to be read.
func checkInert(t *testing.T, what string, steps []detect.Step) {
	t.Helper()
	for _, s := range steps {
		for _, text := range []string{s.Text, s.Basis, s.Capacity} {
			if wrong := hostile.FaultOfSentence(text); wrong != "" {
				t.Fatalf("%s lets %s through: %q", what, wrong, text)
			}
		}
	}
}

func hostileCase(m *hostile.Maker, k detect.Kind) *Case {
	f := m.Finding(k)
	f.Severity = detect.Critical
	if m.Odds(3) {
		f.Severity, f.Combined, f.Utilization = detect.Info, 1.4, 0.9
	}
	if m.Odds(4) {
		f.Reason, f.SaturatedSeconds, f.Utilization = detect.Splittable, 0, 1.2
	}
	c := &Case{Finding: &f, Load: detect.Milli(min(5000, m.Number())), Policy: detect.DefaultPolicy(), FewValues: m.Odds(4), TargetRCU: m.Number(), Callers: map[string]float64{}}
	f.Shards = detect.Shards(c.Load, detect.Limit(k), c.Policy.Headroom)
	f.Peak.WCU.Value, f.Peak.RCU.Value = detect.Units(c.Load), detect.Units(c.Load)
	if m.Odds(2) {
		f.Rolling = nil
	}
	if e := f.Evidence; e != nil {
		e.Records *= 10
		for _, p := range e.Callers {
			c.Callers[p.Text] = 0.1 * m.Number()
		}
		if k == detect.HotGSIKey && m.Odds(2) {
			f.Mean.RCU = detect.Figure{}
		}
	}
	if !m.Odds(3) {
		f.Quality.CannotSee = slices.DeleteFunc(f.Quality.CannotSee, func(blind string) bool { return blind == detect.BlindSeconds })
	}
	if m.Odds(3) {
		c.Facts = &detect.TableFacts{LSIs: []string{m.Text()}, KeySchema: sample.Keys("pk")}
	}
	if m.Odds(4) {
		form := shardkey.HashShardDash()
		c.Policy.Suffix = &form
	}
	return c
}
