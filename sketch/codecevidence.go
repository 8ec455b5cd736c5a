package sketch

import (
	"encoding/binary"
	"math"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch/internal/gather"
)

// The smallest encoded sizes of parts, in bytes, as in codec.go.
const (
	entryLeast    = 8 + 1 + 1
	opLoadLeast   = 1 + 1 + 2
	callerLeast   = 8 + 1 + 4
	placeLeast    = 4 + 1 + 1
	producerLeast = 8 + 1
	binLeast      = 1 + 1 + 1

	contendedLeast = 8 + 1 + 1 + 8 + 1 + 4*8 + 2*2
)

func (w *writer) evidence(e *Evidence) {
	w.natural(e.Records)
	w.load(e.Load)
	w.arrivals(e.Arrivals)
	w.count(len(e.Ops))
	for _, o := range e.Ops {
		w.uint(uint64(o.Op))
		w.natural(o.Requests)
		w.load(o.Load)
	}
	w.writeRefused(e.Refused)
	w.amount(e.Strong)
	w.natural(e.Sorted)
	if e.Sorted > 0 {
		w.bytes = append(w.bytes, e.SortKeys[:]...)
	}
	w.natural(e.Rises)
	w.natural(e.Falls)
	w.top(e.Items)
	w.top(e.Callers)
	w.top(e.Attributes)
	w.natural(e.Sized)
	w.natural(e.Bytes)
	w.natural(e.Edited)
	w.natural(e.ItemBytes)
	w.natural(e.ChangedBytes)
	w.int(e.GrownBytes)
	w.natural(e.Seen)
	w.places(e.Places)
	w.top(e.RefusedCallers)
	if w.version >= 4 {
		w.contention(e.Contention)
	}
}

func (w *writer) contention(c *Contention) {
	w.uint(flag(c != nil))
	if c == nil {
		return
	}
	w.uint(c.Missing)
	w.natural(c.Others)
	w.count(len(c.Items))
	for i := range c.Items {
		item := &c.Items[i]
		w.writeFixed(item.Hash)
		w.text(item.Text)
		w.natural(item.Before)
		for _, n := range amounts(item) {
			w.natural(*n)
		}
		w.amount(item.Units)
		w.writeSpread(item.LostSpread)
		w.writeSpread(item.TriedSpread)
		w.top(item.Losers)
		w.top(item.Writers)
	}
}

// amounts are an item's attempts and calls, in the order of the binary form.
func amounts(c *Contended) [8]*int64 {
	return [...]*int64{&c.Attempts, &c.Calls, &c.Conflicts, &c.Conditions, &c.Retried, &c.Failed, &c.Updates, &c.Transactions}
}

func (w *writer) arrivals(a Arrivals) {
	w.natural(int64(a.Flushed))
	w.uint(a.FlushedAt<<1 | flag(a.Fractions))
	w.count(len(a.Producers))
	for _, p := range a.Producers {
		w.writeFixed(p.Caller)
		w.count(len(p.Bins))
		for _, b := range p.Bins {
			w.bytes = append(w.bytes, b.At)
			w.uint(b.Weight)
			w.uint(uint64(b.Calls))
		}
	}
}

func (w *writer) retries(t *Retries) {
	if t == nil {
		return
	}
	sampled := t.WaitedVariance != 0 || t.WaitedLargest != 0 || t.FailedVariance != 0 || t.FailedLargest != 0
	w.uint(flag(sampled))
	w.writeSent(t.Sent)
	w.natural(t.Untold)
	if sampled {
		w.writeSpread(Spread{Variance: t.WaitedVariance, Largest: t.WaitedLargest})
		w.writeSpread(Spread{Variance: t.FailedVariance, Largest: t.FailedLargest})
	}
	w.count(len(t.Callers))
	for _, c := range t.Callers {
		w.writeFixed(c.Hash)
		w.text(c.Text)
		w.writeSent(c.Sent)
	}
}

func (w *writer) writeSent(s sample.Sent) {
	w.natural(s.Calls)
	w.natural(s.Attempts)
	w.natural(s.Failed)
	w.natural(s.Waited)
}

func (w *writer) places(all []Place) {
	w.count(len(all))
	for _, p := range all {
		w.bytes = binary.LittleEndian.AppendUint32(w.bytes, math.Float32bits(p.Priority))
		w.uint(p.Weight<<1 | flag(p.Write))
		w.text(p.Order)
	}
}

func (w *writer) writeRefused(counts [sample.ThrottleReasons]int64) {
	for _, n := range counts {
		w.natural(n)
	}
}

func (w *writer) top(t Top) {
	w.uint(t.Missing)
	w.count(len(t.Entries))
	for _, e := range t.Entries {
		w.writeFixed(e.Hash)
		w.text(e.Text)
		w.uint(e.Weight)
	}
}

func (r *reader) evidence() *Evidence {
	e := &Evidence{Records: r.natural(), Load: r.load(), Arrivals: r.arrivals()}
	for n := r.length(opLoadLeast); n > 0 && r.ok(); n-- {
		op := r.natural()
		if op > int64(sample.ExecuteTransaction) || len(e.Ops) > 0 && sample.Op(op) <= e.Ops[len(e.Ops)-1].Op {
			r.fail()
			break
		}
		e.Ops = append(e.Ops, OpLoad{Op: sample.Op(op), Requests: r.natural(), Load: r.load()})
	}
	e.Refused = r.readRefused()
	e.Strong = sample.Milli(r.natural())
	if e.Sorted = r.natural(); e.Sorted > 0 {
		e.SortKeys = r.distinct()
	}
	e.Rises, e.Falls = r.natural(), r.natural()
	e.Items, e.Callers, e.Attributes = r.top(), r.top(), r.top()
	e.Sized, e.Bytes = r.natural(), r.natural()
	e.Edited, e.ItemBytes, e.ChangedBytes = r.natural(), r.natural(), r.natural()
	e.GrownBytes = r.int()
	e.Seen, e.Places, e.RefusedCallers = r.natural(), r.places(), r.top()
	if r.version >= 4 && r.natural() != 0 {
		e.Contention = r.contention()
	}
	return e
}

func (r *reader) contention() *Contention {
	c := &Contention{Missing: r.uint(), Others: r.natural()}
	for n := r.length(contendedLeast); n > 0 && r.ok(); n-- {
		item := Contended{Hash: r.readFixed(), Text: r.text(), Before: r.natural()}
		for _, amount := range amounts(&item) {
			*amount = r.natural()
		}
		item.Units = sample.Milli(r.natural())
		item.LostSpread, item.TriedSpread = r.readSpread(), r.readSpread()
		item.Losers, item.Writers = r.top(), r.top()
		if len(c.Items) > 0 && item.Hash <= c.Items[len(c.Items)-1].Hash { // out of order: merging would go wrong
			r.fail()
		}
		c.Items = append(c.Items, item)
	}
	return c
}

func (r *reader) arrivals() Arrivals {
	a := Arrivals{Flushed: uint64(r.natural())}
	at := r.uint()
	a.FlushedAt, a.Fractions = at>>1, at&1 == 1
	for n := r.length(producerLeast); n > 0 && r.ok(); n-- {
		p := gather.Producer{Caller: r.readFixed()}
		if len(a.Producers) > 0 && p.Caller <= a.Producers[len(a.Producers)-1].Caller { // out of order: merging would go wrong
			r.fail()
		}
		for bins := r.length(binLeast); bins > 0 && r.ok(); bins-- {
			at := r.take(1)
			b := gather.Bin{Weight: r.uint(), Calls: uint16(min(r.uint(), gather.MaxCalls))}
			if !r.ok() || at[0] >= gather.Count || len(p.Bins) > 0 && at[0] <= p.Bins[len(p.Bins)-1].At {
				r.fail()
				break
			}
			b.At = at[0]
			p.Bins = append(p.Bins, b)
		}
		a.Producers = append(a.Producers, p)
	}
	return a
}

func (r *reader) retries() *Retries {
	sampled := r.natural()
	t := &Retries{Sent: r.readSent(), Untold: r.natural()}
	if sampled != 0 {
		t.WaitedVariance, t.WaitedLargest = r.positive(), r.positive()
		t.FailedVariance, t.FailedLargest = r.positive(), r.positive()
	}
	for n := r.length(callerLeast); n > 0 && r.ok(); n-- {
		c := CallerRetries{Hash: r.readFixed(), Text: r.text(), Sent: r.readSent()}
		if len(t.Callers) > 0 && c.Hash <= t.Callers[len(t.Callers)-1].Hash { // out of order: merging would go wrong
			r.fail()
		}
		t.Callers = append(t.Callers, c)
	}
	return t
}

func (r *reader) readSent() sample.Sent {
	return sample.Sent{Calls: r.natural(), Attempts: r.natural(), Failed: r.natural(), Waited: r.natural()}
}

func (r *reader) distinct() (d Distinct) {
	copy(d[:], r.take(len(d)))
	for _, rank := range d {
		if rank > 64-gather.DistinctBits+1 {
			r.fail()
		}
	}
	return d
}

func (r *reader) places() (all []Place) {
	for n := r.length(placeLeast); n > 0 && r.ok(); n-- {
		bits := r.take(4)
		weight, order := r.uint(), r.text()
		if !r.ok() {
			break
		}
		p := Place{Priority: math.Float32frombits(binary.LittleEndian.Uint32(bits)), Weight: weight >> 1, Write: weight&1 == 1, Order: order}
		if !(p.Priority > 0) || math.IsInf(float64(p.Priority), 0) || len(all) > 0 && p.Priority > all[len(all)-1].Priority {
			r.fail() // out of order: merging would go wrong
		}
		all = append(all, p)
	}
	return all
}

func (r *reader) readRefused() (counts [sample.ThrottleReasons]int64) {
	for c := range counts {
		counts[c] = r.natural()
	}
	return counts
}

func (r *reader) top() Top {
	t := Top{Missing: r.uint()}
	for n := r.length(entryLeast); n > 0 && r.ok(); n-- {
		e := Entry{Hash: r.readFixed(), Text: r.text(), Weight: r.uint()}
		if len(t.Entries) > 0 && e.Hash <= t.Entries[len(t.Entries)-1].Hash { // out of order: merging would go wrong
			r.fail()
		}
		t.Entries = append(t.Entries, e)
	}
	return t
}
