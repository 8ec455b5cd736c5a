package detect

import (
	"cmp"
	"slices"
)

// track is one key that is, or was, near a limit.
type track struct {
	target
	points []point // by second, within the horizon
	proofs []proof // of the hottest seconds
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
func (t *track) fold(oldest int64, b *Board) {
	n := 0
	for n < len(t.points) && t.points[n].second < oldest {
		n++
	}
	if n == 0 {
		return
	}
	for _, k := range t.kinds() {
		e := t.before(k)
		e.steps(t.points[:n], b.rules(t, k), b.time)
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
func (t *track) episodes(b *Board) (now [2]episode) {
	t.advance(b)
	for i, k := range t.kinds() {
		now[i] = t.known[i].clone()
		now[i].steps(t.points[t.settled:], b.rules(t, k), b.time)
		now[i].settle(b.time.settled, b.time)
	}
	return now
}

// advance judges what has been settled since the last time. A point is final
// once the seconds before it are settled.
func (t *track) advance(b *Board) {
	if l := b.largest(t); l != t.largest {
		t.largest, t.settled = l, 0
	}
	n := t.settled
	for n < len(t.points) && t.points[n].second <= b.time.settled+1 {
		n++
	}
	for i, k := range t.kinds() {
		if t.settled == 0 {
			t.known[i] = t.before(k)
		}
		t.known[i].steps(t.points[t.settled:n], b.rules(t, k), b.time)
	}
	t.settled = n
}

// findings are the track's verdicts.
func (t *track) findings(b *Board) (found []Finding) {
	for i, e := range t.episodes(b) {
		r := b.rules(t, t.kinds()[i])
		switch {
		case e.severity() == "" || r.excludes(t.key.Text):
		case t.whole():
			found = append(found, e.strained(t.target, r, b))
		default:
			found = append(found, t.finding(&e, r, b))
		}
	}
	return found
}

// bequeath leaves what outlives the track.
func (t *track) bequeath(b *Board) {
	if t.whole() {
		return
	}
	for _, f := range t.findings(b) {
		b.noteRolled(&f)
	}
}

// quiet says that a key without recent seconds has nothing left to tell: what
// it told last was resolved a horizon ago.
func (t *track) quiet(b *Board) bool {
	for _, e := range t.episodes(b) {
		open := e.state == Pending || e.state == Firing
		recent := e.state == Resolved && e.last+horizon >= b.time.settled
		if open || recent || b.options.OneEpisode && e.state != "" {
			return false
		}
	}
	return true
}
