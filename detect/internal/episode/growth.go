package episode

import (
	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// Growth is the growth of a key's item collection in the kept seconds.
type Growth struct {
	// Bytes is the growth in bytes a second, extrapolated to the seconds without measured
	// growth.
	Bytes float64
	// Known is the number of seconds with measured growth. First and Last are the first
	// and the last second with load. Fast is the number of seconds that grew fast enough to
	// fill a collection within CollectionTellHours. LastFast is the last of them; Over reports
	// that it was a while ago.
	Known, First, Last, Fast, LastFast int64
	Over                               bool
	// Peak is the highest second of requested load, at At.
	Peak sketch.Load
	At   int64
	// Sum is the load of all seconds with load; Seconds counts them.
	Sum     sketch.Load
	Seconds int64
}

// HasGrowth reports whether any second has measured growth.
func (t *Track) HasGrowth() bool { return t.grew }

// Span is the time from the first second with load to the last, in seconds.
func (g *Growth) Span() int64 { return g.Last - g.First + 1 }

// Growth returns the growth of the track's key.
func (t *Track) Growth(time Timeline) (g Growth) {
	grown, written := 0.0, sample.Milli(0)
	for p := range t.points.pointsAfter(noSecond) {
		if g.Seconds == 0 {
			g.First = p.second
		}
		g.Last, g.Seconds = p.second, g.Seconds+1
		l := p.load()
		g.Sum = g.Sum.Plus(l)
		if detect.Weight(l) > detect.Weight(g.Peak) {
			g.Peak, g.At = l, p.second
		}
		if p.grownKnown {
			g.Known++
			if p.grown >= detect.CollectionBytes/detect.CollectionTellHours/3600. {
				g.Fast, g.LastFast = g.Fast+1, p.second
			}
			grown += p.grown
			written += l.Write
		}
	}
	if written > 0 {
		g.Bytes = grown * float64(g.Sum.Write) / float64(written) / float64(g.Span())
	}
	g.Over = time.IsQuietSince(g.LastFast)
	return g
}
