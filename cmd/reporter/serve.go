package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

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
		Long: "Finds hot keys in what the collectors store, tells receivers of incidents,\n" +
			"and serves the pages and the API. Run as many as you like: one judges at a time,\n" +
			"all serve.",
		Example: "  reporter serve --config reporter.yaml\n" +
			"  reporter serve --store-url postgres://keyheat@db/keyheat",
		Args: cobra.NoArgs,
	}
	config := defaults()
	return cli.Configured(c, config, func(c *cobra.Command) error { return serve(c.Context(), config, c.ErrOrStderr()) })
}

// serve reports until ctx ends: the pages, the judge and, where one is
// configured, the receivers.
func serve(ctx context.Context, config *Config, logs io.Writer) error {
	return cli.Serve(ctx, config.Web.Options(config.Listen, config.Hosts), config.Store, config.Log.Logger(logs), func(ctx context.Context, d cli.Daemon) error {
		site, err := web.New(d.Store, d.Log)
		if err != nil {
			return fmt.Errorf("load the pages: %w", err)
		}
		d.Ops.Handle("/", site)
		holder := rand.Text()
		var routes []*alert.Route
		settings := config.judge()
		settings.Notified = func() {
			for _, route := range routes {
				route.Wake()
			}
		}
		judge, err := report.New(settings, d.Store, holder, d.Log)
		if err != nil {
			return cli.Wrong(err)
		}
		d.Ops.Registry().MustRegister(judge)
		d.Ops.Ready("judge", judge.Ready)
		g, ctx := errgroup.WithContext(ctx)
		for _, delivery := range config.deliveries() {
			route, err := alert.New(delivery, d.Store, holder, d.Log)
			if err != nil {
				return cli.Wrong(err)
			}
			routes = append(routes, route)
			d.Ops.Registry().MustRegister(route)
			d.Ops.Ready("receiver "+delivery.Route, route.Ready)
			g.Go(func() error { return route.Run(ctx) })
		}
		if config.Heartbeat.URL != "" {
			alive := func() bool { return judge.Judges(config.Heartbeat.Every) }
			heartbeat, err := alert.NewHeartbeat(string(config.Heartbeat.URL), config.Heartbeat.Every, alive, d.Log)
			if err != nil {
				return cli.Wrong(err)
			}
			d.Ops.Registry().MustRegister(heartbeat)
			g.Go(func() error { return heartbeat.Run(ctx) })
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
