package kafka

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/segmentio/kafka-go"

	"github.com/keyheat/keyheat/internal/daemon"
	"github.com/keyheat/keyheat/internal/source"
)

const (
	// shortGeneration is the least duration of a generation after which the member rejoins
	// at once. After a shorter one the source backs off.
	shortGeneration = time.Second
	// leaveGrace is the time to leave the group, beyond the release of partitions.
	leaveGrace = 2 * time.Second
)

// Run reads until ctx ends; every failure is retried. It returns within the release timeout
// and a few seconds. Only one Run may be active.
//
// It reads the topics that exist. When a topic is deleted or a missing one is created, it
// leaves the group and joins with the new topics, because a subscription cannot change
// otherwise.
func (k *Source) Run(ctx context.Context, sink source.Sink) error {
	for {
		if err := k.runGroup(ctx, sink); err != nil || ctx.Err() != nil {
			return err
		}
	}
}

// runGroup is a member of the group until ctx ends or other topics exist.
func (k *Source) runGroup(ctx context.Context, sink source.Sink) error {
	conn := newConnection(k.config)
	defer conn.close()
	topics, ok := k.awaitTopics(ctx, conn)
	if !ok {
		return nil
	}
	member, cancel := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		defer cancel()
		k.watchTopics(member, conn, topics)
	}()
	defer func() { cancel(); <-watched }()
	newMembership(k, conn, topics, sink).run(member)
	return nil
}

// commitOffsets commits the durable positions to the group, for lag tools only.
// Failures are counted and have no effect.
func (k *Source) commitOffsets(ctx context.Context, gen *generation, readers []*reader) {
	tick := time.NewTicker(k.config.CommitInterval)
	defer tick.Stop()
	committed := make(map[*reader]int64)
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := commitPositions(ctx, gen, readers, committed); err != nil {
				k.errors.WithLabelValues(failureCommit).Inc()
				k.log.Debug("commit positions to the consumer group", "error", err)
			}
		}
	}
}

func commitPositions(ctx context.Context, gen *generation, readers []*reader, committed map[*reader]int64) error {
	offsets := make(map[string][]kafka.OffsetCommit)
	changed := make(map[*reader]int64)
	for _, r := range readers {
		offset := r.durable.Load()
		if last, ok := committed[r]; offset < 0 || (ok && last == offset) {
			continue
		}
		offsets[r.topic] = append(offsets[r.topic], kafka.OffsetCommit{Partition: r.id, Offset: offset})
		changed[r] = offset
	}
	if len(offsets) == 0 {
		return nil
	}
	if err := gen.commit(ctx, offsets); err != nil {
		return err
	}
	maps.Copy(committed, changed)
	return nil
}

// awaitTopics waits until a topic exists, and returns the existing topics; false if ctx
// ended first. It reads kafka-go's cached metadata, so that it costs no request if all
// topics exist.
func (k *Source) awaitTopics(ctx context.Context, conn *connection) (topics []string, ok bool) {
	wait := newBackoff()
	for {
		topics, err := k.existingTopics(ctx, conn)
		switch {
		case ctx.Err() != nil:
			return nil, false
		case err != nil:
			k.reportFailure(daemon.Whole, failureGroup, err)
		case len(topics) > 0:
			return topics, true
		default:
			k.health.Heal(daemon.Whole) // each missing topic is a reason by itself
		}
		daemon.Pause(ctx, wait.NextBackOff())
	}
}

// watchTopics returns when the set of existing topics has changed, or ctx ends. It looks
// twice for a missing topic, because a starting broker does not know all topics at once.
func (k *Source) watchTopics(ctx context.Context, conn *connection, read []string) {
	tick := time.NewTicker(k.config.PartitionWatch)
	defer tick.Stop()
	for gone := 0; ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		topics, err := k.existingTopics(ctx, conn)
		switch {
		case err != nil || slices.Equal(topics, read):
			gone = 0
		case len(topics) >= len(read) || gone > 0:
			k.log.Info("the set of existing topics has changed: joining the consumer group again", "before", read, "now", topics)
			return
		default:
			gone++
		}
	}
}

// existingTopics returns the configured topics that exist. Readiness and a metric
// name the others.
func (k *Source) existingTopics(ctx context.Context, conn *connection) ([]string, error) {
	missing, err := conn.missingTopics(ctx, k.config.Topics)
	if err != nil {
		return nil, err
	}
	k.missing.Set(float64(len(missing))) // set before readiness, so that readiness names the topics
	var topics []string
	for _, topic := range k.config.Topics {
		if slices.Contains(missing, topic) {
			k.reportFailure("topic "+topic, failureTopic, errMissingTopic)
			continue
		}
		k.health.Heal("topic " + topic)
		topics = append(topics, topic)
	}
	return topics, nil
}

var errMissingTopic = errors.New("it does not exist: create it, or correct its name; the other topics are read")

// reportFailure records and counts a failure of a part (a partition, or the group), and
// logs it if it is new: as a warning, unless it is expected at the start.
func (k *Source) reportFailure(part, kind string, err error) {
	k.errors.WithLabelValues(kind).Inc()
	level := slog.LevelWarn
	if errors.Is(err, errStarting) {
		level = slog.LevelInfo
	}
	if k.health.Fail(part, err.Error()) {
		k.log.Log(context.Background(), level, "no samples are read; trying again", "part", part, "kind", kind, "error", err)
	}
}

// newBackoff returns a backoff that grows from a quarter of a second to five, with jitter.
func newBackoff() *backoff.ExponentialBackOff {
	return daemon.NewBackOff(250*time.Millisecond, 5*time.Second)
}

// durablePosition is an offset that one goroutine writes and another reads;
// negative while nothing is durable.
type durablePosition struct{ atomic.Int64 }

func (d *durablePosition) set(position string) {
	if offset, err := strconv.ParseInt(position, 10, 64); err == nil {
		d.Store(offset)
	}
}

// A new cluster makes its coordinators when the first group joins, and refuses joins until
// then. So the first tries to join may fail with errStarting.
const startingTries = 10

var errStarting = errors.New("its coordinator is starting")

// explainStart marks the error of one of the first tries if the cluster has made or loaded no
// coordinator yet.
func explainStart(err error, tries int) error {
	starting := errors.Is(err, kafka.NotCoordinatorForGroup) || errors.Is(err, kafka.GroupCoordinatorNotAvailable) || errors.Is(err, kafka.GroupLoadInProgress)
	if tries > startingTries || !starting {
		return err
	}
	return fmt.Errorf("%w: %w", errStarting, err)
}
