package keypolicy

import (
	"slices"
	"strings"

	"github.com/keyheat/keyheat/sketch"
)

// forget removes a key from a second, and reports whether it was there. The key's load
// becomes the load of unlisted keys. It also leaves the sort keys, callers and attributes
// of other keys. Totals and the bounds of other keys stay.
func (e *Eraser) forget(w *sketch.Window) (was bool) {
	kept := w.Keys[:0]
	for _, k := range w.Keys {
		if e.names(k.Key.Text, k.Cut) {
			high := k.High()
			w.Unseen = sketch.Load{Read: max(w.Unseen.Read, high.Read), Write: max(w.Unseen.Write, high.Write)}
			was = true
			continue
		}
		was = e.forgetEvidence(&k) || was
		kept = append(kept, k)
	}
	w.Keys = kept
	return e.forgetEntries(&w.Callers, &w.Scanners) || was
}

// forgetEvidence removes the key from another key's sort keys, with the places of its items,
// from its callers and from its attributes.
func (e *Eraser) forgetEvidence(k *sketch.KeyLoad) (was bool) {
	if of := k.Evidence; of != nil {
		places := len(of.Places)
		of.Places = slices.DeleteFunc(of.Places, func(p sketch.Place) bool { return e.isPlace(p.Order) })
		was = e.forgetEntries(&of.Items, &of.Callers, &of.Attributes, &of.RefusedCallers) || len(of.Places) < places
		was = e.forgetContention(of.Contention) || was
	}
	if r := k.Retries; r != nil { // a caller's calls are then among the others'
		callers := len(r.Callers)
		r.Callers = slices.DeleteFunc(r.Callers, func(c sketch.CallerRetries) bool { return e.isEntry(c.Text) })
		was = was || len(r.Callers) < callers
	}
	return was
}

// forgetContention removes the key from another key's contended items and their callers. A
// contended item becomes one that is not listed.
func (e *Eraser) forgetContention(c *sketch.Contention) (was bool) {
	if c == nil {
		return false
	}
	items := len(c.Items)
	c.Items = slices.DeleteFunc(c.Items, func(i sketch.Contended) bool {
		if !e.isEntry(i.Text) {
			return false
		}
		c.Missing = max(c.Missing, uint64(i.Lost()))
		return true
	})
	was = len(c.Items) < items
	for i := range c.Items {
		was = e.forgetEntries(&c.Items[i].Losers, &c.Items[i].Writers) || was
	}
	return was
}

// forgetEntries removes the key from Tops: it becomes one of the texts that they do not list.
func (e *Eraser) forgetEntries(tops ...*sketch.Top) (was bool) {
	for _, t := range tops {
		entries, missing := len(t.Entries), t.Missing
		t.Entries = slices.DeleteFunc(t.Entries, func(entry sketch.Entry) bool {
			if !e.isEntry(entry.Text) {
				return false
			}
			t.Missing = max(t.Missing, entry.Weight+missing)
			return true
		})
		was = was || len(t.Entries) < entries
	}
	return was
}

// isEntry reports whether a kept text may be the key: long texts are stored without their
// end.
func (e *Eraser) isEntry(kept string) bool { return e.names(kept, len(kept) >= sketch.EntryText) }

// isPlace reports whether a place may be the key's, whose bytes there are as DynamoDB sorts.
func (e *Eraser) isPlace(order string) bool {
	return e.isEntry(order) || slices.ContainsFunc(e.orders, func(own string) bool {
		return order == own || len(order) >= sketch.EntryText && strings.HasPrefix(own, order)
	})
}
