package kafka_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"

	"github.com/keyheat/keyheat/internal/source/kafka"
	"github.com/keyheat/keyheat/internal/source/kafka/recordbatch"
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
	return res.AppendTo(responseHeader(res))
}

func responseHeader(res *kmsg.FetchResponse) []byte {
	header := []byte{0, 0, 0x6b, 0x68}
	if res.IsFlexible() {
		header = append(header, 0) // no tags
	}
	return header
}

// FuzzFetchResponse decodes any bytes as a fetch response. The decoder must refuse them or
// return records within them.
func FuzzFetchResponse(f *testing.F) {
	for version := int16(4); version <= 13; version++ {
		f.Add(version, fetchBody(version, []byte("records"), kmsg.FetchResponseTopicPartitionAbortedTransaction{ProducerID: 1}))
	}
	f.Fuzz(func(t *testing.T, version int16, body []byte) {
		p, err := kafka.ParsePartition(body, version)
		if err == nil && !bytes.Contains(body, p.Records) {
			t.Fatal("records from nowhere")
		}
	})
}

// TestFetchResponsesAreReadAsKmsgReadsThem compares the decoder with kmsg, generated from
// Kafka's own definitions.
func TestFetchResponsesAreReadAsKmsgReadsThem(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		version := rapid.Int16Range(4, 13).Draw(t, "version")
		res := kmsg.NewPtrFetchResponse()
		res.SetVersion(version)
		rp := kmsg.NewFetchResponseTopicPartition()
		rp.Partition = 0
		rp.ErrorCode = rapid.SampledFrom([]int16{0, 1, 3, 100}).Draw(t, "error")
		rp.HighWatermark, rp.LastStableOffset = rapid.Int64().Draw(t, "high"), rapid.Int64().Draw(t, "stable")
		rp.LogStartOffset = rapid.Int64().Draw(t, "start")
		if rapid.Bool().Draw(t, "diverged") {
			rp.DivergingEpoch.Epoch, rp.DivergingEpoch.EndOffset = rapid.Int32().Draw(t, "epoch"), rapid.Int64Min(0).Draw(t, "end")
			rp.DivergingEpoch.UnknownTags.Set(7, []byte("later"))
		}
		rp.CurrentLeader.LeaderID = rapid.Int32().Draw(t, "leader")
		rp.UnknownTags.Set(99, rapid.SliceOf(rapid.Byte()).Draw(t, "tag"))
		for range rapid.IntRange(0, 5).Draw(t, "aborted") {
			a := kmsg.NewFetchResponseTopicPartitionAbortedTransaction()
			a.ProducerID, a.FirstOffset = rapid.Int64().Draw(t, "producer"), rapid.Int64().Draw(t, "first")
			rp.AbortedTransactions = append(rp.AbortedTransactions, a)
		}
		rp.RecordBatches = rapid.SliceOf(rapid.Byte()).Draw(t, "records")
		rt := kmsg.NewFetchResponseTopic()
		rt.Topic, rt.TopicID, rt.Partitions = topic, kafka.TestTopicID, []kmsg.FetchResponseTopicPartition{rp}
		res.Topics = append(res.Topics, rt)
		broker := kmsg.NewFetchResponseBroker()
		broker.Host = "broker"
		res.Brokers = append(res.Brokers, broker)
		body := res.AppendTo(responseHeader(res))

		want := kmsg.NewPtrFetchResponse()
		want.SetVersion(version)
		if err := want.ReadFrom(body[len(responseHeader(res)):]); err != nil {
			t.Fatal(err)
		}
		wp := want.Topics[0].Partitions[0]
		got, err := kafka.ParsePartition(body, version)
		if err != nil {
			t.Fatal(err)
		}
		aborted := make([]recordbatch.Aborted, 0, len(wp.AbortedTransactions))
		for _, a := range wp.AbortedTransactions {
			aborted = append(aborted, recordbatch.Aborted{ProducerID: a.ProducerID, FirstOffset: a.FirstOffset})
		}
		if got.High != wp.HighWatermark || got.Stable != wp.LastStableOffset || got.Start != wp.LogStartOffset ||
			got.Diverged != wp.DivergingEpoch.EndOffset || got.Failed != (wp.ErrorCode != 0) ||
			!slices.Equal(got.Aborted, aborted) || !bytes.Equal(got.Records, wp.RecordBatches) {
			t.Fatalf("read as %+v, kmsg as %+v", got, wp)
		}
	})
}

func TestFetchResponseOfEveryVersionIsUnderstood(t *testing.T) {
	t.Parallel()
	for version := int16(4); version <= 13; version++ {
		body := fetchBody(version, []byte("records"), kmsg.FetchResponseTopicPartitionAbortedTransaction{ProducerID: 1})
		p, err := kafka.ParsePartition(body, version)
		if err != nil || string(p.Records) != "records" {
			t.Errorf("version %d: %q, %v", version, p.Records, err)
		}
		for cut := range body {
			if _, err := kafka.ParsePartition(body[:cut], version); err == nil {
				t.Errorf("version %d: cut at %d of %d and not refused", version, cut, len(body))
			}
		}
	}
}

// topicBody is a metadata response of one topic.
func topicBody(version int16, change func(*kmsg.MetadataResponse)) []byte {
	res := kmsg.NewPtrMetadataResponse()
	res.SetVersion(version)
	res.ClusterID = kmsg.StringPtr("the-cluster")
	broker := kmsg.NewMetadataResponseBroker()
	broker.Host, broker.Port = "broker", 9092
	res.Brokers = append(res.Brokers, broker, broker)
	rt := kmsg.NewMetadataResponseTopic()
	rt.Topic, rt.TopicID = kmsg.StringPtr(topic), kafka.TestTopicID
	rp := kmsg.NewMetadataResponseTopicPartition()
	rp.Replicas, rp.ISR, rp.OfflineReplicas = []int32{1, 2, 3}, []int32{1, 2}, []int32{3}
	rt.Partitions = append(rt.Partitions, rp, rp)
	res.Topics = append(res.Topics, rt)
	if change != nil {
		change(res)
	}
	return res.AppendTo(nil)
}

// FuzzTopicResponse feeds the decoder of metadata any bytes: it must end soon, and find no
// more partitions than there are bytes.
func FuzzTopicResponse(f *testing.F) {
	for version := int16(0); version <= 12; version++ {
		f.Add(version, topicBody(version, nil))
	}
	f.Fuzz(func(t *testing.T, version int16, body []byte) {
		if got, err := kafka.ParseTopic(body, version); err == nil && got.Partitions > len(body) {
			t.Fatal("partitions from nowhere")
		}
	})
}

// TestTopicResponsesAreReadAsKmsgReadsThem compares the decoder with kmsg, generated from
// Kafka's own definitions. It also cuts responses, which must be refused.
func TestTopicResponsesAreReadAsKmsgReadsThem(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		version := rapid.Int16Range(0, 12).Draw(t, "version")
		body := topicBody(version, func(res *kmsg.MetadataResponse) {
			rt := &res.Topics[0]
			rt.ErrorCode = rapid.SampledFrom([]int16{0, 3, 5}).Draw(t, "error")
			copy(rt.TopicID[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
			rt.Partitions = slices.Repeat(rt.Partitions[:1], rapid.IntRange(0, 5).Draw(t, "partitions"))
			rt.UnknownTags.Set(3, rapid.SliceOf(rapid.Byte()).Draw(t, "tag"))
			res.Brokers[0].UnknownTags.Set(1, []byte("later"))
			if rapid.Bool().Draw(t, "without a cluster") {
				res.ClusterID = nil
			}
		})
		want := kmsg.NewPtrMetadataResponse()
		want.SetVersion(version)
		if err := want.ReadFrom(body); err != nil {
			t.Fatal(err)
		}
		wt := want.Topics[0]
		cluster := ""
		if want.ClusterID != nil {
			cluster = *want.ClusterID
		}
		got, err := kafka.ParseTopic(body, version)
		if err != nil || got != (kafka.Topic{Cluster: cluster, ID: wt.TopicID, Partitions: len(wt.Partitions), Failed: wt.ErrorCode != 0}) {
			t.Fatalf("version %d: read as %+v, %v, kmsg as %+v", version, got, err, want)
		}
		if _, err := kafka.ParseTopic(body[:rapid.IntRange(0, len(body)-1).Draw(t, "cut")], version); err == nil {
			t.Fatal("a part of it is not refused")
		}
	})
}
