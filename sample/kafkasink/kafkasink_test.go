package kafkasink_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/awssdk"
	"github.com/keyheat/keyheat/sample/kafkasink"
)

var _ awssdk.Sink = (*kafkasink.Sink)(nil)

const topic = "samples"

// TestAKeyIsOnePartition sends records of 50 keys from two sinks and reads them
// with another client.
func TestAKeyIsOnePartition(t *testing.T) {
	t.Parallel()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(8, topic))
	if err != nil {
		t.Fatal(err)
	}
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
		if err := sink.Write(t.Context(), records); err != nil {
			t.Fatal(err)
		}
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

func read(t *testing.T, brokers []string, n int) (records []*kgo.Record) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.ConsumeTopics(topic))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for len(records) < n {
		fetched := client.PollFetches(ctx)
		if err := fetched.Err0(); err != nil {
			t.Fatalf("%d of %d records: %v", len(records), n, err)
		}
		records = append(records, fetched.Records()...)
	}
	return records
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
