// Package rollup holds roll-ups: the hot keys of a table or index in ten seconds, a minute,
// ten minutes or an hour. Each is made of the ones below it, and ten-second roll-ups of
// whole seconds.
//
// A roll-up lists the [Keys] keys with the highest second, by utilization of a
// partition's limits. So the highest second of a listed key is exact, through all levels:
// a key that is among the highest of an hour is among the highest of the ten seconds of
// its own highest second. A sum is a lower bound for a key that was not listed in a part:
// there it had at most [Rollup.Unlisted] a second.
package rollup

import (
	"cmp"
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// Rollup is the heat of a table or index in one bucket of a level.
type Rollup struct {
	// Seconds is how many seconds of the bucket had any load, and Incomplete how many of
	// them were closed without all of it.
	Seconds, Incomplete int64
	// Unlisted is the most that an unlisted key can have had in one second.
	Unlisted sketch.Load
	// Total is the load of all keys, listed or not.
	Total Total
	// Keys are ordered by identity.
	Keys []Key
}

// Total is the load of a table or index: requests and units with their throttled part.
type Total struct {
	Requests, ThrottledRequests int64
	Load, Throttled             sketch.Load
}

// Plus returns the load of both.
func (t Total) Plus(o Total) Total {
	return Total{t.Requests + o.Requests, t.ThrottledRequests + o.ThrottledRequests, t.Load.Plus(o.Load), t.Throttled.Plus(o.Throttled)}
}

func (t Total) max(o Total) Total {
	return Total{
		max(t.Requests, o.Requests), max(t.ThrottledRequests, o.ThrottledRequests),
		detect.MaxLoad(t.Load, o.Load), detect.MaxLoad(t.Throttled, o.Throttled),
	}
}

// Key is one key's load in the bucket.
type Key struct {
	// Key is the key; when Cut is true, Text is only its beginning. Hash distinguishes
	// keys with long texts, and is 0 for others.
	Key  sample.Key
	Cut  bool
	Hash uint64
	// Seconds is in how many seconds the key was listed.
	Seconds     int64
	Write, Read Side
	// Reasons are why its requests were throttled.
	Reasons Reasons
}

// Side is a key's writes or reads in the bucket, in thousandths of a unit.
type Side struct {
	// Max is the highest second with its bounds, 95% where requests were sampled; each
	// of the three is the highest of its own.
	Max sampling.Interval
	// Sum is all that the key asked for, Throttled the refused part of it.
	Sum, Throttled sample.Milli
}

// hashedText is the length in bytes from which a hash identifies a key: a longer text may
// have been cut in some of its seconds.
const hashedText = 32

// OfSecond returns the roll-up of one second.
func OfSecond(w *sketch.Window, complete bool) *Rollup {
	r := &Rollup{Seconds: 1, Unlisted: w.Unseen, Keys: make([]Key, len(w.Keys))}
	r.Total = Total{w.Total.Requests, w.Total.ThrottledRequests, w.Total.Load, w.Total.Throttled}
	if !complete {
		r.Incomplete = 1
	}
	for i := range w.Keys {
		r.Keys[i] = ofKey(w, &w.Keys[i])
	}
	slices.SortFunc(r.Keys, byIdentity)
	r.Trim()
	return r
}

func ofKey(w *sketch.Window, k *sketch.KeyLoad) Key {
	key := Key{Key: k.Key, Cut: k.Cut, Seconds: 1}
	if k.Cut || len(k.Key.Text) >= hashedText {
		key.Hash = k.Hash
	}
	most := sampling.MostLoad(w, k)
	key.Write = side(sampling.NewAmounts(k.Low.Write, k.Err.Write, k.WriteSpread), most.Write, k.Throttled.Write)
	key.Read = side(sampling.NewAmounts(k.Low.Read, k.Err.Read, k.ReadSpread), most.Read, k.Throttled.Read)
	if k.Throttled != (sketch.Load{}) {
		key.Reasons = reasons(k.Evidence)
	}
	return key
}

func side(a sampling.Amounts, most, throttled sample.Milli) Side {
	return Side{Max: sampling.Interval{Value: a.Value, Low: a.Low, High: most}, Sum: a.Value, Throttled: throttled}
}

// reasons returns the causes that the evidence names; the unknown one where it names
// none.
func reasons(e *sketch.Evidence) (r Reasons) {
	if e != nil {
		for c, n := range e.Refused {
			if n > 0 {
				r |= 1 << c
			}
		}
	}
	if r == 0 {
		r = 1 << sample.ThrottleUnknown
	}
	return r
}

// Add adds another part of the bucket's time, without dropping keys.
func (r *Rollup) Add(o *Rollup) {
	r.Seconds += o.Seconds
	r.Incomplete += o.Incomplete
	r.Total = r.Total.Plus(o.Total)
	r.combine(o, func(k *Key, o Key) {
		k.Seconds += o.Seconds
		k.Write.add(o.Write)
		k.Read.add(o.Read)
	})
}

func (s *Side) add(o Side) {
	s.Max = s.Max.Max(o.Max)
	s.Sum += o.Sum
	s.Throttled += o.Throttled
}

// Raise raises the values to another roll-up's of the same bucket: if only some parts of
// the other one are kept, nothing is lost or counted twice.
func (r *Rollup) Raise(o *Rollup) {
	r.Seconds, r.Incomplete = max(r.Seconds, o.Seconds), max(r.Incomplete, o.Incomplete)
	r.Total = r.Total.max(o.Total)
	r.combine(o, func(k *Key, o Key) {
		k.Seconds = max(k.Seconds, o.Seconds)
		k.Write.raise(o.Write)
		k.Read.raise(o.Read)
	})
}

func (s *Side) raise(o Side) {
	s.Max = s.Max.Max(o.Max)
	s.Sum, s.Throttled = max(s.Sum, o.Sum), max(s.Throttled, o.Throttled)
}

// combine merges the ordered keys of both.
func (r *Rollup) combine(o *Rollup, both func(*Key, Key)) {
	r.Unlisted = detect.MaxLoad(r.Unlisted, o.Unlisted)
	merged := make([]Key, 0, len(r.Keys)+len(o.Keys))
	a, b := r.Keys, o.Keys
	for len(a) > 0 || len(b) > 0 {
		order := 0
		switch {
		case len(b) == 0:
			order = -1
		case len(a) == 0:
			order = 1
		default:
			order = byIdentity(a[0], b[0])
		}
		switch {
		case order < 0:
			merged, a = append(merged, a[0]), a[1:]
		case order > 0:
			merged, b = append(merged, b[0]), b[1:]
		default:
			k := a[0]
			if k.Cut && !b[0].Cut {
				k.Key, k.Cut = b[0].Key, false
			}
			k.Reasons |= b[0].Reasons
			both(&k, b[0])
			merged, a, b = append(merged, k), a[1:], b[1:]
		}
	}
	r.Keys = merged
}

// byIdentity orders keys: keys with a hash by it, behind the others.
func byIdentity(a, b Key) int {
	if a.Hash != 0 || b.Hash != 0 {
		return cmp.Compare(a.Hash, b.Hash)
	}
	return cmp.Or(cmp.Compare(a.Key.Text, b.Key.Text), cmp.Compare(a.Key.Type, b.Key.Type))
}

// Trim keeps the [Keys] keys with the highest second.
func (r *Rollup) Trim() {
	if len(r.Keys) <= Keys {
		return
	}
	hottest := slices.Clone(r.Keys)
	slices.SortFunc(hottest, func(a, b Key) int { return cmp.Or(cmp.Compare(b.heat(), a.heat()), byIdentity(a, b)) })
	for _, k := range hottest[Keys:] {
		r.Drop(k)
	}
	r.Keys = hottest[:Keys:Keys]
	slices.SortFunc(r.Keys, byIdentity)
}

// Drop records that a key is not listed.
func (r *Rollup) Drop(k Key) {
	r.Unlisted = detect.MaxLoad(r.Unlisted, sketch.Load{Write: k.Write.Max.High, Read: k.Read.Max.High})
}

// Utilization returns the key's highest second as a share of a partition's limit.
func (k *Key) Utilization() float64 {
	return detect.Ratio(float64(k.heat()), float64(detect.PartitionRead))
}

// Writes reports whether the key's writes are nearer to their limit than its reads.
func (k *Key) Writes() bool { return detect.WritesInReads*k.Write.Max.Value >= k.Read.Max.Value }

// heat is the highest utilization in a second, in thousandths of read units: both
// limits are the same in it.
func (k *Key) heat() sample.Milli {
	return max(detect.WritesInReads*k.Write.Max.Value, k.Read.Max.Value)
}

// Keys is how many keys a roll-up lists at most.
const Keys = 150

// Reasons are the throttle reasons of a key's requests, a bit for each
// [sample.ThrottleReason].
type Reasons uint16

// Words returns the causes in AWS's words.
func (r Reasons) Words() []string {
	words := []string{}
	for c := range sample.ThrottleReason(sample.ThrottleReasons) {
		if r&(1<<c) != 0 {
			words = append(words, c.String())
		}
	}
	return words
}
