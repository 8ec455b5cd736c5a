package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/keyheat/keyheat/internal/admin"
	"github.com/keyheat/keyheat/internal/alert"
	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/digest/schedule"
	"github.com/keyheat/keyheat/internal/report"
	"github.com/keyheat/keyheat/internal/web"
)

func serveCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "serve",
		Short: "Find hot keys, send notifications and serve the pages until stopped",
		Long: "Finds hot keys in what the collectors store, posts notifications to the webhook,\n" +
			"and serves the pages and the API. Run as many as you like: one judges at a time,\n" +
			"all serve.",
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

// serve reports until ctx ends: the pages, the judge and, where one is
// configured, the webhook.
func serve(ctx context.Context, config *Config, logs io.Writer) error {
	return cli.Serve(ctx, admin.Options{Address: config.Listen, Hosts: config.Hosts}, config.Store, config.Log.Logger(logs), func(ctx context.Context, d cli.Daemon) error {
		site, err := web.New(d.Store, d.Log)
		if err != nil {
			return fmt.Errorf("load the pages: %w", err)
		}
		d.Ops.Handle("/", site)
		holder := rand.Text()
		judge, err := report.New(config.judge(), d.Store, holder, d.Log)
		if err != nil {
			return cli.Wrong(err)
		}
		d.Ops.Registry().MustRegister(judge)
		d.Ops.Ready("judge", judge.Ready)
		g, ctx := errgroup.WithContext(ctx)
		if config.Webhook.URL != "" {
			webhook, err := alert.New(config.alert(), d.Store, holder, d.Log)
			if err != nil {
				return cli.Wrong(err)
			}
			d.Ops.Registry().MustRegister(webhook)
			d.Ops.Ready("webhook", webhook.Ready)
			g.Go(func() error { return webhook.Run(ctx) })
		}
		if config.CloudWatch.Enabled {
			reader, err := newCloudWatch(ctx, &config.CloudWatch, d, holder)
			if err != nil {
				return err
			}
			d.Ops.Registry().MustRegister(reader)
			g.Go(func() error { return reader.Run(ctx) })
		}
		if len(config.Reports) > 0 {
			maker, err := schedule.New(schedule.Options{Schedules: config.schedules(), Holder: holder}, d.Store, d.Log)
			if err != nil {
				return cli.Wrong(err)
			}
			d.Ops.Registry().MustRegister(maker)
			g.Go(func() error { return maker.Run(ctx) })
		}
		g.Go(func() error { return judge.Run(ctx) })
		return g.Wait()
	})
}
