package partition

import (
	"math"
	"slices"
)

const (
	// trackEnds is how many seconds without a peak end a track, maxTracks the most tracks.
	trackEnds = 5
	maxTracks = 64
	// A peak continues a track within trackReach cells of where its last leading points lead, or
	// within newReach of its only one.
	trackReach, newReach = 4, 48
	leading              = 5
	// A track walks if it has a peak in presence of the seconds, if agreement of the slopes
	// between its first and its last third have one sign, if it moved leastMoved cells, if
	// straightness of its points lie within nearLine of the way from a line, and if no step is
	// more than longestStep of the way.
	presence     = 2.0 / 3
	agreement    = 0.95
	leastMoved   = 4
	straightness = 0.75
	nearLine     = 0.1
	longestStep  = 1.0 / 3
)

// spans are the seconds over which a track may walk.
var spans = []int64{30, 60, 180}

// point is a peak in a second.
type point struct {
	second   int64
	at, load float64
}

// track is peaks of successive seconds, each near the one before.
type track struct{ points []point }

func (t *track) newest() point { return t.points[len(t.points)-1] }

func (t *track) add(p point) {
	t.points = append(t.points, p)
	if longest := spans[len(spans)-1]; t.points[0].second <= p.second-longest {
		t.points = t.points[1:]
	}
}

// distance returns how far a peak lies from where the track leads; infinite out of reach.
func (t *track) distance(p peak, second int64) float64 {
	newest, reach, slope := t.newest(), float64(newReach), 0.0
	if len(t.points) > 1 {
		before := t.points[max(0, len(t.points)-leading)]
		reach, slope = trackReach, (newest.at-before.at)/float64(newest.second-before.second)
	}
	far := math.Abs(p.at - newest.at - slope*float64(second-newest.second))
	if far > reach {
		return math.Inf(1)
	}
	return far
}

// walks reports whether the track walks over one of the spans, and since when.
func (t *track) walks(now int64) (since int64, walks bool) {
	for _, span := range spans {
		from, _ := slices.BinarySearchFunc(t.points, now-span+1, func(p point, second int64) int { return int(p.second - second) })
		if all := t.points[from:]; float64(len(all)) >= presence*float64(span) && isLine(all) {
			return all[0].second, true
		}
	}
	return 0, false
}

// isLine reports whether points lie on a line that rises or falls.
func isLine(all []point) bool {
	third := len(all) / 3
	first, last := all[:third], all[len(all)-third:]
	slopes, rising := make([]float64, 0, third*third), 0
	for _, a := range first {
		for _, b := range last {
			slope := (b.at - a.at) / float64(b.second-a.second)
			slopes = append(slopes, slope)
			if slope > 0 {
				rising++
			}
		}
	}
	if max(rising, len(slopes)-rising) < int(math.Ceil(agreement*float64(len(slopes)))) {
		return false
	}
	slope := median(slopes)
	way := math.Abs(slope) * float64(all[len(all)-1].second-all[0].second)
	if way < leastMoved {
		return false
	}
	starts := make([]float64, len(all)) // where a line through each point begins
	for i, p := range all {
		starts[i] = p.at - slope*float64(p.second)
		if i > 0 && math.Abs(p.at-all[i-1].at) > longestStep*way {
			return false
		}
	}
	start, near := median(slices.Clone(starts)), 0
	for _, s := range starts {
		if math.Abs(s-start) <= nearLine*way {
			near++
		}
	}
	return float64(near) >= straightness*float64(len(all))
}

// median orders numbers in place, and returns the middle one.
func median(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}
