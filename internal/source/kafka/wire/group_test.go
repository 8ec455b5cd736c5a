package wire_test

import (
	"encoding/binary"
	"maps"
	"runtime"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"

	"github.com/keyheat/keyheat/internal/source/kafka/wire"
	"github.com/keyheat/keyheat/internal/testsupport/must"
)

// maxResponse is the limit of a group's responses, wire.MaxGroup.
const maxResponse = 1 << 20

// share decodes a join response of version 5 and shares the partitions among its members.
func share(body []byte, counts map[string]int) ([]kmsg.SyncGroupRequestGroupAssignment, error) {
	joined := kmsg.NewPtrJoinGroupResponse()
	joined.SetVersion(5)
	if err := joined.ReadFrom(body); err != nil {
		return nil, err
	}
	return wire.AssignPartitions(joined, counts)
}

// join encodes a join response with one member.
func join(subscription []byte) []byte {
	m := kmsg.NewJoinGroupResponseMember()
	m.MemberID, m.ProtocolMetadata = "m", subscription
	joined := kmsg.NewPtrJoinGroupResponse()
	joined.SetVersion(5)
	joined.Protocol, joined.Members = kmsg.StringPtr("range"), []kmsg.JoinGroupResponseMember{m}
	return joined.AppendTo(nil)
}

// TestSubscriptionsOfAllVersions shares partitions with a member of each version. Members
// of kafka-go claim a version without the fields that came with it.
func TestSubscriptionsOfAllVersions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := kmsg.NewConsumerMemberMetadata()
		m.Version = rapid.Int16Range(0, 3).Draw(t, "version")
		counts := rapid.MapOf(rapid.String(), rapid.IntRange(1, 9)).Draw(t, "counts")
		m.Topics = slices.Sorted(maps.Keys(counts))
		m.UserData = rapid.SliceOf(rapid.Byte()).Draw(t, "data")
		oldest := m
		oldest.Version = 0
		short := oldest.AppendTo(nil)
		binary.BigEndian.PutUint16(short, uint16(m.Version))
		for _, raw := range [][]byte{m.AppendTo(nil), short} {
			assigned, err := share(join(raw), counts)
			must.Succeed(t, err)
			got := make(map[string][]int)
			for _, a := range assigned {
				all, shared, err := wire.ParseAssignment(a.MemberAssignment)
				if err != nil || !maps.Equal(shared, counts) {
					t.Fatalf("the assignment is of %v, %v, want %v", shared, err, counts)
				}
				maps.Copy(got, all)
			}
			for topic, count := range counts {
				if len(got[topic]) != count {
					t.Fatalf("the member got %v of %d partitions of topic %q", got[topic], count, topic)
				}
			}
		}
	})
}

// TestAssignmentsOfOtherLeaders decodes assignments with any user data.
func TestAssignmentsOfOtherLeaders(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := kmsg.NewConsumerMemberAssignment()
		want := map[string][]int{}
		for name, ids := range rapid.MapOf(rapid.String(), rapid.SliceOfN(rapid.Int32(), 1, 5)).Draw(t, "partitions") {
			topic := kmsg.NewConsumerMemberAssignmentTopic()
			topic.Topic, topic.Partitions = name, ids
			a.Topics = append(a.Topics, topic)
			for _, id := range ids {
				want[name] = append(want[name], int(id))
			}
		}
		a.UserData = rapid.SliceOf(rapid.Byte()).Draw(t, "user data")
		got, _, err := wire.ParseAssignment(a.AppendTo(nil))
		if err != nil || !maps.EqualFunc(got, want, slices.Equal) {
			t.Fatalf("decoded as %v, %v, want %v", got, err, want)
		}
	})
}

// hostileJoin returns a join response of the largest size that claims as many members as it
// has bytes, all with empty or broken fields.
func hostileJoin(fill byte) []byte {
	// throttled, code, generation, protocol, leader, member, members
	header := make([]byte, 4+2+4+2+2+2)
	body := make([]byte, maxResponse)
	for i := range body {
		body[i] = fill
	}
	copy(body, header)
	binary.BigEndian.PutUint32(body[len(header):], uint32(maxResponse-len(header)-4))
	return body
}

// hostileAssignment returns an assignment whose first topic claims as many partitions as
// there are bytes.
func hostileAssignment() []byte {
	claim := binary.BigEndian.AppendUint32(nil, maxResponse-100)
	return slices.Concat([]byte{0, 0}, claim, []byte{0, 0}, claim, make([]byte, maxResponse-100))
}

// TestHostileResponsesAreBounded decodes responses that claim very many elements, with no
// more than 256 MiB and two allocations for each byte.
func TestHostileResponsesAreBounded(t *testing.T) {
	for name, decode := range map[string]func(){
		"a join of zeros":             func() { _, _ = share(hostileJoin(0), nil) },
		"a join of negative lengths":  func() { _, _ = share(hostileJoin(0xff), nil) },
		"a subscription of topics":    func() { _, _ = share(join(hostileAssignment()), nil) },
		"an assignment of partitions": func() { _, _, _ = wire.ParseAssignment(hostileAssignment()) },
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		decode()
		runtime.ReadMemStats(&after)
		allocated, allocations := after.TotalAlloc-before.TotalAlloc, after.Mallocs-before.Mallocs
		t.Logf("%s: %d MiB in %d allocations", name, allocated>>20, allocations)
		if allocated > 256<<20 || allocations > 2*maxResponse {
			t.Errorf("%s: the decoder allocated %d MiB in %d allocations", name, allocated>>20, allocations)
		}
	}
}

// FuzzGroupResponses decodes any bytes as each message of a group.
func FuzzGroupResponses(f *testing.F) {
	f.Add(join([]byte{0, 1, 0, 0, 0, 1, 0, 1, 't', 0, 0, 0, 0}))
	f.Add([]byte{0, 1, 0, 0, 0, 1, 0, 1, 't', 0, 0, 0, 0})
	f.Add(hostileJoin(0))
	f.Add(hostileJoin(0xff))
	f.Add(hostileAssignment())
	f.Fuzz(func(t *testing.T, body []byte) {
		body = body[:min(len(body), maxResponse)]
		if assigned, err := share(body, map[string]int{"t": 2}); err == nil && len(assigned) > len(body) {
			t.Fatal("more members than bytes")
		}
		if assigned, err := share(join(body), map[string]int{"t": 2}); err == nil && len(assigned) > 1 {
			t.Fatal("more members than one")
		}
		if all, shared, err := wire.ParseAssignment(body); err == nil && len(all)+len(shared) > len(body) {
			t.Fatal("more topics than bytes")
		}
	})
}
