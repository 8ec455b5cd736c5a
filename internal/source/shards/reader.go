package shards

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/keyheat/keyheat/internal/daemon"
	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/store"
)

// reclaimPause is the middle of the pause before a shard is claimed again after
// it was lost: long enough for the new owner to be known.
const reclaimPause = 250 * time.Millisecond

// errEnded: the shard was read to its end, and the Sink has that end.
var errEnded = errors.New("the shard has ended")

// reader reads one shard while this collector owns it. It has one goroutine; others may
// call stop.
//
// A claim begins at the Sink's position. Each step requests an iterator if it has none,
// then a page, and folds it. Failures are retried, with a new iterator after the last
// folded record. The last page of a closed shard is folded like any other; then the
// children are registered, and then the end is folded.
type reader struct {
	source *Source
	shard  store.Shard
	table  string
	id     string // the Log's name of the shard
	stop   context.CancelFunc

	claimed  bool // claimed at least once
	handle   source.Partition
	at       Position
	iterator string // empty when there is none
	newest   time.Time
	closed   bool  // the shard was read to its end
	gone     bool  // the shard does not exist any more
	lost     *loss // a lost range whose end is unknown
	idle     idleness
	next     time.Time // the earliest time of the next request
	limit    int32     // records that a page may hold
	reserve  int64     // memory, in bytes, with which the next page is requested
	backoff  *backoff.ExponentialBackOff
}

func newReader(s *Source, h store.Shard, stop context.CancelFunc) *reader {
	table, _ := s.client.log.Parts(h.Stream)
	return &reader{
		source: s, shard: h, table: table, id: shardID(h.Name),
		stop: stop, backoff: newBackoff(),
		next:  time.Now().Add(s.client.traits.PageEvery), // its last owner may have made a request just now
		limit: s.client.traits.FewRecords, reserve: s.client.traits.PageBytes,
	}
}

// run owns the shard until ctx ends, and reports whether the shard has ended.
func (r *reader) run(ctx context.Context, sink source.Sink) (ended bool) {
	for ctx.Err() == nil {
		err := r.claimAndRead(ctx, sink)
		switch {
		case errors.Is(err, errEnded):
			return true
		case ctx.Err() != nil:
			return false
		case errors.Is(err, source.ErrReclaim):
			r.source.reportFailure(r.shard.Name, failureReclaim, err)
			daemon.Pause(ctx, reclaimPause/2+rand.N(reclaimPause))
		default:
			r.source.reportFailure(r.shard.Name, failureSink, err)
			daemon.Pause(ctx, r.backoff.NextBackOff())
		}
	}
	return false
}

// claimAndRead claims the shard, reads it until that fails or it has ended, and
// releases it unless the handle is dead.
func (r *reader) claimAndRead(ctx context.Context, sink source.Sink) error {
	if err := r.source.ownership.await(ctx); err != nil {
		return err
	}
	handle, err := sink.Claim(ctx, source.Claim{Partition: r.shard.Name, First: string(TrimHorizon), TableShard: true})
	if err != nil {
		return fmt.Errorf("claim: %w", err)
	}
	r.start(handle)
	err = r.read(ctx)
	alive := ctx.Err() != nil && !errors.Is(err, source.ErrReclaim)
	if alive || errors.Is(err, errEnded) {
		if failed := r.release(ctx); failed != nil {
			return failed
		}
	}
	return err
}

// start resets the state of an earlier claim.
func (r *reader) start(handle source.Partition) {
	r.handle, r.at = handle, Position(handle.Position())
	r.iterator, r.idle = "", idleness{}
	r.newest = time.Time{} // records folded since may have been dropped
	r.closed, r.gone = r.at == shardEnd, r.at == shardEnd
	if r.lost = r.initialLoss(); r.lost != nil {
		r.source.log.Warn("a shard begins with a gap", "shard", r.shard.Name, "reason", r.lost.reason)
	}
	r.claimed = true
}

// release releases the shard, in a bounded time. Everything folded is in the Sink
// then.
func (r *reader) release(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.source.config.ReleaseTimeout)
	defer cancel()
	err := r.handle.Release(ctx)
	if err != nil {
		r.source.errors.WithLabelValues(failureRelease).Inc()
		r.source.log.Warn("cannot release a shard; its next owner reads the uncommitted part again", "shard", r.shard.Name, "error", err)
	}
	return err
}

// read steps until the Sink fails, the shard has ended, or ctx ends. Failures of
// AWS are retried without limit.
func (r *reader) read(ctx context.Context) error {
	for {
		err := r.step(ctx)
		switch {
		case source.IsFromSink(err), errors.Is(err, errEnded):
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			r.iterator = ""
			r.source.reportFailure(r.shard.Name, failureRecords, err)
			daemon.Pause(ctx, r.backoff.NextBackOff())
		default:
			r.markSuccess()
		}
	}
}

// markSuccess ends the failures of the shard after a successful step.
func (r *reader) markSuccess() {
	r.backoff.Reset()
	if r.source.health.Heal(r.shard.Name) {
		r.source.log.Debug("samples are read again", "shard", r.shard.Name)
	}
}

func (r *reader) step(ctx context.Context) error {
	if r.closed {
		return r.end(ctx)
	}
	m, err := r.await(ctx)
	if err != nil {
		return err
	}
	defer m.release()
	p, err := r.request(ctx)
	if err != nil {
		m.release() // the next step may wait for others
		return r.handleError(ctx, err)
	}
	if !m.take(&p) {
		r.reserve = r.source.client.traits.PageBytes
		return nil // read again when there is memory
	}
	return r.fold(ctx, p, m)
}

// await waits until the next page may be requested: at the API's rate, with memory for it,
// and while no other collector can read the shard.
func (r *reader) await(ctx context.Context) (*pageMemory, error) {
	if d := time.Until(r.next); d > 0 {
		daemon.Pause(ctx, d)
	}
	hold, err := r.source.memory.Acquire(ctx, r.reserve)
	if err != nil {
		return nil, fmt.Errorf("wait for memory: %w", err)
	}
	m := &pageMemory{hold: hold}
	if err := r.source.ownership.await(ctx); err != nil {
		m.release()
		return nil, err
	}
	return m, nil
}

// request requests a page, and before it an iterator if there is none.
func (r *reader) request(ctx context.Context) (p Page, err error) {
	c := r.source.client
	if r.iterator == "" {
		if r.iterator, err = c.open(ctx, r.shard.Stream, r.id, r.at); err != nil {
			return p, err
		}
	}
	p, err = c.read(ctx, r.shard.Stream, r.iterator, r.limit, pageBuffers.Get(0))
	r.next = p.asked.Add(c.traits.PageEvery)
	return p, err
}

func (r *reader) fold(ctx context.Context, p Page, m *pageMemory) error {
	p.Records = r.dropCounted(p.Records)
	r.idle.Add(p.asked, len(p.Records))
	r.next = p.asked.Add(r.idle.interval(r.source.client.traits.PageEvery))
	end, read := r.idle.End()
	if err := r.boundLoss(ctx, p, end); err != nil {
		return err
	}
	b := source.Batch{Next: string(r.at)}
	if end {
		b.End, b.Read = true, read.UnixMilli()
	}
	fillBatch(&b, p.Records)
	b.Yield = func() bool {
		wanted := r.source.memory.HasWaiters()
		if wanted {
			m.release()
		}
		return wanted
	}
	began := time.Now()
	err := r.handle.Fold(ctx, b)
	r.adaptLimit(len(p.Records), time.Since(began))
	if errors.Is(err, source.ErrReread) {
		return nil
	}
	if err != nil {
		return source.FromSink(fmt.Errorf("fold: %w", err))
	}
	m.release()
	r.at, r.iterator = Position(b.Next), p.Next
	r.noteFolded(b)
	r.source.pages.WithLabelValues(r.table).Inc()
	r.source.records.WithLabelValues(r.table).Add(float64(len(p.Records)))
	r.source.bytes.WithLabelValues(r.table).Add(float64(b.Bytes))
	if p.Next == "" {
		return r.end(ctx)
	}
	return nil
}

// dropCounted drops the records that were counted already. DynamoDB does not return them,
// but a stand-in may begin AT the number when asked to begin AFTER it.
func (r *reader) dropCounted(all []Record) []Record {
	for i := range all {
		if !r.at.HasPassed(all[i].Sequence) {
			return all[i:]
		}
	}
	return nil
}

// adaptLimit sets the size of the next page, and the memory for its request. It uses the
// number of records in this page, and how long the Sink held it. With a backlog, many
// shards wait for the slowest, each with a page in memory. At the end of a shard a page
// takes memory only after it has arrived.
func (r *reader) adaptLimit(records int, waited time.Duration) {
	traits := &r.source.client.traits
	if r.reserve = traits.PageBytes; records == 0 {
		r.reserve = 0
	}
	if records == 0 || waited > time.Second {
		r.limit = traits.FewRecords
		return
	}
	r.limit = min(2*r.limit, traits.MaxRecords)
}

// noteFolded records the time up to which the shard is counted.
func (r *reader) noteFolded(b source.Batch) {
	if b.Time > 0 {
		r.newest = time.UnixMilli(b.Time)
	}
	if b.End && r.at != afterGap { // otherwise the gap may not be stored yet
		r.shard.Watermark = time.UnixMilli(b.Read)
	}
}

func fillBatch(b *source.Batch, records []Record) {
	if len(records) == 0 {
		return
	}
	for _, r := range records {
		b.Bytes += len(r.Value)
		b.Time = max(b.Time, r.Time)
		b.Next = r.Sequence
	}
	b.Messages = messages(records)
}

func messages(records []Record) iter.Seq[source.Message] {
	return func(yield func(source.Message) bool) {
		for _, r := range records {
			if !yield(source.Message{Value: r.Value, Time: r.Time}) {
				return
			}
		}
	}
}

// end folds the end of the shard, once its children are registered.
func (r *reader) end(ctx context.Context) error {
	r.closed = true
	if err := r.awaitChildren(ctx); err != nil {
		return err
	}
	if err := r.handle.Fold(ctx, source.Batch{Next: string(r.at), End: true, Final: true}); err != nil {
		return source.FromSink(fmt.Errorf("fold the end: %w", err))
	}
	return errEnded
}
