package episode

import (
	"math"
	"unsafe"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/internal/retries"
	"github.com/keyheat/keyheat/detect/internal/split"
	"github.com/keyheat/keyheat/detect/internal/throttling"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// Conditions are the policy, the time and the table load that judge a track's seconds.
type Conditions struct {
	detect.Policy
	// Largest is the load that one more sampled request of the table would have added.
	Largest Largest
	// Table is the load of the track's table or index as a whole.
	Table tableLoad
	Time  Timeline
	// Span is the number of seconds that each window of the track is the mean of, 0 if windows
	// are seconds.
	Span int64
}

// tableLoad returns the load of a table or index in some seconds, both ends included. It
// knows a horizon, and before it as many seconds as a flush may have gathered.
type tableLoad func(from, to int64) sketch.Load

// Rules returns the conditions for findings about one watched subject.
func (c Conditions) Rules(k detect.Subject) Rules {
	return Rules{k, c}
}

// Track is the history of a key, or of a table or index as a whole, that is or was near a
// limit. It holds the open seconds, and the episodes that older ones made.
type Track struct {
	Followed Followed
	points   series         `checkpoint:"-"` // within the horizon
	hottest  hottestSeconds // of the hottest seconds
	// places keeps the load by sort key.
	places split.Ring `checkpoint:"-"`
	// spread measures how a target's throttling spreads over its keys; empty for a key.
	spread throttling.Spread
	// marking holds the callers that have marked refusals.
	marking marking
	// calls keeps how the key's calls were sent in the last minute.
	calls retries.Ring
	// past are the episodes before points.
	past map[detect.Subject]*Episode
	// cached holds the episodes up to and including the second `settled`, in the order of
	// its sides. Settled seconds are judged once, unless late data change them.
	cached  [2]Episode `checkpoint:"-"`
	settled int64      `checkpoint:"-"`
	// grew reports that some second has measured growth of the key's items.
	grew bool
	// changed is the newest second with requests that come from a stream.
	changed int64
	// span is the newest window's.
	span int64 `checkpoint:"-"`
	// largest and warning are the conditions under which cached was judged.
	largest Largest `checkpoint:"-"`
	warning float64 `checkpoint:"-"`
	// cold is the second up to which all points are cold under a policy that warns from
	// coldBelow.
	cold      int64   `checkpoint:"-"`
	coldBelow float64 `checkpoint:"-"`
}

// noSecond is before every second.
const noSecond = math.MinInt64

// NewTrack returns an empty track.
func NewTrack(of Followed) *Track {
	return &Track{Followed: of, past: map[detect.Subject]*Episode{}, settled: noSecond, cold: noSecond}
}

// Observe records a window's load of the track's key, and its batch, in place of that
// second's earlier load. A second before oldest only raises the peaks. With mayPlace the
// track begins to keep the load by sort key, and goes on once it has begun.
func (t *Track) Observe(w *sketch.Window, k *sketch.KeyLoad, batch sampling.Batch, oldest int64, l Largest, mayPlace bool) {
	if !k.Cut {
		t.Followed.Key = k.Key
	}
	t.span = w.Span
	p := keyPoint(w, k, batch)
	p.marking = t.marking.observe(k)
	t.put(p, oldest, l)
	t.hottest.add(w.Second, k)
	t.calls.Add(w.Second, k)
	if mayPlace || t.HasPlaces() {
		t.places.Add(w.Second, k)
	}
}

// MostLoad returns the most load that the track's key may have in a second and, if requests are
// sampled, on average up to it; known is whether that is known. The track may be nil.
func (t *Track) MostLoad(w *sketch.Window, k *sketch.KeyLoad) (most sketch.Load, known bool) {
	most = sampling.MostLoad(w, k)
	if w.Total.ReadLargest == 0 && w.Total.WriteLargest == 0 {
		return most, true
	}
	if t == nil {
		return most, false
	}
	var read, write sampling.Means
	add := func(p *point) {
		read.Add(p.second, p.sampledSecond(detect.KeyReads))
		write.Add(p.second, p.sampledSecond(detect.KeyWrites))
	}
	for p := range t.points.pointsAfter(w.Second - detect.MeanLongest) {
		if p.second < w.Second {
			add(p)
		}
	}
	add(new(keyPoint(w, k, sampling.Batch{})))
	meanRead, known := read.Most(w.Second, w.Total.ReadLargest)
	meanWrite, _ := write.Most(w.Second, w.Total.WriteLargest)
	if known {
		most.Read, most.Write = min(most.Read, meanRead+k.Err.Read), min(most.Write, meanWrite+k.Err.Write)
	}
	return most, known
}

// Span returns the number of seconds that each window of the track is the mean of, 0 for seconds.
func (t *Track) Span() int64 { return t.span }

// HasPlaces reports whether the track keeps the load by sort key.
func (t *Track) HasPlaces() bool { return !t.places.Empty() }

// ObserveTable records a second of a table or index as a whole, and its likely load.
// A second that is new was not observed by another board before.
func (t *Track) ObserveTable(w *sketch.Window, likely sketch.Load, p *throttling.Pressure, oldest int64, isNew bool) {
	t.span = w.Span
	t.put(tablePoint(w, likely, p), oldest, Largest{})
	if isNew {
		t.spread.Observe(w)
	}
}

// LoadSpread returns how the target's throttling spreads over its keys.
func (t *Track) LoadSpread() *throttling.Spread { return &t.spread }

// OutlivesItsSeconds reports whether the track has more than its seconds within the horizon show
// when they are observed again.
func (t *Track) OutlivesItsSeconds() bool { return len(t.past) > 0 || t.Followed.IsWhole() }

// Restore continues another board's track, without its seconds.
func (t *Track) Restore(before *Track) {
	of, past := t.Followed, t.past
	*t = *before
	t.Followed, t.settled, t.cold = of, noSecond, noSecond
	if t.past == nil {
		t.past = past
	}
}

func (t *Track) put(p point, oldest int64, l Largest) {
	if p.second < oldest {
		p = p.certainPoint()
		for _, e := range t.past {
			e.raisePeaks(&p, l)
		}
		t.settled = noSecond
		return
	}
	if p.second <= t.settled {
		t.settled = noSecond
	}
	t.cold, t.grew = min(t.cold, p.second-1), t.grew || p.grownKnown
	if p.tableChanges > 0 {
		t.changed = max(t.changed, p.second)
	}
	if before, found := t.points.get(p.second); found {
		p = p.keepRegions(&before)
	}
	t.points.put(&p)
	t.lookAhead(p.second)
}

// aheadSeconds is the number of later seconds that show whether a second's times are
// flush times.
const aheadSeconds = sampling.SteadySeconds - 1

// lookAhead counts again the seconds that follow a second, and the seconds before it.
func (t *Track) lookAhead(second int64) {
	for at := second - aheadSeconds; at <= second; at++ {
		p, found := t.points.get(at)
		if !found {
			continue
		}
		n, before := 0, p
		for n < aheadSeconds {
			next, found := t.points.get(before.second + 1)
			if !found || !next.batch.Follows(before.batch) {
				break
			}
			n, before = n+1, next
		}
		if p.ahead == n {
			continue
		}
		if at <= t.settled {
			t.settled = noSecond
		}
		p.ahead = n
		t.points.put(&p)
	}
}

// Fold moves the seconds before oldest into the past episodes.
func (t *Track) Fold(oldest int64, c Conditions) {
	if t.points.isEmpty() || t.points.first() >= oldest {
		return
	}
	var past [2]Episode
	for i, k := range t.Followed.Sides() {
		past[i] = t.pastEpisode(k)
		t.past[k] = &past[i]
	}
	if t.observe(&past, noSecond, oldest, c) > t.settled {
		t.settled = noSecond
	}
	t.points.dropBefore(oldest)
}

// NeedsFold reports whether Fold or IsDone would do anything: most tracks have open
// seconds, and none before oldest.
func (t *Track) NeedsFold(oldest int64) bool { return t.points.isEmpty() || t.points.first() < oldest }

// IsCold reports whether the track has no finding, so that the caller can skip its
// episodes. Most followed keys only come near a limit, or only their upper bounds do.
// Each second is checked once.
func (t *Track) IsCold(p detect.Policy) bool {
	if t.Followed.IsWhole() {
		return false
	}
	for _, e := range t.past {
		if !e.isCold() {
			return false
		}
	}
	if t.settled != noSecond && !(t.cached[0].isCold() && t.cached[1].isCold()) { // perhaps under the policy before
		return false
	}
	if t.coldBelow != p.Warning {
		t.cold, t.coldBelow = noSecond, p.Warning
	}
	for q := range t.points.pointsAfter(t.cold) {
		if !q.isCold(p.Warning) {
			return false
		}
		t.cold = q.second
	}
	return true
}

// pastEpisode returns the episode before the first point.
func (t *Track) pastEpisode(k detect.Subject) Episode {
	if past := t.past[k]; past != nil {
		return past.clone()
	}
	return Episode{}
}

// Episodes returns the current episode of each of its sides.
func (t *Track) Episodes(c Conditions) (now [2]Episode) {
	t.advance(c)
	for i := range now {
		now[i] = t.cached[i].clone()
	}
	t.observe(&now, t.settled, math.MaxInt64, c)
	for i, k := range t.Followed.Sides() {
		now[i].settle(c.Time.Settled, c.Time)
		now[i].smooth(c.Rules(k))
	}
	return now
}

// advance judges the seconds settled since the last call. A point is final once the
// seconds before it are settled, and the later ones that show how its times were made.
func (t *Track) advance(c Conditions) {
	if c.Largest != t.largest || c.Policy.Warning != t.warning {
		t.largest, t.warning, t.settled = c.Largest, c.Policy.Warning, noSecond
	}
	if t.settled == noSecond {
		for i, k := range t.Followed.Sides() {
			t.cached[i] = t.pastEpisode(k)
		}
	}
	t.settled = t.observe(&t.cached, t.settled, c.Time.Settled-aheadSeconds, c)
}

// observe records the seconds between two in the episodes of both sides, and returns
// the last second that is recorded then.
func (t *Track) observe(all *[2]Episode, after, before int64, c Conditions) (last int64) {
	var rules [2]Rules
	for i, k := range t.Followed.Sides() {
		rules[i] = c.Rules(k)
	}
	last = after
	for p := range t.points.pointsAfter(after) {
		if p.second >= before {
			break
		}
		for i := range all {
			all[i].observe(p, rules[i])
		}
		last = p.second
	}
	return last
}

// IsDone reports whether the track can be dropped: it has no open seconds, and its
// findings were resolved more than a horizon ago.
func (t *Track) IsDone(c Conditions) bool {
	if !t.points.isEmpty() {
		return false
	}
	for _, e := range t.Episodes(c) {
		if e.isOpen() || e.isRecent(c.Time.Settled) {
			return false
		}
	}
	return true
}

// KeyEvidence returns the evidence of a key's episode, with its last minute's retries and
// the split verdict.
func (t *Track) KeyEvidence(e *Episode, k detect.Subject) *detect.Evidence {
	gathered := t.Evidence(e)
	if gathered == nil {
		return nil
	}
	own := *gathered
	own.Split = t.places.Judge(k, e.first)
	if s := own.Split; s != nil && s.Verdict == detect.SplitBursts && e.isFlushed() {
		s.Verdict = detect.SplitUnknown
	}
	if sent := t.calls.Summarise(e.first, e.last); sent != nil {
		own.Retries = sent
	}
	return &own
}

// Evidence returns the evidence of the episode's seconds; nil if there is none.
func (t *Track) Evidence(e *Episode) *detect.Evidence {
	if t.Followed.IsWhole() {
		return summarisePressure(&e.Pressure, e.seconds)
	}
	return t.hottest.summarise(e.first, e.last)
}

// LoadAt returns the key's demand in one second.
func (t *Track) LoadAt(second int64) (l sketch.Load, seen bool) {
	p, seen := t.points.get(second)
	return p.load(), seen
}

// Recent returns the key's load in the seconds up to and including one; nil if it had
// none in any seen second. An incompletely seen second has a partial load, or an unknown
// one if nothing was seen. In a complete second, no load means none in the samples, or
// less than TrackShare of a limit.
func (t *Track) Recent(k detect.Subject, last int64, within Timeline) *detect.Recent {
	from := last - detect.RecentSeconds + 1
	r := &detect.Recent{From: detect.TimeOf(from), Unit: detect.Side(k, "wcu", "rcu"), Limit: detect.Units(detect.Limit(k)), Loads: make([]*float64, detect.RecentSeconds)}
	known := false
	for n := range r.Loads {
		second := from + int64(n)
		load, seen := sample.Milli(0), within.CompleteSeconds(second-1, second) == 1
		if p, found := t.points.get(second); found {
			load = p.amounts(k).Value
			seen = load > 0 || within.WasSeen(second)
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

// HotSeconds returns the number of seconds with at least the weight hot, and the highest
// weight.
func (t *Track) HotSeconds(hot sample.Milli) (seconds int, most sample.Milli) {
	seconds, most = t.points.hotSeconds(hot)
	for _, e := range t.past {
		seconds += int(e.seconds)
	}
	return seconds, most
}

// Bytes returns about how many bytes the track takes.
func (t *Track) Bytes() int64 {
	const kept = int64(unsafe.Sizeof(Track{}) + 2*unsafe.Sizeof(Episode{}) + 512) // with its key and its places in maps
	n := kept + t.points.bytes() + t.hottest.bytes() + t.calls.Bytes() + t.places.Bytes()
	for _, e := range []*Episode{&t.cached[0], &t.cached[1], t.past[t.Followed.Sides()[0]], t.past[t.Followed.Sides()[1]]} {
		if e != nil && e.means != nil {
			n += int64(unsafe.Sizeof(*e.means))
		}
	}
	return n
}

// Followed is a key of a table or index, or, without a key, all of it.
type Followed struct {
	Target detect.Target
	Hash   uint64
	Key    sample.Key
}

// IsWhole reports whether a table or index as a whole is followed.
func (s Followed) IsWhole() bool { return s.Hash == 0 }

// Sides returns what its findings can be about.
func (s Followed) Sides() [2]detect.Subject {
	if s.IsWhole() {
		return [2]detect.Subject{detect.SubjectPartition, detect.SubjectTable}
	}
	return [2]detect.Subject{detect.KeyWrites, detect.KeyReads}
}
