package kafkasink_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/awssdk"
	"github.com/keyheat/keyheat/sample/kafkasink"
	"github.com/keyheat/keyheat/sample/samplepb"
)

var _ awssdk.Sink = (*kafkasink.Sink)(nil)

const topic = "samples"

// TestAKeyIsOnePartition sends records of 50 keys from two sinks and reads them
// with another client.
func TestAKeyIsOnePartition(t *testing.T) {
	t.Parallel()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(8, topic))
	must.Succeed(t, err)
	t.Cleanup(cluster.Close)
	want := map[string]bool{}
	for range 2 {
		sink := kafkasink.New(kafkasink.Options{Brokers: cluster.ListenAddrs(), Topic: topic})
		var records []sample.Record
		for i := range 100 {
			r := sample.Record{
				Time: time.Now().UnixMilli(), Table: "orders", PK: sample.KeyString(fmt.Sprint("user#", i%50)),
				Op: sample.PutItem, WCU: 1000, Rate: 1, N: 1,
			}
			want[string(r.AppendJSON(nil))] = true
			records = append(records, r)
		}
		must.Succeed(t, sink.Write(t.Context(), records))
		if err := sink.Close(); err != nil {
			t.Error(err)
		}
	}
	partitions := map[string]map[int32]bool{}
	used := map[int32]bool{}
	for _, r := range read(t, cluster.ListenAddrs(), 200) {
		if !want[string(r.Value)] {
			t.Errorf("read %s, which nobody sent", r.Value)
		}
		if partitions[string(r.Key)] == nil {
			partitions[string(r.Key)] = map[int32]bool{}
		}
		partitions[string(r.Key)][r.Partition] = true
		used[r.Partition] = true
	}
	for key, in := range partitions {
		if len(in) != 1 {
			t.Errorf("%q lies in partitions %v", key, in)
		}
	}
	if len(partitions) != 50 || len(used) < 5 {
		t.Errorf("%d keys in %d of 8 partitions", len(partitions), len(used))
	}
}

// TestBatchesLieWhereSingleRecordsDo sends the same records as JSON and as protobuf. Each
// partition gets the same records either way, and protobuf takes few messages.
func TestBatchesLieWhereSingleRecordsDo(t *testing.T) {
	t.Parallel()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(8, topic, "batches"))
	must.Succeed(t, err)
	t.Cleanup(cluster.Close)
	now := time.Now().UnixMilli()
	var records []sample.Record
	for i := range 5000 {
		records = append(records, sample.Record{
			Time: now + int64(i%100), Table: "orders", PK: sample.KeyString(fmt.Sprint("user#", i%50)),
			Op: sample.PutItem, WCU: sample.Milli(1000 + i), Rate: 1, N: 1,
		})
	}
	json, batched := map[string]int32{}, map[string]int32{}
	for _, o := range []kafkasink.Options{{Topic: topic}, {Topic: "batches", Protobuf: true}} {
		o.Brokers = cluster.ListenAddrs()
		sink := kafkasink.New(o)
		must.Succeed(t, sink.Write(t.Context(), records))
		if err := sink.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, m := range read(t, cluster.ListenAddrs(), 5000) {
		json[string(m.Value)] = m.Partition
	}
	messages := readUntil(t, cluster.ListenAddrs(), "batches", func(m *kgo.Record) bool {
		samplepb.NewDecoder().Decode(m.Value, m.Timestamp.UnixMilli(), into(func(r *sample.Record) {
			batched[string(r.AppendJSON(nil))] = m.Partition
			if r.Time > m.Timestamp.UnixMilli() {
				t.Errorf("a record of %d in a message of %s", r.Time, m.Timestamp)
			}
		}))
		return len(batched) == len(records)
	})
	if !maps.Equal(json, batched) || len(json) != len(records) {
		t.Errorf("%d records as JSON, %d in batches, or in other partitions", len(json), len(batched))
	}
	if n := len(messages); n < 5 || n > 11 {
		t.Errorf("%d batches for 8 partitions", n)
	}
}

// TestBatchesStayUnderTheBrokersLimit sends records whose texts are as long as they may be.
func TestBatchesStayUnderTheBrokersLimit(t *testing.T) {
	t.Parallel()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, topic))
	must.Succeed(t, err)
	t.Cleanup(cluster.Close)
	var records []sample.Record
	for i := range 1000 {
		long := strings.Repeat("k", 1000) + fmt.Sprint(i)
		records = append(records, sample.Record{
			Time: time.Now().UnixMilli(), Table: "orders", PK: sample.KeyString(long), SK: sample.KeyString(long), Caller: long, ID: long,
			Op: sample.PutItem, WCU: 1000, Rate: 1, N: 1, Attrs: map[string]string{"a": long},
		})
	}
	sink := kafkasink.New(kafkasink.Options{Brokers: cluster.ListenAddrs(), Topic: topic, Protobuf: true})
	must.Succeed(t, sink.Write(t.Context(), records))
	if err := sink.Close(); err != nil {
		t.Error(err)
	}
	seen := 0
	readUntil(t, cluster.ListenAddrs(), topic, func(m *kgo.Record) bool {
		if len(m.Value) > 1_000_000 {
			t.Errorf("a message of %d bytes", len(m.Value))
		}
		samplepb.NewDecoder().Decode(m.Value, 0, into(func(*sample.Record) { seen++ }))
		return seen == len(records)
	})
}

// into is a handler of good records; a bad one stops the test by being missed.
type into func(r *sample.Record)

func (f into) Record(r *sample.Record)       { f(r) }
func (into) Bad(sample.RejectReason, []byte) {}

// read reads so many records of the topic.
func read(t *testing.T, brokers []string, n int) []*kgo.Record {
	t.Helper()
	return readUntil(t, brokers, topic, func(*kgo.Record) bool { n--; return n == 0 })
}

// readUntil reads records of a topic up to the one that is enough.
func readUntil(t *testing.T, brokers []string, topic string, enough func(*kgo.Record) bool) (records []*kgo.Record) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.ConsumeTopics(topic))
	must.Succeed(t, err)
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), await.Limit)
	defer cancel()
	for {
		fetched := client.PollFetches(ctx)
		if err := fetched.Err0(); err != nil {
			t.Fatalf("after %d records: %v", len(records), err)
		}
		for _, r := range fetched.Records() {
			if records = append(records, r); enough(r) {
				return records
			}
		}
	}
}

func TestADeadBrokerIsAnError(t *testing.T) {
	t.Parallel()
	sink := kafkasink.New(kafkasink.Options{Brokers: []string{"127.0.0.1:1"}, Topic: topic})
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	r := sample.Record{Time: time.Now().UnixMilli(), Table: "orders", PK: sample.KeyString("a"), Op: sample.PutItem, Rate: 1, N: 1}
	if err := sink.Write(ctx, []sample.Record{r}); err == nil {
		t.Error("nobody is there, and the records were taken")
	}
	if err := sink.Close(); err != nil {
		t.Error(err)
	}
}

// TestAMissingTopicIsNamed with the command that makes it, in both forms.
func TestAMissingTopicIsNamed(t *testing.T) {
	t.Parallel()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	must.Succeed(t, err)
	t.Cleanup(cluster.Close)
	r := sample.Record{Time: time.Now().UnixMilli(), Table: "orders", PK: sample.KeyString("a"), Op: sample.PutItem, Rate: 1, N: 1}
	for _, protobuf := range []bool{false, true} {
		sink := kafkasink.New(kafkasink.Options{Brokers: cluster.ListenAddrs(), Topic: "absent", Protobuf: protobuf})
		if err := sink.Write(t.Context(), []sample.Record{r}); err == nil || !strings.Contains(err.Error(), "kafka-topics.sh --create --topic absent") {
			t.Errorf("protobuf %t: %v", protobuf, err)
		}
		if err := sink.Close(); err != nil {
			t.Error(err)
		}
	}
}
