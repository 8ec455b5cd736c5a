package kafka

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/keyheat/keyheat/internal/health"
	"github.com/keyheat/keyheat/internal/retry"
	"github.com/keyheat/keyheat/internal/source"
)

// kafka-go's own ConsumerGroup ends a generation at the first heartbeat that fails,
// drops its member id, and joins as a stranger for whom the coordinator waits until
// the old member has timed out: the loss of a broker silences every partition for
// a minute or more. This membership keeps its id, and while the coordinator is away
// it reads on under its claims: the epochs in the store fence it, should another
// member be given a partition.
//
// kafka-go's Client is no help for it: it sends heartbeats to any broker, and reads
// the error of heartbeats and leaves where the throttle time is, so that none ever
// fails.

// The newest versions of the group's requests that are asked for. Later ones only
// encode differently, or serve members with names of their own.
const (
	joinNewest      = 5
	syncNewest      = 3
	heartbeatNewest = 3
	leaveNewest     = 2
)

// protocolType is what consumers' groups are called.
const protocolType = "consumer"

// balancers are the ways to share partitions, the first one that all members know.
var balancers = []kafka.GroupBalancer{kafka.RangeGroupBalancer{}, kafka.RoundRobinGroupBalancer{}}

// membership is this process's place in the consumer group. One goroutine.
type membership struct {
	source *Source
	conn   *connection
	topics []string
	sink   source.Sink
	// member is the id that the coordinator gave; empty before, and after it was
	// forgotten.
	member string
}

// generation is one sharing of the partitions.
type generation struct {
	membership  *membership
	id          int
	member      string
	assignments map[string][]int // topic to partitions
	partitions  map[string]int   // topic to how many it had
	follower    *follower
}

// run takes part in one generation of the group after the other, until ctx ends.
func (m *membership) run(ctx context.Context) {
	defer m.leave(ctx)
	rejoin := newBackoff()
	for ctx.Err() == nil {
		gen, err := m.join(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			m.source.reportFailure(health.Whole, failureGroup, fmt.Errorf("join the group %s: %w", m.source.config.Group, err))
			retry.Pause(ctx, m.source.config.JoinBackoff)
			continue
		}
		began := time.Now()
		rebalance := m.attend(ctx, gen)
		switch {
		case rebalance: // the others wait for this one
		case time.Since(began) < shortGeneration:
			retry.Pause(ctx, rejoin.NextBackOff())
		default:
			rejoin.Reset()
		}
	}
}

// join joins the group, or joins it again after a rebalance, and returns what this
// member is to read.
func (m *membership) join(ctx context.Context) (*generation, error) {
	// A join waits for the others.
	ctx, cancel := context.WithTimeout(ctx, m.source.config.RebalanceTimeout+m.source.config.RequestTimeout)
	defer cancel()
	joined, err := m.requestJoin(ctx)
	if err != nil {
		return nil, err
	}
	gen := &generation{membership: m, id: int(joined.generation), member: joined.member}
	if gen.partitions, err = m.conn.partitionCounts(ctx, m.topics); err != nil {
		return nil, err
	}
	q := kmsg.NewPtrSyncGroupRequest()
	q.Group, q.Generation, q.MemberID = m.source.config.Group, joined.generation, joined.member
	if joined.leader == joined.member {
		if q.GroupAssignment, err = m.share(joined, gen.partitions); err != nil {
			return nil, err
		}
	}
	response, err := m.conn.callGroup(ctx, q.Group, q, syncNewest)
	if err != nil {
		return nil, err
	}
	synced := response.(*kmsg.SyncGroupResponse)
	if err := m.refused(synced.ErrorCode); err != nil {
		return nil, err
	}
	gen.assignments, err = assigned(synced.MemberAssignment)
	return gen, err
}

// requestJoin sends the join itself, again when the coordinator first gives an id.
func (m *membership) requestJoin(ctx context.Context) (*joinResponse, error) {
	c := m.source.config
	subscription := kmsg.ConsumerMemberMetadata{Topics: m.topics}
	for {
		q := &joinRequest{kmsg.NewJoinGroupRequest()}
		q.Group, q.MemberID, q.ProtocolType = c.Group, m.member, protocolType
		q.SessionTimeoutMillis, q.RebalanceTimeoutMillis = int32(c.SessionTimeout.Milliseconds()), int32(c.RebalanceTimeout.Milliseconds())
		for _, b := range balancers {
			p := kmsg.NewJoinGroupRequestProtocol()
			p.Name, p.Metadata = b.ProtocolName(), subscription.AppendTo(nil)
			q.Protocols = append(q.Protocols, p)
		}
		response, err := m.conn.callGroup(ctx, q.Group, q, joinNewest)
		if err != nil {
			return nil, err
		}
		joined := response.(*joinResponse)
		if kafka.Error(joined.code) == kafka.MemberIDRequired && m.member == "" && joined.member != "" {
			m.member = joined.member
			continue
		}
		if err := m.refused(joined.code); err != nil {
			return nil, err
		}
		m.member = joined.member
		return joined, nil
	}
}

// refused returns the error of a response. The member's id is kept unless the
// coordinator does not know it: one that is away, or starts, knows it later.
func (m *membership) refused(code int16) error {
	err := codeError(code)
	if errors.Is(err, kafka.UnknownMemberId) {
		m.member = ""
	}
	return err
}

// codeError returns the error of a code; nil for none.
func codeError(code int16) error {
	if code == 0 {
		return nil
	}
	return kafka.Error(code)
}

// share is the leader's work: it shares the partitions of all topics.
func (m *membership) share(joined *joinResponse, counts map[string]int) ([]kmsg.SyncGroupRequestGroupAssignment, error) {
	var members []kafka.GroupMember
	for _, j := range joined.members {
		topics, userData, err := readSubscription(j.subscription)
		if err != nil {
			return nil, fmt.Errorf("read the subscription of member %s: %w", j.id, err)
		}
		members = append(members, kafka.GroupMember{ID: j.id, Topics: topics, UserData: userData})
	}
	var partitions []kafka.Partition
	for topic, count := range counts {
		for id := range count {
			partitions = append(partitions, kafka.Partition{Topic: topic, ID: id})
		}
	}
	balancer := balancers[0]
	for _, b := range balancers {
		if b.ProtocolName() == joined.protocol {
			balancer = b
		}
	}
	var all []kmsg.SyncGroupRequestGroupAssignment
	for member, topics := range balancer.AssignGroups(members, partitions) {
		a := kmsg.NewSyncGroupRequestGroupAssignment()
		a.MemberID, a.MemberAssignment = member, assignment(topics)
		all = append(all, a)
	}
	return all, nil
}

func assignment(topics map[string][]int) []byte {
	var a kmsg.ConsumerMemberAssignment
	for topic, ids := range topics {
		t := kmsg.NewConsumerMemberAssignmentTopic()
		t.Topic = topic
		for _, id := range ids {
			t.Partitions = append(t.Partitions, int32(id))
		}
		a.Topics = append(a.Topics, t)
	}
	return a.AppendTo(nil)
}

// attend reads what a generation assigns until it is over or ctx ends, and returns
// when every partition is released, and whether others wait for it to join again.
// The readers end with the generation, and not with ctx: the group is left in order.
func (m *membership) attend(ctx context.Context, gen *generation) (rebalance bool) {
	if m.source.health.Heal(health.Whole) {
		m.source.log.Info("joined the consumer group", "group", m.source.config.Group, "member", gen.member, "generation", gen.id)
	}
	own, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	gen.follower = newFollower(m.source, m.conn)
	var readers []*reader
	var working sync.WaitGroup
	for topic, ids := range gen.assignments {
		for _, id := range ids {
			r := newReader(m.source, m.conn, gen, topic, id)
			readers = append(readers, r)
			working.Go(func() { r.run(own, m.sink) })
		}
	}
	working.Go(func() { gen.follower.run(own) })
	working.Go(func() { m.source.commitOffsets(own, gen, readers) })
	rebalance = m.beat(ctx, gen)
	end()
	working.Wait()
	return rebalance
}

// beat sends heartbeats until the generation is over or ctx ends, and returns
// whether it is over because the group shares its partitions anew. A coordinator that
// is away ends no generation: what another member is given is fenced in the store.
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
			if counts, err := m.conn.partitionCounts(ctx, m.topics); err == nil && differ(counts, gen.partitions) {
				m.source.log.Info("topics have other numbers of partitions: joining the consumer group again", "group", m.source.config.Group)
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
		case errors.Is(err, kafka.UnknownMemberId):
			m.member = ""
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

// differ reports whether a topic that both know has another number of partitions.
func differ(a, b map[string]int) bool {
	for topic, n := range a {
		if before, known := b[topic]; known && before != n {
			return true
		}
	}
	return false
}

// leave leaves the group, within a bounded time: its other members need not wait
// for the session to time out.
func (m *membership) leave(ctx context.Context) {
	m.source.health.Fail(health.Whole, "left the group "+m.source.config.Group)
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

// heartbeat checks with the group that this member and its generation are alive.
// It has to succeed before a claim: a process that was frozen would take a
// partition from its owner.
func (g *generation) heartbeat(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, g.membership.source.config.RequestTimeout)
	defer cancel()
	q := kmsg.NewPtrHeartbeatRequest()
	q.Group, q.Generation, q.MemberID = g.membership.source.config.Group, int32(g.id), g.member
	response, err := g.membership.conn.callGroup(ctx, q.Group, q, heartbeatNewest)
	if err == nil {
		err = codeError(response.(*kmsg.HeartbeatResponse).ErrorCode)
	}
	if err != nil {
		return fmt.Errorf("heartbeat in generation %d: %w", g.id, err)
	}
	return nil
}

// commit commits offsets to the group.
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

// partitionCounts returns how many partitions the topics have that exist.
func (l *connection) partitionCounts(ctx context.Context, topics []string) (map[string]int, error) {
	res, err := l.client.Metadata(ctx, &kafka.MetadataRequest{Topics: topics})
	if err != nil {
		return nil, fmt.Errorf("look up partitions: %w", err)
	}
	counts := make(map[string]int)
	for _, t := range res.Topics {
		if t.Error == nil && len(t.Partitions) > 0 {
			counts[t.Name] = len(t.Partitions)
		}
	}
	return counts, nil
}
