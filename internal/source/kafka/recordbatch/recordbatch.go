// Package recordbatch reads the records of a Kafka fetch response in place.
//
// A response carries, per partition, a run of record batches as they are in the broker's
// log: magic 2, the only format since Kafka 0.11. Clients hide this layer, but a reader
// that must count every record once needs it. It has to know whether a batch's checksum
// holds, whether an aborted transaction contains a record, where a compacted log has
// holes, and where an unreadable batch ends. A [Decoder] reports all of that and copies
// nothing: a record's value points into the response, or into the decoder's own buffer
// when its batch was compressed.
//
// It is used by one goroutine:
//
//	d.Reset(position, records, aborted, limits)
//	for {
//		chunk, err := d.Next()
//		…
//	}
//
// A compressed batch is decompressed as a stream if its codec allows that, about 1 MiB at
// a time. The largest record and the codec's window bound the memory, and [Limits] bounds
// both, even for hostile bytes. Only a snappy block without a frame is one piece. Next
// returns at most 4,096 records.
//
// The format is Kafka's own: https://kafka.apache.org/documentation/#recordbatch.
package recordbatch

import (
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// maxChunk is the most records of one Chunk. They are few enough for its index to stay in a
// core's second-level cache (32 bytes each), and enough to make the cost of a call vanish.
const maxChunk = 4096

// DefaultLimit is the default bound, in bytes, of one decompressed record.
// Brokers accept batches of 1 MiB (message.max.bytes) unless configured otherwise,
// and NDJSON seldom compresses better than 20 to 1.
const DefaultLimit = 64 << 20

// ErrMemory reports that the memory given to [Decoder.Reset] is short. The rest of the
// response can still be read.
var ErrMemory = errors.New("memory is short")

// ErrOldFormat reports that the log holds messages in the format from before
// Kafka 0.11 (magic 0 or 1). They have no batch to check or skip safely, so
// they are refused, not guessed at.
var ErrOldFormat = errors.New("messages in the format from before Kafka 0.11 (magic 0 or 1): copy the topic with a current producer")

// CorruptError describes an unreadable batch: a wrong checksum, a broken frame or record,
// or a record with more decompressed bytes than the limit.
type CorruptError struct {
	// From is the first unread offset.
	From int64
	// To is the offset behind the batch; 0 if the batch has no credible end.
	To int64
	// Reason describes the fault.
	Reason string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("record batch at offset %d cannot be read: %s", e.From, e.Reason)
}

// Record is one data record. Value is valid until the decoder is used again.
type Record struct {
	// Value is the record's value; nil for a tombstone.
	Value []byte
	// Time is the record's time in Unix milliseconds: the producer's, or the
	// broker's where the topic is set to LogAppendTime.
	Time int64
}

// Aborted is one aborted transaction, as the fetch response lists it.
type Aborted = kmsg.FetchResponseTopicPartitionAbortedTransaction

// Chunk is a run of data records with the position behind them.
type Chunk struct {
	// Records are the data records in order; empty when the range held only
	// control records, aborted records or records before the position.
	Records []Record
	// Next is the offset to continue from. It may lie more than one after the last record:
	// compaction leaves holes, which are no loss.
	Next int64
	// Epoch is the leader epoch of the batch before Next; -1 if the chunk passed none.
	Epoch int32
	// Time is the newest record time, in Unix milliseconds; 0 without records.
	Time int64
	// Bytes is how many bytes of values the records hold.
	Bytes int

	moved bool // the position went on, with or without records
}

// header is the fixed part of a record batch, without base offset and length.
type header struct {
	base, last, next int64 // first offset, last offset, last offset + 1
	attributes       int16
	epoch            int32 // of the leader that wrote it
	baseTime         int64
	maxTime          int64
	producer         int64
	count            int32
}

// Bits of a batch's attributes.
const (
	codecMask     = 0x07
	logAppendTime = 0x08
	transactional = 0x10
	control       = 0x20
)
