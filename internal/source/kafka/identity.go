package kafka

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kmsg"
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

func (l *connection) identity(ctx context.Context, topic string) (identity, error) {
	q := kmsg.NewPtrMetadataRequest()
	asked := kmsg.NewMetadataRequestTopic()
	asked.Topic = kmsg.StringPtr(topic)
	q.Topics = []kmsg.MetadataRequestTopic{asked}
	response, err := l.call(ctx, q, metadataNewest)
	if err != nil {
		return identity{}, fmt.Errorf("look up the topic's id: %w", err)
	}
	m := response.(*kmsg.MetadataResponse)
	if len(m.Topics) != 1 {
		return identity{}, fmt.Errorf("look up the topic's id: the response holds %d topics, asked for 1", len(m.Topics))
	}
	if err := codeError(m.Topics[0].ErrorCode); err != nil {
		return identity{}, fmt.Errorf("look up the topic's id: %w", err)
	}
	found := identity{topic: m.Topics[0].TopicID, partitions: len(m.Topics[0].Partitions)}
	if m.ClusterID != nil {
		found.cluster = *m.ClusterID
	}
	return found, nil
}
