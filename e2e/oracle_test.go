//go:build e2e

package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/keyheat/keyheat/internal/testsupport/must"
)

// truth is what a topic really holds, read with another client and counted in plain
// maps. Units are whole, as in the trace.
type truth struct {
	requests, units int64
	// perSecond is the units of each key in each second.
	perSecond map[string]map[int64]int64
	// bad is the number of lines, or whole messages, that are no sample.
	bad int64
}

// line is the part of a sample that the oracle reads.
type line struct {
	TS    *int64   `json:"ts"`
	Table *string  `json:"table"`
	PK    *string  `json:"pk"`
	WCU   *float64 `json:"wcu"`
	Rate  *float64 `json:"rate"`
	N     *float64 `json:"n"`
}

// readTopic counts everything in a topic, up to where it ended when called.
func readTopic(t *testing.T, broker, topic string) *truth {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(broker), kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchMaxBytes(16<<20))
	must.Succeed(t, err)
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	ends, err := kadm.NewClient(client).ListEndOffsets(ctx, topic)
	must.Succeed(t, err)
	left := map[int32]int64{}
	ends.Each(func(o kadm.ListedOffset) {
		if o.Offset > 0 {
			left[o.Partition] = o.Offset
		}
	})
	sum := &truth{perSecond: map[string]map[int64]int64{}}
	for len(left) > 0 {
		fetches := client.PollFetches(ctx)
		must.Succeed(t, fetches.Err())
		fetches.EachRecord(func(r *kgo.Record) {
			if end, ok := left[r.Partition]; ok && r.Offset < end {
				sum.message(r.Value)
				if r.Offset == end-1 {
					delete(left, r.Partition)
				}
			}
		})
	}
	return sum
}

// message counts one message: lines of JSON.
func (s *truth) message(value []byte) {
	for l := range bytes.Lines(value) {
		l = bytes.TrimSpace(l)
		if len(l) == 0 {
			continue
		}
		if !s.line(l) {
			s.bad++
		}
	}
}

func (s *truth) line(raw []byte) bool {
	var l line
	if json.Unmarshal(raw, &l) != nil || l.TS == nil || l.Table == nil || l.PK == nil || l.WCU == nil {
		return false
	}
	if *l.WCU < 0 || *l.PK == "" || len(*l.PK) > 2048 || l.Rate != nil && (*l.Rate <= 0 || *l.Rate > 1) || l.N != nil && *l.N < 1 {
		return false
	}
	s.requests++
	s.units += int64(*l.WCU)
	seconds := s.perSecond[*l.PK]
	if seconds == nil {
		seconds = map[int64]int64{}
		s.perSecond[*l.PK] = seconds
	}
	seconds[*l.TS/1000] += int64(*l.WCU)
	return true
}

// peak is a key's highest second from one second to another, both included.
func (s *truth) peak(key string, from, to int64) (most int64) {
	for second, units := range s.perSecond[key] {
		if from <= second && second <= to {
			most = max(most, units)
		}
	}
	return most
}

// over counts a key's seconds above 1,000 write units.
func (s *truth) over(key string, from, to int64) (n int) {
	for second, units := range s.perSecond[key] {
		if from <= second && second <= to && units > 1000 {
			n++
		}
	}
	return n
}
