package kafka

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/keyheat/keyheat/internal/source/kafka/wire"
)

// A topic that is deleted and created again keeps its name and gets another id (Kafka 2.8,
// KIP-516). So a position belongs to the id.

// metadataNewest is the newest Metadata version that this client requests. Version 2 added
// the cluster's id, version 10 the ids of topics.
const metadataNewest = 12

// Errors of a fetch by id that kafka-go does not name: the broker has no topic with the id,
// or the name has another id.
const (
	errUnknownTopicID      = kafka.Error(100)
	errInconsistentTopicID = kafka.Error(103)
)

// errAnotherTopic ends the reading of a topic that was deleted and created again.
var errAnotherTopic = errors.New("the topic was deleted and created again")

// topicID is the id of a topic; zero when the cluster has none.
type topicID [16]byte

// String is the id as Kafka's tools write it; empty when it is zero.
func (t topicID) String() string {
	if t == (topicID{}) {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(t[:])
}

// identity identifies a topic beyond its name.
type identity struct {
	cluster    string // empty if unknown
	topic      topicID
	partitions int
}

// differs reports whether two identities are of different topics. Unknown ids never differ:
// during an upgrade of the cluster only some brokers send ids.
func (i identity) differs(other identity) bool {
	known := i.topic != (topicID{}) && other.topic != (topicID{})
	return known && i.topic != other.topic ||
		i.cluster != "" && other.cluster != "" && i.cluster != other.cluster
}

// identity requests the current identity of a topic.
func (l *connection) identity(ctx context.Context, topic string) (identity, error) {
	q := &topicRequest{kmsg.NewMetadataRequest()}
	asked := kmsg.NewMetadataRequestTopic()
	asked.Topic = kmsg.StringPtr(topic)
	q.Topics = []kmsg.MetadataRequestTopic{asked}
	response, err := l.call(ctx, q, metadataNewest)
	if err != nil {
		return identity{}, fmt.Errorf("look up the topic's id: %w", err)
	}
	m := response.(*topicResponse)
	if m.code != 0 {
		return identity{}, fmt.Errorf("look up the topic's id: %w", kafka.Error(m.code))
	}
	return m.identity, nil
}

// topicRequest is a metadata request for one topic.
type topicRequest struct{ kmsg.MetadataRequest }

// ResponseKind implements kmsg.Request.
func (q *topicRequest) ResponseKind() kmsg.Response {
	r := new(topicResponse)
	r.SetVersion(q.Version)
	return r
}

// topicResponse decodes the needed part of a Metadata response. kmsg's decoder is not safe
// for it: see [wire.Reader].
type topicResponse struct {
	kmsg.MetadataResponse // for its version only
	identity              identity
	code                  int16 // error code of the topic; 0 for none
}

// ReadFrom implements kmsg.Response.
func (r *topicResponse) ReadFrom(body []byte) error {
	w := wire.NewReader(body, r.IsFlexible())
	version := r.Version
	if version >= 3 {
		w.Int32() // how long the broker throttled the client
	}
	w.Each(func() { // brokers
		w.Int32()
		w.Text()
		w.Int32()
		if version >= 1 {
			w.Text() // the rack
		}
		w.Tags(nil)
	})
	if version >= 2 {
		r.identity.cluster = w.Text()
	}
	if version >= 1 {
		w.Int32() // the controller
	}
	if n := w.Length(); n != 1 {
		return w.ErrOr(fmt.Errorf("it holds %d topics, asked for 1", n))
	}
	r.topic(&w)
	if version >= 8 && version <= 10 {
		w.Int32() // the client's permissions in the cluster
	}
	w.Tags(nil)
	return w.End()
}

// topic decodes the only topic.
func (r *topicResponse) topic(w *wire.Reader) {
	r.code = w.Int16()
	w.Text() // its name
	if r.Version >= 10 {
		copy(r.identity.topic[:], w.Bytes(len(r.identity.topic)))
	}
	if r.Version >= 1 {
		w.Bytes(1) // whether it is internal
	}
	number := func() { w.Int32() }
	w.Each(func() {
		r.identity.partitions++
		w.Int16()
		w.Int32()
		w.Int32()
		if r.Version >= 7 {
			w.Int32() // the leader's epoch
		}
		w.Each(number) // replicas
		w.Each(number) // in-sync replicas
		if r.Version >= 5 {
			w.Each(number) // offline replicas
		}
		w.Tags(nil)
	})
	if r.Version >= 8 {
		w.Int32() // the client's permissions on the topic
	}
	w.Tags(nil)
}
