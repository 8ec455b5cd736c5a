package main

import (
	"log/slog"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/daemon/admin"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/reference"
	"github.com/keyheat/keyheat/store"
)

// TestMetricsReferenceIsTrue holds docs/METRICS.md to the metrics of a collector with every
// input. Alert rules and dashboards are held to the page.
func TestMetricsReferenceIsTrue(t *testing.T) {
	t.Setenv("AWS_REGION", "eu-west-1")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	log := slog.New(slog.DiscardHandler)
	ops, err := admin.Open(t.Context(), admin.Options{Address: "127.0.0.1:0"}, log)
	must.Succeed(t, err)
	defer ops.Close()
	db, err := store.Open(t.Context(), "sqlite::memory:", store.Options{Migrate: true})
	must.Succeed(t, err)
	defer db.Close()
	c := defaults()
	c.Kafka.Brokers, c.Kafka.Topics = []string{"127.0.0.1:1"}, []string{"samples"}
	c.Streams.Tables = []string{"orders"}
	c.HTTP.Enabled = true
	if _, err := c.HTTP.openDoor(c, log); err != nil {
		t.Fatal(err)
	}
	d := cli.Daemon{Ops: ops, Store: db, Log: log}
	for _, i := range c.inputs() {
		r, err := i.open(t.Context(), c, d)
		must.Succeed(t, err)
		prometheus.WrapRegistererWith(prometheus.Labels{"input": i.name()}, ops.Registry()).MustRegister(r.collector, r.metrics)
	}
	_ = c.reload(nil, nil, d).Runner(d) // registers its metrics
	reference.CheckMetrics(t, "../../docs/METRICS.md", "collector", ops.Registry())
}
