// Package sharing is what the members of a consumer group tell each other, and how its leader
// shares the partitions. What they tell is read here and not by kmsg, which makes as many
// elements as there are bytes, of some hundred bytes each.
package sharing

import (
	"fmt"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/keyheat/keyheat/internal/source/kafka/wire"
)

// balancers are the ways to share partitions, the first one that all members know.
var balancers = []kafka.GroupBalancer{kafka.RangeGroupBalancer{}, kafka.RoundRobinGroupBalancer{}}

// Protocols are the ways to share partitions that a member of some topics knows.
func Protocols(topics []string) (all []kmsg.JoinGroupRequestProtocol) {
	subscription := kmsg.ConsumerMemberMetadata{Topics: topics}
	for _, b := range balancers {
		p := kmsg.NewJoinGroupRequestProtocol()
		p.Name, p.Metadata = b.ProtocolName(), subscription.AppendTo(nil)
		all = append(all, p)
	}
	return all
}

// JoinRequest is a request to join a group.
type JoinRequest struct{ kmsg.JoinGroupRequest }

// ResponseKind implements kmsg.Request.
func (q *JoinRequest) ResponseKind() kmsg.Response {
	r := new(JoinResponse)
	r.SetVersion(q.Version)
	return r
}

// JoinResponse is what is needed of the response to a JoinRequest.
type JoinResponse struct {
	kmsg.JoinGroupResponse // for its version only
	Code                   int16
	Generation             int32
	Protocol               string
	Leader, Member         string
	Members                []Member
}

// maxMembers is far more than share the partitions of any group.
const maxMembers = 1 << 16

// Member is a member of a group, of which the leader is told.
type Member struct {
	ID           string
	Subscription []byte
}

// ReadFrom implements kmsg.Response, up to version 5.
func (r *JoinResponse) ReadFrom(body []byte) error {
	w := wire.NewReader(body, false)
	if r.Version >= 2 {
		w.Int32() // how long the broker throttled the client
	}
	r.Code, r.Generation = w.Int16(), w.Int32()
	r.Protocol, r.Leader, r.Member = w.Text(), w.Text(), w.Text()
	w.Each(func() {
		m := Member{ID: w.Text()}
		if r.Version >= 5 {
			w.Text() // its name of its own
		}
		switch m.Subscription = w.Data(); {
		case len(r.Members) == maxMembers:
			w.Err = fmt.Errorf("the group has more than %d members", maxMembers)
		case w.Err == nil:
			r.Members = append(r.Members, m)
		}
	})
	return w.End()
}

// Share is the leader's work: it shares the partitions of all topics, of which it is given
// the numbers.
func (r *JoinResponse) Share(counts map[string]int) ([]kmsg.SyncGroupRequestGroupAssignment, error) {
	var members []kafka.GroupMember
	for _, j := range r.Members {
		topics, userData, err := ReadSubscription(j.Subscription)
		if err != nil {
			return nil, fmt.Errorf("read the subscription of member %s: %w", j.ID, err)
		}
		members = append(members, kafka.GroupMember{ID: j.ID, Topics: topics, UserData: userData})
	}
	var partitions []kafka.Partition
	for topic, count := range counts {
		for id := range count {
			partitions = append(partitions, kafka.Partition{Topic: topic, ID: id})
		}
	}
	balancer := balancers[0]
	for _, b := range balancers {
		if b.ProtocolName() == r.Protocol {
			balancer = b
		}
	}
	var all []kmsg.SyncGroupRequestGroupAssignment
	for member, topics := range balancer.AssignGroups(members, partitions) {
		a := kmsg.NewSyncGroupRequestGroupAssignment()
		a.MemberID, a.MemberAssignment = member, Assignment(topics, counts)
		all = append(all, a)
	}
	return all, nil
}

// Assignment tells a member what it is to read, and of how many partitions that is.
func Assignment(topics map[string][]int, counts map[string]int) []byte {
	var a kmsg.ConsumerMemberAssignment
	if counts != nil {
		lists := make(map[string][]int)
		for topic, count := range counts {
			lists[topic] = []int{count}
		}
		a.UserData = Assignment(lists, nil)
	}
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

// ReadSubscription reads which topics a member wants to read, and what its balancer adds.
// What newer versions have behind it is left out.
func ReadSubscription(raw []byte) (topics []string, userData []byte, err error) {
	w := wire.NewReader(raw, false)
	w.Int16() // the version
	w.Each(func() {
		if topic := w.Text(); w.Err == nil {
			topics = append(topics, topic)
		}
	})
	userData = w.Data()
	return topics, userData, w.Err
}

// ParseAssignment returns what a member is to read, nothing when there are more members than
// partitions; and how many partitions of each topic were shared, if the leader says so.
func ParseAssignment(raw []byte) (all map[string][]int, shared map[string]int, err error) {
	all, added, err := readAssignment(raw)
	if err != nil {
		return nil, nil, fmt.Errorf("read the assignment: %w", err)
	}
	counts, _, err := readAssignment(added)
	if err != nil {
		return all, nil, nil // of a leader with another balancer
	}
	shared = make(map[string]int)
	for topic, count := range counts {
		if len(count) == 1 {
			shared[topic] = count[0]
		}
	}
	return all, shared, nil
}

// readAssignment reads partitions by topic, and what the leader's balancer adds.
func readAssignment(raw []byte) (all map[string][]int, userData []byte, err error) {
	all = make(map[string][]int)
	if len(raw) == 0 {
		return all, nil, nil
	}
	w := wire.NewReader(raw, false)
	w.Int16() // the version
	w.Each(func() {
		topic := w.Text()
		w.Each(func() {
			if id := w.Int32(); w.Err == nil {
				all[topic] = append(all[topic], int(id))
			}
		})
	})
	userData = w.Data()
	return all, userData, w.Err
}
