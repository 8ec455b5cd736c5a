package episode

import (
	"cmp"
	"math"
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/internal/split"
	"github.com/keyheat/keyheat/detect/internal/throttling"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// Conditions are what a track's seconds are judged under.
type Conditions struct {
	Policy detect.Policy
	// OneEpisode keeps everything in one episode, as when a file is analysed.
	OneEpisode bool
	// Largest is what one more sampled request of the table would have added.
	Largest Largest
	// Table is the load of the track's table or index as a whole.
	Table TableLoad
	Time  Timeline
}

// TableLoad returns the load of a table or index in some seconds, both ends included: of
// a horizon, and of as many seconds before it as a flush may have gathered.
type TableLoad func(from, to int64) sketch.Load

// Rules returns the conditions for findings of one kind.
func (c Conditions) Rules(k detect.Kind) Rules {
	return Rules{Kind: k, Policy: c.Policy, oneEpisode: c.OneEpisode, largest: c.Largest, table: c.Table}
}

// Track is the history of one key, or of a table or index as a whole, that is or
// was near a limit: its open seconds, and the episodes that older ones made.
type Track struct {
	Subject Subject
	points  []point        // by second, within the horizon
	hottest hottestSeconds // of the hottest seconds
	// places are where among the sort keys the load was; they begin anew when another
	// judge takes over.
	places split.Ring
	// spread is over how many keys it is spread what a table's or index's partitions
	// throttle; nothing of a key.
	spread throttling.Spread
	// calls is how its calls were sent in the last minute.
	calls retryRing
	// past are the episodes before points.
	past map[detect.Kind]*Episode
	// cached are the episodes up to and including the first `settled` points, by
	// the place of their kind: what is settled is judged once, unless late data
	// change it.
	cached  [2]Episode
	settled int
	// grew reports that it was known of a second by how much the key's items grew.
	grew bool
	// largest is what cached was judged with.
	largest Largest
	// cold is how many of the first points are known to be cold under a policy that warns
	// from coldBelow.
	cold      int
	coldBelow float64
}

// NewTrack returns an empty track.
func NewTrack(of Subject) *Track { return &Track{Subject: of, past: map[detect.Kind]*Episode{}} }

// Observe records what a window has of the track's key, and the batch in it, in place of
// what was known of that second. A second before oldest only raises the peaks. With
// mayPlace it begins to keep where among the sort keys the load was; once begun, that goes on.
func (t *Track) Observe(w *sketch.Window, k *sketch.KeyLoad, batch sampling.Batch, oldest int64, l Largest, mayPlace bool) {
	if !k.Cut {
		t.Subject.Key = k.Key
	}
	t.put(keyPoint(w, k, batch), oldest, l)
	t.hottest.add(w.Second, k)
	t.calls.add(w.Second, k)
	if mayPlace || t.Placed() {
		t.places.Add(w.Second, k)
	}
}

// Placed reports whether it is kept where among the sort keys the load was.
func (t *Track) Placed() bool { return !t.places.Empty() }

// ObserveTable records a second of a table or index as a whole, and its likely load.
func (t *Track) ObserveTable(w *sketch.Window, likely sketch.Load, p *throttling.Pressure, oldest int64) {
	t.put(tablePoint(w, likely, p), oldest, Largest{})
	t.spread.Observe(w)
}

// Spread returns over how many keys it is spread what a table's or index's partitions throttle.
func (t *Track) Spread() *throttling.Spread { return &t.spread }

// Restore continues the episode that made a finding.
func (t *Track) Restore(f *detect.Finding) { t.past[f.Kind] = restored(f) }

func (t *Track) put(p point, oldest int64, l Largest) {
	if p.second < oldest {
		p = p.withoutBatch()
		for _, e := range t.past {
			e.raisePeaks(&p, l)
		}
		return
	}
	i, found := t.at(p.second)
	if i < t.settled {
		t.settled = 0
	}
	t.cold, t.grew = min(t.cold, i), t.grew || p.grownKnown
	if found {
		t.points[i] = p.besideRegionsOf(&t.points[i])
	} else {
		t.points = slices.Insert(t.points, i, p)
	}
	t.lookAhead(i)
}

// aheadSeconds is how many later seconds tell what the times of a second are.
const aheadSeconds = sampling.SteadySeconds - 1

// lookAhead counts again what follows on a point, and on those before it.
func (t *Track) lookAhead(i int) {
	for j := max(0, i-aheadSeconds); j <= i; j++ {
		n := 0
		for n < aheadSeconds && j+n+1 < len(t.points) && t.points[j+n+1].follows(&t.points[j+n]) {
			n++
		}
		if t.points[j].ahead != n && j < t.settled {
			t.settled = 0
		}
		t.points[j].ahead = n
	}
}

// at returns the place of a second's point, and whether there is one.
func (t *Track) at(second int64) (i int, found bool) {
	return slices.BinarySearchFunc(t.points, second, func(q point, s int64) int { return cmp.Compare(q.second, s) })
}

// Fold moves the seconds before oldest into the past episodes.
func (t *Track) Fold(oldest int64, c Conditions) {
	n := 0
	for n < len(t.points) && t.points[n].second < oldest {
		n++
	}
	if n == 0 {
		return
	}
	for _, k := range t.Subject.Kinds() {
		e := t.before(k)
		e.observeAll(t.points[:n], c.Rules(k), c.Time)
		t.past[k] = &e
	}
	t.points = slices.Delete(t.points, 0, n)
	t.settled, t.cold = 0, max(0, t.cold-n)
}

// Ages reports whether Fold or Done would do anything: most tracks have open seconds, and
// none before oldest.
func (t *Track) Ages(oldest int64) bool { return len(t.points) == 0 || t.points[0].second < oldest }

// Cold reports whether nothing can be found of the track, which then need not be asked for
// its episodes. Most keys that are followed are near enough to a limit to be, and no more,
// or only the bounds of their load are: each of their seconds is looked at once.
func (t *Track) Cold(p detect.Policy) bool {
	if t.Subject.IsWhole() {
		return false
	}
	for _, e := range t.past {
		if !e.isCold() {
			return false
		}
	}
	if t.settled > 0 && !(t.cached[0].isCold() && t.cached[1].isCold()) { // perhaps under the policy before
		return false
	}
	if t.coldBelow != p.Warning {
		t.cold, t.coldBelow = 0, p.Warning
	}
	for t.cold < len(t.points) && t.points[t.cold].isCold(p.Warning) {
		t.cold++
	}
	return t.cold == len(t.points)
}

// before returns the episode before the first point.
func (t *Track) before(k detect.Kind) Episode {
	if past := t.past[k]; past != nil {
		return past.clone()
	}
	return Episode{}
}

// Episodes returns the current episode of each of the subject's kinds.
func (t *Track) Episodes(c Conditions) (now [2]Episode) {
	t.advance(c)
	for i, k := range t.Subject.Kinds() {
		now[i] = t.cached[i].clone()
		now[i].observeAll(t.points[t.settled:], c.Rules(k), c.Time)
		now[i].settle(c.Time.Settled, c.Time)
		now[i].smooth(c.Rules(k))
	}
	return now
}

// advance judges what has been settled since the last call. A point is final once
// the seconds before it are settled, and those after it that tell what its times are.
func (t *Track) advance(c Conditions) {
	if c.Largest != t.largest {
		t.largest, t.settled = c.Largest, 0
	}
	n := t.settled
	for n < len(t.points) && t.points[n].second < c.Time.Settled-aheadSeconds {
		n++
	}
	for i, k := range t.Subject.Kinds() {
		if t.settled == 0 {
			t.cached[i] = t.before(k)
		}
		t.cached[i].observeAll(t.points[t.settled:n], c.Rules(k), c.Time)
	}
	t.settled = n
}

// Done reports whether the track can be dropped: it has no open seconds, and what
// was found of it was resolved a horizon ago.
func (t *Track) Done(c Conditions) bool {
	if len(t.points) > 0 {
		return false
	}
	for _, e := range t.Episodes(c) {
		unresolved := e.state == detect.Pending || e.state == detect.Firing
		recent := e.state == detect.Resolved && e.last+detect.Horizon >= c.Time.Settled
		if unresolved || recent || c.OneEpisode && e.state != "" {
			return false
		}
	}
	return true
}

// KeyEvidence returns that of a key's episode, with its last minute's retries, and the
// verdict on splits, which is of what this judge has seen itself.
func (t *Track) KeyEvidence(e *Episode, k detect.Kind) *detect.Evidence {
	gathered := t.Evidence(e)
	if gathered == nil {
		return nil
	}
	own := *gathered
	own.Split = t.places.Judge(k, e.first)
	if s := own.Split; s != nil && s.Verdict == detect.SplitBursts && e.inBatches() {
		s.Verdict = detect.SplitUnknown
	}
	if sent := t.calls.summarise(e.first, e.last); sent != nil {
		own.Retries = sent
	}
	return &own
}

// Evidence returns that of the episode's seconds, or what the judge before this
// one left; nil when there is none.
func (t *Track) Evidence(e *Episode) *detect.Evidence {
	gathered := t.hottest.summarise(e.first, e.last)
	if t.Subject.IsWhole() {
		gathered = summarisePressure(&e.Pressure, e.seconds)
	}
	if gathered == nil {
		return e.restoredEvidence
	}
	return gathered
}

// LoadAt returns the key's demand in one second.
func (t *Track) LoadAt(second int64) (l sketch.Load, seen bool) {
	if i, found := t.at(second); found {
		return t.points[i].load(), true
	}
	return l, false
}

// Recent returns the key's load in the seconds up to and including one; nil when it had
// none in any that was seen. Of a second that was not seen completely it is what was seen,
// and nothing is not known. Of one that was, nothing is none that the samples show, or so
// little that the key was not followed: less than TrackShare of a limit.
func (t *Track) Recent(k detect.Kind, last int64, within Timeline) *detect.Recent {
	from := last - detect.RecentSeconds + 1
	r := &detect.Recent{From: detect.At(from), Unit: detect.Side(k, "wcu", "rcu"), Limit: detect.Units(detect.Limit(k)), Loads: make([]*float64, detect.RecentSeconds)}
	known := false
	for n := range r.Loads {
		second := from + int64(n)
		load, seen := sample.Milli(0), within.complete(second-1, second) == 1
		if i, found := t.at(second); found {
			load = t.points[i].of(k).Value
			seen = load > 0 || within.seen(second)
			known = known || seen
		}
		if seen {
			r.Loads[n] = new(math.Round(detect.Units(load)))
		}
	}
	if !known {
		return nil
	}
	return r
}

// HotSeconds returns in how many seconds the key's weight was at least `hot`, and its
// highest weight.
func (t *Track) HotSeconds(hot sample.Milli) (seconds int, most sample.Milli) {
	for i := range t.points {
		weight := max(detect.WritesInReads*t.points[i].write.Value, t.points[i].read.Value)
		if most = max(most, weight); weight >= hot {
			seconds++
		}
	}
	for _, e := range t.past {
		seconds += int(e.seconds)
	}
	return seconds, most
}
