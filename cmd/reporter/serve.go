package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/keyheat/keyheat/internal/alert"
	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/judge"
	"github.com/keyheat/keyheat/internal/report/schedule"
	"github.com/keyheat/keyheat/internal/web"
)

func serveCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "serve",
		Short: "Find hot keys, send notifications and serve the pages until stopped",
		Long: "Finds hot keys in the collectors' summaries, sends incidents to receivers, and\n" +
			"serves the pages and the API. Run as many as you like: one judges at a time,\n" +
			"all serve.",
		Example: "  reporter serve --config reporter.yaml\n" +
			"  reporter serve --store-url postgres://keyheat@db/keyheat",
		Args: cobra.NoArgs,
	}
	return cli.Reloadable(c, defaults, func(c *cobra.Command, config *Config, again func() (*Config, error)) error {
		return serve(c.Context(), config, again, c.ErrOrStderr())
	})
}

// besideJudge is a reporter's memory beside the judge's: a reporter without a table takes
// 17 MiB from the system, 6 of them heap.
const besideJudge = 12 << 20

// serve runs the pages, the judge and the configured parts until ctx ends.
func serve(ctx context.Context, config *Config, again func() (*Config, error), logs io.Writer) error {
	return serveWith(ctx, config, again, nil, logs)
}

// serveWith is serve with a door that takes samples, unless it is nil.
func serveWith(ctx context.Context, config *Config, again func() (*Config, error), samples *door, logs io.Writer) error {
	cli.BoundHeap(int64(config.Judge.Memory), besideJudge)
	server := config.Web.Options(config.Listen, config.Hosts)
	samples.addTo(&server)
	return cli.Serve(ctx, server, config.Store, config.Log.Logger(logs), func(ctx context.Context, d cli.Daemon) (err error) {
		var current atomic.Pointer[Config]
		current.Store(config)
		settings := config.judge(current.Load)
		pages, err := d.Store.OpenApart()
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, pages.Close()) }()
		site, err := web.New(pages, d.Log, web.Options{
			Policy: settings.Policy, Receivers: func() []string { return current.Load().receiverNames() },
		})
		if err != nil {
			return fmt.Errorf("load the pages: %w", err)
		}
		d.Ops.Handle("/", site)
		d.Ops.OnShutdown(site.Close)
		g, ctx := errgroup.WithContext(ctx)
		parts := cli.NewParts(ctx, g, d)
		holder := rand.Text()
		settings.Notified = func() {
			parts.Each(func(c cli.Component) {
				if route, ok := c.(*alert.Route); ok {
					route.Wake()
				}
			})
		}
		judge, err := judge.New(settings, d.Store, holder, d.Log)
		if err != nil {
			return cli.Wrong(err)
		}
		d.WarnOfNames(ctx, config.namedSettings(), d.Store.Targets)
		d.Ops.Registry().MustRegister(judge)
		d.Ops.Ready("judge", judge.Ready)
		if err := parts.Replace(ctx, config.parts(d, holder, judge)); err != nil {
			return cli.Wrong(err)
		}
		reload := cli.Reload[Config]{
			Started: config, Again: again, Live: config.live, Files: (*Config).certificates,
			Apply: func(ctx context.Context, next *Config) error {
				if err := parts.Replace(ctx, next.parts(d, holder, judge)); err != nil {
					return err
				}
				current.Store(next)
				d.WarnOfNames(ctx, next.namedSettings(), d.Store.Targets)
				return config.Store.Reauthenticate(d.Store, next.Store) // Check has read the URL
			},
		}
		take, err := samples.open(ctx, config, d)
		if err != nil {
			return err
		}
		runReload := reload.Runner(d)
		g.Go(func() error { return runReload(ctx) })
		g.Go(func() error { return judge.Run(ctx) })
		g.Go(func() error { return take(ctx) })
		return g.Wait()
	})
}

// parts are the components that run beside the judge and that a reload can replace: one
// for each receiver, and the scheduled ones.
func (c *Config) parts(d cli.Daemon, holder string, judge *judge.Judge) []cli.Part {
	var all []cli.Part
	add := func(name string, settings any, open func(ctx context.Context) (cli.Component, error)) {
		all = append(all, cli.Part{Name: name, Settings: settings, Open: open})
	}
	for _, delivery := range c.deliveries() {
		add("receiver "+delivery.Route, delivery, func(context.Context) (cli.Component, error) {
			return alert.New(delivery, d.Store, holder, d.Log)
		})
	}
	if c.Heartbeat.URL != "" {
		add("heartbeat", c.Heartbeat, func(context.Context) (cli.Component, error) {
			alive := func() bool { return judge.Judges(heartbeatInterval) }
			return alert.NewHeartbeat(string(c.Heartbeat.URL), heartbeatInterval, alive, d.Log)
		})
	}
	if c.CloudWatch.Enabled {
		add("cloudwatch", c.CloudWatch.reader(), func(ctx context.Context) (cli.Component, error) {
			return newCloudWatch(ctx, &c.CloudWatch, d, holder)
		})
	}
	if len(c.Reports) > 0 {
		schedules := c.schedules()
		add("reports", schedules, func(context.Context) (cli.Component, error) {
			return schedule.New(schedule.Options{Schedules: schedules, Holder: holder}, d.Store, d.Log)
		})
	}
	return all
}

// live reports whether a reload of the process that runs with c applies a setting of
// next.
func (c *Config) live(path string, next *Config) bool {
	section, _, _ := strings.Cut(path, ".")
	switch section {
	case "external_url", "receivers", "policy", "tables", "heartbeat", "cloudwatch", "reports":
		return true
	case "store":
		return c.Store.SameBut(next.Store)
	}
	return false
}

// certificates are the files that the server reads again for each connection.
func (c *Config) certificates() map[string]string {
	return map[string]string{"web.config_file": c.Web.ConfigFile}
}
