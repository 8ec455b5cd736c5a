package gather

import (
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/keyheat/keyheat/sample"
)

// Places of keys whose retries are not added up.
const (
	// Nowhere is that of a key that has told of none yet.
	RetriesNowhere = -1
	// lost is that of a key for which there was no room when its calls were sent again:
	// nothing is known of it.
	retriesLost = -2
	// once is that of a key of few calls, of which all were sent once.
	retriesOnce = -3
)

// RetryPool holds the retries of the keys of a second. Its memory is kept from second to
// second.
type RetryPool struct {
	all  []*retrySums
	used int
}

// retrySums are a key's retries while they are added up.
type retrySums struct {
	Retries
	// senders are the callers of most attempts, each with what it sent since it came.
	senders HeavyTexts[sample.Sent]
}

// Add adds what a record tells to the retries of its key, which are at a place, and
// returns the place from then on. weight is the key's so far, the record included.
func (p *RetryPool) Add(place int16, r *sample.Record, weight, seed uint64) int16 {
	sent, told := r.SentCalls()
	if place == RetriesNowhere || place == retriesOnce {
		if found := p.place(weight, told && (r.Attempts > 1 || r.Failed)); found != RetriesNowhere {
			place = found
		} else if told {
			place = retriesOnce
		}
	}
	if place < 0 {
		return place
	}
	switch to := p.all[place]; {
	case told:
		to.add(r, sent, seed)
	case r.RCU > 0 || r.WCU > 0: // an attempt of no units is told of by the call's end
		to.Untold += r.N
	}
	return place
}

// place finds a place for a key; again says that its calls were sent again.
func (p *RetryPool) place(weight uint64, again bool) int16 {
	switch {
	case !again && weight < leastWeight:
		return RetriesNowhere
	case p.used < poolKeys/2, p.used < poolKeys && weight >= warmWeight:
	case again:
		return retriesLost
	default:
		return RetriesNowhere
	}
	if p.used == len(p.all) {
		p.all = append(p.all, &retrySums{})
	}
	*p.all[p.used] = retrySums{senders: p.all[p.used].senders.Emptying(retryCallersKept)}
	p.used++
	return int16(p.used - 1)
}

// Clear forgets everything.
func (p *RetryPool) Clear() { p.used = 0 }

func (s *retrySums) add(r *sample.Record, sent sample.Sent, seed uint64) {
	s.Sent = s.Sent.Plus(sent)
	if r.Rate < 1 {
		s.addSampled(r)
	}
	if r.Caller == "" {
		return
	}
	if by := s.senders.Add(xxh3.HashStringSeed(r.Caller, seed), r.Caller, uint64(sent.Attempts)); by != nil {
		by.Extra = by.Extra.Plus(sent)
	}
}

// addSampled adds to what sampling leaves open.
func (s *retrySums) addSampled(r *sample.Record) {
	calls, squares := r.Calls, 1.0
	if calls == 0 {
		calls = float64(r.N)
	}
	if calls > 1 {
		squares = foldedSquares
	}
	each := calls * (1 - r.Rate) / (r.Rate * r.Rate)
	s.WaitedVariance += each * squares * r.Waited * r.Waited
	s.WaitedLargest = max(s.WaitedLargest, squares*r.Waited/r.Rate)
	if r.Failed {
		s.FailedVariance += each
	}
	s.FailedLargest = max(s.FailedLargest, 1/r.Rate)
}

// sentOnce are the retries of a key of few calls.
var sentOnce = &Retries{}

// Seal returns what was added up at a place, in memory of its own; nil where nothing
// tells.
func (p *RetryPool) Seal(place int16) *Retries {
	switch {
	case place == retriesOnce:
		return sentOnce
	case place < 0 || p.all[place].Calls == 0:
		return nil
	}
	r := p.all[place].Retries
	for _, by := range p.all[place].senders.Places {
		r.Callers = append(r.Callers, CallerRetries{Hash: by.Hash, Text: string(by.Text), Sent: by.Extra})
	}
	slices.SortFunc(r.Callers, compareCallers)
	return &r
}
