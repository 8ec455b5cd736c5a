package history

import (
	"time"

	"github.com/keyheat/keyheat/internal/source/shards"
)

// Status is the progress of a reading.
type Status struct {
	// Shards is the number of known shards. Done is how many of them need no further
	// reading.
	Shards, Done int
	// Records and Bytes count the records handed out, with their size as JSON.
	Records, Bytes int64
	// From and To are the times of the oldest and newest of these records; zero for none.
	From, To time.Time
	// Requests counts GetRecords requests, which DynamoDB charges. Others counts all other
	// requests.
	Requests, Others int64
	// Throttled is how many requests of both kinds were throttled.
	Throttled int64
	// Share is the part of the shards' time span that is read, 0 to 1, by the times of the
	// records. The log does not reveal how many records remain.
	Share float64
	// Left is the remaining time at the pace so far, of the slowest shard or of all shards,
	// whichever is longer; 0 if unknown.
	Left time.Duration
	// Disabled reports that the table's newest stream takes no more records.
	Disabled bool
}

// counts are the sums of a Status.
type counts struct {
	records, bytes, requests, others, throttled int64
	from, to                                    time.Time
}

func (c *counts) add(records []shards.Record, bytes int) {
	c.records += int64(len(records))
	c.bytes += int64(bytes)
	if len(records) == 0 {
		return
	}
	first, last := time.UnixMilli(records[0].Time), time.UnixMilli(records[len(records)-1].Time)
	if c.from.IsZero() || first.Before(c.from) {
		c.from = first
	}
	if last.After(c.to) {
		c.to = last
	}
}

func (s *Source) note(add func(*counts)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	add(&s.counts)
}

// shardLife is the approximate time after which a shard closes: four hours, by the
// Developer Guide.
const shardLife = 4 * time.Hour

// Status returns the current progress. It may be called at any time.
func (s *Source) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.counts
	all := Status{
		Shards: len(s.order), Records: c.records, Bytes: c.bytes, From: c.from, To: c.to,
		Requests: c.requests, Others: c.others, Throttled: c.throttled,
	}
	children := make(map[string]time.Time) // when the first child's first record was written
	for _, r := range s.order {
		if known := children[r.parent]; !r.first.IsZero() && (known.IsZero() || r.first.Before(known)) {
			children[r.parent] = r.first
		}
	}
	newest := ""
	for _, r := range s.order {
		newest = max(newest, r.stream) // labels are times
		if r.state != reads {
			all.Done++
			all.Share++
			continue
		}
		share, left := r.progress(s.end(r, children[r.name]))
		all.Share += share
		all.Left = max(all.Left, left)
	}
	all.Disabled = s.disabled[newest]
	if all.Share /= float64(max(1, all.Shards)); all.Share > 0 {
		all.Left = max(all.Left, rest(s.began, all.Share))
	}
	return all
}

// end estimates when the shard's last record was written. The caller holds the lock.
func (s *Source) end(r *reader, child time.Time) time.Time {
	now := s.until
	if now.IsZero() {
		now = time.Now()
	}
	switch {
	case r.open:
		return now
	case !child.IsZero():
		return child
	}
	if end := r.first.Add(shardLife); end.Before(now) {
		return end
	}
	return now
}

// progress returns the part of the time up to end that is read, and the time that the rest
// takes at that pace; 0 if unknown.
func (r *reader) progress(end time.Time) (share float64, left time.Duration) {
	whole, read := end.Sub(r.first), r.last.Sub(r.first)
	if r.first.IsZero() || whole <= 0 || read <= 0 {
		return 0, 0
	}
	share = min(1, float64(read)/float64(whole))
	if time.Since(r.begun) > paceAfter {
		left = rest(r.begun, share)
	}
	return share, left
}

// paceAfter is how long a shard is read before its pace is used: a single page may be
// small.
const paceAfter = 15 * time.Second

// rest returns the time to completion at the pace so far.
func rest(begun time.Time, share float64) time.Duration {
	return time.Duration(float64(time.Since(begun)) * (1 - share) / share)
}
