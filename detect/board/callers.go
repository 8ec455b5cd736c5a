package board

import (
	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sketch"
)

// callersKept is how many seconds of event time the callers of requests without a key are
// kept, and up to as many more.
const callersKept = 600

// tableCallers are the recent callers of a table or index that requests without a key named.
type tableCallers struct {
	since       int64 // event time at which now began; 0 before the first second
	now, before sketch.CallerLoad
}

// age returns for how long now lasts.
func (t *tableCallers) age(newest int64) int64 {
	if t.since == 0 {
		t.since = newest
	}
	return newest - t.since
}

// ObserveCallers adds callers of requests without a key. Findings about keys whose requests
// name no caller show them.
func (b *Board) ObserveCallers(c sketch.CallerLoad) {
	t := b.callers[c.Target]
	if t == nil {
		t = &tableCallers{}
		b.callers[c.Target] = t
	}
	if age := t.age(b.newest); age >= callersKept {
		t.before, t.now, t.since = t.now, sketch.CallerLoad{}, b.newest
		if age >= 2*callersKept {
			t.before = sketch.CallerLoad{}
		}
	}
	t.now = t.now.Plus(c)
}

// forgetCallers forgets callers of long ago.
func (b *Board) forgetCallers() {
	for target, t := range b.callers {
		if t.age(b.newest) >= 2*callersKept {
			delete(b.callers, target)
		}
	}
}

// nameTableCallers gives findings whose requests name no caller the callers of their table.
func (b *Board) nameTableCallers(found []detect.Finding) {
	for i := range found {
		f := &found[i]
		if e := f.Evidence; len(b.callers) == 0 || f.Subject.OfPipeline() || e != nil && len(e.Callers) > 0 {
			continue
		}
		f.TableCallers = b.callersOfTable(f.Target, f.InReads())
	}
}

// callersOfTable returns the shares of a table's readers or writers, the busiest first. Writes to
// an index are the writes to its table.
func (b *Board) callersOfTable(target detect.Target, reads bool) []detect.Part {
	if !reads {
		target.Index = ""
	}
	var sum sketch.Top
	for other, t := range b.callers {
		if !other.MayBe(target) || t.age(b.newest) >= 2*callersKept {
			continue
		}
		for _, c := range []sketch.CallerLoad{t.before, t.now} {
			if reads {
				sum = sum.Plus(c.Readers)
			} else {
				sum = sum.Plus(c.Writers)
			}
		}
	}
	total := sum.Missing
	for _, e := range sum.Entries {
		total += e.Weight
	}
	all := detect.PartsOf(sum, float64(total))
	return all[:min(len(all), tableCallersShown)]
}

// tableCallersShown is the most callers of a table that a finding shows.
const tableCallersShown = 8
