package streamstest

import (
	"slices"
	"time"
)

// Call is one request, and what became of it.
type Call struct {
	// Time is the fake's.
	Time time.Time
	// Operation is its name in the API: GetRecords, DescribeTable, …
	Operation string
	// Caller is the access key that signed it.
	Caller string
	// Stream, Shard and Table are what it was about, where it said so.
	Stream, Shard, Table string
	// Iterator and Sequence are what GetShardIterator asked for.
	Iterator, Sequence string
	// Chain numbers the GetShardIterator that a GetRecords descends from.
	Chain int
	// Records is how many GetRecords brought; First and Last their sequence
	// numbers.
	Records     int
	First, Last string
	// Ended is set when GetRecords answered that the shard has no more.
	Ended bool
	// Code is the exception; empty when all was well.
	Code string
}

// callLog holds every call, in the order in which they came.
type callLog struct{ calls []Call }

// served returns how many calls of an operation were not refused in the second
// before now.
func (l *callLog) served(operation string, now time.Time) (n int) {
	for i := len(l.calls) - 1; i >= 0; i-- {
		c := &l.calls[i]
		if now.Sub(c.Time) >= time.Second {
			break
		}
		if c.Operation == operation && c.Code == "" {
			n++
		}
	}
	return n
}

// Calls lists the calls of an operation; of all when it is empty.
func (f *Fake) Calls(operation string) []Call {
	f.mu.Lock()
	defer f.mu.Unlock()
	var calls []Call
	for _, c := range f.log.calls {
		if operation == "" || c.Operation == operation {
			calls = append(calls, c)
		}
	}
	return calls
}

// Rate is the highest number of calls of an operation, refused ones too, in any
// one second.
func (f *Fake) Rate(operation string) int {
	calls := f.Calls(operation)
	most, first := 0, 0
	for i := range calls {
		for calls[i].Time.Sub(calls[first].Time) >= time.Second {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}

// MostReaders is the highest number of readers that any shard had at the same
// time, and the shard. A reader is a chain of iterators, from its first
// GetRecords to its last.
func (f *Fake) MostReaders() (most int, shard string) {
	type span struct{ first, last time.Time }
	chains := map[string]map[int]*span{}
	for _, c := range f.Calls("GetRecords") {
		if chains[c.Shard] == nil {
			chains[c.Shard] = map[int]*span{}
		}
		if s := chains[c.Shard][c.Chain]; s != nil {
			s.last = c.Time
		} else {
			chains[c.Shard][c.Chain] = &span{c.Time, c.Time}
		}
	}
	for id, spans := range chains {
		for _, s := range spans {
			// The number is highest at the start of one of them.
			n := 0
			for _, o := range spans {
				if !o.first.After(s.first) && !o.last.Before(s.first) {
					n++
				}
			}
			if n > most {
				most, shard = n, id
			}
		}
	}
	return most, shard
}

// Callers lists who read records of a shard, in the order in which they came.
func (f *Fake) Callers(shard string) []string {
	var callers []string
	for _, c := range f.Calls("GetRecords") {
		if c.Shard == shard && c.Records > 0 && !slices.Contains(callers, c.Caller) {
			callers = append(callers, c.Caller)
		}
	}
	return callers
}
