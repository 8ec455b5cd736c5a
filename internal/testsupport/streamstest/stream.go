package streamstest

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/keyheat/keyheat/internal/testsupport/streamstest/model"
	keyspace "github.com/keyheat/keyheat/sample/position"
)

// stream is one stream of a table, from when it was enabled until 24 hours
// after it was disabled.
type stream struct {
	fake              *Fake
	table             string
	key               model.Key
	arn, label, view  string
	created, disabled time.Time
	next              int64 // the position of the next record
	shards            []*shard
	made              int // shards ever made, for their names
	known             map[string]bool
}

// shard is a part of a stream: some keys, for some time.
type shard struct {
	id, parent string
	rank       string // where DescribeStream lists it
	// low and high bound the hashes of its partition keys, both inclusive.
	low, high uint64
	// created and closed are when it began and, unless it is open, ended.
	created, closed time.Time
	// start and end are positions; end counts once it is closed.
	start, end int64
	records    []record
	// trimmed is the position of the newest record that was removed; -1 when
	// none was.
	trimmed int64
	// readers are the processes that read it, with the time of their last
	// GetRecords.
	readers map[string]time.Time
	// missed is how many pages in a row were empty though there were records.
	missed int
}

// record is a change as the stream shows it.
type record struct {
	position int64
	at       time.Time
	size     int
	json     []byte
}

func newStream(t *Table, arn, label, view string) *stream {
	f := t.fake
	s := &stream{
		fake: f, table: t.schema.Name, key: t.schema.Key, arn: arn, label: label, view: view,
		created: f.now(), known: map[string]bool{},
	}
	n := uint64(f.options.Shards)
	width := ^uint64(0)/n + 1 // 0 for one shard: all there is
	for i := range n {
		high := ^uint64(0)
		if i < n-1 {
			high = (i+1)*width - 1
		}
		s.add("", i*width, high, s.created)
	}
	return s
}

// add makes a shard.
func (s *stream) add(parent string, low, high uint64, at time.Time) *shard {
	s.made++
	sh := &shard{
		// As AWS spells them: 20 digits of time and a part that looks random.
		id:     fmt.Sprintf("shardId-%020d-%08x", at.UnixMilli(), mix(s.label, s.made)),
		parent: parent, low: low, high: high, created: at, start: s.next, trimmed: -1,
		readers: map[string]time.Time{},
	}
	sh.rank = s.rank(sh.id)
	s.next++
	s.shards = append(s.shards, sh)
	s.known[sh.id] = true
	return sh
}

func mix(label string, n int) uint32 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", label, n))
	return binary.BigEndian.Uint32(sum[:])
}

// close ends a shard: it takes no more records.
func (s *stream) close(sh *shard, at time.Time) {
	sh.closed, sh.end = at, s.next
	s.next++
}

func (s *stream) open() []*shard {
	var open []*shard
	for _, sh := range s.shards {
		if sh.closed.IsZero() {
			open = append(open, sh)
		}
	}
	return open
}

// shard is the shard of that name, or the refusal.
func (s *stream) shard(id string) (*shard, error) {
	for _, sh := range s.shards {
		if sh.id == id {
			return sh, nil
		}
	}
	return nil, refuse(codeNotFound, "Requested resource not found: Shard: %s in stream %s not found", id, s.arn)
}

// append writes a change to the shard that has its partition key now, and notes
// in w where that is.
func (s *stream) append(w *model.Write, key model.Key) {
	hash := s.fake.place(w.Key.Only(key.Partition...))
	for _, sh := range s.open() {
		if sh.low <= hash && hash <= sh.high {
			w.Stream, w.Shard, w.Sequence = s.arn, sh.id, sequence(s.next)
			sh.records = append(sh.records, s.record(w))
			s.next++
			return
		}
	}
	panic("the open shards do not cover the hash of " + string(model.Encode(w.Key)))
}

// place returns the position of a partition key: DynamoDB's, or another with Options.OtherHash
// and for a key of several attributes.
func (f *Fake) place(key model.Item) uint64 {
	if len(key) == 1 && !f.options.OtherHash {
		for _, v := range key {
			switch {
			case v.S != nil:
				return uint64(keyspace.String(*v.S))
			case v.N != nil:
				p, err := keyspace.Number(*v.N)
				if err != nil {
					panic(err) // a write checks its numbers
				}
				return uint64(p)
			case v.B != nil:
				return uint64(keyspace.Binary(v.B))
			}
		}
	}
	return hashOf(key)
}

// hashOf places an item evenly, unlike DynamoDB.
func hashOf(key model.Item) uint64 {
	sum := sha256.Sum256(model.Encode(key))
	return binary.BigEndian.Uint64(sum[:])
}

// record is a change as this stream's view shows it.
func (s *stream) record(w *model.Write) record {
	body := map[string]any{
		"ApproximateCreationDateTime": w.Time.Unix(),
		"Keys":                        w.Key,
		"SequenceNumber":              w.Sequence,
		"StreamViewType":              s.view,
	}
	size := w.Key.Size()
	if w.New != nil && strings.HasPrefix(s.view, "NEW") {
		body["NewImage"], size = w.New, size+w.New.Size()
	}
	if w.Old != nil && (s.view == OldImage || s.view == NewAndOldImages) {
		body["OldImage"], size = w.Old, size+w.Old.Size()
	}
	body["SizeBytes"] = size
	whole := map[string]any{
		"awsRegion": s.fake.options.Region, "dynamodb": body, "eventName": event(w),
		"eventID":     fmt.Sprintf("%08x%08x", mix(s.arn, int(s.next)), uint32(s.next)),
		"eventSource": "aws:dynamodb", "eventVersion": "1.1",
	}
	if w.Expired {
		whole["userIdentity"] = map[string]string{"Type": "Service", "PrincipalId": "dynamodb.amazonaws.com"}
	}
	return record{position: s.next, at: w.Time, size: size, json: model.Encode(whole)}
}

func event(w *model.Write) string {
	switch {
	case w.New == nil:
		return "REMOVE"
	case w.Old == nil:
		return "INSERT"
	}
	return "MODIFY"
}

// settle rolls shards over that are old enough, trims records, and drops shards
// that are past retention.
func (s *stream) settle(now time.Time) {
	s.rollOver(now)
	horizon := now.Add(-s.fake.options.Retention)
	for _, sh := range s.shards {
		old := 0
		for old < len(sh.records) && sh.records[old].at.Before(horizon) {
			old++
		}
		sh.trim(old)
	}
	s.shards = slices.DeleteFunc(s.shards, func(sh *shard) bool {
		return !sh.closed.IsZero() && sh.closed.Before(horizon)
	})
}

// trim removes the oldest n records.
func (sh *shard) trim(n int) {
	if n > 0 {
		sh.trimmed = sh.records[n-1].position
		sh.records = sh.records[n:]
	}
}

// rollOver closes each open shard that has lived its time, and again the child
// that came then, until the present.
func (s *stream) rollOver(now time.Time) {
	life := s.fake.options.Rollover
	if life < 0 || !s.disabled.IsZero() {
		return
	}
	for open := s.open(); len(open) > 0; open = open[1:] {
		sh := open[0]
		if at := sh.created.Add(life); !at.After(now) {
			s.close(sh, at)
			open = append(open, s.add(sh.id, sh.low, sh.high, at))
		}
	}
}

// vanished reports whether nothing of the stream is left.
func (s *stream) vanished(now time.Time) bool {
	return !s.disabled.IsZero() && s.disabled.Before(now.Add(-s.fake.options.Retention))
}
