package awssdk

import (
	"sync"
	"sync/atomic"

	"github.com/keyheat/keyheat/sample"
)

// cell identifies a record by all of its fields but the number of requests. Records of one cell
// add up exactly.
type cell struct {
	time           int64
	number         int64 // keeps unfolded records apart
	together       int   // number of the request's items on this key
	table, index   string
	pk, sk         sample.Key
	op             sample.Op
	read           sample.Consistency
	estimated      bool
	rcu, wcu       sample.Milli
	bytes          int64
	rate           float64
	throttle       string
	attempts       int64
	failed         bool
	conflicts      int64 // of one request
	conditions     int64
	caller, region string
}

// folded counts the requests of one cell, and the milliseconds that their callers waited in
// retries.
type folded struct{ n, waited int64 }

func (c *cell) record(f folded) sample.Record {
	n := f.n
	return sample.Record{
		Time: c.time, Table: c.table, Index: c.index, PK: c.pk, SK: c.sk, Op: c.op,
		RCU: c.rcu, WCU: c.wcu, Estimated: c.estimated, Bytes: c.bytes, Read: c.read,
		Throttle: c.throttle, Rate: c.rate, N: n, Caller: c.caller, Region: c.region,
		Calls:    float64(n) / float64(c.together),
		Attempts: c.attempts, Waited: float64(f.waited) / float64(n), Failed: c.failed,
		Conflicts: n * c.conflicts, ConditionsFailed: n * c.conditions,
	}
}

// loss counts dropped requests, and bounds their times in Unix milliseconds.
type loss struct{ n, since, until int64 }

func (l *loss) add(n, at int64) {
	if l.n == 0 {
		l.since, l.until = at, at
	}
	l.n, l.since, l.until = l.n+n, min(l.since, at), max(l.until, at)
}

// fold collects records until the worker takes them. It never blocks: it drops and counts
// records beyond its bound.
type fold struct {
	limit    int
	unfolded bool
	count    *counters

	closed atomic.Bool // set under mu, so that no record is added after the last take

	mu     sync.Mutex
	number int64
	cells  map[cell]folded
	lost   loss // since the last take
}

func newFold(limit int, unfolded bool, count *counters) *fold {
	return &fold{limit: limit, unfolded: unfolded, count: count, cells: map[cell]folded{}}
}

func (f *fold) add(c cell, more folded) {
	f.count.records.Add(more.n)
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
	if f.closed.Load() || !known && len(f.cells) >= f.limit || had.n+more.n > sample.MaxN {
		f.count.dropped.Add(more.n)
		f.lost.add(more.n, c.time)
		return
	}
	f.cells[c] = folded{had.n + more.n, had.waited + more.waited}
}

// take returns and removes all records, and what was dropped since the last take.
func (f *fold) take() ([]sample.Record, loss) {
	f.mu.Lock()
	cells, lost := f.cells, f.lost
	f.cells, f.lost = make(map[cell]folded, len(cells)), loss{}
	f.mu.Unlock()
	records := make([]sample.Record, 0, len(cells))
	for c, n := range cells {
		records = append(records, c.record(n))
	}
	return records, lost
}

// close makes add drop all further records.
func (f *fold) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed.Store(true)
}
