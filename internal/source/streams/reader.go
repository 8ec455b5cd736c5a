package streams

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/cenkalti/backoff/v5"

	"github.com/keyheat/keyheat/internal/retry"
	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/internal/source/streams/api"
)

// reclaimPause is the middle of the pause before a shard is claimed again after
// it was lost: long enough for a rightful owner to be known.
const reclaimPause = 250 * time.Millisecond

// errEnded: the shard was read to its end, and that is in the Sink.
var errEnded = errors.New("the shard has ended")

// reader reads one shard as long as it is ours. One goroutine; stop may be
// called by others.
//
// A claim begins at the Sink's position. Each step asks for an iterator if there
// is none, then for a page, and folds it; whatever fails is tried again, with a
// new iterator behind the last record that was folded. The last page of a
// closed shard is folded like any other; then the children are made known, and
// then the end.
type reader struct {
	source *Streams
	shard  Shard
	stream api.ARN
	table  string
	id     string // the shard's own name
	stop   context.CancelFunc

	claimed  bool // once already
	handle   source.Partition
	at       api.Position
	iterator string // empty when there is none
	newest   time.Time
	closed   bool  // the shard was read to its end
	gone     bool  // the shard does not exist any more
	lost     *loss // a stretch that is lost, until its end is known
	idle     idleness
	next     time.Time // not before then is the next page asked for
	limit    int32     // records that a page may hold
	backoff  *backoff.ExponentialBackOff
	buf      []byte
}

func newReader(s *Streams, h Shard, stop context.CancelFunc) *reader {
	stream := api.ARN(h.Stream)
	return &reader{
		source: s, shard: h, stream: stream, table: stream.Table(), id: api.ShardID(h.Name),
		stop: stop, backoff: newBackoff(),
		next:  time.Now().Add(pageEvery), // its last owner may have asked just now
		limit: api.FewRecords,
	}
}

// run owns the shard until ctx ends, or says that the shard has.
func (r *reader) run(ctx context.Context, sink source.Sink) (ended bool) {
	for ctx.Err() == nil {
		err := r.own(ctx, sink)
		switch {
		case errors.Is(err, errEnded):
			return true
		case ctx.Err() != nil:
			return false
		case errors.Is(err, source.ErrReclaim):
			r.source.trouble(r.shard.Name, troubleReclaim, err)
			retry.Pause(ctx, reclaimPause/2+rand.N(reclaimPause))
		default:
			r.source.trouble(r.shard.Name, troubleSink, err)
			retry.Pause(ctx, r.backoff.NextBackOff())
		}
	}
	return false
}

// own claims the shard, reads it until that fails or it has ended, and gives it
// up unless the handle is dead.
func (r *reader) own(ctx context.Context, sink source.Sink) error {
	if err := r.source.tenure.await(ctx); err != nil {
		return err
	}
	handle, err := sink.Claim(ctx, r.shard.Name, string(api.TrimHorizon))
	if err != nil {
		return fmt.Errorf("claim: %w", err)
	}
	r.begin(handle)
	err = r.read(ctx)
	alive := ctx.Err() != nil && !errors.Is(err, source.ErrReclaim)
	if alive || errors.Is(err, errEnded) {
		if failed := r.release(ctx); failed != nil {
			return failed
		}
	}
	return err
}

// begin forgets everything of an earlier claim.
func (r *reader) begin(handle source.Partition) {
	r.handle, r.at = handle, api.Position(handle.Position())
	r.iterator, r.idle = "", idleness{}
	r.newest = time.Time{} // what was folded since may have been thrown away
	r.closed, r.gone = r.at == api.ShardEnd, r.at == api.ShardEnd
	if r.lost = r.inherited(); r.lost != nil {
		r.source.log.Warn("a shard begins with a gap", "shard", r.shard.Name, "reason", r.lost.reason)
	}
	r.claimed = true
}

// release gives the shard up, in a bounded time. Then all that was folded is in
// the Sink.
func (r *reader) release(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.source.config.ReleaseTimeout)
	defer cancel()
	err := r.handle.Release(ctx)
	if err != nil {
		r.source.errors.WithLabelValues(troubleRelease).Inc()
		r.source.log.Warn("release a shard; its next owner reads the uncommitted part again", "shard", r.shard.Name, "error", err)
	}
	return err
}

// read steps until the Sink refuses, the shard has ended, or ctx ends. What AWS
// refuses is tried again, for ever.
func (r *reader) read(ctx context.Context) error {
	for {
		err := r.step(ctx)
		switch {
		case isSinkError(err), errors.Is(err, errEnded):
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			r.iterator = ""
			r.source.trouble(r.shard.Name, troubleRecords, err)
			retry.Pause(ctx, r.backoff.NextBackOff())
		default:
			r.settled()
		}
	}
}

// settled notes that a step went through.
func (r *reader) settled() {
	r.backoff.Reset()
	if r.source.health.Heal(r.shard.Name) {
		r.source.log.Debug("samples flow again", "shard", r.shard.Name)
	}
}

// step is one page.
func (r *reader) step(ctx context.Context) error {
	if r.closed {
		return r.end(ctx)
	}
	if err := r.await(ctx); err != nil {
		return err
	}
	if r.iterator == "" {
		var err error
		if r.iterator, err = r.source.client.OpenIterator(ctx, r.stream, r.id, r.at); err != nil {
			return r.refused(ctx, err)
		}
	}
	p, err := r.source.client.GetRecords(ctx, r.iterator, r.limit)
	r.next = p.Asked.Add(pageEvery)
	if err != nil {
		return r.refused(ctx, err)
	}
	return r.fold(ctx, p)
}

// await waits until the next page may be asked for: at the API's pace, and with
// the certainty that nobody else reads the shard.
func (r *reader) await(ctx context.Context) error {
	if d := time.Until(r.next); d > 0 {
		retry.Pause(ctx, d)
	}
	return r.source.tenure.await(ctx)
}

// fold hands a page to the Sink.
func (r *reader) fold(ctx context.Context, p api.Page) error {
	p.Records = r.beyond(p.Records)
	r.idle.note(p)
	r.next = p.Asked.Add(r.idle.pace())
	end, read := r.idle.end()
	if err := r.bound(ctx, p, end); err != nil {
		return err
	}
	b := source.Batch{Next: string(r.at)}
	if end {
		b.End, b.Read = true, read.UnixMilli()
	}
	r.render(&b, p.Records)
	began := time.Now()
	if err := r.handle.Fold(ctx, b); err != nil {
		return fromSink(fmt.Errorf("fold: %w", err))
	}
	r.adapt(time.Since(began))
	r.at, r.iterator = api.Position(b.Next), p.Next
	r.note(b)
	r.source.pages.WithLabelValues(r.table).Inc()
	r.source.records.WithLabelValues(r.table).Add(float64(len(p.Records)))
	r.source.bytes.WithLabelValues(r.table).Add(float64(b.Bytes))
	if p.Next == "" {
		return r.end(ctx)
	}
	return nil
}

// beyond leaves out the records that were counted already, which DynamoDB does
// not give; a server that stands in for it may begin AT the number that it is
// asked to begin AFTER.
func (r *reader) beyond(all []types.Record) []types.Record {
	for i := range all {
		if !r.at.Passed(sequence(&all[i])) {
			return all[i:]
		}
	}
	return nil
}

// adapt chooses the size of the next page by how long the Sink kept this one.
// Where a backlog is read, many shards wait for the slowest, each with a page in
// memory.
func (r *reader) adapt(waited time.Duration) {
	if waited > time.Second {
		r.limit = api.FewRecords
		return
	}
	r.limit = min(2*r.limit, api.MaxRecords)
}

// note remembers up to when the shard is counted.
func (r *reader) note(b source.Batch) {
	if b.Time > 0 {
		r.newest = time.UnixMilli(b.Time)
	}
	if b.End && r.at != api.AfterGap { // else the gap may not be stored yet
		r.shard.Watermark = time.UnixMilli(b.Read)
	}
}

// render fills a batch with records, as JSON in the reader's buffer.
func (r *reader) render(b *source.Batch, records []types.Record) {
	if len(records) == 0 {
		return
	}
	r.buf = r.buf[:0]
	ends := make([]int, len(records))
	for i := range records {
		r.buf = api.AppendRecord(r.buf, r.stream, &records[i])
		ends[i] = len(r.buf)
		b.Time = max(b.Time, createdAt(&records[i]))
		b.Next = sequence(&records[i])
	}
	b.Bytes = len(r.buf)
	b.Messages = messages(r.buf, ends, records)
}

func messages(buf []byte, ends []int, records []types.Record) iter.Seq[source.Message] {
	return func(yield func(source.Message) bool) {
		begin := 0
		for i, end := range ends {
			if !yield(source.Message{Value: buf[begin:end], Time: createdAt(&records[i])}) {
				return
			}
			begin = end
		}
	}
}

// sequence is a record's sequence number.
func sequence(r *types.Record) string {
	if r.Dynamodb == nil {
		return ""
	}
	return aws.ToString(r.Dynamodb.SequenceNumber)
}

// createdAt is a record's time in Unix milliseconds, whole seconds; 0 for none.
func createdAt(r *types.Record) int64 {
	if r.Dynamodb == nil || r.Dynamodb.ApproximateCreationDateTime == nil {
		return 0
	}
	return r.Dynamodb.ApproximateCreationDateTime.UnixMilli()
}

// end tells the Sink that the shard will not grow, once its children are known.
func (r *reader) end(ctx context.Context) error {
	r.closed = true
	if err := r.awaitChildren(ctx); err != nil {
		return err
	}
	if err := r.handle.Fold(ctx, source.Batch{Next: string(r.at), End: true, Final: true}); err != nil {
		return fromSink(fmt.Errorf("fold the end: %w", err))
	}
	return errEnded
}

// sinkError marks an error of the Sink: the handle is dead, where everything
// else is tried again on it.
type sinkError struct{ err error }

func (e *sinkError) Error() string { return e.err.Error() }
func (e *sinkError) Unwrap() error { return e.err }

func fromSink(err error) error { return &sinkError{err} }

func isSinkError(err error) bool {
	var s *sinkError
	return errors.As(err, &s)
}
