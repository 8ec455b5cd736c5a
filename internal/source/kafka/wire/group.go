package wire

import (
	"fmt"
	"io"
	"slices"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// balancers are the strategies to share partitions. The group uses the first one that all
// members know.
var balancers = []kafka.GroupBalancer{kafka.RangeGroupBalancer{}, kafka.RoundRobinGroupBalancer{}}

// GroupProtocols returns the strategies of a member that subscribes to the topics, with its
// metadata.
func GroupProtocols(topics []string) (all []kmsg.JoinGroupRequestProtocol) {
	subscription := kmsg.ConsumerMemberMetadata{Topics: topics}
	for _, b := range balancers {
		p := kmsg.NewJoinGroupRequestProtocol()
		p.Name, p.Metadata = b.ProtocolName(), subscription.AppendTo(nil)
		all = append(all, p)
	}
	return all
}

// SubscribedTopics returns the topics of all members that joined.
func SubscribedTopics(joined *kmsg.JoinGroupResponse) (all []string) {
	for _, m := range joined.Members {
		if topics, _, err := readSubscription(m.ProtocolMetadata); err == nil {
			all = append(all, topics...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// AssignPartitions is the leader's work: it divides the partitions of all topics among the members
// that joined. counts has the number of partitions by topic.
func AssignPartitions(joined *kmsg.JoinGroupResponse, counts map[string]int) ([]kmsg.SyncGroupRequestGroupAssignment, error) {
	var members []kafka.GroupMember
	for _, m := range joined.Members {
		topics, userData, err := readSubscription(m.ProtocolMetadata)
		if err != nil {
			return nil, fmt.Errorf("read the subscription of member %s: %w", m.MemberID, err)
		}
		members = append(members, kafka.GroupMember{ID: m.MemberID, Topics: topics, UserData: userData})
	}
	var partitions []kafka.Partition
	for topic, count := range counts {
		for id := range count {
			partitions = append(partitions, kafka.Partition{Topic: topic, ID: id})
		}
	}
	balancer := balancers[0]
	for _, b := range balancers {
		if joined.Protocol != nil && b.ProtocolName() == *joined.Protocol {
			balancer = b
		}
	}
	var all []kmsg.SyncGroupRequestGroupAssignment
	for member, topics := range balancer.AssignGroups(members, partitions) {
		a := kmsg.NewSyncGroupRequestGroupAssignment()
		a.MemberID, a.MemberAssignment = member, encodeAssignment(topics, counts)
		all = append(all, a)
	}
	return all, nil
}

// encodeAssignment encodes the partitions that a member is to read. The user data holds
// how many partitions of each topic the leader has shared.
func encodeAssignment(topics map[string][]int, counts map[string]int) []byte {
	var a kmsg.ConsumerMemberAssignment
	if counts != nil {
		lists := make(map[string][]int)
		for topic, count := range counts {
			lists[topic] = []int{count}
		}
		a.UserData = encodeAssignment(lists, nil)
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

// readSubscription decodes the topics that a member wants to read, and its balancer's user
// data. It decodes version 0: kafka-go's members claim later versions without their fields.
func readSubscription(raw []byte) (topics []string, userData []byte, err error) {
	if len(raw) < 2 {
		return nil, nil, io.ErrUnexpectedEOF
	}
	var m kmsg.ConsumerMemberMetadata
	err = m.ReadFrom(append([]byte{0, 0}, raw[2:]...))
	return m.Topics, m.UserData, err
}

// ParseAssignment decodes the partitions that a member is to read: none if there are more
// members than partitions. shared has the number of shared partitions by topic, if the
// leader sent it.
func ParseAssignment(raw []byte) (all map[string][]int, shared map[string]int, err error) {
	all, added, err := readAssignment(raw)
	if err != nil {
		return nil, nil, fmt.Errorf("read the assignment: %w", err)
	}
	counts, _, err := readAssignment(added)
	if err != nil {
		return all, nil, nil // a leader with another balancer sent the user data
	}
	shared = make(map[string]int)
	for topic, count := range counts {
		if len(count) == 1 {
			shared[topic] = count[0]
		}
	}
	return all, shared, nil
}

// readAssignment decodes partitions by topic, and the user data of the leader's balancer.
func readAssignment(raw []byte) (all map[string][]int, userData []byte, err error) {
	all = make(map[string][]int)
	if len(raw) == 0 {
		return all, nil, nil
	}
	var a kmsg.ConsumerMemberAssignment
	if err := a.ReadFrom(raw); err != nil {
		return nil, nil, err
	}
	for _, t := range a.Topics {
		for _, id := range t.Partitions {
			all[t.Topic] = append(all[t.Topic], int(id))
		}
	}
	return all, a.UserData, nil
}
