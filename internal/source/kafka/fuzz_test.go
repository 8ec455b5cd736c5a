package kafka_test

import (
	"bytes"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/keyheat/keyheat/internal/source/kafka"
)

// fetchBody is a fetch response of one partition, without its size.
func fetchBody(version int16, records []byte, aborted ...kmsg.FetchResponseTopicPartitionAbortedTransaction) []byte {
	res := kmsg.NewPtrFetchResponse()
	res.SetVersion(version)
	rt := kmsg.NewFetchResponseTopic()
	rt.Topic, rt.TopicID = topic, kafka.TestTopicID
	rp := kmsg.NewFetchResponseTopicPartition()
	rp.HighWatermark, rp.LastStableOffset, rp.LogStartOffset = 9, 9, 0
	rp.AbortedTransactions, rp.RecordBatches = aborted, records
	rt.Partitions = append(rt.Partitions, rp)
	res.Topics = append(res.Topics, rt)
	header := []byte{0, 0, 0x6b, 0x68}
	if res.IsFlexible() {
		header = append(header, 0) // no tags
	}
	return res.AppendTo(header)
}

// FuzzFetchResponse feeds the response decoder any bytes: it must refuse or
// return records that lie inside of them.
func FuzzFetchResponse(f *testing.F) {
	for version := int16(4); version <= 13; version++ {
		f.Add(version, fetchBody(version, []byte("records"), kmsg.FetchResponseTopicPartitionAbortedTransaction{ProducerID: 1}))
	}
	f.Fuzz(func(t *testing.T, version int16, body []byte) {
		records, err := kafka.ParseFetch(body, version)
		if err == nil && !bytes.Contains(body, records) {
			t.Fatal("records from nowhere")
		}
	})
}

func TestFetchResponseOfEveryVersionIsUnderstood(t *testing.T) {
	t.Parallel()
	for version := int16(4); version <= 13; version++ {
		body := fetchBody(version, []byte("records"), kmsg.FetchResponseTopicPartitionAbortedTransaction{ProducerID: 1})
		records, err := kafka.ParseFetch(body, version)
		if err != nil || string(records) != "records" {
			t.Errorf("version %d: %q, %v", version, records, err)
		}
		for cut := range body {
			if _, err := kafka.ParseFetch(body[:cut], version); err == nil {
				t.Errorf("version %d: cut at %d of %d and not refused", version, cut, len(body))
			}
		}
	}
}
