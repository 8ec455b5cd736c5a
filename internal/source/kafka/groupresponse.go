package kafka

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
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
	w := wire{rest: body}
	if r.Version >= 2 {
		w.int32() // how long the broker throttled the client
	}
	r.code, r.generation = w.int16(), w.int32()
	r.protocol, r.leader, r.member = w.text(), w.text(), w.text()
	w.each(func() {
		m := joined{id: w.text()}
		if r.Version >= 5 {
			w.text() // its name of its own
		}
		switch m.subscription = w.data(); {
		case len(r.members) == maxMembers:
			w.err = fmt.Errorf("the group has more than %d members", maxMembers)
		case w.err == nil:
			r.members = append(r.members, m)
		}
	})
	return w.end()
}

// readSubscription reads which topics a member wants to read, and what its balancer adds.
// What newer versions have behind it is left out.
func readSubscription(raw []byte) (topics []string, userData []byte, err error) {
	w := wire{rest: raw}
	w.int16() // the version
	w.each(func() {
		if topic := w.text(); w.err == nil {
			topics = append(topics, topic)
		}
	})
	userData = w.data()
	return topics, userData, w.err
}

// assigned returns what a member is to read; nothing when there are more members
// than partitions.
func assigned(raw []byte) (map[string][]int, error) {
	all := make(map[string][]int)
	if len(raw) == 0 {
		return all, nil
	}
	w := wire{rest: raw}
	w.int16() // the version
	w.each(func() {
		topic := w.text()
		w.each(func() {
			if id := w.int32(); w.err == nil {
				all[topic] = append(all[topic], int(id))
			}
		})
	})
	w.data() // what the leader's balancer adds
	if w.err != nil {
		return nil, fmt.Errorf("read the assignment: %w", w.err)
	}
	return all, nil
}
