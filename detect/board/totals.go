package board

import (
	"math"
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/internal/episode"
	"github.com/keyheat/keyheat/detect/internal/relate"
	"github.com/keyheat/keyheat/detect/internal/throttling"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// totals are the sums of every table and index so far.
type totals map[detect.Target]*sum

// sumOf returns a target's sum; an empty one if the target was not observed.
func (t totals) sumOf(target detect.Target) *sum {
	if s := t[target]; s != nil {
		return s
	}
	return &sum{}
}

// idleTable is the number of seconds without a request after which a table or index is
// forgotten.
const idleTable = 24 * 3600

// sum is the total of one table or index.
type sum struct {
	last    int64        // the newest second
	read    sample.Milli // of all seconds
	largest episode.Largest
	callers callerSums
	// flushes finds seconds with many requests that have the times of a flush. clocks
	// finds producers that write times in whole seconds.
	flushes    sampling.Flushes
	clocks     sampling.Clocks
	open       openSeconds `checkpoint:"-"`
	unseenKeys unseenKeys
	refused    throttling.Refused
	// marking are callers that have marked a refusal of any key.
	marking map[string]bool
	// peak is the highest load of closed seconds, closed their number.
	peak   sketch.Load
	closed int64
	// counted is the newest second that another board has counted.
	counted int64 `checkpoint:"-"`
}

// closeAll returns the sum with all of its seconds closed.
func (s *sum) closeAll() *sum {
	all := *s
	for _, o := range s.open {
		all.close(o)
	}
	return &all
}

// beforeReplay returns the sum without what its seconds show when they are observed again, one
// after another.
func (s *sum) beforeReplay() *sum {
	again := *s
	again.flushes, again.clocks = sampling.Flushes{}, s.clocks.BeforeReplay()
	return &again
}

// close counts an open second as closed; the ones before it are.
func (s *sum) close(o openSecond) {
	s.peak, s.closed = detect.MaxLoad(s.peak, s.peakFrom(o.second, s.last)), s.closed+1
}

// peakFrom returns the load of a second or, where requests are sampled, the highest load that its
// second, the short or the long mean from it on, up to last, shows beyond the noise of sampling.
// The highest of many noisy seconds is the luckiest.
func (s *sum) peakFrom(second, last int64) (peak sketch.Load) {
	for _, seconds := range []int64{1, detect.MeanShort, detect.MeanLongest} {
		if seconds > 1 && (second+seconds-1 > last || s.largest == episode.Largest{}) {
			break
		}
		var all sketch.Load
		for _, o := range s.open.between(second, second+seconds-1) {
			all = all.Plus(o.load)
		}
		least := func(sum sample.Milli, largest float64) sample.Milli {
			noise := detect.PeakNoise * math.Sqrt(2*math.Log(detect.Horizon)*detect.Units(sum)*largest)
			return max(0, sum-detect.Milli(noise)) / sample.Milli(seconds)
		}
		peak = detect.MaxLoad(peak, sketch.Load{Read: least(all.Read, s.largest.Read), Write: least(all.Write, s.largest.Write)})
	}
	return peak
}

// observe adds a window to the sum of its table, replacing that second's earlier window.
// A closed second is already counted.
func (t totals) observe(w *sketch.Window, settled int64) {
	s := t[w.Target]
	if s == nil {
		s = &sum{}
		t[w.Target] = s
	}
	s.last = max(s.last, w.Second)
	s.clocks.Observe(w)
	s.refused.Observe(w)
	s.observeMarking(w)
	known, counted := s.open.has(w.Second), w.Second <= s.counted
	if !known && w.Second < settled-detect.Horizon {
		return
	}
	open := s.open.ensure(w.Second)
	if known || !counted { // else the sum has the second
		s.read += w.Total.Read - open.load.Read
	}
	open.load = w.Total.Load
	s.callers.observe(w.Second, w.Callers, known || counted)
	s.largest = episode.Largest{Read: max(s.largest.Read, w.Total.ReadLargest), Write: max(s.largest.Write, w.Total.WriteLargest)}
}

// maxMarking is the most callers of a table or index that are known to mark refusals.
const maxMarking = 64

// observeMarking adds the callers that mark refusals.
func (s *sum) observeMarking(w *sketch.Window) {
	if w.Total.ThrottledRequests == 0 {
		return
	}
	for i := range w.Keys {
		if w.Keys[i].Evidence == nil {
			continue
		}
		for _, c := range w.Keys[i].Evidence.RefusedCallers.Entries {
			if len(s.marking) < maxMarking {
				if s.marking == nil {
					s.marking = map[string]bool{}
				}
				s.marking[c.Text] = true
			}
		}
	}
}

// servesAll reports whether DynamoDB has served a key more than one partition can, for
// callers that mark refusals of other keys and marked none of this one. It has split such a
// key already.
func (s *sum) servesAll(f *detect.Finding) bool {
	e := f.Evidence
	if !relate.MaySplit(f.Ground) || e == nil || f.Throttling != nil || f.Healed != nil || e.Retries != nil && e.Retries.Retries() >= 1 ||
		f.Quality.Sampling != detect.SamplingNone || f.Quality.InBatches() || slices.Contains(f.Quality.CannotSee, detect.BlindThrottled) {
		return false
	}
	marked := 0.0
	for _, c := range e.Callers {
		if s.marking[string(c.Text)] {
			marked += c.Low
		}
	}
	return marked*detect.SideOf(f, f.Peak.WCU, f.Peak.RCU).Low > detect.SaturatedTo*detect.Units(f.Limit())
}

// sumBetween returns the load of a table or index in some seconds, both ends included.
func (t totals) sumBetween(target detect.Target, from, to int64) (l sketch.Load) {
	for _, o := range t.sumOf(target).open.between(from, to) {
		l = l.Plus(o.load)
	}
	return l
}

// likelyLoad returns a target's likely load in an observed second, with flushed requests
// spread to their mean.
func (t totals) likelyLoad(w *sketch.Window) sketch.Load {
	s := t[w.Target]
	part, seconds := s.flushes.Table(w, &s.clocks)
	return detect.PartOf(w.Total.Load, sampling.RemainingPart(part, seconds))
}

// evict closes the seconds before oldest.
func (t totals) evict(oldest int64) {
	for _, s := range t {
		s.open.closeBefore(oldest, func(o openSecond) {
			s.close(o)
		})
	}
}

// forget removes targets without a request since a second, and returns them.
func (t totals) forget(since int64) (gone []detect.Target) {
	for target, s := range t {
		if s.last < since {
			delete(t, target)
			gone = append(gone, target)
		}
	}
	return gone
}

// largest returns the load that one more sampled request of a target would add.
func (t totals) largest(target detect.Target) episode.Largest { return t.sumOf(target).largest }

// peakBefore returns the highest load of a table or index before a second, without the noise of
// sampling, and whether it was seen for at least CeilingSeconds. Load while an earlier second was throttled counts.
func (t totals) peakBefore(target detect.Target, second int64) (peak sketch.Load, known bool) {
	s := t.sumOf(target)
	var all sketch.Load
	peak, before := s.peak, s.open.between(math.MinInt64, second-1)
	for _, o := range before {
		peak, all = detect.MaxLoad(peak, s.peakFrom(o.second, second-1)), all.Plus(o.load)
	}
	mean := detect.PartOf(all, detect.Ratio(1, float64(len(before)))) // chance raises it no more than it lowers it
	return detect.MaxLoad(peak, mean), s.closed+int64(len(before)) >= detect.CeilingSeconds
}

// callers returns the shares of the callers of tables and indexes, of the load of
// requests whose callers are known.
func (t totals) callers(wanted map[detect.Target]bool) map[detect.Target]map[string]float64 {
	shares := map[detect.Target]map[string]float64{}
	for target := range wanted {
		all, top := 0.0, t.sumOf(target).callers.total()
		for _, e := range top.Entries {
			all += float64(e.Weight)
		}
		shares[target] = map[string]float64{}
		for _, e := range top.Entries {
			shares[target][e.Text] = detect.Ratio(float64(e.Weight), all)
		}
	}
	return shares
}
