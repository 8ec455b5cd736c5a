package simulation

import (
	"container/heap"
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

// Longest is how long a call takes at most, with all its attempts.
const Longest = 400 * time.Millisecond

// DynamoDB's throttle reasons for requests that a partition refuses.
const (
	writeReason = "TableWriteKeyRangeThroughputExceeded"
	readReason  = "TableReadKeyRangeThroughputExceeded"
)

// Simulation is the application with its tables. It is not safe for concurrent use.
type Simulation struct {
	seed   uint64
	tables map[string]*table
	// next is the first second that nothing was asked for yet.
	next    int64
	pending calls
	// records are Advance's last result, later the records that it has not returned yet.
	records, later []sample.Record
	// draw is of the pauses between attempts.
	draw    *rand.Rand
	watched map[string]*watched
}

// New returns an application whose first requests are in the second of start.
// [Simulation.Seconds] shows the watched keys.
func New(seed uint64, start time.Time, keys ...string) *Simulation {
	s := &Simulation{
		seed: seed, next: start.Unix(), draw: rand.New(rand.NewPCG(seed+2, uint64(start.Unix()))),
		tables:  map[string]*table{OrdersTable: newTable(), CatalogTable: newTable(), CartsTable: newTable()},
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
	// order is the number of the call's event, which orders calls at one time.
	order int64
}

// Advance returns the records of the calls before a time that it has not returned yet.
// Calls end at most [Longest] after that time. The records are valid until the next call.
func (s *Simulation) Advance(at time.Time, p *Plan) []sample.Record {
	made, over := at.UnixMilli(), at.Add(Longest).UnixMilli()
	s.records = s.records[:0]
	for _, r := range s.take() {
		s.keep(r, made)
	}
	for {
		if len(s.pending.all) > 0 && s.pending.all[0].at < min(over, 1000*s.next) {
			s.keep(s.attempt(heap.Pop(&s.pending).(*call)), made)
			continue
		}
		if 1000*s.next >= over {
			return s.records
		}
		for _, r := range s.requests(s.next, p) {
			s.pending.add(&call{request: r, began: r.at})
			s.watch(&r, func(w *Second) { w.Asked += r.RCU + r.WCU })
		}
		s.next++
	}
}

// keep adds a record to the returned ones or, if its call was made after the time, to the
// later ones.
func (s *Simulation) keep(r sample.Record, made int64) {
	if r.Time < made {
		s.records = append(s.records, r)
	} else {
		s.later = append(s.later, r)
	}
}

// take returns the records of later, and keeps none.
func (s *Simulation) take() []sample.Record {
	all := s.later
	s.later = nil
	return all
}

// attempt sends a call once, and returns its record as package awssdk writes it: with the
// time of the call, and without units where another attempt follows, since demand is
// counted once.
func (s *Simulation) attempt(c *call) sample.Record {
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
		s.pending.add(c)
	default:
		r.Attempts, r.Waited, r.Failed = c.attempts, float64(c.at-c.began), !served
	}
	s.watch(&asked, func(w *Second) { w.count(&r, served) })
	return r
}

// calls are calls by the time of their next attempt.
type calls struct {
	all []*call
	n   int64
}

func (c *calls) add(one *call) {
	c.n++
	one.order = c.n
	heap.Push(c, one)
}

func (c *calls) Len() int      { return len(c.all) }
func (c *calls) Swap(i, j int) { c.all[i], c.all[j] = c.all[j], c.all[i] }
func (c *calls) Push(one any)  { c.all = append(c.all, one.(*call)) }

func (c *calls) Less(i, j int) bool {
	a, b := c.all[i], c.all[j]
	return a.at < b.at || a.at == b.at && a.order < b.order
}

func (c *calls) Pop() any {
	last := c.all[len(c.all)-1]
	c.all = slices.Delete(c.all, len(c.all)-1, len(c.all))
	return last
}
