package kafka

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/keyheat/keyheat/internal/daemon"
	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/internal/source/kafka/wire"
)

// kafka-go's own ConsumerGroup ends a generation at the first heartbeat that fails, drops
// its member id, and joins as a stranger. The coordinator then waits until the old member
// has timed out: the loss of a broker silences every partition for a minute or more. This
// membership keeps its id. While the coordinator is away it reads on under its claims. The
// store's epochs fence it if another member gets a partition.
//
// For the same reason it reads on during a rebalance, until every member has joined again
// or a lost one has timed out. Then it releases only the partitions that it does not get
// again. A member with an Instance gets its partitions back if its process restarts within
// the session timeout, and no other member takes note. So a collector in a crash loop
// silences only its own partitions.
//
// kafka-go's Client is no help: it sends heartbeats to any broker, and reads the error of
// heartbeats and leaves from the throttle time, so that none ever fails.

// Newest versions of the group's requests. Later versions only differ in encoding, or let
// administrators remove members by name.
const (
	joinNewest      = 5
	syncNewest      = 3
	heartbeatNewest = 3
	leaveNewest     = 2
)

// protocolType is the protocol type of consumer groups.
const protocolType = "consumer"

// handover is the time a former owner has to store its records before the new owner claims
// the partition. An earlier claim fences the former owner, and the records are read again.
const handover = 500 * time.Millisecond

// membership is this process's membership in the consumer group. It has one goroutine.
type membership struct {
	source *Source
	conn   *connection
	topics []string
	sink   source.Sink
	// member is the id from the coordinator; empty before the first join, and after the
	// group forgot it.
	member string
	// instance is the name that outlives the process; nil for none.
	instance *string
	// current is the newest generation, even during the next join.
	current  atomic.Pointer[generation]
	readings map[partition]*reading
	follower *follower
	// differed reports whether the last generation had shared other topics or partitions than
	// there are.
	differed bool
}

// reading is a partition with an active reader.
type reading struct {
	*reader
	end  context.CancelFunc
	done chan struct{} // closed when the partition is released
}

// generation is one assignment of the partitions to members.
type generation struct {
	membership  *membership
	id          int
	member      string
	instance    *string
	alone       bool             // whether this is certainly the only member
	assignments map[string][]int // topic to partitions, of subscribed topics
	foreign     bool             // whether it has topics that are not subscribed
	partitions  map[string]int   // number of shared partitions by topic
}

func newMembership(k *Source, conn *connection, topics []string, sink source.Sink) *membership {
	m := &membership{
		source: k, conn: conn, topics: topics, sink: sink,
		readings: make(map[partition]*reading), follower: newFollower(k, conn),
	}
	if k.config.Instance != "" {
		m.instance = &k.config.Instance
	}
	return m
}

// run takes part in the group's generations, one after the other, until ctx ends. The
// readers end after it, and not with ctx, so that the member leaves the group in order.
func (m *membership) run(ctx context.Context) {
	defer func() {
		m.source.health.Fail(daemon.Whole, "left the group "+m.source.config.Group)
		m.leave(ctx)
	}()
	followed, end := context.WithCancel(context.WithoutCancel(ctx))
	var following sync.WaitGroup
	following.Go(func() { m.follower.run(followed) })
	defer following.Wait()
	defer end()
	defer m.releaseAll()
	rejoin := newBackoff()
	for tries := 1; ctx.Err() == nil; tries++ {
		gen, err := m.join(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			m.source.reportFailure(daemon.Whole, failureGroup, fmt.Errorf("join the group %s: %w", m.source.config.Group, explainStart(err, tries)))
			if m.member == "" {
				m.releaseAll()
			}
			daemon.Pause(ctx, m.source.config.JoinBackoff)
			continue
		}
		tries = startingTries
		began := time.Now()
		rebalance := m.attend(ctx, gen)
		if m.member == "" { // the group has given its partitions to others
			m.releaseAll()
		}
		switch {
		case rebalance: // the other members wait for this one
		case time.Since(began) < shortGeneration:
			daemon.Pause(ctx, rejoin.NextBackOff())
		default:
			rejoin.Reset()
		}
	}
}

// join joins the group, or rejoins it after a rebalance, and returns this member's
// generation.
func (m *membership) join(ctx context.Context) (*generation, error) {
	// A join waits for the others.
	ctx, cancel := context.WithTimeout(ctx, m.source.config.RebalanceTimeout+m.source.config.RequestTimeout)
	defer cancel()
	joined, err := m.requestJoin(ctx)
	if err != nil {
		return nil, err
	}
	gen := &generation{membership: m, id: int(joined.Generation), member: joined.MemberID, instance: m.instance}
	if gen.partitions, err = m.conn.partitionCounts(ctx, m.topics); err != nil {
		return nil, err
	}
	q := kmsg.NewPtrSyncGroupRequest()
	q.Group, q.Generation, q.MemberID, q.InstanceID = m.source.config.Group, joined.Generation, joined.MemberID, m.instance
	if joined.LeaderID == joined.MemberID {
		gen.alone = len(joined.Members) == 1
		m.addForeign(ctx, joined, gen.partitions)
		if q.GroupAssignment, err = wire.AssignPartitions(joined, gen.partitions); err != nil {
			return nil, err
		}
	}
	response, err := m.conn.callGroup(ctx, q.Group, q, syncNewest)
	if err != nil {
		return nil, err
	}
	synced := response.(*kmsg.SyncGroupResponse)
	if err := codeError(synced.ErrorCode); err != nil {
		m.forget(err)
		return nil, err
	}
	// A restarted member gets its former assignment, and as the leader does not learn that it
	// leads. It compares what was shared with its topics, which may be others now.
	assignments, shared, err := wire.ParseAssignment(synced.MemberAssignment)
	if len(shared) > 0 {
		gen.partitions = shared
	}
	maps.DeleteFunc(assignments, func(topic string, _ []int) bool {
		foreign := !slices.Contains(m.topics, topic)
		gen.foreign = gen.foreign || foreign
		return foreign
	})
	gen.assignments = assignments
	return gen, err
}

// addForeign adds the partitions of topics that only other members subscribe to: their settings
// are newer or older than this leader's.
func (m *membership) addForeign(ctx context.Context, joined *kmsg.JoinGroupResponse, counts map[string]int) {
	for _, topic := range wire.SubscribedTopics(joined) {
		if slices.Contains(m.topics, topic) {
			continue
		}
		if found, err := m.conn.identity(ctx, topic); err == nil && found.partitions > 0 {
			counts[topic] = found.partitions
		}
	}
}

// requestJoin sends the join request, and repeats it once the coordinator has assigned an
// id.
func (m *membership) requestJoin(ctx context.Context) (*kmsg.JoinGroupResponse, error) {
	c := m.source.config
	for {
		q := kmsg.NewPtrJoinGroupRequest()
		q.Group, q.MemberID, q.InstanceID, q.ProtocolType = c.Group, m.member, m.instance, protocolType
		q.SessionTimeoutMillis, q.RebalanceTimeoutMillis = int32(c.SessionTimeout.Milliseconds()), int32(c.RebalanceTimeout.Milliseconds())
		q.Protocols = wire.GroupProtocols(m.topics)
		response, err := m.conn.callGroup(ctx, q.Group, q, joinNewest)
		if err != nil {
			return nil, err
		}
		joined := response.(*kmsg.JoinGroupResponse)
		if kafka.Error(joined.ErrorCode) == kafka.MemberIDRequired && m.member == "" && joined.MemberID != "" {
			m.member = joined.MemberID
			continue
		}
		if err := codeError(joined.ErrorCode); err != nil {
			m.forget(err)
			return nil, err
		}
		m.member = joined.MemberID
		return joined, nil
	}
}

// forget drops the member's id if the group has forgotten it; a starting coordinator knows
// it later. It drops the instance if
// another process has it: two processes with one instance would replace each other again
// and again.
func (m *membership) forget(err error) (forgotten bool) {
	switch {
	case errors.Is(err, kafka.UnknownMemberId):
	case errors.Is(err, kafka.FencedInstanceID) && m.instance != nil:
		m.source.log.Warn("another process joined the consumer group under this one's name: going on without a name; give collectors different host names or admin.listen",
			"group", m.source.config.Group, "name", *m.instance)
		m.instance = nil
	default:
		return false
	}
	m.member = ""
	return true
}

// attend reads the generation's partitions until the generation is over or ctx ends, and
// reports whether the group rebalances. Readers continue during a rebalance.
func (m *membership) attend(ctx context.Context, gen *generation) (rebalance bool) {
	if m.source.health.Heal(daemon.Whole) {
		m.source.log.Info("joined the consumer group", "group", m.source.config.Group, "member", gen.member, "generation", gen.id)
	}
	ended := m.endUnassigned(gen)
	m.current.Store(gen) // only now: an ended reader may not claim by this generation
	var readers []*reader
	for topic, ids := range gen.assignments {
		for _, id := range ids {
			r := m.readings[partition{topic, id}]
			if r == nil {
				r = m.read(context.WithoutCancel(ctx), topic, id)
			}
			readers = append(readers, r.reader)
		}
	}
	for _, r := range ended {
		<-r.done
	}
	committing, end := context.WithCancel(ctx)
	var working sync.WaitGroup
	working.Go(func() { m.source.commitOffsets(committing, gen, readers) })
	rebalance = m.beat(ctx, gen)
	end()
	working.Wait()
	return rebalance
}

func (m *membership) read(ctx context.Context, topic string, id int) *reading {
	ctx, end := context.WithCancel(ctx)
	r := &reading{reader: newReader(m.source, m.conn, m, topic, id), end: end, done: make(chan struct{})}
	m.readings[partition{topic, id}] = r
	alone := m.current.Load().alone
	go func() {
		defer close(r.done)
		if !alone {
			daemon.Pause(ctx, handover)
		}
		r.run(ctx, m.sink)
	}()
	return r
}

// endUnassigned ends the readers of partitions that a generation does not assign to this
// member.
func (m *membership) endUnassigned(gen *generation) (ended []*reading) {
	for p, r := range m.readings {
		if !slices.Contains(gen.assignments[p.topic], p.id) {
			r.end()
			delete(m.readings, p)
			ended = append(ended, r)
		}
	}
	return ended
}

// releaseAll ends all reading, in a bounded time.
func (m *membership) releaseAll() {
	for _, r := range m.endUnassigned(new(generation)) {
		<-r.done
	}
}

// beat sends heartbeats until the generation is over or ctx ends, and reports whether the
// group rebalances. A missing coordinator ends no generation: the store's epochs fence this
// member if another one gets its partitions.
func (m *membership) beat(ctx context.Context, gen *generation) (rebalance bool) {
	tick := time.NewTicker(m.source.config.HeartbeatInterval)
	defer tick.Stop()
	grown := time.NewTicker(m.source.config.PartitionWatch)
	defer grown.Stop()
	var away time.Time
	for {
		select {
		case <-ctx.Done():
			return false
		case <-grown.C:
			counts, err := m.conn.partitionCounts(ctx, m.topics)
			if err == nil && m.compare(ctx, gen, counts) {
				return false
			}
			continue
		case <-tick.C:
		}
		err := gen.heartbeat(ctx)
		switch {
		case ctx.Err() != nil:
			return false
		case errors.Is(err, kafka.RebalanceInProgress), errors.Is(err, kafka.IllegalGeneration):
			return true
		case m.forget(err):
			return false
		case err != nil && away.IsZero():
			away = time.Now()
			m.source.errors.WithLabelValues(failureHeartbeat).Inc()
			m.source.log.Warn("the group's coordinator is away; reading on", "group", m.source.config.Group, "error", err)
		case err != nil:
			m.source.errors.WithLabelValues(failureHeartbeat).Inc()
		case !away.IsZero():
			m.source.log.Info("the group's coordinator is back", "group", m.source.config.Group, "after", time.Since(away).Round(time.Millisecond).String())
			away = time.Time{}
		}
	}
}

// compare compares a generation with the topics as they are, and reports whether to join
// again. If that did not help, the member leaves first: the coordinator shares anew for a
// member that is new, or that leads, and for no other one that has joined before.
func (m *membership) compare(ctx context.Context, gen *generation, counts map[string]int) (again bool) {
	again = gen.foreign
	var all []string
	for topic, n := range counts {
		for id := range n {
			all = append(all, partition{topic, id}.String())
		}
		part := "partitions of " + topic
		if gen.partitions[topic] == n {
			m.source.health.Heal(part)
			continue
		}
		again = true
		if m.differed {
			m.source.reportFailure(part, failureGroup, errUnshared)
		}
	}
	m.source.subscribed.Store(&all)
	if again {
		m.source.log.Info("the group has shared other topics or partitions: joining it again", "group", m.source.config.Group)
	}
	if again && m.differed {
		m.leave(ctx)
		m.member = ""
	}
	m.differed = again
	return again
}

var errUnshared = errors.New("some have no reader: the consumer group has not shared them")

// leave leaves the group, within a bounded time: its other members need not wait
// for the session to time out.
func (m *membership) leave(ctx context.Context) {
	if m.member == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveGrace)
	defer cancel()
	q := kmsg.NewPtrLeaveGroupRequest()
	q.Group, q.MemberID = m.source.config.Group, m.member
	response, err := m.conn.callGroup(ctx, q.Group, q, leaveNewest)
	if err == nil {
		err = codeError(response.(*kmsg.LeaveGroupResponse).ErrorCode)
	}
	if err != nil {
		m.source.log.Warn("stopped without leaving the consumer group; it waits for the session timeout", "group", m.source.config.Group, "error", err)
	}
}

// heartbeat checks with the group that this member and its generation are alive. It has to
// succeed before a claim: otherwise a frozen process would take a partition from its owner.
func (g *generation) heartbeat(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, g.membership.source.config.RequestTimeout)
	defer cancel()
	q := kmsg.NewPtrHeartbeatRequest()
	q.Group, q.Generation, q.MemberID, q.InstanceID = g.membership.source.config.Group, int32(g.id), g.member, g.instance
	response, err := g.membership.conn.callGroup(ctx, q.Group, q, heartbeatNewest)
	if err == nil {
		err = codeError(response.(*kmsg.HeartbeatResponse).ErrorCode)
	}
	if err != nil {
		return fmt.Errorf("heartbeat in generation %d: %w", g.id, err)
	}
	return nil
}

func (g *generation) commit(ctx context.Context, offsets map[string][]kafka.OffsetCommit) error {
	res, err := g.membership.conn.client.OffsetCommit(ctx, &kafka.OffsetCommitRequest{
		GroupID: g.membership.source.config.Group, GenerationID: g.id, MemberID: g.member, Topics: offsets,
	})
	if err != nil {
		return err
	}
	for _, topic := range res.Topics {
		for _, p := range topic {
			err = errors.Join(err, p.Error)
		}
	}
	return err
}
