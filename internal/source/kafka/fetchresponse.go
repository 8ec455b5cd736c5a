package kafka

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// partitionData is one partition of a fetch response. Its records are part of the response.
// Offsets are -1 if the response lacks them.
type partitionData struct {
	kmsg.FetchResponseTopicPartition
}

// end returns the offset after the last record that may be read: with transactions
// in the log the last stable offset, and else the high watermark.
func (p *partitionData) end() int64 {
	if p.LastStableOffset >= 0 && p.LastStableOffset < p.HighWatermark {
		return p.LastStableOffset
	}
	return p.HighWatermark
}

// parse decodes a fetch response of the given version. The response must have each
// requested partition.
func (r *fetchRequest) parse(body []byte, version int16) ([]partitionData, error) {
	response := kmsg.FetchResponse{Version: version}
	if err := response.ReadFrom(body); err != nil {
		return nil, fmt.Errorf("fetch response: %w", err)
	}
	if err := codeError(response.ErrorCode); err != nil {
		return nil, err
	}
	// A response names its topics as the request does: by name, or by id.
	type name struct {
		topic     string
		id        topicID
		partition int32
	}
	found := make(map[name]partitionData, len(r.parts))
	for _, t := range response.Topics {
		for _, p := range t.Partitions {
			found[name{t.Topic, t.TopicID, p.Partition}] = partitionData{p}
		}
	}
	all := make([]partitionData, len(r.parts))
	for i, part := range r.parts {
		named := name{topic: part.topic, partition: part.partition}
		if version >= fetchByID {
			named = name{id: part.id, partition: part.partition}
		}
		data, answered := found[named]
		if !answered {
			return nil, fmt.Errorf("fetch response lacks %s, which was asked for", part)
		}
		all[i] = data
	}
	return all, nil
}
