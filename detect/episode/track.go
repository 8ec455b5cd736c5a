package episode

import (
	"cmp"
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/evidence"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// Conditions are what a track's seconds are judged under.
type Conditions struct {
	Policy detect.Policy
	// OneEpisode keeps everything in one episode: a file is looked at whole.
	OneEpisode bool
	// Largest is what one more sampled request of the table would have added.
	Largest Largest
	Time    Timeline
}

func (c Conditions) Rules(k detect.Kind) Rules {
	return Rules{Kind: k, Policy: c.Policy, oneEpisode: c.OneEpisode, largest: c.Largest}
}

// Track is one key that is, or was, near a limit.
type Track struct {
	Subject Subject
	Points  []point          // by second, within the horizon
	Hottest evidence.Hottest // of the hottest seconds
	// Past are the episodes before points.
	Past map[detect.Kind]*Episode
	// known are the episodes up to and including the first `settled` points, by
	// the place of their kind: what is settled is judged once, unless late data
	// change it.
	cached  [2]Episode
	settled int
	// largest is what known was judged with.
	largest Largest
}

func NewTrack(of Subject) *Track { return &Track{Subject: of, Past: map[detect.Kind]*Episode{}} }

// Put sets a second of the key. One beyond the horizon only raises the peaks.
func (t *Track) Put(p point, oldest int64, l Largest) {
	if p.second < oldest {
		for _, e := range t.Past {
			e.raisePeaks(&p, l)
		}
		return
	}
	i, found := slices.BinarySearchFunc(t.Points, p.second, func(q point, s int64) int { return cmp.Compare(q.second, s) })
	if i < t.settled {
		t.settled = 0
	}
	if found {
		t.Points[i] = p
		return
	}
	t.Points = slices.Insert(t.Points, i, p)
}

// Fold moves seconds before oldest into the past.
func (t *Track) Fold(oldest int64, c Conditions) {
	n := 0
	for n < len(t.Points) && t.Points[n].second < oldest {
		n++
	}
	if n == 0 {
		return
	}
	for _, k := range t.Subject.Kinds() {
		e := t.before(k)
		e.observeAll(t.Points[:n], c.Rules(k), c.Time)
		t.Past[k] = &e
	}
	t.Points = slices.Delete(t.Points, 0, n)
	t.settled = 0
}

// before is the episode before the first point.
func (t *Track) before(k detect.Kind) Episode {
	if past := t.Past[k]; past != nil {
		return past.clone()
	}
	return Episode{}
}

// Episodes are the verdict's memory as of now, by kind.
func (t *Track) Episodes(c Conditions) (now [2]Episode) {
	t.advance(c)
	for i, k := range t.Subject.Kinds() {
		now[i] = t.cached[i].clone()
		now[i].observeAll(t.Points[t.settled:], c.Rules(k), c.Time)
		now[i].settle(c.Time.Settled, c.Time)
	}
	return now
}

// advance judges what has been settled since the last time. A point is final
// once the seconds before it are settled.
func (t *Track) advance(c Conditions) {
	if c.Largest != t.largest {
		t.largest, t.settled = c.Largest, 0
	}
	n := t.settled
	for n < len(t.Points) && t.Points[n].second <= c.Time.Settled+1 {
		n++
	}
	for i, k := range t.Subject.Kinds() {
		if t.settled == 0 {
			t.cached[i] = t.before(k)
		}
		t.cached[i].observeAll(t.Points[t.settled:n], c.Rules(k), c.Time)
	}
	t.settled = n
}

// Quiet says that a key without recent seconds has nothing left to tell: what
// it told last was resolved a horizon ago.
func (t *Track) Quiet(c Conditions) bool {
	for _, e := range t.Episodes(c) {
		unresolved := e.state == detect.Pending || e.state == detect.Firing
		recent := e.state == detect.Resolved && e.last+detect.Horizon >= c.Time.Settled
		if unresolved || recent || c.OneEpisode && e.state != "" {
			return false
		}
	}
	return true
}

// Evidence is that of the episode's seconds, or what the judge before left.
func (t *Track) Evidence(e *Episode) *detect.Evidence {
	if gathered := t.Hottest.Evidence(e.first, e.last); gathered != nil {
		return gathered
	}
	return e.RestoredEvidence
}

// LoadAt is what the key was asked for in one second.
func (t *Track) LoadAt(second int64) (l sketch.Load, seen bool) {
	for i := range t.Points {
		if p := &t.Points[i]; p.second == second {
			return p.load(), true
		}
	}
	return l, false
}

// Most is the highest weight of the seconds that are kept.
func (t *Track) Most() (most sample.Milli) {
	for i := range t.Points {
		most = max(most, detect.WritesInReads*t.Points[i].Write.Value, t.Points[i].Read.Value)
	}
	return most
}
