package throttling

import (
	"cmp"
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

const (
	// refusedSeconds is the time whose throttled keys are kept, in seconds.
	refusedSeconds = 60
	// refusedEach is the most keys that a second keeps.
	refusedEach = 16
)

// Refused keeps the keys with the most throttled load of a table or index, for the last
// minute with throttled requests. The zero value is ready.
type Refused []refusedSecond // by second

type refusedSecond struct {
	at  int64
	all sketch.Load // of all keys
	// requests counts the throttled requests of all keys.
	requests int64
	keys     []refusedKey
	// callers are the callers of the throttled load of all keys.
	callers sketch.Top
	// missing is the most throttled load that any other key can have.
	missing sketch.Load
}

type refusedKey struct {
	hash      uint64
	key       sample.Key
	throttled sketch.Load
	high      sketch.Load
	read      sketch.Spread
	write     sketch.Spread
	callers   sketch.Top
	requests  int64
}

// compare orders keys by their throttled load, and by their throttled requests if that has no
// units.
func (k *refusedKey) compare(o *refusedKey) int {
	return cmp.Or(cmp.Compare(detect.Weight(o.throttled), detect.Weight(k.throttled)), cmp.Compare(o.requests, k.requests), cmp.Compare(k.key.Text, o.key.Text), cmp.Compare(k.hash, o.hash))
}

// Observe records a second's throttled keys, in place of its earlier ones.
func (r *Refused) Observe(w *sketch.Window) {
	all := *r
	i, found := slices.BinarySearchFunc(all, w.Second, func(s refusedSecond, at int64) int { return cmp.Compare(s.at, at) })
	switch {
	case w.Total.ThrottledRequests == 0:
		if found {
			*r = slices.Delete(all, i, i+1)
		}
		return
	case found:
		all[i] = newRefusedSecond(w)
		return
	case len(all) > 0 && w.Second <= all[len(all)-1].at-refusedSeconds:
		return
	}
	all = slices.Insert(all, i, newRefusedSecond(w))
	newest := all[len(all)-1].at
	*r = slices.DeleteFunc(all, func(s refusedSecond) bool { return s.at <= newest-refusedSeconds })
}

// Forget drops all keys if none was throttled since a second.
func (r *Refused) Forget(since int64) {
	if n := len(*r); n > 0 && (*r)[n-1].at < since {
		*r = nil
	}
}

func newRefusedSecond(w *sketch.Window) refusedSecond {
	s := refusedSecond{at: w.Second, all: w.Total.Throttled, requests: w.Total.ThrottledRequests}
	rest := w.Total.Throttled
	for i := range w.Keys {
		k := &w.Keys[i]
		refused := refusedRequests(k)
		if k.Throttled == (sketch.Load{}) && refused == 0 {
			continue
		}
		rest = detect.Sub(rest, k.Throttled)
		kept := refusedKey{hash: k.Hash, key: k.Key, requests: refused, throttled: k.Throttled, high: k.Err, read: partOf(k.ReadSpread, k.Throttled.Read, k.Low.Read), write: partOf(k.WriteSpread, k.Throttled.Write, k.Low.Write)}
		if k.Evidence != nil {
			kept.callers = k.Evidence.RefusedCallers
			s.callers = s.callers.Plus(kept.callers)
		}
		s.keys = append(s.keys, kept)
	}
	for i := range s.keys {
		k := &s.keys[i]
		k.high = sketch.Load{Read: k.throttled.Read + min(k.high.Read, rest.Read), Write: k.throttled.Write + min(k.high.Write, rest.Write)}
	}
	s.missing = sketch.Load{Read: min(rest.Read, w.Unseen.Read), Write: min(rest.Write, w.Unseen.Write)}
	if len(s.keys) > refusedEach {
		slices.SortFunc(s.keys, func(a, b refusedKey) int { return a.compare(&b) })
		for _, k := range s.keys[refusedEach:] {
			s.missing = detect.MaxLoad(s.missing, k.high)
		}
		s.keys = slices.Clone(s.keys[:refusedEach])
	}
	return s
}

// refusedRequests returns the number of a key's throttled requests, as far as its evidence shows
// them.
func refusedRequests(k *sketch.KeyLoad) (n int64) {
	if k.Evidence == nil {
		return 0
	}
	for _, refused := range k.Evidence.Refused {
		n += refused
	}
	return n
}

// partOf returns the uncertainty of a part of a sampled load.
func partOf(s sketch.Spread, part, all sample.Milli) sketch.Spread {
	s.Variance *= min(1, detect.Ratio(float64(part), float64(all)))
	return s
}

// leastRefused is the least share of the throttled load of a key that is named. Below it, one of many
// is named at random, and the next judge names another.
const leastRefused = 0.001

// Keys returns the keys with the most throttled load, the most throttled first.
func (r Refused) Keys() []detect.RefusedKey {
	if len(r) == 0 {
		return nil
	}
	sums, all := map[uint64]*refusedKey{}, refusedKey{}
	for i := range r {
		all.throttled, all.requests = all.throttled.Plus(r[i].all), all.requests+r[i].requests
		for j := range r[i].keys {
			k := &r[i].keys[j]
			if sums[k.hash] == nil {
				sums[k.hash] = &refusedKey{hash: k.hash, key: k.key}
			}
		}
	}
	for i := range r {
		missing := r[i].missing
		listed := map[uint64]bool{}
		for j := range r[i].keys {
			sums[r[i].keys[j].hash].add(&r[i].keys[j])
			listed[r[i].keys[j].hash] = true
		}
		if missing == (sketch.Load{}) {
			continue
		}
		for hash, sum := range sums {
			if !listed[hash] {
				sum.high = sum.high.Plus(missing)
			}
		}
	}
	most := make([]*refusedKey, 0, len(sums))
	for _, k := range sums {
		most = append(most, k)
	}
	slices.SortFunc(most, (*refusedKey).compare)
	seconds := r[len(r)-1].at - r[0].at + 1
	var keys []detect.RefusedKey
	for _, k := range most[:min(len(most), detect.RefusedKeys)] {
		if f := k.finding(seconds, &all); f.Share >= leastRefused {
			keys = append(keys, f)
		}
	}
	return keys
}

// Callers returns the callers of the throttled load, the busiest first, with their parts.
func (r Refused) Callers() []detect.Part {
	var callers sketch.Top
	load, requests := sketch.Load{}, int64(0)
	for i := range r {
		callers, load, requests = callers.Plus(r[i].callers), load.Plus(r[i].all), requests+r[i].requests
	}
	whole := cmp.Or(detect.Weight(load), sample.Milli(requests))
	unknown := whole // the part whose callers no evidence shows
	for _, c := range callers.Entries {
		unknown -= sample.Milli(c.Weight)
	}
	callers.Missing = max(callers.Missing, uint64(max(0, unknown)))
	return detect.PartsOf(callers, float64(whole))
}

// add adds another second of the key.
func (k *refusedKey) add(o *refusedKey) {
	k.throttled, k.high = k.throttled.Plus(o.throttled), k.high.Plus(o.high)
	k.read, k.write = k.read.Plus(o.read), k.write.Plus(o.write)
	k.callers, k.requests = k.callers.Plus(o.callers), k.requests+o.requests
}

// finding returns the key's throttled load over a number of seconds, as a part of all.
func (k *refusedKey) finding(seconds int64, all *refusedKey) detect.RefusedKey {
	own, whole := float64(detect.Weight(k.throttled)), float64(detect.Weight(all.throttled))
	if whole == 0 {
		own, whole = float64(k.requests), float64(all.requests)
	}
	figure := func(value, high sample.Milli, s sketch.Spread) detect.Figure {
		if value == 0 {
			return detect.Figure{High: detect.Units(high) / float64(seconds)}
		}
		a := sampling.NewAmounts(value, high-value, s)
		return sampling.Interval{Value: value, Low: a.Low, High: a.High(s.Largest)}.PerSecond(seconds)
	}
	return detect.RefusedKey{
		Key: sample.Text(k.key.Text), KeyType: k.key.Type, Requests: float64(k.requests) / float64(seconds), Share: min(1, detect.Ratio(own, whole)),
		WCU: figure(k.throttled.Write, k.high.Write, k.write), RCU: figure(k.throttled.Read, k.high.Read, k.read),
		Callers: detect.PartsOf(k.callers, own),
	}
}
