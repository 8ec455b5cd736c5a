package kafka

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// A topic that is deleted and made again has its old name and another id (Kafka
// 2.8, KIP-516): a position is one in the topic of an id.

// metadataNewest is the newest version of the Metadata API that is asked for: what
// comes after it is not needed. From 10 on it tells topics' ids, from 2 on the
// cluster's.
const metadataNewest = 12

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

// differs reports whether two identities are of different topics, as far as both are
// known: in a cluster that is being upgraded some brokers tell ids and some do not.
func (i identity) differs(other identity) bool {
	known := i.topic != (topicID{}) && other.topic != (topicID{})
	return known && i.topic != other.topic ||
		i.cluster != "" && other.cluster != "" && i.cluster != other.cluster
}

// identity asks a broker what the topic of a name is now.
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
