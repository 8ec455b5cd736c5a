package generate_test

import (
	"context"
	"errors"
	"iter"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/keyheat/keyheat/internal/generate"
	"github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/kafkasink"
	"github.com/keyheat/keyheat/sample/keyheatjson"
	"github.com/keyheat/keyheat/sample/samplepb"
)

// begin is the first sample's time.
var begin = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

// some makes n samples of ten keys, each so much later than the one before.
func some(n int, step time.Duration) iter.Seq[sample.Record] {
	return func(yield func(sample.Record) bool) {
		for i := range n {
			r := sample.Record{
				Time: begin.Add(time.Duration(i) * step).UnixMilli(), Table: "orders", Op: sample.UpdateItem,
				PK: sample.KeyString("k" + strconv.Itoa(i%10)), WCU: sample.Milli(1000 * (i + 1)), Rate: 1, N: 1,
			}
			if !yield(r) {
				return
			}
		}
	}
}

// recorder sums what a decoder hands out.
type recorder struct {
	good  int
	units sample.Milli
}

func (k *recorder) Record(r *sample.Record)             { k.good++; k.units += r.WCU }
func (k *recorder) Bad(r sample.RejectReason, _ []byte) { panic("bad sample: " + string(r)) }

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestKafkaKeepsAKeyTogether(t *testing.T) {
	t.Parallel()
	const n = 45_000 // more than two calls
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(4, "samples"))
	check(t, err)
	t.Cleanup(c.Close)
	k := kafkasink.New(kafkasink.Options{Brokers: c.ListenAddrs(), Topic: "samples"})
	_, err = generate.Copy(t.Context(), some(n, time.Millisecond), k, false)
	check(t, errors.Join(err, k.Close()))
	partitions := make(map[string]int32)
	var kept recorder
	for _, m := range consume(t, c.ListenAddrs(), n) {
		var one lastRecord
		keyheatjson.NewDecoder().Decode(m.Value, 0, &one)
		kept.Record(&one.record)
		if one.record.Time != m.Timestamp.UnixMilli() {
			t.Fatalf("the topic's time %s is not the sample's %d", m.Timestamp, one.record.Time)
		}
		key := one.record.PK.Text
		if in, known := partitions[key]; known && in != m.Partition {
			t.Fatalf("key %s is in the partitions %d and %d", key, in, m.Partition)
		}
		partitions[key] = m.Partition
	}
	if kept.good != n || kept.units != n*(n+1)/2*1000 {
		t.Errorf("the topic holds %+v", kept)
	}
}

func TestBatchesHoldEverySample(t *testing.T) {
	t.Parallel()
	const n = 45_000 // more than two calls
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(4, "samples"))
	check(t, err)
	t.Cleanup(c.Close)
	b := kafkasink.New(kafkasink.Options{Brokers: c.ListenAddrs(), Topic: "samples", Protobuf: true})
	_, err = generate.Copy(t.Context(), some(n, time.Millisecond), b, false)
	check(t, errors.Join(err, b.Close()))
	var kept recorder
	d := samplepb.NewDecoder()
	consumeUntil(t, c.ListenAddrs(), func(m *kgo.Record) bool {
		d.Decode(m.Value, 0, &kept)
		return kept.good >= n
	})
	if kept.good != n || kept.units != n*(n+1)/2*1000 {
		t.Errorf("the topic holds %+v", kept)
	}
}

// lastRecord keeps the record of a message.
type lastRecord struct{ record sample.Record }

func (l *lastRecord) Record(r *sample.Record)             { l.record = *r }
func (l *lastRecord) Bad(r sample.RejectReason, _ []byte) { panic("bad sample: " + string(r)) }

// consume reads n messages with a client that is not ours.
func consume(t *testing.T, brokers []string, n int) []*kgo.Record {
	t.Helper()
	return consumeUntil(t, brokers, func(*kgo.Record) bool { n--; return n == 0 })
}

// consumeUntil reads messages up to the one that is enough.
func consumeUntil(t *testing.T, brokers []string, enough func(*kgo.Record) bool) []*kgo.Record {
	t.Helper()
	c, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.ConsumeTopics("samples"))
	check(t, err)
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), await.Limit)
	defer cancel()
	var all []*kgo.Record
	for {
		fetches := c.PollFetches(ctx)
		check(t, fetches.Err())
		for _, r := range fetches.Records() {
			if all = append(all, r); enough(r) {
				return all
			}
		}
	}
}

func TestKafkaSaysWhatFailed(t *testing.T) {
	t.Parallel()
	c, err := kfake.NewCluster(kfake.NumBrokers(1))
	check(t, err)
	t.Cleanup(c.Close)
	k := kafkasink.New(kafkasink.Options{Brokers: c.ListenAddrs(), Topic: "nowhere"})
	defer k.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if _, err := generate.Copy(ctx, some(1, 0), k, false); err == nil || !strings.Contains(err.Error(), "topic nowhere") {
		t.Errorf("a topic that is not there: %v", err)
	}
}

// timedSink notes when each sample was written.
type timedSink struct{ at []time.Time }

func (m *timedSink) Close() error { return nil }
func (m *timedSink) Write(_ context.Context, records []sample.Record) error {
	for range records {
		m.at = append(m.at, time.Now())
	}
	return nil
}

func TestRealTimeTakesAsLongAsEventTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		started, m := time.Now(), &timedSink{}
		_, err := generate.Copy(t.Context(), some(3000, time.Millisecond), m, true)
		check(t, err)
		for i, at := range m.at {
			due := started.Add(time.Duration(i) * time.Millisecond)
			if off := at.Sub(due).Abs(); off > 30*time.Millisecond {
				t.Fatalf("sample %d came %s off its time", i, off)
			}
		}
		if len(m.at) != 3000 {
			t.Errorf("%d samples came through", len(m.at))
		}
	})
}

func TestAStopFlushesWhatIsMade(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		m := &timedSink{}
		n, err := generate.Copy(ctx, some(1<<30, time.Millisecond), m, true)
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "stopped after") {
			t.Errorf("got %v", err)
		}
		if int64(len(m.at)) != n || n < 900 || n > 1100 {
			t.Errorf("returned %d, wrote %d", n, len(m.at))
		}
	})
}
