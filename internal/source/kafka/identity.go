package kafka

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// A topic that is deleted and made again has its old name and another id (Kafka
// 2.8, KIP-516): a position is one in the topic of an id.

// The versions of the Metadata API: 10 tells topics' ids, and what comes after 12
// is not needed. All but the oldest tell the cluster's id.
const (
	metadataIDs    = 10
	metadataNewest = 12
)

// Errors of a fetch by id, which kafka-go does not name: the broker has no topic of
// that id, or another one under the name.
const (
	errUnknownTopicID      = kafka.Error(100)
	errInconsistentTopicID = kafka.Error(103)
)

// errAnotherTopic ends the reading of a topic that was deleted and made again.
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

// identity is what a topic is, beside its name.
type identity struct {
	cluster    string // empty when the cluster tells none
	topic      topicID
	partitions int
}

// identity asks a broker what the topic of a name is now.
func (l *connection) identity(ctx context.Context, topic string) (identity, error) {
	response, err := l.transport.RoundTrip(ctx, l.client.Addr, &metadataRequest{
		versions: &l.versions, clientID: l.transport.ClientID, topic: topic,
	})
	if err != nil {
		return identity{}, fmt.Errorf("look up the topic's id: %w", err)
	}
	m := response.(*metadataResponse)
	if len(m.Topics) != 1 {
		return identity{}, fmt.Errorf("look up the topic's id: the response holds %d topics, asked for 1", len(m.Topics))
	}
	t := m.Topics[0]
	if t.ErrorCode != 0 {
		return identity{}, fmt.Errorf("look up the topic's id: %w", kafka.Error(t.ErrorCode))
	}
	is := identity{topic: t.TopicID, partitions: len(t.Partitions)}
	if m.ClusterID != nil {
		is.cluster = *m.ClusterID
	}
	return is, nil
}

// metadataRequest asks any broker about one topic.
type metadataRequest struct {
	versions        *brokerVersions
	clientID, topic string
}

type metadataResponse struct{ *kmsg.MetadataResponse }

// ApiKey names the API; kafka-go's spelling.
func (*metadataRequest) ApiKey() protocol.ApiKey { return protocol.Metadata }

// ApiKey names the API; kafka-go's spelling.
func (*metadataResponse) ApiKey() protocol.ApiKey { return protocol.Metadata }

// Required takes every exchange over.
func (*metadataRequest) Required(map[protocol.ApiKey]int16) bool { return true }

// RawExchange implements protocol.RawExchanger.
func (r *metadataRequest) RawExchange(rw io.ReadWriter) (protocol.Message, error) {
	newest, err := r.versions.newest(rw, r.clientID, kmsg.Metadata.Int16())
	if err != nil {
		return nil, err
	}
	topic := kmsg.NewMetadataRequestTopic()
	topic.Topic = kmsg.StringPtr(r.topic)
	q := kmsg.NewPtrMetadataRequest()
	q.Version, q.Topics = min(newest, metadataNewest), []kmsg.MetadataRequestTopic{topic}
	response, _, err := exchange(rw, r.clientID, q, nil, smallResponse)
	if err != nil {
		return nil, err
	}
	return &metadataResponse{response.(*kmsg.MetadataResponse)}, nil
}
