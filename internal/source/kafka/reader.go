package kafka

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/segmentio/kafka-go"

	"github.com/keyheat/keyheat/internal/daemon"
	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/internal/source/kafka/recordbatch"
)

// reclaimPause is the middle of the pause before a partition is claimed again
// after it was lost: long enough for the new owner to be known.
const reclaimPause = 250 * time.Millisecond

// fetchPause is the longest pause after a failed fetch, and so the longest needless silence
// of a partition with a new leader. Kafka's own consumers also wait at most a second
// (retry.backoff.max.ms).
const fetchPause = time.Second

// reader reads one partition, for as long as the group's generations assign it to this
// member. One goroutine.
type reader struct {
	source     *Source
	connection *connection
	member     *membership
	topic      string
	id         int
	name       string // topic/partition, as the Sink knows it

	durable durablePosition
	polled  time.Time // when durable was last read from the Sink

	handle     source.Partition
	identity   identity
	checked    time.Time // last check of the topic's identity
	at         int64     // the next offset to read
	epoch      int32     // leader epoch of the last record before it; -1 if unknown
	newest     int64     // time of the newest message folded, Unix ms; 0 when none
	fetchBytes int       // bytes that a fetch requests
	// reserve is the memory with which the next fetch begins: 0 at the end of the log,
	// where records may never come.
	reserve int
	// atEnd reports whether the last response was read to the end of the log.
	atEnd bool
	// ahead is the fetch of the next response while the current one is folded; nil if there
	// is none.
	ahead *ahead
	// foreseen reports whether the last response ended at the claimed end of its last
	// batch. Otherwise a fetch ahead would be wasted.
	foreseen  bool
	backoff   *backoff.ExponentialBackOff
	lossCheck lossCheck
}

func newReader(k *Source, l *connection, m *membership, topic string, id int) *reader {
	r := &reader{
		source: k, connection: l, member: m, topic: topic, id: id, name: partition{topic, id}.String(),
		fetchBytes: k.config.FetchBytes, backoff: newBackoff(),
	}
	r.durable.Store(-1)
	return r
}

// run owns the partition until ctx ends.
func (r *reader) run(ctx context.Context, sink source.Sink) {
	defer r.source.health.Heal(r.name)
	defer r.source.lag.DeleteLabelValues(r.topic, strconv.Itoa(r.id))
	for ctx.Err() == nil {
		err := r.claimAndRead(ctx, sink)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, source.ErrReclaim):
			r.source.reportFailure(r.name, failureReclaim, err)
			daemon.Pause(ctx, reclaimPause/2+rand.N(reclaimPause))
		default:
			daemon.Pause(ctx, r.backoff.NextBackOff())
		}
	}
}

// claimAndRead claims the partition, reads it until that fails, and releases it
// when ctx ended.
func (r *reader) claimAndRead(ctx context.Context, sink source.Sink) error {
	// Until all members have joined the next generation, the partition still belongs to
	// this member.
	if err := r.member.current.Load().heartbeat(ctx); err != nil && !errors.Is(err, kafka.RebalanceInProgress) {
		return r.reportUnlessEnded(ctx, failureHeartbeat, err)
	}
	found, err := r.requestIdentity(ctx)
	if err != nil {
		return r.reportUnlessEnded(ctx, failureOffsets, err)
	}
	// Look up the bounds after the identity. If the topic is recreated in between, the
	// first fetch fails.
	first, _, err := r.connection.bounds(ctx, r.topic, r.id)
	if err != nil {
		return r.reportUnlessEnded(ctx, failureOffsets, err)
	}
	r.identity, r.checked = found, time.Now()
	r.handle, err = sink.Claim(ctx, r.claim(first))
	if err != nil {
		return fmt.Errorf("claim: %w", r.reportUnlessEnded(ctx, failureClaim, err))
	}
	if r.at, err = strconv.ParseInt(r.handle.Position(), 10, 64); err == nil {
		r.epoch = epochOf(r.handle.Mark())
		err = r.read(ctx)
	} else {
		err = r.reportUnlessEnded(ctx, failureClaim, fmt.Errorf("the stored position is no Kafka offset: %w", err))
	}
	if !source.IsFromSink(err) || ctx.Err() != nil && !errors.Is(err, source.ErrReclaim) {
		r.release(ctx)
	}
	return err
}

// epochOf returns the leader epoch in a position's mark; -1 when there is none.
func epochOf(mark string) int32 {
	if epoch, err := strconv.ParseInt(mark, 10, 32); err == nil {
		return int32(epoch)
	}
	return -1
}

// mark returns the note of a leader epoch beside a position.
func mark(epoch int32) string {
	if epoch < 0 {
		return ""
	}
	return strconv.FormatInt(int64(epoch), 10)
}

// claim returns the claim of the partition.
func (r *reader) claim(first int64) source.Claim {
	c := source.Claim{
		Partition: r.name, First: strconv.FormatInt(first, 10),
		Log: source.Log{ID: r.identity.topic.String(), Start: "0", Partitions: r.identity.partitions, Readers: r.source.config.Group},
	}
	if r.identity.cluster != "" {
		c.Log.Cluster = "kafka:" + r.identity.cluster
	}
	return c
}

func (r *reader) requestIdentity(ctx context.Context) (identity, error) {
	ctx, cancel := context.WithTimeout(ctx, r.source.config.RequestTimeout)
	defer cancel()
	return r.connection.identity(ctx, r.topic)
}

// release releases the partition, in a bounded time after the end of ctx.
func (r *reader) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.source.config.ReleaseTimeout)
	defer cancel()
	if err := r.handle.Release(ctx); err != nil {
		r.source.errors.WithLabelValues(failureRelease).Inc()
		r.source.log.Warn("cannot release a partition; its next owner reads the uncommitted part again", "partition", r.name, "error", err)
	}
}

// reportUnlessEnded reports a failure, unless ctx has ended, and returns it.
func (r *reader) reportUnlessEnded(ctx context.Context, kind string, err error) error {
	if ctx.Err() == nil {
		r.source.reportFailure(r.name, kind, err)
	}
	return err
}

// read fetches and folds until the Sink fails or ctx ends. Failures of Kafka are
// retried without limit.
func (r *reader) read(ctx context.Context) error {
	defer r.dropAhead()
	for {
		err := r.fetchOnce(ctx)
		switch {
		case ctx.Err() != nil && err == nil:
			return ctx.Err()
		case ctx.Err() != nil:
			return err
		case errors.Is(err, errAnotherTopic):
			r.source.log.Warn("the topic is another one: claiming its partition again", "partition", r.name, "was", r.identity.topic.String())
			return err
		case source.IsFromSink(err):
			if !errors.Is(err, source.ErrReclaim) {
				err = r.reportUnlessEnded(ctx, failureSink, err)
			}
			return err
		case err != nil:
			kind := failureFetch
			if _, isCorrupt := errors.AsType[*recordbatch.CorruptError](err); isCorrupt {
				kind = failureCorrupt
			}
			_ = r.reportUnlessEnded(ctx, kind, err)                     // the next fetch follows
			r.source.lag.DeleteLabelValues(r.topic, strconv.Itoa(r.id)) // unknown is not zero
			daemon.Pause(ctx, min(r.backoff.NextBackOff(), fetchPause))
		default:
			r.markSuccess()
		}
	}
}

// markSuccess ends the failures of the partition after a successful fetch.
func (r *reader) markSuccess() {
	r.backoff.Reset()
	if r.source.health.Heal(r.name) {
		r.source.log.Info("samples are read again", "partition", r.name)
	}
	if time.Since(r.polled) >= r.source.config.CommitInterval/2 {
		r.durable.set(r.handle.CommittedPosition())
		r.polled = time.Now()
	}
}

func (r *reader) fetchOnce(ctx context.Context) error {
	res, err := r.next(ctx)
	if err != nil {
		return err
	}
	defer res.release()
	failed := codeError(res.ErrorCode)
	if failed != nil || len(res.RecordBatches) == 0 {
		res.release() // the next step may fetch elsewhere
	}
	switch {
	case errors.Is(failed, kafka.OffsetOutOfRange):
		return r.outOfRange(ctx)
	case errors.Is(failed, errUnknownTopicID), errors.Is(failed, errInconsistentTopicID):
		return errors.Join(r.sameTopic(ctx), fmt.Errorf("fetch at offset %d: the broker does not know the topic's id: %w", r.at, failed))
	case failed != nil:
		return fmt.Errorf("fetch at offset %d: %w", r.at, failed)
	}
	if res.version < fetchByID && time.Since(r.checked) >= metadataAge {
		if err := r.sameTopic(ctx); err != nil {
			return err
		}
	}
	r.source.fetches.WithLabelValues(r.topic).Inc()
	switch {
	case res.LogStartOffset > r.at:
		return r.recordLoss(ctx, res.LogStartOffset, reasonRetention)
	case res.DivergingEpoch.EndOffset >= 0 && res.DivergingEpoch.EndOffset < r.at:
		return r.cut(ctx, res.DivergingEpoch.EndOffset)
	}
	return r.fold(ctx, res)
}

// next returns the response to a fetch from the position. At the end of the log it shares a
// request with other partitions. If that fails, a fetch of its own shows the error.
func (r *reader) next(ctx context.Context) (*fetchResponse, error) {
	if r.atEnd {
		r.atEnd = false
		r.dropAhead() // a broker that sends batches out of order leaves an unused fetch ahead
		if res, err := r.member.follower.fetch(ctx, r.part(r.at, r.epoch)); res != nil || err != nil {
			return res, err
		}
	}
	return r.fetch(ctx, r.at, r.source.config.MaxWait)
}
