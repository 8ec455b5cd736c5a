package keypolicy

import (
	"slices"
	"strings"

	"github.com/keyheat/keyheat/sketch"
)

// forget removes a key from a second, and reports whether it was there. The key's load
// becomes the load of unlisted keys. It also leaves the sort keys, callers and attributes
// of other keys. Totals and the bounds of other keys stay.
func (keys *Eraser) forget(w *sketch.Window) (was bool) {
	kept := make([]sketch.KeyLoad, 0, len(w.Keys))
	for _, k := range w.Keys {
		if keys.is(k.Key, k.Cut) {
			high := k.High()
			w.Unseen = sketch.Load{Read: max(w.Unseen.Read, high.Read), Write: max(w.Unseen.Write, high.Write)}
			was = true
			continue
		}
		e, changed := keys.eraseEvidence(k.Evidence)
		r, resent := keys.withoutCallers(k.Retries)
		k.Evidence, k.Retries = e, r
		was = was || changed || resent
		kept = append(kept, k)
	}
	w.Keys = kept
	for _, top := range []*sketch.Top{&w.Callers, &w.Scanners} {
		rest, changed := keys.withoutEntries(*top)
		*top, was = rest, was || changed
	}
	return was
}

// eraseEvidence returns evidence without the key as a sort key, with the places of its items,
// as a caller and as an attribute.
func (keys *Eraser) eraseEvidence(e *sketch.Evidence) (*sketch.Evidence, bool) {
	if e == nil {
		return nil, false
	}
	kept, was := *e, false
	for _, top := range []*sketch.Top{&kept.Items, &kept.Callers, &kept.Attributes, &kept.RefusedCallers} {
		var in bool
		*top, in = keys.withoutEntries(*top)
		was = was || in
	}
	kept.Places = slices.DeleteFunc(slices.Clone(e.Places), func(p sketch.Place) bool { return keys.place(p.Order) })
	return &kept, was || len(kept.Places) < len(e.Places)
}

// withoutEntries returns a Top without the key: it is one of the texts that the Top does
// not list.
func (keys *Eraser) withoutEntries(t sketch.Top) (sketch.Top, bool) {
	kept := sketch.Top{Missing: t.Missing}
	kept.Entries = slices.DeleteFunc(slices.Clone(t.Entries), func(entry sketch.Entry) bool {
		if !keys.entry(entry.Text) {
			return false
		}
		kept.Missing = max(kept.Missing, entry.Weight+t.Missing)
		return true
	})
	return kept, len(kept.Entries) < len(t.Entries)
}

// withoutCallers returns how a key's calls were sent without the key as a caller, whose
// calls are among the others'.
func (keys *Eraser) withoutCallers(r *sketch.Retries) (*sketch.Retries, bool) {
	if r == nil {
		return nil, false
	}
	kept := *r
	kept.Callers = slices.DeleteFunc(slices.Clone(r.Callers), func(c sketch.CallerRetries) bool { return keys.entry(c.Text) })
	return &kept, len(kept.Callers) < len(r.Callers)
}

// entry reports whether a kept text may be the key: long texts are stored without their
// end.
func (keys *Eraser) entry(kept string) bool { return keys.text(kept, len(kept) >= sketch.EntryText) }

// place reports whether a place may be the key's, whose bytes there are as DynamoDB
// sorts.
func (keys *Eraser) place(order string) bool {
	for _, key := range keys.keys {
		own := string(key.AppendOrder(nil))
		if order == own || len(order) >= sketch.EntryText && strings.HasPrefix(own, order) {
			return true
		}
	}
	return keys.entry(order)
}
