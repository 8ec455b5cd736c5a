package gather

import (
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/keyheat/keyheat/sample"
)

// Places of keys without sums in a RetryPool.
const (
	// RetriesNowhere is the place of a key whose records have not counted attempts yet.
	RetriesNowhere = -1
	// retriesLost is the place of a key that found no room when its calls were retried. Its
	// retries are unknown.
	retriesLost = -2
	// retriesOnce is the place of a key with few calls, each sent once.
	retriesOnce = -3
)

// RetryPool holds the retries of the keys of one second. It reuses its memory for the next
// second.
type RetryPool struct {
	all  []*retrySums
	used int
}

// retrySums accumulates a key's retries.
type retrySums struct {
	Retries
	// senders are the callers with the most attempts, each with its sums since it entered.
	senders HeavyTexts[sample.Sent]
}

// Add adds a record to the retries of its key at a place, and returns the key's new place.
// weight is the key's weight so far, including the record.
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
	case r.RCU > 0 || r.WCU > 0: // an attempt without units is counted when its call ends
		to.Untold += r.N
	}
	return place
}

// place finds a place for a key. again means that the key's calls were retried.
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

// Clear forgets all retries and keeps the memory.
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

// addSampled adds the uncertainty of a sampled record.
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

// sentOnce is the result for a key with few calls, each sent once.
var sentOnce = &Retries{}

// Seal returns the retries at a place in memory of their own, or nil if unknown.
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
