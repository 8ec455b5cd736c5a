package episode

import (
	"testing"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// TestMarking holds that only callers that have marked a refusal show that nothing is
// refused.
func TestMarking(t *testing.T) {
	t.Parallel()
	callers := func(weights ...uint64) (all sketch.Top) {
		for hash, weight := range weights {
			if weight > 0 {
				all.Entries = append(all.Entries, sketch.Entry{Hash: uint64(hash + 1), Weight: weight})
			}
		}
		return all
	}
	const throttled = sample.Milli(1000)
	var m marking
	for _, step := range []struct {
		says           string
		asked, refused sketch.Top
		throttled      sample.Milli
		want           float64
	}{
		{"nobody has marked any", callers(60, 40), sketch.Top{}, 0, 0},
		{"one of two callers marks one", callers(60, 40), callers(1), throttled, 0.6},
		{"it is known for it", callers(75, 25), sketch.Top{}, 0, 0.75},
		{"no caller is named: as in the last second", sketch.Top{}, sketch.Top{}, 0, 0.75},
		{"the other one marks one, too", callers(60, 40), callers(0, 1), throttled, 1},
		{"a new caller does not", callers(20, 20, 60), sketch.Top{}, 0, 0.4},
	} {
		k := &sketch.KeyLoad{Throttled: sketch.Load{Write: step.throttled}, Evidence: &sketch.Evidence{Callers: step.asked, RefusedCallers: step.refused}}
		if got := m.observe(k); got != step.want {
			t.Errorf("%s: %v, want %v", step.says, got, step.want)
		}
	}
	if got := m.observe(&sketch.KeyLoad{}); got != 0 {
		t.Errorf("without evidence: %v", got)
	}
}

// TestMarkingWithoutCallers is for requests that name no caller.
func TestMarkingWithoutCallers(t *testing.T) {
	t.Parallel()
	var m marking
	calm := &sketch.KeyLoad{Evidence: &sketch.Evidence{}}
	if got := m.observe(calm); got != 0 {
		t.Errorf("before a refusal: %v", got)
	}
	m.observe(&sketch.KeyLoad{Throttled: sketch.Load{Write: 1000}, Evidence: &sketch.Evidence{}})
	if got := m.observe(calm); got != 1 {
		t.Errorf("after one: %v", got)
	}
	for hash := range uint64(2 * maxMarking) {
		m.add(hash)
	}
	if len(m.callers) != maxMarking {
		t.Errorf("%d callers are kept", len(m.callers))
	}
}
