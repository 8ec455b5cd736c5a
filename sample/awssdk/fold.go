package awssdk

import (
	"sync"
	"sync/atomic"

	"github.com/keyheat/keyheat/sample"
)

// cell is a record as an identity: all but how many requests it stands for.
// Records of one cell add up exactly.
type cell struct {
	time           int64
	number         int64 // tells unfolded records apart
	together       int   // how many items of the request are on this key
	table, index   string
	pk, sk         sample.Key
	op             sample.Op
	read           sample.Consistency
	estimated      bool
	rcu, wcu       sample.Milli
	bytes          int64
	rate           float64
	throttle       string
	caller, region string
}

func (c *cell) record(n int64) sample.Record {
	return sample.Record{
		Time: c.time, Table: c.table, Index: c.index, PK: c.pk, SK: c.sk, Op: c.op,
		RCU: c.rcu, WCU: c.wcu, Estimated: c.estimated, Bytes: c.bytes, Read: c.read,
		Throttle: c.throttle, Rate: c.rate, N: n, Caller: c.caller, Region: c.region,
		Calls: float64(n) / float64(c.together),
	}
}

// fold gathers records until the worker takes them. It never waits: what finds
// no place is dropped, and counted.
type fold struct {
	limit    int
	unfolded bool
	count    *counters

	closed atomic.Bool // set under mu, so that nothing is added after the last take

	mu     sync.Mutex
	number int64
	cells  map[cell]int64
}

func newFold(limit int, unfolded bool, count *counters) *fold {
	return &fold{limit: limit, unfolded: unfolded, count: count, cells: map[cell]int64{}}
}

// add adds n equal requests.
func (f *fold) add(c cell, n int64) {
	f.count.records.Add(n)
	if !f.unfolded {
		c.time -= c.time % 1000
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.unfolded {
		f.number++
		c.number = f.number
	}
	had, known := f.cells[c]
	if f.closed.Load() || !known && len(f.cells) >= f.limit || had+n > sample.MaxN {
		f.count.dropped.Add(n)
		return
	}
	f.cells[c] = had + n
}

// take returns and removes everything.
func (f *fold) take() []sample.Record {
	f.mu.Lock()
	cells := f.cells
	f.cells = make(map[cell]int64, len(cells))
	f.mu.Unlock()
	records := make([]sample.Record, 0, len(cells))
	for c, n := range cells {
		records = append(records, c.record(n))
	}
	return records
}

// close makes add drop what comes from now on.
func (f *fold) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed.Store(true)
}
