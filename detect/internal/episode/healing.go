package episode

import (
	"math"
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/sketch"
)

// healing follows what a key's partitions refuse and serve. Once they have refused some of
// its requests, they serve more than one partition's limit only after a split. The zero
// value is ready.
type healing struct {
	// refused is the newest second with a refusal, 0 for none; again lists seconds that
	// speak against a split, the newest first.
	refused int64
	again   [detect.FireSeconds]int64
	// seconds counts complete seconds without a refusal, units the load served in them to
	// callers that mark refusals. through is the last second that they cover.
	seconds, through int64
	units            float64
	spread           sketch.Spread
	// healed is set once the split is certain: then is what showed it.
	healed bool
	then   detect.Healed
}

// servedSecond is a second of a key: the units served in it, the part of them whose callers
// mark refusals, and whether the key's partition refused any.
type servedSecond struct {
	second        int64
	units, marked float64
	refused       bool
	sampled       sampling.Second
}

// observe records the next second. It reports whether a healed key is refused again.
func (h *healing) observe(s servedSecond, k detect.Subject, t Timeline) (relapsed bool) {
	if s.second > t.Settled {
		return false // a late refusal may follow
	}
	before := h.through
	h.through = s.second
	limit := detect.SaturatedTo * detect.Units(detect.Limit(k))
	if s.refused || s.units*(1-s.marked) > limit {
		if s.refused {
			h.refused, h.seconds, h.units, h.spread = s.second, 0, 0, sketch.Spread{}
		}
		if relapsed = pushWithin(h.again[:], s.second, detect.FireOf) && h.healed; relapsed {
			h.healed = false
		}
		return relapsed
	}
	if h.refused == 0 || !t.WasSeen(s.second) {
		return false
	}
	h.seconds += max(1, t.CompleteSeconds(before, s.second))
	h.units += s.units * s.marked
	h.spread.Variance += (s.sampled.Spread.Variance + s.sampled.Whole) * s.marked * s.marked
	h.spread.Largest = max(h.spread.Largest, s.sampled.Spread.Largest)
	switch needed := limit * float64(h.seconds); {
	case h.units <= needed: // one partition may have served it: begin anew
		h.seconds, h.units, h.spread = 0, 0, sketch.Spread{}
	case h.seconds >= detect.HealedSeconds && !h.healed && h.isProven(needed):
		h.healed, h.then = true, detect.Healed{Since: detect.TimeOf(h.refused + 1), Load: h.units / float64(h.seconds)}
	case h.healed:
		h.then.Since = detect.TimeOf(h.refused + 1)
	}
	return false
}

// isProven reports whether more than the needed units were served for certain, and whether
// samples would have shown some of the refusals otherwise.
func (h *healing) isProven(needed float64) bool {
	proven := sampling.NewAmounts(detect.Milli(h.units), 0, h.spread).Proven
	each := h.spread.Variance / h.units // about the units that one sampled request stands for
	return detect.Units(proven) > needed && h.units-needed >= -math.Log(detect.DecideTail)*each
}

// maxMarking is the most callers of a key that are known to mark refusals.
const maxMarking = 64

// marking holds the callers of a key that have marked refusals, by hash. The hash 0 stands
// for requests without a caller.
type marking struct {
	callers []uint64
	part    float64 // of the last second with a known caller
}

// observe adds the callers that mark refusals in a second, and returns the part of its load
// that such callers request. Only they show that nothing is refused.
func (m *marking) observe(k *sketch.KeyLoad) (part float64) {
	e := k.Evidence
	if e == nil {
		return 0
	}
	if len(e.RefusedCallers.Entries) == 0 && detect.Weight(k.Throttled) > 0 {
		m.add(0)
	}
	for _, c := range e.RefusedCallers.Entries {
		m.add(c.Hash)
	}
	if len(m.callers) == 0 {
		return 0
	}
	marked, all := uint64(0), uint64(0)
	for _, c := range e.Callers.Entries {
		all += c.Weight
		if slices.Contains(m.callers, c.Hash) {
			marked += c.Weight
		}
	}
	switch {
	case all > 0:
		m.part = detect.Ratio(float64(marked), float64(all))
	case e.Callers.Missing == 0 && slices.Contains(m.callers, 0): // requests name no caller
		m.part = 1
	}
	return m.part
}

func (m *marking) add(caller uint64) {
	if len(m.callers) < maxMarking && !slices.Contains(m.callers, caller) {
		m.callers = append(m.callers, caller)
	}
}
