package keydesign

import (
	"cmp"
	"math"
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// Census summarizes the partition keys of tables and indexes. It is not safe for
// concurrent use.
//
// It observes each second once, complete and in about the order of time. Samples that
// arrive late for an observed second are not counted.
type Census struct {
	tables map[detect.Target]*counters
}

// NewCensus returns an empty census.
func NewCensus() *Census { return &Census{tables: map[detect.Target]*counters{}} }

// sampledKeys is the number of distinct keys of a table that commonTemplate compares.
const sampledKeys = 256

type counters struct {
	frequent frequentKeys
	requests int64
	// first and last are the observed range in Unix seconds; highest is the highest load
	// of a second.
	first, last int64
	highest     sketch.Load
	hottest     hottestSecond
	// clocks finds the producers that write times in whole seconds, flushes the table's
	// seconds with the times of flushes. warmFlushes does the same for candidates for the
	// hottest key that have evidence of their own.
	clocks      sampling.Clocks
	flushes     sampling.Flushes
	warmFlushes map[uint64]*sampling.Flushes
	// whole is the highest standard deviation of a share if sampling drew whole callers.
	whole float64
	// equalPairs and pairs sum the products of two requests' loads within a second: pairs
	// with the same key, and all pairs.
	equalPairs, pairs float64
	// majorities sums the load of keys that had more than half of a second.
	majorities sketch.Load
	// flushed is the load with the times of flushes.
	flushed  float64
	sampled  []shortKey          // the smallest hashes, in order: every key has the same chance
	types    keyTypes            // of all keys kept here
	distinct *sketch.Cardinality // nil until Count adds registers
	unlisted bool                // some windows may leave keys out of their lists
	drawn    bool                // requests were sampled
}

type hottestSecond struct {
	key    sample.Key
	second int64
	load   sketch.Load
}

func (c *Census) countersOf(id detect.Target) *counters {
	t := c.tables[id]
	if t == nil {
		t = &counters{first: math.MaxInt64}
		c.tables[id] = t
	}
	return t
}

// Observe counts a second of a table or index. The window must not be trimmed.
func (c *Census) Observe(w *sketch.Window) {
	t := c.countersOf(w.Target)
	t.frequent.add(w, keysPerTable(len(c.tables)), &t.types)
	t.requests += w.Total.Requests
	t.first, t.last = min(t.first, w.Second), max(t.last, w.Second)
	t.clocks.Observe(w)
	part, seconds := t.flushes.Table(w, &t.clocks)
	t.highest = detect.MaxLoad(t.highest, detect.PartOf(w.Total.Load, sampling.RemainingPart(part, seconds)))
	t.flushed += part * float64(detect.Weight(w.Total.Load))
	t.whole = max(t.whole, sampling.WholeCallersOf(w).Deviation)
	t.unlisted = t.unlisted || w.Unseen != (sketch.Load{})
	t.drawn = t.drawn || w.Total.ReadLargest > 0 || w.Total.WriteLargest > 0
	for i := range w.Keys {
		k := &w.Keys[i]
		if detect.Weight(k.Low) > detect.Weight(t.hottest.load) { // k.Low bounds the certain load from above
			if l := t.certainLoad(w, k, part > 0); detect.Weight(l) > detect.Weight(t.hottest.load) {
				t.hottest = hottestSecond{k.Key, w.Second, l}
			}
		}
		t.sample(k, w.Second)
	}
	if part == 0 || part > mostlyFlushed {
		t.countPairs(w)
		t.countMajority(w)
	}
}

// mostlyFlushed is the share of a second's requests above which the second counts as one
// flush. It then holds everything since the last flush, and its keys meet as often as
// they did in that time. In a mixed second the flushed requests would weigh too much.
const mostlyFlushed = 0.9

// maxWarmFlushes is the most keys of a table whose flushes are tracked at a time.
const maxWarmFlushes = 64

// certainLoad returns the part of a key's load in a second that is proven and was not
// flushed.
func (t *counters) certainLoad(w *sketch.Window, k *sketch.KeyLoad, flushed bool) sketch.Load {
	l, batch := sampling.Proven(w, k), t.clocks.Batch(w, k)
	if batch.Part == 0 {
		return l
	}
	if k.Evidence != nil {
		keyFlushes := t.warmFlushes[k.Hash]
		if keyFlushes == nil {
			if t.warmFlushes == nil || len(t.warmFlushes) == maxWarmFlushes {
				t.warmFlushes = map[uint64]*sampling.Flushes{}
			}
			keyFlushes = &sampling.Flushes{}
			t.warmFlushes[k.Hash] = keyFlushes
		}
		_, flushed = keyFlushes.Span(w.Second, k.Low, batch, 0)
	}
	if !flushed {
		return l
	}
	return detect.PartOf(l, 1-batch.Part)
}

// Count adds the registers of a table's or index's distinct keys.
func (c *Census) Count(r sketch.Registers) {
	t := c.countersOf(r.Target)
	if t.distinct == nil {
		t.distinct = &sketch.Cardinality{}
	}
	t.distinct.Merge(r)
}

// sample keeps the key if its hash is among the smallest.
func (t *counters) sample(k *sketch.KeyLoad, second int64) {
	if len(t.sampled) == sampledKeys && k.Hash > t.sampled[sampledKeys-1].hash {
		return
	}
	i, found := slices.BinarySearchFunc(t.sampled, k.Hash, func(s shortKey, h uint64) int { return cmp.Compare(s.hash, h) })
	if found {
		t.sampled[i].list(k, second, &t.types)
		return
	}
	if len(t.sampled) == sampledKeys {
		t.sampled = t.sampled[:sampledKeys-1]
	}
	t.sampled = slices.Insert(t.sampled, i, newShortKey(k, second, &t.types))
}

// countPairs adds the pairs of requests of a second. A request forms no pair with itself,
// so a quiet second does not look skewed: n equal requests of the load w together form
// pairs of w² (1−1/n). Requests that were drawn together form no pair either: see
// separateDraws. Each unlisted request counts as a key of its own.
func (t *counters) countPairs(w *sketch.Window) {
	load, requests := float64(detect.Weight(w.Total.Load)), w.Total.Requests
	pairs := load * load
	for i := range w.Keys {
		k := &w.Keys[i]
		keyLoad, n := float64(detect.Weight(k.Low)), separateDraws(k)
		t.equalPairs += keyLoad * keyLoad * (1 - 1/n)
		pairs -= keyLoad * keyLoad / n
		load -= keyLoad
		requests -= k.Requests
	}
	if load > 0 && requests > 0 {
		pairs -= load * load / float64(requests)
	}
	t.pairs += max(0, pairs)
}

// separateDraws returns how many equal and independent draws a key's load of a second
// amounts to. It is the number of requests, or fewer if sampling drew some together, such
// as the items of one call. The load of n draws of s units is n s, and its variance at
// most n s², whichever records share a draw. Records of one draw always meet each other,
// so they do not show how often calls meet.
func separateDraws(k *sketch.KeyLoad) float64 {
	n := float64(max(k.Requests, 1))
	writes := detect.WritesInReads * detect.WritesInReads * k.WriteSpread.Variance
	if variance, units := writes+k.ReadSpread.Variance, detect.Units(detect.Weight(k.Low)); variance > 0 {
		n = min(n, max(1, units*units/variance))
	}
	return n
}

// countMajority adds the load of a key that had more than half of a second's writes or
// reads. It bounds that second, even if another key has the next one.
func (t *counters) countMajority(w *sketch.Window) {
	for i := range w.Keys {
		k := &w.Keys[i]
		if k.Requests < majorityRequests {
			continue
		}
		if float64(k.Low.Write) > majorityShare*float64(w.Total.Load.Write) {
			t.majorities.Write += k.Low.Write
		}
		if float64(k.Low.Read) > majorityShare*float64(w.Total.Load.Read) {
			t.majorities.Read += k.Low.Read
		}
	}
}

// effectiveKeys returns how many equally loaded keys would form as few equal pairs: the
// inverse of Simpson's index, within seconds. It is nil if no second had two requests for
// the same key: any number of keys can show that.
func (t *counters) effectiveKeys(distinct float64) *float64 {
	if t.equalPairs <= 0 {
		if distinct == 1 {
			return &distinct
		}
		return nil
	}
	n := min(distinct, max(1, t.pairs/t.equalPairs))
	return &n
}

// isTimed reports whether seconds show which requests met. They do not if much of the
// load has the times of flushes, because a flush holds the load of many seconds.
func (t *counters) isTimed() bool {
	return t.flushed <= flushedShare*float64(detect.Weight(t.frequent.total))
}

// countKeys returns the number of distinct keys. It is exact if every key was listed and
// sampled. If requests were sampled, Value is the lower bound, since keys may have no
// sampled request; High follows from at least half a unit for each key.
func (t *counters) countKeys() detect.Figure {
	seen := t.countSeen()
	if !t.drawn {
		return seen
	}
	most := math.Ceil(detect.Units(t.frequent.total.Write) + 2*detect.Units(t.frequent.total.Read))
	return detect.Figure{Value: seen.Low, Low: seen.Low, High: max(seen.High, most)}
}

// countSeen returns the number of distinct keys with a seen request, estimated unless all
// of them were listed.
func (t *counters) countSeen() detect.Figure {
	listed := float64(len(t.sampled))
	if t.frequent.keepsAll() {
		listed = float64(len(t.frequent.keys))
	}
	if !t.unlisted && (len(t.sampled) < sampledKeys || t.frequent.keepsAll()) {
		return detect.ExactFigure(listed)
	}
	if t.distinct == nil {
		return detect.Figure{Value: listed, Low: listed, High: math.Max(listed, float64(t.requests))}
	}
	n := float64(t.distinct.Estimate())
	return detect.Figure{Value: max(n, listed), Low: max(listed, math.Floor(n*(1-1.96*sketch.CardinalityError))), High: max(listed, math.Ceil(n*(1+1.96*sketch.CardinalityError)))}
}
