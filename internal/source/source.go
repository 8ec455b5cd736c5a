// Package source is the contract between what reads samples and what counts
// them. A source (source/kafka, source/shards, source/files) knows positions
// and nothing of what the bytes mean; a Sink takes the batches and returns the
// position to read from.
package source

import (
	"context"
	"errors"
	"iter"

	"github.com/keyheat/keyheat/sample"
)

// ErrReclaim is returned by a [Partition] whose position is no longer ours to
// move, or when what was folded since the last commit had to be thrown away. The
// source reads nothing more on that handle: while it still owns the partition it
// claims again, and reads on from the position of the new claim.
var ErrReclaim = errors.New("position lost: claim the partition again")

// ErrReread is returned by [Partition.Fold] for a batch whose Yield gave its memory
// back. Nothing of it counts; the handle is alive, and reads the same position again.
var ErrReread = errors.New("the batch's memory was given back: read it again")

// sinkError marks an error of the Sink: the handle is dead, where everything
// else is tried again on it.
type sinkError struct{ error }

func (e *sinkError) Unwrap() error { return e.error }

// FromSink marks an error, if it is one, as the Sink's.
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
	// Time is the log's own time of the message, in Unix milliseconds; 0 in a
	// file, which has none.
	Time int64
	// Line is the number of the line in a file at which Value begins, from 1; 0 where
	// there are no lines, or their number is not known.
	Line int64
	// Fault, when not empty, is why the source could not read the whole message: a
	// line over the limit. Value is then only its beginning, and the message is one
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
	// Mark is the source's own note of what was read last before Next. It is stored
	// with the position; empty when there is none.
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
	// Yield, when set, is called again and again while Fold waits for slower
	// partitions: it gives the batch's memory back if others want it, one of which may
	// be the slower one, and reports whether it did. Fold then waits on without the
	// batch, and returns ErrReread.
	Yield func() bool
	// Wanted, when set, says that Fold may wait a moment for partitions that are a
	// little slower, while it reports false: that nobody else wants the batch's memory.
	Wanted func() bool
}

// Sink takes what a source reads. It is implemented by internal/collect.
type Sink interface {
	// Claim makes this process the owner of a partition, raises its epoch and
	// returns a handle at the stored position, or at First when nothing is stored.
	// Where the stored position is one in another log of the same name, what was
	// left there is recorded as a gap, and the handle is at the new log's Start.
	// It waits, and does not fail, while the store is unreachable; it fails while
	// other readers have the partition.
	Claim(ctx context.Context, c Claim) (Partition, error)
}

// Claim says which partition to claim.
type Claim struct {
	// Partition is its name in the source, such as "samples/0".
	Partition string
	// First is the position to begin at when nothing is stored.
	First string
	// Log says which log the name stands for now; zero where a name is enough.
	Log Log
}

// Log is a log behind names that can come to mean another one: a topic that is
// deleted and created again, a new cluster at an old address.
type Log struct {
	// Cluster is where the log is. Positions belong to it and not to who reads:
	// under another Cluster a partition is another one. Empty when nothing tells it.
	Cluster string
	// ID is the log's own; empty when nothing tells it.
	ID string
	// Start is where a log begins.
	Start string
	// Partitions is how many partitions the log has; 0 when not known.
	Partitions int
	// Readers are those who share its partitions, such as a consumer group. While
	// some attend, others are refused.
	Readers string
}

// Partition is one claimed partition. It is used by one goroutine at a time.
type Partition interface {
	// Position returns the position to read from.
	Position() string
	// Mark returns the note that was stored with the claimed position.
	Mark() string
	// Fold counts a batch. It blocks while memory is full, the store is away,
	// or this partition is too far ahead of the slowest one. A batch without
	// messages still moves the position and the watermark. After an error the
	// handle is dead, and nothing of the batch counts; with ErrReclaim the source
	// claims again. Only when ctx ended is the handle alive,
	// for Release.
	Fold(ctx context.Context, b Batch) error
	// Gap records a range that is lost and moves the position to its To. The sink
	// knows the gap's Source and Partition, which are left empty. Its errors are
	// those of Fold.
	Gap(ctx context.Context, g sample.Gap) error
	// CommittedPosition returns the position up to which everything is durable; empty when
	// this handle has committed nothing yet. The source commits it to Kafka for lag
	// tools, and relies on it for nothing.
	CommittedPosition() string
	// Release commits what is folded and gives the partition up, within ctx.
	// It is the last call on a handle.
	Release(ctx context.Context) error
}
