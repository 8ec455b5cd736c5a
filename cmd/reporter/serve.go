package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/admin"
	"github.com/keyheat/keyheat/internal/alert"
	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/report"
	"github.com/keyheat/keyheat/internal/web"
	"github.com/keyheat/keyheat/store"
)

func serveCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "serve",
		Short: "Judge, alert and show findings until stopped",
		Long: "Judges what the collectors store, tells the webhook, and serves the pages and the\n" +
			"API. Any number may run: one judges at a time, all serve.",
		Example: "  reporter serve --config reporter.yaml\n" +
			"  reporter serve --store-url postgres://keyheat@db/keyheat",
		Args: cobra.NoArgs,
	}
	config := defaults()
	load := cli.Layers(c, config)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := load(); err != nil {
			return err
		}
		return serve(c.Context(), config, c.ErrOrStderr())
	}
	return c
}

// serve wires a reporter and runs it until ctx ends.
func serve(ctx context.Context, config *Config, logs io.Writer) error {
	log := config.Log.Logger(logs)
	ops, err := admin.Open(ctx, config.Listen, log)
	if err != nil {
		return err
	}
	opsCtx, stopOps := context.WithCancel(context.WithoutCancel(ctx))
	var g errgroup.Group
	g.Go(func() error { return ops.Run(opsCtx) })
	err = reportUntil(ctx, config, ops, log)
	stopOps()
	return errors.Join(err, g.Wait())
}

// reportUntil opens the store and reports until ctx ends.
func reportUntil(ctx context.Context, config *Config, ops *admin.Server, log *slog.Logger) error {
	var waiting cli.Waiting
	ops.Ready("store", waiting.Reasons)
	st, err := config.Store.Open(ctx, log, waiting.Set)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	defer st.Close()
	g, ctx := errgroup.WithContext(ctx)
	if err := assemble(ctx, g, config, st, ops, log); err != nil {
		return err
	}
	return g.Wait()
}

// assemble starts the parts of a reporter over an open store: the pages, the
// judge and, where there is somebody to tell, the webhook.
func assemble(ctx context.Context, g *errgroup.Group, config *Config, st *store.Store, ops *admin.Server, log *slog.Logger) error {
	site, err := web.New(st, log)
	if err != nil {
		return fmt.Errorf("make the pages: %w", err)
	}
	ops.Handle("/", site)
	holder := rand.Text()
	judge, err := report.New(config.judge(), st, holder, log)
	if err != nil {
		return cli.Wrong(err)
	}
	ops.Registry().MustRegister(judge)
	ops.Ready("judge", judge.Ready)
	if config.Webhook.URL != "" {
		webhook, err := alert.New(alert.Config{URL: string(config.Webhook.URL), Secret: string(config.Webhook.Secret)}, st, holder, log)
		if err != nil {
			return cli.Wrong(err)
		}
		ops.Registry().MustRegister(webhook)
		ops.Ready("webhook", webhook.Ready)
		g.Go(func() error { return webhook.Run(ctx) })
	}
	g.Go(func() error { return judge.Run(ctx) })
	return nil
}

// judge is the configuration of internal/report.
func (c *Config) judge() report.Config {
	j := report.Config{
		Policy: func(table, _ string) detect.Policy {
			p := c.policyOf(table)
			return detect.Policy{Warning: p.Warning, Headroom: p.Headroom}
		},
		Retention: store.Retention{
			Deltas: c.Retention.Deltas, Windows: c.Retention.Windows, Cardinality: c.Retention.Cardinality,
			Findings: c.Retention.Findings, History: c.Retention.History, Notifications: c.Retention.Notifications,
			Gaps: c.Retention.Gaps, Bad: c.Retention.BadSamples,
		},
	}
	if c.Webhook.URL != "" {
		j.Routes = []string{alert.DefaultRoute}
	}
	return j
}
