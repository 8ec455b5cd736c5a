package streamstest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/keyheat/keyheat/internal/testsupport/streamstest/model"
)

// iterator is what a shard iterator holds. To a client it is opaque.
type iterator struct {
	Stream string
	Shard  string
	// Next is the position of the first record to read.
	Next int64
	// Issued is in Unix nanoseconds of the fake's time.
	Issued int64
	// Chain numbers the GetShardIterator from which this one descends: those
	// that are in use at the same time are as many readers.
	Chain int
	// Ticket numbers the iterators themselves.
	Ticket int
}

// give makes an iterator fit to be given to a client, at this time.
func (f *Fake) give(it iterator) string {
	f.tickets++
	it.Ticket, it.Issued = f.tickets, f.now().UnixNano()
	return it.encode()
}

// stale reports whether an iterator has expired.
func (f *Fake) stale(it iterator) bool {
	return it.Ticket <= f.expired || f.now().Sub(time.Unix(0, it.Issued)) >= f.options.IteratorLife
}

func (it iterator) encode() string {
	// AWS puts the stream's ARN in front, too.
	return fmt.Sprintf("%s|1|%s", it.Stream, base64.StdEncoding.EncodeToString(model.Encode(it)))
}

func decodeIterator(text string) (it iterator, err error) {
	raw, err := base64.StdEncoding.DecodeString(text[strings.LastIndex(text, "|")+1:])
	if err == nil {
		err = json.Unmarshal(raw, &it)
	}
	if err != nil || it.Stream == "" {
		return it, refuse(codeInvalid, "Invalid ShardIterator")
	}
	return it, nil
}

type getShardIterator struct {
	StreamArn, ShardId, ShardIteratorType, SequenceNumber string
	Timestamp                                             float64
}

func (f *Fake) getShardIterator(in getShardIterator, call *Call) (any, error) {
	call.Stream, call.Shard, call.Iterator, call.Sequence = in.StreamArn, in.ShardId, in.ShardIteratorType, in.SequenceNumber
	s, err := f.stream(in.StreamArn)
	if err != nil {
		return nil, err
	}
	sh, err := s.shard(in.ShardId)
	if err != nil {
		return nil, err
	}
	if f.options.NoTimestamps && in.ShardIteratorType == "AT_TIMESTAMP" {
		return nil, refuse(codeInvalid, "ShardIteratorType must be one of ['AFTER_SEQUENCE_NUMBER', 'AT_SEQUENCE_NUMBER', 'LATEST', 'TRIM_HORIZON']")
	}
	next, err := s.find(sh, in, f.now())
	if err != nil {
		return nil, err
	}
	f.chains++
	call.Chain = f.chains
	it := iterator{Stream: s.arn, Shard: sh.id, Next: next, Chain: f.chains}
	return map[string]string{"ShardIterator": f.give(it)}, nil
}

// find is the position at which an iterator begins.
func (s *stream) find(sh *shard, in getShardIterator, now time.Time) (int64, error) {
	switch in.ShardIteratorType {
	case "TRIM_HORIZON":
		return max(sh.start, sh.trimmed+1), nil
	case "LATEST":
		return s.next, nil
	case "AT_TIMESTAMP":
		at := time.UnixMilli(int64(in.Timestamp * 1000))
		if at.After(now) {
			return 0, refuse(codeInvalid, "Timestamp is in the future")
		}
		i := sort.Search(len(sh.records), func(i int) bool { return !sh.records[i].at.Truncate(time.Second).Before(at) })
		if i == len(sh.records) {
			return s.next, nil
		}
		return sh.records[i].position, nil
	case "AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER":
		return s.findSequence(sh, in)
	}
	return 0, refuse(codeInvalid, "%q is no ShardIteratorType", in.ShardIteratorType)
}

func (s *stream) findSequence(sh *shard, in getShardIterator) (int64, error) {
	at, ok := position(in.SequenceNumber)
	last := s.next
	if !sh.closed.IsZero() {
		last = sh.end
	}
	if !ok || at < sh.start || at > last {
		return 0, refuse(codeInvalid, "Invalid SequenceNumber: %s is not in shard %s", in.SequenceNumber, sh.id)
	}
	if at <= sh.trimmed {
		return 0, refuse(codeTrimmed, "The operation attempted to read past the oldest stream record in a shard: %s", in.SequenceNumber)
	}
	if in.ShardIteratorType == "AFTER_SEQUENCE_NUMBER" && sequence(at) == in.SequenceNumber {
		at++
	}
	return at, nil
}
