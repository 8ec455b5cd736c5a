package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/collect"
	"github.com/keyheat/keyheat/internal/daemon"
	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/internal/source/push"
	"github.com/keyheat/keyheat/sketch"
)

func runCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "run",
		Short: "Collect until stopped",
		Long: "Reads Kafka topics as a member of the consumer group and the DynamoDB Streams of tables,\n" +
			"takes samples over HTTP, or any of these, summarises what it reads, and stores summaries and positions together.\n" +
			"Start as many as you like: they share the partitions, or shards. SIGTERM stops it\n" +
			"within 10 seconds, with everything committed.",
		Example: "  collector run --config collector.yaml\n" +
			"  collector run --kafka-brokers kafka:9092 --kafka-topics samples --store-url postgres://keyheat@db/keyheat\n" +
			"  collector run --http-enabled --store-url sqlite:keyheat.db\n" +
			"  collector run --streams-tables orders,users --store-url postgres://keyheat@db/keyheat",
		Args: cobra.NoArgs,
	}
	return cli.Reloadable(c, defaults, func(c *cobra.Command, config *Config, again func() (*Config, error)) error {
		return run(c.Context(), config, again, c.ErrOrStderr())
	})
}

// besideCounting is a collector's memory beside the counting: connections, buffers of the
// store's driver, metrics.
const besideCounting = 24 << 20

// run collects until ctx ends. Parts stop in reverse order: the sources release their
// partitions, then the last commits are written, then the operations server stops.
func run(ctx context.Context, config *Config, again func() (*Config, error), logs io.Writer) error {
	cli.BoundHeap(int64(config.Collect.Memory), besideCounting)
	log, options := config.Log.Logger(logs), config.Web.Options(config.Admin.Listen, config.Admin.Hosts)
	var err error
	if options.Handlers, err = config.HTTP.openDoor(config, log); err != nil {
		return err
	}
	options.Credentials = push.AccessKeys
	return cli.Serve(ctx, options, config.Store, log, func(ctx context.Context, d cli.Daemon) error {
		return config.collect(ctx, again, d)
	})
}

// collect reads every input into a collector of its own. No input waits for another, and
// its faults are in its readiness alone.
func (c *Config) collect(ctx context.Context, again func() (*Config, error), d cli.Daemon) error {
	var all []*reading
	for _, i := range c.inputs() {
		r, err := i.open(ctx, c, d)
		if err != nil {
			return err
		}
		prometheus.WrapRegistererWith(prometheus.Labels{"input": i.name()}, d.Ops.Registry()).MustRegister(r.collector, r.metrics)
		d.Ops.Ready("collect "+i.name(), r.collector.Ready)
		r.collector.WatchSource(r.from)
		all = append(all, r)
	}
	d.WarnOfNames(ctx, c.Tables.Names(), d.Store.AllTargets)
	reload := c.reload(all, again, d).Runner(d)
	g, ctx := errgroup.WithContext(ctx)
	for _, r := range all {
		g.Go(func() error { return r.run(ctx) })
	}
	g.Go(func() error { return reload(ctx) })
	return g.Wait()
}

// reader is a source, until its context ends.
type reader interface {
	collect.WatchedSource
	Run(ctx context.Context, sink source.Sink) error
}

type reading struct {
	collector *collect.Collector
	from      reader
	metrics   prometheus.Collector
	// beside, when set, runs as long as the source does.
	beside func(context.Context) error
	apply  func(next *Config) error
}

// run runs the source into the collector, which commits once more when the source has
// ended.
func (r *reading) run(ctx context.Context) error {
	commitCtx, lastCommit := context.WithCancel(context.WithoutCancel(ctx))
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return r.collector.Run(commitCtx) })
	if r.beside != nil {
		g.Go(func() error { return r.beside(ctx) })
	}
	g.Go(func() error {
		defer lastCommit()
		return r.from.Run(ctx, r.collector)
	})
	return g.Wait()
}

// newCollector returns the collector of an input, whose partitions have that source in the
// store.
func newCollector(ctx context.Context, config *Config, from input, source string, decoder func(string) collect.Decoder, d cli.Daemon) (*collect.Collector, error) {
	seed, err := d.Store.HashSeed(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the hash seed: %w", err)
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("read the host name: %w", err)
	}
	if len(config.inputs()) > 1 {
		host += " (" + from.name() + ")" // in the list of collectors they are two
	}
	c := config.collector(host)
	c.Source, c.Decoder = source, decoder
	return collect.New(c, d.Store, seed, d.Log), nil
}

// collector returns the configuration of internal/collect, but for the source.
func (c *Config) collector(host string) collect.Config {
	shards, _, pending := c.share()
	return collect.Config{
		Host: host, Version: daemon.ReadBuild().Version, Shards: shards,
		CommitInterval: c.Commit.Interval, PendingBytes: pending, Hider: c.Hider(c.Keys),
		Sketch: sketch.Config{Tables: c.Collect.Tables}, Tables: c.Tables.Targets(),
	}
}

func (c *Config) reload(all []*reading, again func() (*Config, error), d cli.Daemon) cli.Reload[Config] {
	return cli.Reload[Config]{
		Started: c, Again: again,
		Live: func(path string, next *Config) bool {
			section, _, _ := strings.Cut(path, ".")
			switch section {
			case "keys", "policy":
				return true
			case "store":
				return c.Store.SameBut(next.Store)
			}
			return c.live(path, next)
		},
		Apply: func(ctx context.Context, next *Config) error {
			for _, r := range all {
				if err := r.apply(next); err != nil {
					return err
				}
			}
			d.WarnOfNames(ctx, next.Tables.Names(), d.Store.AllTargets)
			return c.Store.Reauthenticate(d.Store, next.Store) // Check has read the URL
		},
		Files: func(c *Config) map[string]string {
			tls := c.Kafka.TLS
			return map[string]string{
				"web.config_file": c.Web.ConfigFile, "kafka.tls.ca_file": tls.CAFile, "kafka.tls.cert_file": tls.CertFile, "kafka.tls.key_file": tls.KeyFile,
			}
		},
	}
}
