package keydesign

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// Census counts what the keys of tables and indexes look like as a whole. It is
// not safe for concurrent use.
//
// A census observes each second once, complete and in about the order of time. What
// arrives late for a second that was observed is not in it.
type Census struct {
	tables map[detect.Target]*counters
}

// NewCensus returns an empty census.
func NewCensus() *Census { return &Census{tables: map[detect.Target]*counters{}} }

// sampledKeys is how many distinct keys of a table are compared for what they have in
// common.
const sampledKeys = 256

// counters are the census of one table or index.
type counters struct {
	frequent frequentKeys
	requests int64
	// first and last are seconds; highest is the load of the highest one.
	first, last int64
	highest     sketch.Load
	hottest     hottestSecond
	// clocks are the producers who write times in whole seconds, flushes the seconds in
	// which many requests have the times of a flush, warmFlushes those of keys that may be
	// the hottest and have evidence of their own.
	clocks      sampling.Clocks
	flushes     sampling.Flushes
	warmFlushes map[uint64]*sampling.Flushes
	// whole is the most that sampling leaves open of a share if callers were drawn as a
	// whole, as a standard deviation.
	whole float64
	// equalPairs and pairs are sums over pairs of requests of one second, weighed by
	// both loads: pairs of the same key, and all.
	equalPairs, pairs float64
	// majorities is the load of those keys that had most of a second, each of its own.
	majorities sketch.Load
	// flushed is the load that has the times of flushes.
	flushed  float64
	sampled  []shortKey          // by hash, the smallest ones: every key has the same chance
	types    keyTypes            // of all keys here
	distinct *sketch.Cardinality // nil before there is something
	unlisted bool                // some keys may be in no list
	drawn    bool                // of some requests only those that were drawn were seen
}

// hottestSecond is the highest second of any key.
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

// Observe counts a second of a table or index, untrimmed.
func (c *Census) Observe(w *sketch.Window) {
	t := c.countersOf(w.Target)
	t.frequent.add(w, keysPerTable(len(c.tables)), &t.types)
	t.requests += w.Total.Requests
	t.first, t.last = min(t.first, w.Second), max(t.last, w.Second)
	t.clocks.Observe(w)
	part, seconds := t.flushes.Table(w)
	t.highest = detect.MaxLoad(t.highest, detect.PartOf(w.Total.Load, sampling.RemainingPart(part, seconds)))
	t.flushed += part * float64(detect.Weight(w.Total.Load))
	t.whole = max(t.whole, sampling.WholeCallersOf(w).Deviation)
	t.unlisted = t.unlisted || w.Unseen != (sketch.Load{})
	t.drawn = t.drawn || w.Total.ReadLargest > 0 || w.Total.WriteLargest > 0
	for i := range w.Keys {
		k := &w.Keys[i]
		if detect.Weight(k.Low) > detect.Weight(t.hottest.load) { // what is proven is no more than this
			if l := t.certain(w, k, part > 0); detect.Weight(l) > detect.Weight(t.hottest.load) {
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

// mostlyFlushed is the part of a second's requests from which all of them are as good as
// flushed: keys meet there as often as in the time in which that has gathered. Where
// others have their own times, what was flushed has too much of the second.
const mostlyFlushed = 0.9

// maxWarmFlushes is of how many keys of a table it is known at a time when they flush.
const maxWarmFlushes = 64

// certain returns what is certain of a key's load in a second: it is proven, and was not
// flushed.
func (t *counters) certain(w *sketch.Window, k *sketch.KeyLoad, flushed bool) sketch.Load {
	l, batch := sampling.Proven(w, k), t.clocks.Batch(w, k)
	if batch.Part == 0 {
		return l
	}
	if k.Evidence != nil {
		of := t.warmFlushes[k.Hash]
		if of == nil {
			if t.warmFlushes == nil || len(t.warmFlushes) == maxWarmFlushes {
				t.warmFlushes = map[uint64]*sampling.Flushes{}
			}
			of = &sampling.Flushes{}
			t.warmFlushes[k.Hash] = of
		}
		_, flushed = of.Span(w.Second, k.Low, batch, 0)
	}
	if !flushed {
		return l
	}
	return detect.PartOf(l, 1-batch.Part)
}

// Count adds the registers of distinct keys.
func (c *Census) Count(r sketch.Registers) {
	t := c.countersOf(r.Target)
	if t.distinct == nil {
		t.distinct = &sketch.Cardinality{}
	}
	t.distinct.Merge(r)
}

// sample keeps the keys of the smallest hashes.
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

// countPairs counts the pairs of requests of a second. A request is no pair with
// itself, so a quiet second does not look skewed: of n equal requests with the
// load w, w² (1−1/n) is in pairs. Nor are those a pair that were drawn together: see
// separateDraws. What is not listed counts as spread out.
func (t *counters) countPairs(w *sketch.Window) {
	load, requests := float64(detect.Weight(w.Total.Load)), w.Total.Requests
	pairs := load * load
	for i := range w.Keys {
		k := &w.Keys[i]
		of, n := float64(detect.Weight(k.Low)), separateDraws(k)
		t.equalPairs += of * of * (1 - 1/n)
		pairs -= of * of / n
		load -= of
		requests -= k.Requests
	}
	if load > 0 && requests > 0 {
		pairs -= load * load / float64(requests)
	}
	t.pairs += max(0, pairs)
}

// separateDraws returns how many equal draws, each for itself, a key's load of a second is
// worth: its requests, or fewer where sampled ones were drawn together, as the items of one
// call are. Of n draws that each stand for s units the variance is at most n s², and their
// load n s, whichever of the records are of one draw. The records of one draw meet each
// other always, which says nothing of how often calls meet.
func separateDraws(k *sketch.KeyLoad) float64 {
	n := float64(max(k.Requests, 1))
	writes := detect.WritesInReads * detect.WritesInReads * k.WriteSpread.Variance
	if variance, of := writes+k.ReadSpread.Variance, detect.Units(detect.Weight(k.Low)); variance > 0 {
		n = min(n, max(1, of*of/variance))
	}
	return n
}

// countMajority counts the key that had more of a second's writes, or reads, than all
// others: it bounds that second, also where another key has the next one.
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

// effective returns how many keys would make as few equal pairs if all had the same
// load: the inverse of Simpson's index, within seconds; nil where no two requests of a
// second were for the same key, which happens however many keys there are.
func (t *counters) effective(distinct float64) *float64 {
	if t.equalPairs <= 0 {
		if distinct == 1 {
			return &distinct
		}
		return nil
	}
	n := min(distinct, max(1, t.pairs/t.equalPairs))
	return &n
}

// isTimed reports whether seconds show which requests met. Where a part of the load has the
// times of flushes each of these has what gathered over many seconds, beside what the
// others have of one.
func (t *counters) isTimed() bool {
	return t.flushed <= flushedShare*float64(detect.Weight(t.frequent.total))
}

// count returns about how many distinct keys there were; exactly, where every key was
// listed and sampled. Of requests that were drawn it is the least: of how many keys none
// was drawn nothing tells, and each had a request of half a unit or more.
func (t *counters) count() detect.Figure {
	seen := t.countSeen()
	if !t.drawn {
		return seen
	}
	most := math.Ceil(detect.Units(t.frequent.total.Write) + 2*detect.Units(t.frequent.total.Read))
	return detect.Figure{Value: seen.Low, Low: seen.Low, High: max(seen.High, most)}
}

// countSeen returns about how many distinct keys were seen.
func (t *counters) countSeen() detect.Figure {
	listed := float64(len(t.sampled))
	if t.frequent.all() {
		listed = float64(len(t.frequent.keys))
	}
	if !t.unlisted && (len(t.sampled) < sampledKeys || t.frequent.all()) {
		return detect.Figure{Value: listed, Low: listed, High: listed}
	}
	if t.distinct == nil {
		return detect.Figure{Value: listed, Low: listed, High: math.Max(listed, float64(t.requests))}
	}
	n := float64(t.distinct.Estimate())
	return detect.Figure{Value: max(n, listed), Low: max(listed, math.Floor(n*(1-1.96*sketch.CardinalityError))), High: max(listed, math.Ceil(n*(1+1.96*sketch.CardinalityError)))}
}

// span returns the time of the seconds that were observed.
func (t *counters) span() (from, to time.Time) {
	return detect.TimeOf(t.first), detect.TimeOf(t.last + 1)
}
