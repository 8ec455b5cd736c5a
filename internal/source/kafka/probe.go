package kafka

import (
	"context"
	"fmt"

	"github.com/segmentio/kafka-go"
)

// Losses that go unnoticed with older brokers, as sentences for a person.
const (
	unseenWithoutIDs = "its brokers send no topic ids (Kafka 2.8 and later do): if a topic is deleted and created again, and grows " +
		"beyond the position, the collector reads on from there, which goes unseen"
	unseenWithoutFetch = "its brokers do not fetch by topic id (Kafka 3.1 and later do): a topic that is deleted and created again " +
		"is noticed within %s; its records from the old position on count until then, and its first records are not read"
)

// Probe checks once that the cluster answers and has every topic. It returns a sentence
// about the losses that go unnoticed on this cluster, or nothing. Its error is a sentence
// with the remedy.
func (c Config) Probe(ctx context.Context) (limits string, err error) {
	c = c.withDefaults()
	conn := newConnection(c)
	defer conn.close()
	ctx, cancel := context.WithTimeout(ctx, c.RequestTimeout)
	defer cancel()
	missing, err := conn.missingTopics(ctx, c.Topics)
	switch {
	case err != nil:
		return "", err
	case len(missing) > 0:
		return "", fmt.Errorf("the cluster has no topic %q: create it, or correct the name", missing[0])
	}
	return conn.limits(ctx, c.Topics[0])
}

// limits describes the losses that go unnoticed on this cluster.
func (l *connection) limits(ctx context.Context, topic string) (string, error) {
	found, err := l.identity(ctx, topic)
	if err != nil {
		return "", err
	}
	if found.topic == (topicID{}) {
		return unseenWithoutIDs, nil
	}
	offered, err := l.client.ApiVersions(ctx, &kafka.ApiVersionsRequest{})
	if err != nil {
		return "", fmt.Errorf("look up what the brokers offer: %w", err)
	}
	for _, k := range offered.ApiKeys {
		if k.ApiName == "Fetch" && k.MaxVersion < fetchByID {
			return fmt.Sprintf(unseenWithoutFetch, metadataAge), nil
		}
	}
	return "", nil
}
