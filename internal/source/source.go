// Package source is the contract between the readers of samples and their counter. A source
// (source/kafka, source/shards, source/files) knows positions, and passes bytes on without
// decoding them. A Sink counts the batches, and returns the position to read from. The
// partitions of a source hold fetched bytes within one [Budget].
package source

import (
	"context"
	"errors"
	"iter"

	"github.com/keyheat/keyheat/sample"
)

// ErrReclaim reports that another reader has taken over the position, or that the
// uncommitted samples were dropped. The handle is dead. A source that still owns the
// partition claims it again, and reads on from the new claim's position.
var ErrReclaim = errors.New("position lost: claim the partition again")

// ErrReread is returned by [Partition.Fold] for a batch whose Yield gave its memory back.
// No sample of the batch counts. The handle is alive, and the source reads the same
// position again.
var ErrReread = errors.New("the batch's memory was given back: read it again")

// sinkError marks an error of the Sink, after which the handle is dead. All other errors
// are retried on the same handle.
type sinkError struct{ error }

func (e *sinkError) Unwrap() error { return e.error }

// FromSink marks a non-nil error as the Sink's.
func FromSink(err error) error {
	if err == nil {
		return nil
	}
	return &sinkError{err}
}

// IsFromSink reports whether an error is the Sink's.
func IsFromSink(err error) bool {
	var s *sinkError
	return errors.As(err, &s)
}

// Message is one message of a log. Value is valid until Fold returns.
type Message struct {
	// Value is the message's body; empty for a tombstone of a compacted topic.
	Value []byte
	// Time is the log's time of the message, in Unix milliseconds; 0 in a file.
	Time int64
	// Line is the line number in a file at which Value begins, from 1; 0 if unknown.
	Line int64
	// Fault, if not empty, is the reason why the source could not read the whole message,
	// such as a line over the limit. Value is then its beginning, and the message is one
	// bad sample.
	Fault string
}

// Batch is the result of one read of a partition, with the position it covers.
type Batch struct {
	// Messages are the data messages, in order; control records and aborted
	// transactions are already left out. May be nil.
	Messages iter.Seq[Message]
	// Next is the position to read from once the batch is counted.
	Next string
	// Mark is the source's note about the last record before Next. It is stored with the
	// position; empty for none.
	Mark string
	// Time is the newest message time in the batch, Unix milliseconds; 0 when
	// there is none.
	Time int64
	// End reports that the read reached the end of the log.
	End bool
	// Read is when the read was requested, Unix milliseconds: End is true of that
	// moment, and the batch may be folded much later. 0 means now.
	Read int64
	// Final reports that the log will not grow beyond this End: a file, a closed
	// shard.
	Final bool
	// Lag is how many messages remained behind the batch at the time of the
	// read.
	Lag int64
	// Bytes is the batch's size, for metrics.
	Bytes int
	// User is who sent the batch; empty where nobody was asked, or for a log.
	User string
	// Producer is the move of the producer that sent the batch, and needs an Outcome; nil for none.
	Producer *Move
	// Outcome, if set, receives what Fold counted and rejected.
	Outcome *Outcome
	// Yield, if set, is called repeatedly while Fold waits for slower partitions. It gives
	// the batch's memory back if other partitions want it, perhaps the slower one, and
	// reports whether it did. Fold then waits on without the batch, and returns ErrReread.
	Yield func() bool
	// Wanted, if set, reports whether other partitions want the batch's memory. While it
	// reports false, Fold may wait a moment for partitions that are a little slower.
	Wanted func() bool
}

// Move is a producer's position before and after a batch. It is stored with the batch's
// samples, or neither is: the batch is dropped if the stored position is not From.
type Move struct {
	// Name is the producer's name in the source.
	Name string
	// From and To are the positions; an empty From is a new producer.
	From, To string
	// Mark is the source's note about the batch.
	Mark string
}

// Outcome is what became of the samples of a batch.
type Outcome struct {
	// Counted includes CallerOnly, the samples without a key, and Untimed, the samples that took
	// their time from their message.
	Counted, CallerOnly, Untimed int64
	Rejected                     map[sample.RejectReason]int64
	// RefusedAll reports that there was no room for the table of any sample. Nothing of the batch
	// counts then, not even as rejected, and its producer's position stays: it may be sent again.
	RefusedAll bool
	// RefusedTables are the numbers of samples of tables without room, by the hash of the table's
	// name, and Remedy what helps.
	RefusedTables map[string]int64
	Remedy        string
}

// Sink counts the batches of a source. internal/collect implements it.
type Sink interface {
	// Claim makes this process the owner of a partition, raises its epoch, and returns a
	// handle at the stored position, or at First if none is stored. The stored position may
	// be in another log of the same name. Claim then records the rest of that log as a gap,
	// and the handle is at the new log's Start. Claim waits while the store is unreachable.
	// It fails while other readers have the partition.
	Claim(ctx context.Context, c Claim) (Partition, error)
}

// Claim names a partition to claim.
type Claim struct {
	// Partition is its name in the source, such as "samples/0".
	Partition string
	// First is the position to begin at when nothing is stored.
	First string
	// Log identifies the log that the name stands for now; zero if the name is enough.
	Log Log
	// TableShard reports that the log has the changes of one partition of a table.
	TableShard bool
}

// Log identifies a log whose name can come to mean another one: a topic that is deleted and
// created again, or a new cluster at an old address.
type Log struct {
	// Cluster identifies the log's cluster. Positions belong to the cluster, not to their
	// reader: under another Cluster the name is another partition. Empty if unknown.
	Cluster string
	// ID is the log's own id; empty if unknown.
	ID string
	// Start is where a log begins.
	Start string
	// Partitions is how many partitions the log has; 0 when not known.
	Partitions int
	// Readers names the group of readers that share the log's partitions, such as a
	// consumer group. While members of it attend, other readers are refused.
	Readers string
}

// Partition is one claimed partition. It is used by one goroutine at a time.
type Partition interface {
	// Position returns the position to read from.
	Position() string
	// Mark returns the note that was stored with the claimed position.
	Mark() string
	// Fold counts a batch. It blocks while memory is full, the store is unreachable, or
	// this partition is too far ahead of the slowest one. A batch without messages still
	// moves the position and the watermark. After an error the handle is dead, and no
	// sample of the batch counts; after ErrReclaim the source claims again. Only if ctx
	// ended is the handle alive, for Release.
	Fold(ctx context.Context, b Batch) error
	// Gap records a lost range and moves the position to the gap's To. The sink sets Source
	// and Partition. It returns the same errors as Fold.
	Gap(ctx context.Context, g sample.Gap) error
	// CommittedPosition returns the last durable position; empty if this handle has
	// committed none. The source commits it to Kafka for lag tools only.
	CommittedPosition() string
	// Release commits the folded samples and gives the partition up, within ctx. It is the
	// last call on a handle.
	Release(ctx context.Context) error
}
