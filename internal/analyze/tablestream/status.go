package tablestream

import (
	"time"

	"github.com/keyheat/keyheat/detect/partition"
	"github.com/keyheat/keyheat/internal/source"
)

// freeRequests is how many GetRecords requests a month are free in an account and Region.
// DynamoDB charges each further one, empty or not. Other requests to a stream are free, and
// so are the requests of Lambda triggers (Developer Guide, "Evaluate your Streams usage").
const freeRequests = 2_500_000

// dollarsPerRequest is the price in US East (N. Virginia), of 2026: $0.02 for 100,000
// streams read request units (aws.amazon.com/dynamodb/pricing). Other Regions differ.
const dollarsPerRequest = 0.02 / 100_000

// dollars returns the price of GetRecords requests in US East (N. Virginia), beyond the
// free ones.
func dollars(requests int64) float64 { return float64(requests) * dollarsPerRequest }

// counts are sums of a reading.
type counts struct {
	// records counts the records handed out. from and to are the times of the oldest and
	// the newest of them; zero for none.
	records  int64
	from, to time.Time
	// requests counts GetRecords requests, which DynamoDB charges. others counts all other
	// requests. throttled counts the throttled requests of both kinds.
	requests, others, throttled int64
	// cut counts requests whose answer the end of the reading cut off. They count nowhere
	// else, as DynamoDB may have served them or never got them.
	cut int64
}

// add counts records that were handed out.
func (c *counts) add(records []source.Message) {
	if len(records) == 0 {
		return
	}
	c.records += int64(len(records))
	first, last := time.UnixMilli(records[0].Time), time.UnixMilli(records[len(records)-1].Time)
	if c.from.IsZero() || first.Before(c.from) {
		c.from = first
	}
	if last.After(c.to) {
		c.to = last
	}
}

func (s *shard) note(records []source.Message) {
	if len(records) == 0 {
		return
	}
	if s.first.IsZero() {
		s.first = time.UnixMilli(records[0].Time)
	}
	s.last = time.UnixMilli(records[len(records)-1].Time)
}

// status is the progress of a reading.
type status struct {
	counts
	// shards is the number of known shards. done is how many of them need no further
	// reading.
	shards, done int
	// share is the part of the shards' time span that is read, 0 to 1, by the times of the
	// records. The log does not reveal how many records remain.
	share float64
	// left is the remaining time at the pace so far, of the slowest shard or of all shards,
	// whichever is longer; 0 if unknown.
	left time.Duration
	// disabled reports that the table's newest stream takes no more records.
	disabled bool
}

// status returns the current progress. It may be called at any time.
func (r *reading) status() status {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := status{counts: r.counts, shards: len(r.shards), disabled: r.disabled}
	slowest := 1.0
	for _, s := range r.shards {
		share := 1.0
		if s.done {
			a.done++
		} else if share = s.share(r.end(s)); share > 0 {
			slowest = min(slowest, share)
		}
		a.share += share
	}
	if a.share /= float64(max(1, a.shards)); a.share > 0 {
		slowest = min(slowest, a.share)
		a.left = time.Duration(float64(time.Since(r.began)) * (1 - slowest) / slowest)
	}
	return a
}

// shardLife is the approximate time after which a shard closes: four hours, by the
// Developer Guide.
const shardLife = 4 * time.Hour

// end estimates when the shard's last record was written. The caller holds the lock.
func (r *reading) end(s *shard) time.Time {
	now := r.until
	if now.IsZero() {
		now = time.Now()
	}
	if end := s.first.Add(shardLife); !r.open[s.stream+s.id] && end.Before(now) {
		return end
	}
	return now
}

// share returns the part of the time up to end that is read.
func (s *shard) share(end time.Time) float64 {
	if s.first.IsZero() || !end.After(s.first) {
		return 0
	}
	return min(1, float64(s.last.Sub(s.first))/float64(end.Sub(s.first)))
}

// Shards implements analyze.Sharded.
func (s *Source) Shards() (all []partition.Listed) {
	r := s.source
	r.mu.Lock()
	defer r.mu.Unlock()
	names := make(map[[2]string]string, len(r.shards))
	for _, sh := range r.shards {
		names[[2]string{sh.stream, sh.id}] = sh.name
	}
	for _, sh := range r.shards {
		all = append(all, partition.Listed{
			Name: sh.name, Parent: names[[2]string{sh.stream, sh.parent}], Stream: sh.stream, Open: r.open[sh.stream+sh.id],
		})
	}
	return all
}
