package main

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/daemontest"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest/model"
	"github.com/keyheat/keyheat/store"
)

// TestSIGTERMWithoutADatabase: a collector that cannot store what it has counted gives up
// when its stop has taken long enough, and says that the samples will be read again.
func TestSIGTERMWithoutADatabase(t *testing.T) {
	t.Parallel()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "samples"))
	must.Succeed(t, err)
	t.Cleanup(cluster.Close)
	fake := streamstest.New(streamstest.Options{})
	table := fake.CreateTable(model.Schema{Name: "orders", Key: model.Key{Partition: []string{"pk"}}})
	table.EnableStream(streamstest.NewAndOldImages)
	dynamo := httptest.NewServer(fake)
	t.Cleanup(dynamo.Close)
	for name, of := range map[string]struct {
		args   []string
		sample func()
		read   string // the metric that counts it
	}{
		"Kafka": {[]string{"--kafka-brokers", cluster.ListenAddrs()[0], "--kafka-topics", "samples"}, func() { produceSample(t, cluster, "k") },
			`keyheat_source_messages_total{input="kafka",topic="samples"}`},
		"streams": {[]string{"--streams-tables", "orders"}, func() { _ = table.Put(model.Item{"pk": model.S("k")}) },
			`keyheat_streams_records_total{input="streams",table="orders"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := pgtest.Database(t)
			db, err := store.Open(t.Context(), url, store.Options{Migrate: true})
			must.Succeed(t, err)
			t.Cleanup(func() { db.Close() })
			way, through := pgtest.Through(t, url)
			d := daemontest.StartWith(t, []string{
				"AWS_ENDPOINT_URL=" + dynamo.URL, "AWS_REGION=eu-west-1", "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test", "AWS_EC2_METADATA_DISABLED=true",
			}, "collector", append([]string{"run", "--store-url", through, "--admin-listen", "127.0.0.1:0", "--commit-interval", "10s"}, of.args...)...)
			input := fmt.Sprintf("{input=%q}", strings.ToLower(name))
			await.Until(t, "a partition", func() bool { return d.Metric("keyheat_collect_partitions"+input) > 0 })
			// A partition is claimed beside the start of the commits.
			await.Until(t, "a writer", func() bool {
				writers, err := db.Writers(t.Context())
				must.Succeed(t, err)
				return len(writers) > 0
			})
			way.Cut()
			of.sample()
			await.Until(t, "a sample", func() bool { return d.Metric(of.read) > 0 })
			if err := d.Stop(); err != nil {
				t.Error(err)
			}
			d.Logs("will be read again")
		})
	}
}
