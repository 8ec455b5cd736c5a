package streamstest

import (
	"encoding/json"
	"sort"
	"time"
)

type getRecords struct {
	ShardIterator string
	Limit         *int
}

type recordsPage struct {
	Records           []json.RawMessage
	NextShardIterator string `json:",omitempty"`
}

func (f *Fake) getRecords(in getRecords, call *Call) (any, error) {
	it, err := decodeIterator(in.ShardIterator)
	if err != nil {
		return nil, err
	}
	call.Stream, call.Shard, call.Chain = it.Stream, it.Shard, it.Chain
	limit := f.options.PageRecords
	if in.Limit != nil {
		if *in.Limit < 1 {
			return nil, refuse(codeInvalid, "Limit must be at least 1")
		}
		if *in.Limit > 1000 {
			return nil, refuse(codeLimit, "GetRecords was called with a value of more than 1000 for the limit request parameter")
		}
		limit = min(limit, *in.Limit)
	}
	if f.stale(it) {
		return nil, refuse(codeExpired, "The shard iterator has expired and can no longer be used to retrieve stream records")
	}
	s, err := f.stream(it.Stream)
	if err != nil {
		return nil, err
	}
	sh, err := s.shard(it.Shard)
	if err != nil {
		return nil, err
	}
	if err := f.admit(sh, call.Caller, f.now()); err != nil {
		return nil, err
	}
	if it.Next <= sh.trimmed {
		return nil, refuse(codeTrimmed, "The operation attempted to read past the oldest stream record in a shard: %s", sequence(it.Next))
	}
	return f.page(sh, it, limit, call), nil
}

// page is what a shard has behind an iterator.
func (f *Fake) page(sh *shard, it iterator, limit int, call *Call) recordsPage {
	first := sort.Search(len(sh.records), func(i int) bool { return sh.records[i].position >= it.Next })
	rest := sh.records[first:]
	shown := f.now().Add(-f.options.Delay)
	visible := sort.Search(len(rest), func(i int) bool { return rest[i].at.After(shown) })
	took, bytes := 0, 0
	if f.misses(sh, visible) {
		sh.missed++
	} else {
		sh.missed = 0
		// One record is always given, however large.
		for took < min(limit, visible) && (took == 0 || bytes+rest[took].size <= f.options.PageBytes) {
			bytes += rest[took].size
			took++
		}
	}
	out := recordsPage{Records: []json.RawMessage{}}
	for _, r := range rest[:took] {
		out.Records = append(out.Records, r.json)
		it.Next = r.position + 1
	}
	call.Records = took
	if took > 0 {
		call.First, call.Last = sequence(rest[0].position), sequence(rest[took-1].position)
	}
	// Half of the ends come with the last records, half on a page of their own.
	over := took == len(rest) && !sh.closed.IsZero() && (took == 0 || f.chance(0.5))
	if over {
		call.Ended = true
		return out
	}
	out.NextShardIterator = f.give(it)
	return out
}

// mostMissed is how many pages in a row may be empty though there are records. AWS
// promises no number; consumers have to rely on some.
const mostMissed = 4

// misses reports whether a page is to be empty though it could show records.
func (f *Fake) misses(sh *shard, visible int) bool {
	return visible > 0 && f.chance(f.options.EmptyPages) && sh.missed < mostMissed
}

// readersWindow is how long after its last GetRecords a process counts as a
// reader of the shard.
const readersWindow = time.Second

// admit refuses the third process that reads a shard at the same time.
func (f *Fake) admit(sh *shard, caller string, now time.Time) error {
	for other, at := range sh.readers {
		if now.Sub(at) >= readersWindow {
			delete(sh.readers, other)
		}
	}
	sh.readers[caller] = now
	if len(sh.readers) > 2 && !f.options.NoRates {
		delete(sh.readers, caller)
		return refuse(codeLimit, "More than 2 processes are reading from the same streams shard at the same time")
	}
	return nil
}
