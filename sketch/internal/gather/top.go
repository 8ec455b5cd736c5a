package gather

import (
	"cmp"
	"slices"
)

// Top lists the largest texts of many, by weight in thousandths: 3·write + read.
type Top struct {
	// Entries are ordered by Hash.
	Entries []Entry
	// Missing is the most weight that any text, listed or not, has beyond its Weight.
	Missing uint64
}

// Entry is one text of a Top.
type Entry struct {
	// Hash identifies Text. Of a long text only the beginning is kept.
	Hash uint64
	Text string
	// Weight is a lower bound.
	Weight uint64
}

// Largest returns the entry with the largest weight, or false without entries.
func (t Top) Largest() (most Entry, ok bool) {
	for _, e := range t.Entries {
		if !ok || e.Weight > most.Weight || e.Weight == most.Weight && e.Text < most.Text {
			most, ok = e, true
		}
	}
	return most, ok
}

// Union returns the union. It drops nothing, so the order does not matter.
func (t Top) Union(o Top) Top {
	sum := Top{Missing: t.Missing + o.Missing}
	if len(t.Entries)+len(o.Entries) > 0 {
		sum.Entries = make([]Entry, 0, len(t.Entries)+len(o.Entries))
	}
	a, b := t.Entries, o.Entries
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].Hash < b[0].Hash:
			sum.Entries, a = append(sum.Entries, a[0]), a[1:]
		case len(a) == 0 || b[0].Hash < a[0].Hash:
			sum.Entries, b = append(sum.Entries, b[0]), b[1:]
		default:
			e := a[0]
			e.Weight += b[0].Weight
			sum.Entries, a, b = append(sum.Entries, e), a[1:], b[1:]
		}
	}
	return sum
}

// callersSummed is the most callers that a sum of many seconds keeps.
const callersSummed = 64

// Plus returns the sum of two Tops over time, of at most 64 texts.
func (t Top) Plus(o Top) Top { return t.Union(o).Cut(callersSummed) }

// Cut keeps the n largest. Missing rises by the largest weight that it drops.
func (t Top) Cut(n int) Top {
	if len(t.Entries) <= n {
		return t
	}
	kept := slices.Clone(t.Entries)
	slices.SortFunc(kept, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Hash, b.Hash))
	})
	missing := t.Missing + kept[n].Weight
	kept = slices.Clip(kept[:n])
	slices.SortFunc(kept, func(a, b Entry) int { return cmp.Compare(a.Hash, b.Hash) })
	return Top{Entries: kept, Missing: missing}
}

// Texts is a summary that keeps only weights.
type Texts = HeavyTexts[struct{}]

// TopOf returns the texts of a summary in memory of its own.
func TopOf(h *Texts) Top {
	t := Top{Missing: h.Missing}
	for i := range h.Places {
		p := &h.Places[i]
		t.Entries = append(t.Entries, Entry{Hash: p.Hash, Text: string(p.Text), Weight: p.Weight})
	}
	slices.SortFunc(t.Entries, func(a, b Entry) int { return cmp.Compare(a.Hash, b.Hash) })
	return t
}
