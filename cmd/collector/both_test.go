package main

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/daemontest"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/port"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest/model"
	"github.com/keyheat/keyheat/store"
)

// TestKafkaAndStreamsInOneProcess: a topic and the streams of two tables are counted by one
// process, each with its own positions and metrics. While Kafka is away readiness names it
// and the streams are read on, and the other way about.
func TestKafkaAndStreamsInOneProcess(t *testing.T) {
	t.Parallel()
	kafka := t.TempDir()
	held := kfake.Ports(port.Hold(t))
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "samples"), kfake.DataDir(kafka), held)
	must.Succeed(t, err)
	fake := streamstest.New(streamstest.Options{})
	var tables []*streamstest.Table
	for _, name := range []string{"carts", "users"} {
		table := fake.CreateTable(model.Schema{Name: name, Key: model.Key{Partition: []string{"pk"}}})
		table.EnableStream(streamstest.NewAndOldImages)
		tables = append(tables, table)
	}
	dynamo := httptest.NewServer(fake)
	defer dynamo.Close()
	dir := t.TempDir()
	database := "sqlite:" + filepath.Join(dir, "keyheat.db")
	if _, err := store.Migrate(t.Context(), database); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "collector.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, `
store: {url: %q}
kafka: {brokers: [%q], topics: [samples]}
streams: {tables: [carts, users]}
admin: {listen: "127.0.0.1:0"}
commit: {interval: 100ms}
`, database, cluster.ListenAddrs()[0]), 0o600); err != nil {
		t.Fatal(err)
	}
	d := daemontest.StartWith(t, []string{
		"AWS_ENDPOINT_URL=" + dynamo.URL, "AWS_REGION=eu-west-1", "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test", "AWS_EC2_METADATA_DISABLED=true",
	}, "collector", "run", "--config", file)
	db, err := store.Open(t.Context(), database, store.Options{})
	must.Succeed(t, err)
	defer db.Close()

	made := 0
	put := func() {
		t.Helper()
		for _, table := range tables {
			made++
			must.Succeed(t, table.Put(model.Item{"pk": model.S(fmt.Sprint("k", made))}))
		}
	}
	counted := func(input string, n float64) {
		t.Helper()
		await.Until(t, fmt.Sprintf("%g samples of %s are counted", n, input), func() bool {
			return d.Metric(fmt.Sprintf("keyheat_collect_samples_total{input=%q}", input)) == n
		})
	}
	unready := func(want ...string) {
		t.Helper()
		await.Until(t, fmt.Sprintf("readiness names %v and nothing else", want), func() bool {
			body, ok := d.Get("/-/ready"), true
			for _, text := range []string{`"kafka: `, `"streams: `} {
				ok = ok && strings.Contains(body, text) == (len(want) > 0 && strings.Contains(text, want[0]))
			}
			return ok
		})
	}
	produceSample(t, cluster, "a")
	put()
	counted("kafka", 1)
	counted("streams", 2)
	unready()

	cluster.Close()
	unready("kafka")
	put()
	counted("streams", 4)

	cluster, err = kfake.NewCluster(kfake.NumBrokers(1), kfake.DataDir(kafka), held)
	must.Succeed(t, err)
	defer cluster.Close()
	unready()
	fake.Deny("GetRecords")
	unready("streams")
	produceSample(t, cluster, "b")
	counted("kafka", 2)

	positions, err := db.Positions(t.Context(), "dynamodb-streams:keyheat")
	if err != nil || len(positions) < 2 {
		t.Errorf("%d positions of streams: %v", len(positions), err)
	}
	for _, p := range positions {
		if strings.HasPrefix(p.Name, "samples/") {
			t.Errorf("%s is no shard", p.Name)
		}
	}
	writers, err := db.Writers(t.Context())
	if err != nil || len(writers) != 2 || strings.HasSuffix(writers[0].Host, " (kafka)") == strings.HasSuffix(writers[1].Host, " (kafka)") {
		t.Errorf("the collectors are %+v: %v", writers, err)
	}
	if err := d.Stop(); err != nil {
		t.Errorf("SIGTERM ended it: %v", err)
	}
}
