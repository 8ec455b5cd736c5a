//go:build e2e

package e2e_test

import (
	"errors"
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/keyheat/keyheat/internal/testsupport/must"
)

var manyKeys = flag.Int("memory.keys", 2_000_000, "how many distinct keys TestManyKeys writes; a multiple of 100,000")

// TestManyKeys holds a collector with default settings to 256 MiB, with keys of which
// each comes once, over 100 tables and all partitions: what it keeps must not grow with
// how many keys there are.
func TestManyKeys(t *testing.T) {
	const tables, perMessage, mib, most = 100, 1000, 1 << 20, 256
	w := newScenario(t, "keys")
	client, err := kgo.NewClient(kgo.SeedBrokers(w.kafka.Addr), kgo.DefaultProduceTopic("keys"), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerBatchCompression(kgo.ZstdCompression()), kgo.MaxBufferedRecords(1000))
	must.Succeed(t, err)
	defer client.Close()
	var failed error // the client calls back one at a time
	// A million a second of event time, as if the collector caught up.
	from := time.Now().Add(-time.Duration(*manyKeys/1_000_000+60) * time.Second).UnixMilli()
	for first := 0; first < *manyKeys; first += perMessage {
		body := make([]byte, 0, 90*perMessage)
		for key := first; key < first+perMessage; key++ {
			body = fmt.Appendf(body, `{"ts":%d,"table":"table-%02d","pk":"customer#%010d","op":"UpdateItem","wcu":1}`+"\n", from+int64(key/1000), key%tables, key)
		}
		client.Produce(t.Context(), &kgo.Record{Partition: int32(first / perMessage % partitions), Value: body}, func(_ *kgo.Record, err error) {
			failed = errors.Join(failed, err)
		})
	}
	must.Succeed(t, errors.Join(client.Flush(t.Context()), failed))
	c := newProcess(t, "collector", "collector run", fmt.Sprintf(`
kafka: {brokers: [%q], topics: [keys], group: keys}
store: {url: %q}
admin: {listen: "%%listen%%"}
`, w.kafka.Addr, w.postgres.URL("postgres")))
	began := time.Now()
	c.start(t)
	within(t, time.Minute+time.Duration(*manyKeys/50_000)*time.Second, "every key is counted", func() error {
		c.note()
		got, err := w.totals()
		if err == nil && got.requests != int64(*manyKeys) {
			err = fmt.Errorf("%d of %d requests are stored", got.requests, *manyKeys)
		}
		return err
	})
	took := time.Since(began)
	c.stop(t)
	if c.peak > most*mib {
		t.Errorf("the collector was %d MiB large, more than %d", c.peak/mib, most)
	}
	t.Logf("%d keys of %d tables in %s: at most %d MiB resident", *manyKeys, tables, took.Round(time.Second), c.peak/mib)
}
