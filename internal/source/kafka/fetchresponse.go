package kafka

import "github.com/twmb/franz-go/pkg/kmsg"

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
