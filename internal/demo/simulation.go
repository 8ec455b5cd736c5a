package demo

import (
	"math/rand/v2"
	"time"

	"github.com/keyheat/keyheat/internal/generate"
	"github.com/keyheat/keyheat/sample"
)

// How callers try again: as the AWS SDKs do, after a pause of random length that grows
// with each attempt.
const (
	maxAttempts = 4
	firstPause  = 50 * time.Millisecond
)

// DynamoDB's throttle reasons for requests that a partition refuses.
const (
	writeReason = "TableWriteKeyRangeThroughputExceeded"
	readReason  = "TableReadKeyRangeThroughputExceeded"
)

// simulation is an application with three DynamoDB tables: its callers' requests, the
// tables' partitions that serve and refuse them, and the callers' retries. Its output are
// the records that package awssdk makes of such calls. It is not safe for concurrent use.
type simulation struct {
	seed   uint64
	tables map[string]*table
	// next is the first second that nothing was requested for yet.
	next int64
	// draw is of the pauses between attempts.
	draw    *rand.Rand
	watched map[string]*watched
}

// newSimulation returns an application whose first requests are in the second of start.
// [simulation.Seconds] shows the watched keys.
func newSimulation(seed uint64, start time.Time, keys ...string) *simulation {
	s := &simulation{
		seed: seed, next: start.Unix(), draw: rand.New(rand.NewPCG(seed+2, uint64(start.Unix()))),
		tables:  map[string]*table{ordersTable: {}, catalogTable: {}, cartsTable: {}},
		watched: make(map[string]*watched),
	}
	for _, key := range keys {
		s.watched[key] = &watched{seconds: make(map[int64]*keySecond)}
	}
	return s
}

// Advance returns the records of the calls that were made in the seconds before a time, and
// that it has not returned yet.
func (s *simulation) Advance(at time.Time, p *plan) (records []sample.Record, err error) {
	for ; s.next < at.Unix(); s.next++ {
		requests, err := generate.Records(p.traffic(s.seed, s.next))
		if err != nil {
			return nil, err
		}
		for r := range requests {
			key := r.PK.Text
			r.PK = sample.KeyString(p.storedKey(key, r.SK.Text, s.next))
			records = s.call(records, key, &r)
		}
	}
	return records, nil
}

// call appends the records of a call as package awssdk writes them: one for each attempt, with
// the time of the call, and without units where another attempt follows, since demand is
// counted once. key is the partition key that the application thinks of.
func (s *simulation) call(records []sample.Record, key string, asked *sample.Record) []sample.Record {
	s.watch(key, asked.Time, func(w *keySecond) { w.Asked += asked.RCU + asked.WCU })
	at := asked.Time
	for attempt := int64(1); ; attempt++ {
		served := s.tables[asked.Table].locate(asked.PK.Text).serve(at, asked.RCU, asked.WCU)
		r := *asked
		if !served {
			r.Throttle = readReason
			if asked.WCU > 0 {
				r.Throttle = writeReason
			}
		}
		isLast := served || attempt == maxAttempts
		if isLast {
			r.Attempts, r.Waited, r.Failed = attempt, float64(at-asked.Time), !served
		} else {
			r.RCU, r.WCU, r.Bytes = 0, 0, 0
		}
		s.watch(key, at, func(w *keySecond) { w.count(&r, served) })
		if records = append(records, r); isLast {
			return records
		}
		pause := firstPause << (attempt - 1)
		at += 1 + s.draw.Int64N(pause.Milliseconds())
	}
}
