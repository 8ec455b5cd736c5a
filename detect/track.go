package detect

import (
	"cmp"
	"slices"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// conditions are what a track's seconds are judged under.
type conditions struct {
	policy Policy
	// oneEpisode keeps everything in one episode: a file is looked at whole.
	oneEpisode bool
	// largest is what one more sampled request of the table would have added.
	largest largest
	time    timeline
}

func (c conditions) rules(k Kind) rules {
	return rules{kind: k, Policy: c.policy, oneEpisode: c.oneEpisode, largest: c.largest}
}

// track is one key that is, or was, near a limit.
type track struct {
	subject subject
	points  []point // by second, within the horizon
	proofs  proofs  // of the hottest seconds
	// past are the episodes before points.
	past map[Kind]*episode
	// known are the episodes up to and including the first `settled` points, by
	// the place of their kind: what is settled is judged once, unless late data
	// change it.
	known   [2]episode
	settled int
	// largest is what known was judged with.
	largest largest
}

func newTrack(of subject) *track { return &track{subject: of, past: map[Kind]*episode{}} }

// put sets a second of the key. One beyond the horizon only raises the peaks.
func (t *track) put(p point, oldest int64, l largest) {
	if p.second < oldest {
		for _, e := range t.past {
			e.raise(&p, l)
		}
		return
	}
	i, found := slices.BinarySearchFunc(t.points, p.second, func(q point, s int64) int { return cmp.Compare(q.second, s) })
	if i < t.settled {
		t.settled = 0
	}
	if found {
		t.points[i] = p
		return
	}
	t.points = slices.Insert(t.points, i, p)
}

// fold moves seconds before oldest into the past.
func (t *track) fold(oldest int64, c conditions) {
	n := 0
	for n < len(t.points) && t.points[n].second < oldest {
		n++
	}
	if n == 0 {
		return
	}
	for _, k := range t.subject.kinds() {
		e := t.before(k)
		e.steps(t.points[:n], c.rules(k), c.time)
		t.past[k] = &e
	}
	t.points = slices.Delete(t.points, 0, n)
	t.settled = 0
}

// before is the episode before the first point.
func (t *track) before(k Kind) episode {
	if past := t.past[k]; past != nil {
		return past.clone()
	}
	return episode{}
}

// episodes are the verdict's memory as of now, by kind.
func (t *track) episodes(c conditions) (now [2]episode) {
	t.advance(c)
	for i, k := range t.subject.kinds() {
		now[i] = t.known[i].clone()
		now[i].steps(t.points[t.settled:], c.rules(k), c.time)
		now[i].settle(c.time.settled, c.time)
	}
	return now
}

// advance judges what has been settled since the last time. A point is final
// once the seconds before it are settled.
func (t *track) advance(c conditions) {
	if c.largest != t.largest {
		t.largest, t.settled = c.largest, 0
	}
	n := t.settled
	for n < len(t.points) && t.points[n].second <= c.time.settled+1 {
		n++
	}
	for i, k := range t.subject.kinds() {
		if t.settled == 0 {
			t.known[i] = t.before(k)
		}
		t.known[i].steps(t.points[t.settled:n], c.rules(k), c.time)
	}
	t.settled = n
}

// quiet says that a key without recent seconds has nothing left to tell: what
// it told last was resolved a horizon ago.
func (t *track) quiet(c conditions) bool {
	for _, e := range t.episodes(c) {
		open := e.state == Pending || e.state == Firing
		recent := e.state == Resolved && e.last+horizon >= c.time.settled
		if open || recent || c.oneEpisode && e.state != "" {
			return false
		}
	}
	return true
}

// evidence is that of the episode's seconds, or what the judge before left.
func (t *track) evidence(e *episode) *Evidence {
	if told := t.proofs.evidence(e.first, e.last); told != nil {
		return told
	}
	return e.toldEvidence
}

// at is what the key was asked for in one second.
func (t *track) at(second int64) (l sketch.Load, seen bool) {
	for i := range t.points {
		if p := &t.points[i]; p.second == second {
			return p.load(), true
		}
	}
	return l, false
}

// most is the highest weight of the seconds that are kept.
func (t *track) most() (most sample.Milli) {
	for i := range t.points {
		most = max(most, WritesInReads*t.points[i].write.value, t.points[i].read.value)
	}
	return most
}
