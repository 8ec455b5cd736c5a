package analyze

import (
	"iter"
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// grid are the times of a table's or index's records, which tell rows of requests from rows of
// sums: as `stats count(*) by bin(1m)` writes them, or where times are cut to minutes.
type grid struct {
	fractions bool
	// every divides the distance of all seconds from the first that came.
	origin, first, last, every int64
	seen                       map[int64]bool // up to gridSeconds
}

const (
	// gridSeconds different seconds show a grid, however much of it they leave out.
	gridSeconds = 8
	// leastGrid of them do if they leave out no more than they have.
	leastGrid = 4
	// leastSpan is the least number of seconds from one of a grid to the next.
	leastSpan = 5
)

// add adds a second.
func (g *grid) add(w *sketch.Window) {
	if g.seen == nil {
		*g = grid{origin: w.Second, first: w.Second, last: w.Second, seen: map[int64]bool{}}
	}
	g.fractions = g.fractions || w.Arrivals.HasFractions()
	g.first, g.last = min(g.first, w.Second), max(g.last, w.Second)
	if len(g.seen) < gridSeconds {
		g.seen[w.Second] = true
	}
	for a, b := g.every, max(w.Second-g.origin, g.origin-w.Second); ; a, b = b, a%b {
		if b == 0 {
			g.every = a
			return
		}
	}
}

// span returns how many seconds each row sums up, 0 if rows are requests.
func (g *grid) span() int64 {
	n := int64(len(g.seen))
	if g.fractions || n < leastGrid || g.every < leastSpan || n < gridSeconds && 2*n < (g.last-g.first)/g.every+1 {
		return 0
	}
	return g.every
}

// all returns the seconds in the order of time. Those of sums are their means.
func (s *sketches) all() iter.Seq[*sketch.Window] {
	spans := map[detect.Target]int64{}
	for target, g := range s.grids {
		if span := g.span(); span > 0 {
			spans[target] = span
		}
	}
	return func(yield func(*sketch.Window) bool) {
		for w := range s.windows.All() {
			if span := spans[w.Target]; span > 0 {
				w = meanOf(w, span)
			}
			if !yield(w) {
				return
			}
		}
	}
}

// meanOf returns the window of a mean second, of one with the sums of so many seconds. Its loads are
// rounded towards what they prove. Counts of requests stay, and so does evidence, whose loads are a
// base for shares.
func meanOf(w *sketch.Window, seconds int64) *sketch.Window {
	m, part := *w, 1/float64(seconds)
	m.Span, m.Total.Load, m.Total.Throttled, m.Total.Keyless = seconds, down(w.Total.Load, seconds), down(w.Total.Throttled, seconds), down(w.Total.Keyless, seconds)
	m.Total.ReadLargest, m.Total.WriteLargest = part*w.Total.ReadLargest, part*w.Total.WriteLargest
	m.Callers, m.Scanners, m.Unseen = meanTop(w.Callers, seconds), meanTop(w.Scanners, seconds), up(w.Unseen, seconds)
	m.Keys, m.Cells = slices.Clone(w.Keys), nil // a place is of no use without seconds
	for i := range m.Keys {
		k := &m.Keys[i]
		k.Low, k.Err, k.Throttled = down(k.Low, seconds), up(k.Err, seconds), down(k.Throttled, seconds)
		for _, s := range []*sketch.Spread{&k.ReadSpread, &k.WriteSpread} {
			s.Variance, s.Largest = part*part*s.Variance, part*s.Largest
		}
	}
	return &m
}

// down and up return a part of a load, rounded down or up.
func down(l sketch.Load, of int64) sketch.Load {
	return sketch.Load{Read: l.Read / sample.Milli(of), Write: l.Write / sample.Milli(of)}
}

func up(l sketch.Load, of int64) sketch.Load {
	return down(sketch.Load{Read: l.Read + sample.Milli(of) - 1, Write: l.Write + sample.Milli(of) - 1}, of)
}

func meanTop(t sketch.Top, seconds int64) sketch.Top {
	mean := sketch.Top{Entries: slices.Clone(t.Entries), Missing: (t.Missing + uint64(seconds) - 1) / uint64(seconds)}
	for i := range mean.Entries {
		mean.Entries[i].Weight /= uint64(seconds)
	}
	return mean
}
