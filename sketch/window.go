package sketch

import (
	"cmp"
	"slices"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/position"
	"github.com/keyheat/keyheat/sketch/internal/gather"
)

// Load is an amount of reads and an amount of writes, in thousandths of a unit.
type Load struct {
	Read, Write sample.Milli
}

// Plus adds two loads. If a sum overflows, it is the largest number.
func (l Load) Plus(o Load) Load {
	return Load{gather.Plus(l.Read, o.Read), gather.Plus(l.Write, o.Write)}
}

// weight returns 3·write + read. In this measure both limits of a partition are 3,000 a second.
func (l Load) weight() uint64 { return 3*uint64(l.Write) + uint64(l.Read) }

// max returns the larger read and the larger write.
func (l Load) max(o Load) Load { return Load{max(l.Read, o.Read), max(l.Write, o.Write)} }

// min returns the smaller read and the smaller write.
func (l Load) min(o Load) Load { return Load{min(l.Read, o.Read), min(l.Write, o.Write)} }

// Total is the exact load of all keys of a table or index together.
type Total struct {
	// Requests counts requests, throttled ones included.
	Requests int64
	// Load is the requested load: consumed and throttled.
	Load
	// ThrottledRequests and Throttled are the throttled part.
	ThrottledRequests int64
	Throttled         Load
	// Changes counts the requests that came from a stream. A stream shows neither reads nor
	// throttled writes.
	Changes int64
	// Refused counts the throttled requests by throttle reason.
	Refused [sample.ThrottleReasons]int64
	// Keyless is the part of Load whose requests have no key: Scans.
	Keyless Load
	// ReadLargest and WriteLargest are the largest w/p of one sampled call on one key. An
	// unseen key may have had as much. They are zero if no request was sampled.
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

// KeyLoad is one key's load in one second, with its bounds. The load that the records stand for
// is between Low and Low + Err, for reads and for writes.
type KeyLoad struct {
	// Hash identifies the key among all tables and indexes, for one seed.
	Hash uint64
	// Key is the key. If Cut is true, Text has only its beginning; long keys far from any limit
	// are cut.
	Key sample.Key
	Cut bool
	// Place is the place of a hidden key, zero if unknown.
	Place sample.Place
	// Requests is a lower bound of the number of requests.
	Requests int64
	// Low is the proven requested load, and Err the most that may be missing from it.
	Low, Err Load
	// Throttled is the part of Low that was throttled.
	Throttled Load
	// ReadSpread and WriteSpread bound the variance that sampling adds to Low. They are zero if
	// no request was sampled.
	ReadSpread, WriteSpread Spread
	// Draws describes the sampling of the requests.
	Draws Draws
	// Evidence describes the requests. It is nil for keys far from any limit. It is shared and
	// never changed.
	Evidence *Evidence
	// Retries adds up the attempts of the key's calls. It may exist for a key far from any
	// limit, because a retried call is counted when it ends, perhaps in a later second. It is
	// nil if no record counts attempts. It is shared and never changed.
	Retries *Retries
}

// Retries adds up the attempts of a key's calls.
type Retries = gather.Retries

// CallerRetries adds up the calls of one caller.
type CallerRetries = gather.CallerRetries

// Arrivals are the times of requests in a second, which show whether a producer flushed them.
type Arrivals = gather.Arrivals

// Spread is the uncertainty that sampling adds to an amount.
type Spread = gather.Spread

// Draws describes the sampling of a key's requests.
type Draws = gather.Draws

// Sampling describes the sampling of several keys' requests.
type Sampling struct {
	// Low is the proven load of these keys, and the spreads what sampling adds to it.
	Low                     Load
	ReadSpread, WriteSpread Spread
	Draws                   Draws
}

// plus returns the sampling of both.
func (s Sampling) plus(o Sampling) Sampling {
	switch (Sampling{}) {
	case s:
		return o
	case o:
		return s
	}
	return Sampling{s.Low.Plus(o.Low), s.ReadSpread.Plus(o.ReadSpread), s.WriteSpread.Plus(o.WriteSpread), s.Draws.Plus(o.Draws)}
}

// Sampling returns how the requests of all keys of the window were sampled.
func (w *Window) Sampling() (all Sampling) {
	for i := range w.Keys {
		all = all.plus(w.Keys[i].sampling())
	}
	return all.plus(w.Trimmed)
}

func (k *KeyLoad) sampling() Sampling { return Sampling{k.Low, k.ReadSpread, k.WriteSpread, k.Draws} }

// High returns the upper bound of the key's load, before the uncertainty of sampling.
func (k *KeyLoad) High() Load { return k.Low.Plus(k.Err) }

// Window is one event-time second of one table or index: the whole second, or one shard's part
// of it.
type Window struct {
	sample.Target
	// Second is the event-time second, in Unix seconds.
	Second int64
	// Span is the number of seconds from Second on whose mean the window holds, 0 for the second
	// itself. It is not encoded.
	Span int64
	// Total is exact.
	Total Total
	// Callers are the weights of the callers of all keys together.
	Callers Top
	// Scanners are the weights of the callers of Scans: of Total.Keyless.
	Scanners Top
	// Arrivals are the times of the requests by producer, weighed by their number.
	Arrivals Arrivals
	// Unseen is the most load that any key outside of Keys can have had.
	Unseen Load
	// Keys are ordered by Hash.
	Keys []KeyLoad
	// Trimmed describes the sampling of the keys that Trim dropped.
	Trimmed Sampling
	// Cells hold unlisted load by the position of its keys, in order of At. The sum of Keys'
	// Low, Cells and Remainder is the total. Cells are empty unless [Shard.PlaceKeys] chose the
	// table.
	Cells []Cell
}

// Merge adds another part of the same second and table or index. The order of merges does not
// change the result until Trim. Merge does not change o, but w may share texts with it. To
// start a merge, the keys of the first part may be assigned to an empty window: Merge never
// changes keys in place.
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
	w.Callers, w.Scanners = w.Callers.Union(o.Callers), w.Scanners.Union(o.Scanners)
	w.Arrivals = w.Arrivals.Plus(o.Arrivals)
	w.Unseen = w.Unseen.Plus(o.Unseen)
	w.Cells = mergeCells(w.Cells, o.Cells)
	w.Trimmed = w.Trimmed.plus(o.Trimmed)
}

// addUnseen returns the key's load if the other part does not list it.
func (k KeyLoad) addUnseen(unseen Load) KeyLoad {
	k.Err = k.Err.Plus(unseen)
	return k
}

// plus returns the key's load if both parts list it.
func (k KeyLoad) plus(o *KeyLoad) KeyLoad {
	if k.Cut && !o.Cut {
		k.Key, k.Cut = o.Key, false
	}
	k.Place = max(k.Place, o.Place)
	k.Retries = k.retriesBeside(o).Plus(o.retriesBeside(&k))
	k.Evidence = k.evidenceBeside(o).Plus(o.evidenceBeside(&k))
	k.Requests += o.Requests
	k.Low = k.Low.Plus(o.Low)
	k.Err = k.Err.Plus(o.Err)
	k.Throttled = k.Throttled.Plus(o.Throttled)
	k.ReadSpread, k.WriteSpread = k.ReadSpread.Plus(o.ReadSpread), k.WriteSpread.Plus(o.WriteSpread)
	k.Draws = k.Draws.Plus(o.Draws)
	return k
}

// retriesBeside returns the key's retries for merging with another part. If the other part does
// not count attempts, its requests are added as untold. A part without load holds throttled
// attempts, which are counted when their call ends.
func (k *KeyLoad) retriesBeside(o *KeyLoad) *Retries {
	if o.Retries != nil || o.Low == (Load{}) {
		return k.Retries
	}
	return k.Retries.AddUntold(o.Requests)
}

// IsContended reports whether the key lost attempts, in the second or shortly before.
func (k *KeyLoad) IsContended() bool { return k.Evidence != nil && k.Evidence.Contention != nil }

// evidenceBeside returns the key's evidence for merging with another part. If the other part saw
// no lost attempt, its requests may be for the contended item.
func (k *KeyLoad) evidenceBeside(o *KeyLoad) *Evidence {
	if !k.IsContended() || o.IsContended() || o.Requests == 0 {
		return k.Evidence
	}
	own := *k.Evidence
	own.Contention = own.Contention.Plus(&Contention{Others: o.Requests})
	return &own
}

// IsRefused reports whether requests of the key were throttled, as far as the window shows it.
func (k *KeyLoad) IsRefused() bool {
	if k.Throttled != (Load{}) {
		return true
	}
	return k.Evidence != nil && slices.ContainsFunc(k.Evidence.Refused[:], func(n int64) bool { return n > 0 })
}

// Trim drops keys whose upper bounds are below floor, unless some of their requests were refused,
// and keeps at most `most` of the others, the most loaded ones, beside all keys that lost
// attempts. Unseen rises to the upper bound of each dropped key, so all bounds stay true. Trim
// also decides which requests were flushed. If place is true, the load of dropped
// keys moves to Cells; otherwise Cells are dropped too. Call it only when the window is
// complete, because dropped keys are no longer proven.
func (w *Window) Trim(floor Load, most int, place bool) {
	all := w.Keys
	hot := func(k *KeyLoad) bool {
		h := k.High()
		return h.Read >= floor.Read || h.Write >= floor.Write || k.IsContended() || k.IsRefused()
	}
	var kept []KeyLoad
	drop := func(k *KeyLoad) {
		w.Unseen = w.Unseen.max(k.High())
		if w.Total.ReadLargest > 0 || w.Total.WriteLargest > 0 { // some requests were sampled
			w.Trimmed = w.Trimmed.plus(k.sampling())
		}
	}
	for i := range w.Keys {
		if hot(&w.Keys[i]) {
			most += int(flag(w.Keys[i].IsContended()))
			kept = append(kept, w.Keys[i])
			kept[len(kept)-1].Evidence, kept[len(kept)-1].Retries = w.Keys[i].Evidence.Cut(), w.Keys[i].Retries.Cut()
		} else {
			drop(&w.Keys[i])
		}
	}
	if len(kept) > most {
		slices.SortFunc(kept, func(a, b KeyLoad) int {
			return cmp.Or(cmp.Compare(flag(b.IsContended()), flag(a.IsContended())), cmp.Compare(b.High().weight(), a.High().weight()), cmp.Compare(a.Hash, b.Hash))
		})
		for i := range kept[most:] {
			drop(&kept[most+i])
		}
		kept = slices.Clip(kept[:most])
		slices.SortFunc(kept, byHash)
	}
	w.Keys, w.Arrivals = kept, w.Arrivals.Settle()
	w.Callers, w.Scanners = w.Callers.Cut(tableCallersKept), w.Scanners.Cut(tableCallersKept)
	if place {
		w.Cells = mergeCells(w.Cells, placeDropped(all, kept))
	} else {
		w.Cells = nil
	}
}

// placeDropped returns the load by cell of the keys that are not kept. Both lists are in order of
// Hash.
func placeDropped(all, kept []KeyLoad) []Cell {
	dropped := make([]Cell, 0, len(all)-len(kept))
	position.FindEach(len(all), func(i int) (sample.Key, sample.Place, bool) {
		k := &all[i]
		if len(kept) > 0 && kept[0].Hash == k.Hash {
			kept = kept[1:]
			return k.Key, 0, false
		}
		return k.Key, k.Place, !k.Cut
	}, func(i int, at, _ position.Position) {
		dropped = append(dropped, Cell{At: uint16(at.Cell(CellBits)), Read: max(all[i].Low.Read, 0), Write: max(all[i].Low.Write, 0)}) //nolint:gosec // a cell has 14 bits
	})
	return sumCells(dropped)
}

// Key returns a key's load by its hash. The load of an unlisted key is bounded by Unseen, and
// the second result is then false.
func (w *Window) Key(hash uint64) (KeyLoad, bool) {
	i, ok := slices.BinarySearchFunc(w.Keys, hash, func(k KeyLoad, h uint64) int { return cmp.Compare(k.Hash, h) })
	if !ok {
		return KeyLoad{Hash: hash, Err: w.Unseen}, false
	}
	return w.Keys[i], true
}

// Remainder returns the load that is neither in Keys nor in Cells. It may be in any part of the
// key space. Its requests had no key, or a key without a known position.
func (w *Window) Remainder() Load {
	rest := w.Total.Load
	for i := range w.Keys {
		rest.Read, rest.Write = rest.Read-w.Keys[i].Low.Read, rest.Write-w.Keys[i].Low.Write
	}
	for _, c := range w.Cells {
		rest.Read, rest.Write = rest.Read-c.Read, rest.Write-c.Write
	}
	return rest
}

func flag(set bool) uint64 {
	if set {
		return 1
	}
	return 0
}

func byHash(a, b KeyLoad) int { return cmp.Compare(a.Hash, b.Hash) }

// producerSize and binSize are the approximate bytes in memory of a producer's times.
const producerSize, binSize = 32, 16

// cellSize is the bytes in memory of a cell.
const cellSize = 24

// These are the approximate bytes in memory of one key's evidence, of its retries, and of each
// caller in them.
const evidenceSize, retriesSize, callerSize, contendedSize = 4000, 100, 100, 1000

// size returns the approximate memory of the window in bytes.
func (w *Window) size() int {
	bytes := 184 + cellSize*len(w.Cells)
	for _, p := range w.Arrivals.Producers {
		bytes += producerSize + binSize*len(p.Bins)
	}
	for i := range w.Keys {
		bytes += 184 + len(w.Keys[i].Key.Text)
		if w.Keys[i].Evidence != nil {
			bytes += evidenceSize
		}
		if w.Keys[i].IsContended() {
			bytes += contendedSize * len(w.Keys[i].Evidence.Contention.Items)
		}
		if r := w.Keys[i].Retries; r != nil {
			bytes += retriesSize + callerSize*len(r.Callers)
		}
	}
	return bytes
}
