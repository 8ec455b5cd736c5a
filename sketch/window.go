package sketch

import (
	"cmp"
	"math"
	"slices"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch/internal/arrival"
	"github.com/keyheat/keyheat/sketch/internal/gather"
)

// Load is an amount of reads and of writes, each in thousandths of a unit.
type Load struct {
	Read, Write sample.Milli
}

// Plus adds two loads. A sum that is too large is the largest.
func (l Load) Plus(o Load) Load { return Load{plus(l.Read, o.Read), plus(l.Write, o.Write)} }

func plus(a, b sample.Milli) sample.Milli {
	sum := a + b
	if sum < 0 && a >= 0 && b >= 0 {
		return math.MaxInt64
	}
	return sum
}

// weight returns 3·write + read: the measure in which both of a partition's limits
// are the same 3,000 a second.
func (l Load) weight() uint64 { return 3*uint64(l.Write) + uint64(l.Read) }

// max returns the larger of both, read and write apart.
func (l Load) max(o Load) Load { return Load{max(l.Read, o.Read), max(l.Write, o.Write)} }

// min returns the smaller of both, read and write apart.
func (l Load) min(o Load) Load { return Load{min(l.Read, o.Read), min(l.Write, o.Write)} }

// Total is what all keys of a table or index together asked for: exact.
type Total struct {
	// Requests counts requests, throttled ones included.
	Requests int64
	// Load is the demand: consumed and throttled.
	Load
	// ThrottledRequests and Throttled are the throttled part of it.
	ThrottledRequests int64
	Throttled         Load
	// Changes is how many of Requests came from a stream, which shows neither
	// reads nor throttled writes.
	Changes int64
	// Refused are the throttled requests by cause.
	Refused [sample.ThrottleReasons]int64
	// Keyless is the part of Load whose requests have no key: Scans.
	Keyless Load
	// ReadLargest and WriteLargest are the largest w/p of what one sampled call had
	// on one key: what a key may have had of which nothing was seen. Zero when all
	// requests were seen.
	ReadLargest, WriteLargest float64
}

func (t Total) plus(o Total) Total {
	sum := Total{
		Requests:          t.Requests + o.Requests,
		Load:              t.Plus(o.Load),
		ThrottledRequests: t.ThrottledRequests + o.ThrottledRequests,
		Throttled:         t.Throttled.Plus(o.Throttled),
		Changes:           t.Changes + o.Changes,
		Keyless:           t.Keyless.Plus(o.Keyless),
		ReadLargest:       max(t.ReadLargest, o.ReadLargest),
		WriteLargest:      max(t.WriteLargest, o.WriteLargest),
	}
	for c := range sum.Refused {
		sum.Refused[c] = t.Refused[c] + o.Refused[c]
	}
	return sum
}

// KeyLoad is one key's load in one second, with its bounds: what the samples
// stand for lies between Low and Low + Err, for reads and writes each.
type KeyLoad struct {
	// Hash identifies the key among all tables and indexes, for one seed.
	Hash uint64
	// Key is the key; when Cut is true, Text is only its beginning, as for long
	// keys that are far from any limit.
	Key sample.Key
	Cut bool
	// Requests is a lower bound of the number of requests.
	Requests int64
	// Low is the demand that is proven, Err the most that may be missing.
	Low, Err Load
	// Throttled is the part of Low that was throttled.
	Throttled Load
	// ReadSpread and WriteSpread bound how far Low may be from the truth because
	// requests were sampled; zero when all were.
	ReadSpread, WriteSpread Spread
	// Draws is how the requests were sampled.
	Draws Draws
	// Evidence is what the requests were like; nil for keys far from any
	// limit. It is shared and never changed.
	Evidence *Evidence
	// Retries is how its calls were sent, also of keys far from any limit whose calls
	// were sent again: a call is told of when it ends, and may be all that is told of
	// its second then. Nil where no record tells. It is shared and never changed.
	Retries *Retries
}

// Retries is how the calls of a key were sent.
type Retries = gather.Retries

// CallerRetries is how those of one of its callers were.
type CallerRetries = gather.CallerRetries

// Arrivals are the times of requests in a second: they tell what a producer flushed.
type Arrivals = arrival.Arrivals

// Spread is what sampling leaves open of an amount.
type Spread = gather.Spread

// Draws is how the requests of a key were sampled.
type Draws = gather.Draws

// High returns the upper bound of the key's load, sampling aside.
func (k *KeyLoad) High() Load { return k.Low.Plus(k.Err) }

// Window is one event-time second of one table or index: a whole one, or the
// part of it that one shard saw.
type Window struct {
	sample.Target
	// Second is the event-time second, in Unix seconds.
	Second int64
	// Total is exact.
	Total Total
	// Callers are the weights of the callers of all keys together.
	Callers Top
	// Arrivals are the times of the requests by producer, weighed by their number.
	Arrivals Arrivals
	// Unseen is the most that any key not in Keys can have had.
	Unseen Load
	// Keys are ordered by Hash.
	Keys []KeyLoad
}

// Merge adds another part of the same second of the same table or index. Merging
// is commutative and, until Trim, gives the same result in every order. o is not
// changed; w may share its keys' text. Into a window without keys the keys of the first
// part may be put as they are: nothing here changes keys in place.
func (w *Window) Merge(o *Window) {
	merged := make([]KeyLoad, 0, max(len(w.Keys), len(o.Keys))+min(len(w.Keys), len(o.Keys))/4)
	a, b := w.Keys, o.Keys
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].Hash < b[0].Hash:
			merged = append(merged, a[0].addUnseen(o.Unseen))
			a = a[1:]
		case len(a) == 0 || b[0].Hash < a[0].Hash:
			merged = append(merged, b[0].addUnseen(w.Unseen))
			b = b[1:]
		default:
			merged = append(merged, a[0].plus(&b[0]))
			a, b = a[1:], b[1:]
		}
	}
	w.Keys = merged
	w.Total = w.Total.plus(o.Total)
	w.Callers = w.Callers.plus(o.Callers)
	w.Arrivals = w.Arrivals.Plus(o.Arrivals)
	w.Unseen = w.Unseen.Plus(o.Unseen)
}

// addUnseen returns the key's load when the other part does not list it.
func (k KeyLoad) addUnseen(unseen Load) KeyLoad {
	k.Err = k.Err.Plus(unseen)
	return k
}

// plus returns the key's load when both parts list it.
func (k KeyLoad) plus(o *KeyLoad) KeyLoad {
	if k.Cut && !o.Cut {
		k.Key, k.Cut = o.Key, false
	}
	k.Retries = k.retriesBeside(o).Plus(o.retriesBeside(&k))
	k.Requests += o.Requests
	k.Low = k.Low.Plus(o.Low)
	k.Err = k.Err.Plus(o.Err)
	k.Throttled = k.Throttled.Plus(o.Throttled)
	k.ReadSpread, k.WriteSpread = k.ReadSpread.Plus(o.ReadSpread), k.WriteSpread.Plus(o.WriteSpread)
	k.Draws = k.Draws.Plus(o.Draws)
	k.Evidence = k.Evidence.Plus(o.Evidence)
	return k
}

// retriesBeside returns the retries as they are beside another part, which may tell
// nothing. A part without load is of throttled attempts, of which the call's end tells.
func (k *KeyLoad) retriesBeside(o *KeyLoad) *Retries {
	if o.Retries != nil || o.Low == (Load{}) {
		return k.Retries
	}
	return k.Retries.AddUntold(o.Requests)
}

// Trim drops keys whose upper bounds are below floor, and of the others keeps
// the most loaded ones, at most `most`. A key that is dropped is one not seen
// from then on: Unseen rises to its upper bound. So the bounds stay true, but a
// window is trimmed when it is complete, since what is dropped is not proven
// any more, and what was flushed is decided.
func (w *Window) Trim(floor Load, most int) {
	hot := func(k *KeyLoad) bool {
		h := k.High()
		return h.Read >= floor.Read || h.Write >= floor.Write
	}
	var kept []KeyLoad
	for i := range w.Keys {
		if hot(&w.Keys[i]) {
			kept = append(kept, w.Keys[i])
			kept[len(kept)-1].Evidence, kept[len(kept)-1].Retries = w.Keys[i].Evidence.Cut(), w.Keys[i].Retries.Cut()
		} else {
			w.Unseen = w.Unseen.max(w.Keys[i].High())
		}
	}
	if len(kept) > most {
		slices.SortFunc(kept, func(a, b KeyLoad) int {
			return cmp.Or(cmp.Compare(b.High().weight(), a.High().weight()), cmp.Compare(a.Hash, b.Hash))
		})
		for i := range kept[most:] {
			w.Unseen = w.Unseen.max(kept[most+i].High())
		}
		kept = slices.Clip(kept[:most])
		slices.SortFunc(kept, byHash)
	}
	w.Keys, w.Callers, w.Arrivals = kept, w.Callers.cut(tableCallersKept), w.Arrivals.Settle()
}

// Key returns a key's load by its hash; what is known of a key that is not
// listed is Unseen.
func (w *Window) Key(hash uint64) (KeyLoad, bool) {
	i, ok := slices.BinarySearchFunc(w.Keys, hash, func(k KeyLoad, h uint64) int { return cmp.Compare(k.Hash, h) })
	if !ok {
		return KeyLoad{Hash: hash, Err: w.Unseen}, false
	}
	return w.Keys[i], true
}

func byHash(a, b KeyLoad) int { return cmp.Compare(a.Hash, b.Hash) }

// producerSize and binSize are about the memory that the times of a producer take.
const producerSize, binSize = 32, 16

// evidenceSize is about the memory that one key's evidence takes, retriesSize and
// callerSize that of its retries and of each of their callers.
const evidenceSize, retriesSize, callerSize = 4000, 100, 100

// size returns about how much memory the window takes.
func (w *Window) size() int {
	bytes := 160
	for _, p := range w.Arrivals.Producers {
		bytes += producerSize + binSize*len(p.Bins)
	}
	for i := range w.Keys {
		bytes += 184 + len(w.Keys[i].Key.Text)
		if w.Keys[i].Evidence != nil {
			bytes += evidenceSize
		}
		if r := w.Keys[i].Retries; r != nil {
			bytes += retriesSize + callerSize*len(r.Callers)
		}
	}
	return bytes
}
