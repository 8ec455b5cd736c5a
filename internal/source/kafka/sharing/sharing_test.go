package sharing_test

import (
	"bytes"
	"encoding/binary"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"

	"github.com/keyheat/keyheat/internal/source/kafka/sharing"
)

func parseJoin(body []byte, version int16) (r sharing.JoinResponse, err error) {
	r.SetVersion(version)
	err = r.ReadFrom(body)
	return r, err
}

// Whatever a response to a join says is what kmsg reads in it, and a part of it is refused.
func TestJoinResponsesAreReadAsKmsgReadsThem(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		res := kmsg.NewPtrJoinGroupResponse()
		res.SetVersion(rapid.Int16Range(0, 5).Draw(t, "version"))
		res.ErrorCode, res.Generation = rapid.Int16().Draw(t, "code"), rapid.Int32().Draw(t, "generation")
		res.Protocol, res.LeaderID, res.MemberID = kmsg.StringPtr("range"), rapid.String().Draw(t, "leader"), rapid.String().Draw(t, "member")
		want := sharing.JoinResponse{Code: res.ErrorCode, Generation: res.Generation, Protocol: "range", Leader: res.LeaderID, Member: res.MemberID}
		want.SetVersion(res.Version)
		for range rapid.IntRange(0, 5).Draw(t, "members") {
			m := kmsg.NewJoinGroupResponseMember()
			m.MemberID, m.ProtocolMetadata = rapid.String().Draw(t, "id"), rapid.SliceOf(rapid.Byte()).Draw(t, "metadata")
			if rapid.Bool().Draw(t, "static") {
				m.InstanceID = kmsg.StringPtr("name")
			}
			res.Members = append(res.Members, m)
			want.Members = append(want.Members, sharing.Member{ID: m.MemberID, Subscription: m.ProtocolMetadata})
		}
		body := res.AppendTo(nil)
		if got, err := parseJoin(body, res.Version); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("read as %+v, %v, want %+v", got, err, want)
		}
		if _, err := parseJoin(body[:rapid.IntRange(0, len(body)-1).Draw(t, "cut")], res.Version); err == nil {
			t.Fatal("a part of it is not refused")
		}
	})
}

// What members write, in all versions, is read as they wrote it; kafka-go's own members
// leave out what came with the version that they claim.
func TestSubscriptionsAndAssignments(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := kmsg.NewConsumerMemberMetadata()
		m.Version = rapid.Int16Range(0, 3).Draw(t, "version")
		m.Topics = rapid.SliceOf(rapid.String()).Draw(t, "topics")
		m.UserData = rapid.SliceOf(rapid.Byte()).Draw(t, "data")
		raw := m.AppendTo(nil)
		oldest := m
		oldest.Version = 0
		short := oldest.AppendTo(nil)
		binary.BigEndian.PutUint16(short, uint16(m.Version))
		for _, raw := range [][]byte{raw, short} {
			topics, data, err := sharing.ReadSubscription(raw)
			if err != nil || !slices.Equal(topics, m.Topics) || !bytes.Equal(data, m.UserData) {
				t.Fatalf("read as %q, %q, %v", topics, data, err)
			}
		}
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
		a.UserData = rapid.SliceOf(rapid.Byte()).Draw(t, "assigner's data") // of another leader's balancer
		got, _, err := sharing.ParseAssignment(a.AppendTo(nil))
		if err != nil || !maps.EqualFunc(got, want, slices.Equal) {
			t.Fatalf("read as %v, %v, want %v", got, err, want)
		}
		counts := rapid.MapOf(rapid.String(), rapid.IntRange(0, 1000)).Draw(t, "counts")
		got, shared, err := sharing.ParseAssignment(sharing.Assignment(want, counts))
		if err != nil || !maps.EqualFunc(got, want, slices.Equal) || !maps.Equal(shared, counts) {
			t.Fatalf("our own is read as %v of %v, %v, want %v of %v", got, shared, err, want, counts)
		}
	})
}

// TestClaimsOfElementsTakeNoMemory: a response of 16 MiB that claims as many elements as it
// has bytes is no reason to make them.
func TestClaimsOfElementsTakeNoMemory(t *testing.T) {
	const size = 16 << 20
	body := make([]byte, size)
	for i := range body {
		body[i] = 0xff // texts that are not there, and lengths below nothing
	}
	claim := binary.BigEndian.AppendUint32(nil, size)
	for name, read := range map[string]func() error{
		"join": func() error {
			// throttled, code, generation, protocol, leader, member, members
			_, err := parseJoin(slices.Concat(make([]byte, 4+2+4+2+2+2), claim, body), 5)
			return err
		},
		"subscription": func() error {
			_, _, err := sharing.ReadSubscription(slices.Concat([]byte{0, 1}, claim, body[:1<<20]))
			return err
		},
		"assignment": func() error {
			_, _, err := sharing.ParseAssignment(slices.Concat([]byte{0, 1}, claim, []byte{0, 0}, claim, body[:1<<20]))
			return err
		},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := read()
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 10*size {
			t.Errorf("%s: %d MiB were allocated", name, took>>20)
		}
		if err == nil {
			t.Errorf("%s: it is not refused", name)
		}
	}
}

// FuzzGroupResponses feeds the decoders of what members tell each other any bytes.
func FuzzGroupResponses(f *testing.F) {
	f.Add(int16(5), []byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 'r', 0, 1, 'l', 0, 1, 'm', 0, 0, 0, 0})
	f.Add(int16(0), []byte{0, 1, 0, 0, 0, 1, 0, 1, 't', 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, version int16, body []byte) {
		if j, err := parseJoin(body, version); err == nil && len(j.Members) > len(body) {
			t.Fatal("members from nowhere")
		}
		if topics, _, err := sharing.ReadSubscription(body); err == nil && len(topics) > len(body) {
			t.Fatal("topics from nowhere")
		}
		if all, shared, err := sharing.ParseAssignment(body); err == nil && len(all)+len(shared) > len(body) {
			t.Fatal("partitions from nowhere")
		}
	})
}
