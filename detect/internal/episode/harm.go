package episode

import (
	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/internal/throttling"
	"github.com/keyheat/keyheat/detect/sampling"
)

// refusalSums add up an episode's load from its first throttled second to its last. The zero
// value is ready.
type refusalSums struct {
	first, last int64
	// units are the throttled units of the requested ones, calm is the load since last.
	units, calm sampling.Part
}

// Add adds a second's load, and the throttled units of it.
func (s *refusalSums) Add(second int64, load sampling.Part) {
	switch {
	case load.Of > 0:
		if s.first == 0 {
			s.first = second
		}
		s.last = second
		s.units, s.calm = s.units.Plus(s.calm).Plus(load), sampling.Part{}
	case s.first != 0:
		s.calm = s.calm.Plus(load)
	}
}

// Throttling returns the sums as a finding shows them; nil without a throttled second.
func (s *refusalSums) Throttling() *detect.Throttling {
	if s.first == 0 {
		return nil
	}
	t := &detect.Throttling{From: detect.TimeOf(s.first), To: detect.TimeOf(s.last), Units: s.units.Of}
	setShare(t, s.units)
	return t
}

// setShare sets the share of a throttling, and its bounds.
func setShare(t *detect.Throttling, p sampling.Part) {
	t.Share = p.Share()
	t.ShareLow, t.ShareHigh = p.Bounds()
}

// harmShare judges the share of a key's requests that its partition refuses. The zero value is
// ready.
type harmShare struct {
	// proven are the newest seconds with a proven share of RefusedShare, the newest first.
	proven [detect.RefusedSeconds]int64
	// from begins the newest OutageSeconds with a refusal, refused counts their seconds with
	// one, and units and requests are the refused parts of all of them.
	from, refused   int64
	units, requests sampling.Part
}

// Observe records the next second by the refused parts of its units and of its requests, and
// reports whether the refused share is now proven to last.
func (s *harmShare) Observe(second int64, refuses bool, units, requests sampling.Part) (lasts bool) {
	if second-s.from >= detect.OutageSeconds {
		if !refuses {
			return false
		}
		lasts = s.lasts()
		*s = harmShare{proven: s.proven, from: second}
	}
	s.units, s.requests = s.units.Plus(units), s.requests.Plus(requests)
	if !refuses {
		return false
	}
	s.refused++
	if isHarmful(units) || isHarmful(requests) {
		copy(s.proven[1:], s.proven[:])
		s.proven[0] = second
		earliest := s.proven[len(s.proven)-1]
		lasts = lasts || earliest != 0 && second-earliest < detect.RefusedOf
	}
	return lasts || s.requests.Variance > 0 && s.lasts() // where all was seen, only a whole minute counts
}

// lasts reports whether the refused share is proven over all seconds since from.
func (s *harmShare) lasts() bool {
	return s.refused >= detect.RefusedSeconds && (isHarmful(s.units) || isHarmful(s.requests))
}

// isHarmful reports whether a refused part is proven to be large enough to be critical.
func isHarmful(refused sampling.Part) bool {
	return refused.Lower(detect.DecideTail) >= detect.RefusedShare
}

// askedUnits is what a table or index was asked for in some seconds, with the refused part: its
// requests and its write units.
type askedUnits struct{ Requests, Write sampling.Clusters }

// askedIn returns what it was asked for in a second, with the refused part that a kind of
// finding is about.
func askedIn(p *throttling.Pressure, k detect.Subject) (a askedUnits) {
	a.Requests.Add(float64(p.RefusedFor(k)), float64(p.Requests))
	a.Write.Add(detect.Units(p.Throttled.Write), detect.Units(p.Load.Write))
	return a
}

// Plus adds other seconds.
func (a askedUnits) Plus(o askedUnits) askedUnits {
	a.Requests.Join(o.Requests)
	a.Write.Join(o.Write)
	return a
}

// harmMinute is the throttling of a table or index in up to OutageSeconds. The zero value is ready.
type harmMinute struct {
	from     int64
	parts    [detect.OutageParts]bool // of the minute, with a throttled request
	requests sampling.Clusters
}

// IsOutage counts a second, and reports whether the minute that it completes, or comes after,
// was an outage.
func (m *harmMinute) IsOutage(second int64, requests sampling.Clusters, throttled, sampled bool) (outage bool) {
	if second-m.from >= detect.OutageSeconds {
		if !throttled {
			return false
		}
		outage = m.isOver(sampled)
		*m = harmMinute{from: second}
	}
	m.requests.Join(requests)
	if !throttled {
		return outage
	}
	m.parts[(second-m.from)*detect.OutageParts/detect.OutageSeconds] = true
	return outage || second-m.from == detect.OutageSeconds-1 && m.isOver(sampled)
}

// isOver reports whether the refused share of the minute is an outage, and no burst.
func (m *harmMinute) isOver(sampled bool) bool {
	calm := 0
	for _, throttled := range m.parts {
		calm += detect.BoolToInt(!throttled)
	}
	share := m.requests.Part(sampled)
	return calm <= 1 && share.Lower(detect.DecideTail) >= detect.OutageShare
}
