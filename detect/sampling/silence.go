package sampling

import (
	"math"

	"github.com/keyheat/keyheat/detect"
)

// Silence tells whether sampling explains that nothing more was seen of something: at 1% of
// requests, six a second show one in 17 s, and a minute without any proves little. A sign is a
// second that shows it. The zero value is ready.
type Silence struct {
	// first and last are the first and the newest second with a sign, and signs counts them.
	first, last, signs int64
	// until and since count the requests seen from first to last, and after it.
	until, since int64
}

// Observe adds the next second with requests. Signs of long ago tell no rate of today's, unless
// the episode that they belong to is open.
func (s *Silence) Observe(second int64, sign, open bool, requests int64) {
	if !open && second-s.last > detect.MeanLongest {
		*s = Silence{}
	}
	switch {
	case sign:
		if s.signs == 0 {
			s.first = second
		}
		s.until, s.since, s.last, s.signs = s.until+s.since+requests, 0, second, s.signs+1
	case s.signs > 0:
		s.since += requests
	}
}

// Last returns the newest second with a sign, 0 for none.
func (s *Silence) Last() int64 { return s.last }

// IsEnd reports whether so many seconds without a sign are its end, and no chance of sampling:
// signs as frequent as before would have shown, or the requests are at most half as frequent and
// chance does not explain it. After a horizon nothing is known of the time before.
func (s *Silence) IsEnd(quiet int64) bool {
	fell := 2*float64(s.since)*s.span() <= float64(s.until)*float64(quiet)
	return quiet >= detect.Horizon || s.chance(s.signs, 0, quiet) <= detect.EndTail || fell && s.chance(s.until, s.since, quiet) <= detect.EndTail
}

func (s *Silence) span() float64 { return float64(s.last - s.first + 1) }

// chance returns a bound of the chance of at most so few events in the quiet seconds, if they are
// as frequent as those before: Chernoff's, of the part of all events that falls into the quiet
// seconds. It is exact for none.
func (s *Silence) chance(before, since, quiet int64) float64 {
	expected := float64(quiet) / (float64(quiet) + s.span())
	seen := detect.Ratio(float64(since), float64(before+since))
	if seen >= expected {
		return 1
	}
	distance := (1 - seen) * math.Log((1-seen)/(1-expected))
	if seen > 0 {
		distance += seen * math.Log(seen/expected)
	}
	return math.Exp(-float64(before+since) * distance)
}
