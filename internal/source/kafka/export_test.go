package kafka

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/internal/source/kafka/recordbatch"
	"github.com/keyheat/keyheat/internal/source/kafka/wire"
)

// TestTopicID is the id of the topic in responses given to ParsePartition.
var TestTopicID = topicID{1, 2, 3}

// Partition is one partition of a fetch response.
type Partition struct {
	High, Stable, Start, Diverged int64
	Failed                        bool
	Aborted                       []recordbatch.Aborted
	Records                       []byte
}

// ParsePartition exports the decoder of fetch responses. No server sends them in every
// form.
func ParsePartition(buf []byte, version int16) (Partition, error) {
	request := kmsg.NewPtrFetchRequest()
	request.Version = version
	body, err := wire.Body(buf, request)
	if err != nil {
		return Partition{}, err
	}
	all, err := (&fetchRequest{parts: []fetchPart{{topic: "samples", id: TestTopicID}}}).parse(body, version)
	if err != nil {
		return Partition{}, err
	}
	p := all[0]
	return Partition{p.highWatermark, p.lastStable, p.logStart, p.diverged, p.err != nil, p.aborted, p.records}, nil
}

// TestPart is a requested partition.
type TestPart struct {
	Topic     string
	ID        [16]byte
	Partition int32
}

// ParseParts returns the records of each part of a fetch response.
func ParseParts(buf []byte, version int16, asked []TestPart) (records [][]byte, err error) {
	request := kmsg.NewPtrFetchRequest()
	request.Version = version
	body, err := wire.Body(buf, request)
	if err != nil {
		return nil, err
	}
	r := new(fetchRequest)
	for _, a := range asked {
		r.parts = append(r.parts, fetchPart{topic: a.Topic, id: a.ID, partition: a.Partition})
	}
	all, err := r.parse(body, version)
	for _, p := range all {
		records = append(records, p.records)
	}
	return records, err
}

// Topic is the decoded topic of a metadata response.
type Topic struct {
	Cluster    string
	ID         [16]byte
	Partitions int
	Failed     bool
}

// ParseTopic lets tests reach the decoder of metadata responses.
func ParseTopic(body []byte, version int16) (Topic, error) {
	var r topicResponse
	r.SetVersion(version)
	err := r.ReadFrom(body)
	return Topic{r.identity.cluster, r.identity.topic, r.identity.partitions, r.code != 0}, err
}

// Memory exports the source's budget, so that tests can compete for it.
func (k *Source) Memory() *source.Budget { return k.memory }
