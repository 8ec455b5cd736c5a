package demo

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/keyheat/keyheat/sample"
)

// How callers try again: as the AWS SDKs do, after a pause of random length that grows
// with each attempt.
const (
	maxAttempts = 4
	firstPause  = 50 * time.Millisecond
)

// longestCall is how long a call takes at most, with all its attempts.
const longestCall = 400 * time.Millisecond

// DynamoDB's throttle reasons for requests that a partition refuses.
const (
	writeReason = "TableWriteKeyRangeThroughputExceeded"
	readReason  = "TableReadKeyRangeThroughputExceeded"
)

// simulation is an application with three DynamoDB tables: its callers' requests, the
// tables' partitions that serve and refuse them, and the callers' retries. Its output are
// the records that package awssdk makes of such calls. It is not safe for concurrent use.
//
// The requests of a second follow from the seed, the second and the [plan], so that a
// restarted demo continues. The partitions' levels and the waiting retries are not kept.
type simulation struct {
	seed   uint64
	tables map[string]*table
	// next is the first second that nothing was asked for yet.
	next int64
	// pending are calls by the time of their next attempt.
	pending []*call
	// records are Advance's last result, later the records that it has not returned yet.
	records, later []sample.Record
	// draw is of the pauses between attempts.
	draw    *rand.Rand
	watched map[string]*watched
}

// newSimulation returns an application whose first requests are in the second of start.
// [simulation.Seconds] shows the watched keys.
func newSimulation(seed uint64, start time.Time, keys ...string) *simulation {
	s := &simulation{
		seed: seed, next: start.Unix(), draw: rand.New(rand.NewPCG(seed+2, uint64(start.Unix()))),
		tables:  map[string]*table{ordersTable: newTable(), catalogTable: newTable(), cartsTable: newTable()},
		watched: make(map[string]*watched),
	}
	for _, key := range keys {
		s.watched[key] = new(watched)
	}
	return s
}

// call is a request that is not over yet.
type call struct {
	request
	attempts int64
	// began is when the call was made, in Unix milliseconds.
	began int64
}

// Advance returns the records of the calls before a time that it has not returned yet.
// Calls end at most [longestCall] after that time. The records are valid until the next call.
func (s *simulation) Advance(at time.Time, p *plan) []sample.Record {
	made, over := at.UnixMilli(), at.Add(longestCall).UnixMilli()
	later := s.later
	s.records, s.later = s.records[:0], nil
	for _, r := range later {
		s.keep(r, made)
	}
	for {
		if len(s.pending) > 0 && s.pending[0].at < min(over, 1000*s.next) {
			c := s.pending[0]
			s.pending = s.pending[1:]
			s.keep(s.attempt(c), made)
			continue
		}
		if 1000*s.next >= over {
			return s.records
		}
		for _, r := range s.requests(s.next, p) {
			s.wait(&call{request: r, began: r.at})
			s.watch(&r, func(w *keySecond) { w.Asked += r.RCU + r.WCU })
		}
		s.next++
	}
}

// keep adds a record to the returned ones or, if its call was made after the time, to the
// later ones.
func (s *simulation) keep(r sample.Record, made int64) {
	if r.Time < made {
		s.records = append(s.records, r)
	} else {
		s.later = append(s.later, r)
	}
}

// attempt sends a call once, and returns its record as package awssdk writes it: with the
// time of the call, and without units where another attempt follows, since demand is
// counted once.
func (s *simulation) attempt(c *call) sample.Record {
	c.attempts++
	r, asked := c.Record, c.request
	r.Time = c.began
	served := s.tables[c.Table].locate(c.PK.Text).serve(c.at, c.RCU, c.WCU)
	if !served {
		r.Throttle = readReason
		if c.WCU > 0 {
			r.Throttle = writeReason
		}
	}
	switch {
	case !served && c.attempts < maxAttempts:
		r.RCU, r.WCU, r.Bytes = 0, 0, 0
		pause := firstPause << (c.attempts - 1)
		c.at += 1 + s.draw.Int64N(pause.Milliseconds())
		s.wait(c)
	default:
		r.Attempts, r.Waited, r.Failed = c.attempts, float64(c.at-c.began), !served
	}
	s.watch(&asked, func(w *keySecond) { w.count(&r, served) })
	return r
}

// wait queues a call for its next attempt: calls are ordered by time, and calls of one time
// by their arrival.
func (s *simulation) wait(c *call) {
	i, _ := slices.BinarySearchFunc(s.pending, c.at+1, func(one *call, at int64) int { return cmp.Compare(one.at, at) })
	s.pending = slices.Insert(s.pending, i, c)
}
