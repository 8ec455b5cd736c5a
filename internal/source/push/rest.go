package push

import (
	"errors"
	"maps"
	"strings"
	"time"

	"github.com/keyheat/keyheat/store"
)

// longestRest bounds how long the batches of a producer are refused at a time.
const longestRest = time.Minute

// rest is the time in which the batches of a producer are refused.
type rest struct {
	until  time.Time
	length time.Duration
}

// restProducers refuses, for a while, the producers that made a commit fail: another collector
// had moved their positions.
func (s *Source) restProducers(err error, now time.Time) {
	fenced, is := errors.AsType[*store.FencedError](err)
	if !is {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.resting, func(_ string, r rest) bool { return now.After(r.until.Add(longestRest)) })
	for _, lost := range fenced.Lost {
		name := lost.Name
		if r, again := s.resting[name]; !strings.HasPrefix(name, doorPrefix) && !now.Before(r.until) { // each door reports the same failure
			length := s.config.NameRest
			if again {
				length = min(2*r.length, longestRest)
			}
			s.resting[name] = rest{now.Add(length), length}
		}
	}
}

// refuseResting refuses a batch of a producer that rests. The caller holds mu.
func (s *Source) refuseResting(d *delivery, now time.Time) *response {
	left := s.resting[d.producer].until.Sub(now)
	if d.producer == "" || left <= 0 {
		return nil
	}
	r := busy("two collectors had batches of this producer at once: give each process a name of its own, and send one batch at a time")
	r.retryAfter = left.Truncate(time.Second) + time.Second
	return &r
}
