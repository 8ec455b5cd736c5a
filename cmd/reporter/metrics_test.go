package main

import (
	"log/slog"
	"testing"

	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/daemon/admin"
	"github.com/keyheat/keyheat/internal/judge"
	"github.com/keyheat/keyheat/internal/settings/config"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/reference"
	"github.com/keyheat/keyheat/store"
)

// TestMetricsReferenceIsTrue holds docs/METRICS.md to the metrics of a reporter with every
// part. Alert rules and dashboards are held to the page.
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
	c.Receivers = Receivers{"on-call": {Type: "webhook", URL: config.Secret("http://127.0.0.1:1")}}
	c.Heartbeat.URL = "http://127.0.0.1:1"
	c.CloudWatch.Enabled = true
	c.Reports = Reports{"daily": {Cron: "0 8 * * *"}}
	judges, err := judge.New(c.judge(func() *Config { return c }), db, "test", log)
	must.Succeed(t, err)
	ops.Registry().MustRegister(judges)
	d := cli.Daemon{Ops: ops, Store: db, Log: log}
	for _, part := range c.parts(d, "test", judges) {
		component, err := part.Open(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", part.Name, err)
		}
		ops.Registry().MustRegister(component)
	}
	_ = cli.Reload[Config]{Started: c, Live: c.live, Files: (*Config).certificates}.Runner(d) // registers its metrics
	reference.CheckMetrics(t, "../../docs/METRICS.md", "reporter", ops.Registry())
}
