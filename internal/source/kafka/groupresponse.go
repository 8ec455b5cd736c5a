package kafka

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/keyheat/keyheat/internal/source/kafka/wire"
)

// What a group's members tell each other is read here and not by kmsg, which makes as many
// elements as there are bytes, of some hundred bytes each.

// joinRequest is a request to join a group.
type joinRequest struct{ kmsg.JoinGroupRequest }

// ResponseKind implements kmsg.Request.
func (q *joinRequest) ResponseKind() kmsg.Response {
	r := new(joinResponse)
	r.SetVersion(q.Version)
	return r
}

// joinResponse is what is needed of the response to a joinRequest.
type joinResponse struct {
	kmsg.JoinGroupResponse // for its version only
	code                   int16
	generation             int32
	protocol               string
	leader, member         string
	members                []joined
}

// maxMembers is far more than share the partitions of any group.
const maxMembers = 1 << 16

// joined is another member, which a group's leader is told of.
type joined struct {
	id           string
	subscription []byte
}

// ReadFrom implements kmsg.Response, up to joinNewest.
func (r *joinResponse) ReadFrom(body []byte) error {
	w := wire.New(body, false)
	if r.Version >= 2 {
		w.Int32() // how long the broker throttled the client
	}
	r.code, r.generation = w.Int16(), w.Int32()
	r.protocol, r.leader, r.member = w.Text(), w.Text(), w.Text()
	w.Each(func() {
		m := joined{id: w.Text()}
		if r.Version >= 5 {
			w.Text() // its name of its own
		}
		switch m.subscription = w.Data(); {
		case len(r.members) == maxMembers:
			w.Err = fmt.Errorf("the group has more than %d members", maxMembers)
		case w.Err == nil:
			r.members = append(r.members, m)
		}
	})
	return w.End()
}

// readSubscription reads which topics a member wants to read, and what its balancer adds.
// What newer versions have behind it is left out.
func readSubscription(raw []byte) (topics []string, userData []byte, err error) {
	w := wire.New(raw, false)
	w.Int16() // the version
	w.Each(func() {
		if topic := w.Text(); w.Err == nil {
			topics = append(topics, topic)
		}
	})
	userData = w.Data()
	return topics, userData, w.Err
}

// assigned returns what a member is to read, nothing when there are more members than
// partitions; and how many partitions of each topic were shared, if the leader says so.
func assigned(raw []byte) (all map[string][]int, shared map[string]int, err error) {
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
	w := wire.New(raw, false)
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
