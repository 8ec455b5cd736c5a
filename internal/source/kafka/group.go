package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/segmentio/kafka-go"

	"github.com/keyheat/keyheat/internal/health"
	"github.com/keyheat/keyheat/internal/retry"
	"github.com/keyheat/keyheat/internal/source"
)

const (
	// shortGeneration is how long a generation has to last for the next one to be
	// joined at once; after a shorter one the source backs off.
	shortGeneration = time.Second
	// leaveGrace is how much longer than the release a stop may take, to leave the
	// group.
	leaveGrace = 2 * time.Second
)

// Run reads until ctx ends; every failure is retried. It returns within
// the release timeout and a few seconds. One Run at a time.
//
// It reads the topics that exist. When one of them is deleted, or a missing one is
// created, it leaves the group and joins it anew with the topics of then: a
// subscription cannot change otherwise.
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
	group, err := kafka.NewConsumerGroup(kafka.ConsumerGroupConfig{
		ID: k.config.Group, Brokers: k.config.Brokers, Topics: topics,
		Dialer:                 conn.dialer(k.config),
		HeartbeatInterval:      k.config.HeartbeatInterval,
		SessionTimeout:         k.config.SessionTimeout,
		RebalanceTimeout:       k.config.RebalanceTimeout,
		JoinGroupBackoff:       k.config.JoinBackoff,
		WatchPartitionChanges:  true,
		PartitionWatchInterval: k.config.PartitionWatch,
		StartOffset:            kafka.FirstOffset,
		Timeout:                k.config.RequestTimeout,
	})
	if err != nil {
		return fmt.Errorf("kafka source: %w", err)
	}
	defer k.leave(group, conn)
	member, cancel := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		defer cancel()
		k.watchTopics(member, conn, topics)
	}()
	defer func() { cancel(); <-watched }()
	k.follow(member, group, conn, sink)
	return nil
}

// follow takes part in one generation of the group after the other.
func (k *Source) follow(ctx context.Context, group *kafka.ConsumerGroup, conn *connection, sink source.Sink) {
	rejoin := newBackoff()
	var began time.Time
	for {
		gen, err := group.Next(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			k.reportFailure(health.Whole, failureGroup, fmt.Errorf("join the group %s: %w", k.config.Group, err))
			continue
		}
		if time.Since(began) < shortGeneration {
			// kafka-go joins again at once, also where that cannot help: when
			// a topic is deleted it would join thousands of times.
			retry.Pause(ctx, rejoin.NextBackOff())
		} else {
			rejoin.Reset()
		}
		began = time.Now()
		k.join(ctx, gen, conn, sink)
	}
}

// join starts a reader for each partition of a generation.
func (k *Source) join(ctx context.Context, gen *kafka.Generation, conn *connection, sink source.Sink) {
	if k.health.Heal(health.Whole) {
		k.log.Info("joined the consumer group", "group", gen.GroupID, "member", gen.MemberID, "generation", gen.ID)
	}
	var readers []*reader
	for topic, partitions := range gen.Assignments {
		for _, p := range partitions {
			r := newReader(k, conn, gen, topic, p.ID)
			readers = append(readers, r)
			gen.Start(func(ended context.Context) {
				own, cancel := generationContext(ctx, ended)
				defer cancel()
				r.run(own, sink)
			})
		}
	}
	gen.Start(func(ended context.Context) {
		own, cancel := generationContext(ctx, ended)
		defer cancel()
		k.commitOffsets(own, gen, readers)
	})
}

// generationContext ends with the generation, and not with ctx: the group is
// left in order, so that every partition is released first. It is an ordinary
// context, where kafka-go's own fails with an error of its own.
func generationContext(ctx, ended context.Context) (context.Context, context.CancelFunc) {
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ended, cancel)
	if ended.Err() != nil {
		cancel()
	}
	return own, func() { stop(); cancel() }
}

// commitOffsets commits the durable positions to the group, for lag tools only.
// Failures are counted and have no effect.
func (k *Source) commitOffsets(ctx context.Context, gen *kafka.Generation, readers []*reader) {
	tick := time.NewTicker(k.config.CommitInterval)
	defer tick.Stop()
	committed := make(map[*reader]int64)
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := commitPositions(gen, readers, committed); err != nil {
				k.errors.WithLabelValues(failureCommit).Inc()
				k.log.Debug("commit positions to the consumer group", "error", err)
			}
		}
	}
}

func commitPositions(gen *kafka.Generation, readers []*reader, committed map[*reader]int64) error {
	offsets := make(map[string]map[int]int64)
	changed := make(map[*reader]int64)
	for _, r := range readers {
		offset := r.durable.Load()
		if last, ok := committed[r]; offset < 0 || (ok && last == offset) {
			continue
		}
		if offsets[r.topic] == nil {
			offsets[r.topic] = make(map[int]int64)
		}
		offsets[r.topic][r.id] = offset
		changed[r] = offset
	}
	if err := gen.CommitOffsets(offsets); err != nil {
		return err
	}
	for r, offset := range changed {
		committed[r] = offset
	}
	return nil
}

// leave ends the generation, waits for its readers to release, and leaves the
// group. kafka-go's Close has no bound (it hangs in the middle of a rebalance), so
// that after a time its connections are closed.
func (k *Source) leave(group *kafka.ConsumerGroup, conn *connection) {
	k.health.Fail(health.Whole, "left the group "+k.config.Group)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := group.Close(); err != nil {
			k.log.Warn("leave the consumer group", "group", k.config.Group, "error", err)
		}
	}()
	select {
	case <-done:
		return
	case <-time.After(k.config.ReleaseTimeout + leaveGrace):
		conn.close()
	}
	select {
	case <-done:
	case <-time.After(leaveGrace):
		k.log.Warn("stopped without leaving the consumer group; it waits for the session timeout", "group", k.config.Group)
	}
}

// awaitTopics waits until a topic exists, and returns those that do; false when ctx
// ended first. It reads kafka-go's cached metadata, which costs nothing when all is
// well.
func (k *Source) awaitTopics(ctx context.Context, conn *connection) (topics []string, ok bool) {
	wait := newBackoff()
	for {
		topics, err := k.existingTopics(ctx, conn)
		switch {
		case ctx.Err() != nil:
			return nil, false
		case err != nil:
			k.reportFailure(health.Whole, failureGroup, err)
		case len(topics) > 0:
			return topics, true
		default:
			k.health.Heal(health.Whole) // each missing topic is a reason by itself
		}
		retry.Pause(ctx, wait.NextBackOff())
	}
}

// watchTopics returns when other topics exist than those that are read, or ctx ends.
// A topic that seems to be gone is looked for twice: a broker that starts does not
// know all of them at once.
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
			k.log.Info("other topics exist: joining the consumer group anew", "before", read, "now", topics)
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
	var topics []string
	for _, topic := range k.config.Topics {
		if slices.Contains(missing, topic) {
			k.reportFailure("topic "+topic, failureTopic, errMissingTopic)
			continue
		}
		k.health.Heal("topic " + topic)
		topics = append(topics, topic)
	}
	k.missing.Set(float64(len(missing)))
	return topics, nil
}

var errMissingTopic = errors.New("it does not exist: create it, or correct its name; the other topics are read")

// heartbeat checks with the group that this member and its generation are alive.
// It has to succeed before a claim: a process that was frozen would take a
// partition from its owner.
func (k *Source) heartbeat(ctx context.Context, conn *connection, gen *kafka.Generation) error {
	res, err := conn.client.Heartbeat(ctx, &kafka.HeartbeatRequest{
		GroupID: gen.GroupID, GenerationID: gen.ID, MemberID: gen.MemberID,
	})
	if err == nil {
		err = res.Error
	}
	if err != nil {
		return fmt.Errorf("heartbeat in generation %d: %w", gen.ID, err)
	}
	return nil
}

// reportFailure records, counts and, when it is news, logs what is wrong with a
// part: a partition, or the group.
func (k *Source) reportFailure(part, kind string, err error) {
	k.errors.WithLabelValues(kind).Inc()
	if k.health.Fail(part, err.Error()) {
		k.log.Warn("no samples are read", "part", part, "kind", kind, "error", err)
	}
}

// newBackoff returns a backoff that grows from a quarter of a second to five, with jitter.
func newBackoff() *backoff.ExponentialBackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval, b.MaxInterval = 250*time.Millisecond, 5*time.Second
	return b
}

// durablePosition is an offset that one goroutine writes and another reads;
// negative while nothing is durable.
type durablePosition struct{ atomic.Int64 }

func (d *durablePosition) set(position string) {
	if offset, err := strconv.ParseInt(position, 10, 64); err == nil {
		d.Store(offset)
	}
}
