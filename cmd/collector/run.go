package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/keyheat/keyheat/internal/buildinfo"
	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/collect"
	"github.com/keyheat/keyheat/internal/source"
)

func runCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "run",
		Short: "Collect until stopped",
		Long: "Reads Kafka topics as a member of the consumer group, or the DynamoDB Streams of\n" +
			"tables, summarises what it reads, and stores summaries and positions together.\n" +
			"Start as many as you like: they share the partitions, or shards. SIGTERM stops it\n" +
			"within 10 seconds, with everything committed.",
		Example: "  collector run --config collector.yaml\n" +
			"  collector run --kafka-brokers kafka:9092 --kafka-topics samples --store-url postgres://keyheat@db/keyheat\n" +
			"  collector run --streams-tables orders,users --store-url postgres://keyheat@db/keyheat",
		Args: cobra.NoArgs,
	}
	return cli.Reloadable(c, defaults, func(c *cobra.Command, config *Config, again func() (*Config, error)) error {
		return run(c.Context(), config, again, c.ErrOrStderr())
	})
}

// run collects until ctx ends. What started last stops first: the source releases
// its partitions, then the last commit is written, then the operations server
// stops.
func run(ctx context.Context, config *Config, again func() (*Config, error), logs io.Writer) error {
	boundHeap(int64(config.Collect.Memory))
	return cli.Serve(ctx, config.Web.Options(config.Admin.Listen, config.Admin.Hosts), config.Store, config.Log.Logger(logs), func(ctx context.Context, d cli.Daemon) error {
		return config.input().run(ctx, config, again, d)
	})
}

// heapBytes is what the process needs beside Collect.Memory: connections, buffers of
// the store's driver, metrics.
const heapBytes = 24 << 20

// boundHeap has the garbage collector run as often as it takes to keep the heap near the
// configured memory, where by default it runs when the heap has doubled. A lower limit, or
// one that the operator has set, stands.
func boundHeap(memory int64) {
	if _, given := os.LookupEnv("GOMEMLIMIT"); given {
		return
	}
	debug.SetMemoryLimit(min(debug.SetMemoryLimit(-1), memory+memory/5+heapBytes))
}

// reader is a source, until its context ends.
type reader interface {
	Run(ctx context.Context, sink source.Sink) error
}

// collectFrom runs a source into a collector, which commits once more when the
// source has ended. beside starts what else has to run.
func collectFrom(ctx context.Context, collector *collect.Collector, from reader, beside func(*errgroup.Group, context.Context)) error {
	commitCtx, lastCommit := context.WithCancel(context.WithoutCancel(ctx))
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error { return collector.Run(commitCtx) })
	if beside != nil {
		beside(g, gctx)
	}
	g.Go(func() error {
		defer lastCommit()
		return from.Run(gctx, collector)
	})
	return g.Wait()
}

// newCollector returns the collector of a source, by its name in the store.
func newCollector(ctx context.Context, config *Config, source string, decoder func(string) collect.Decoder, d cli.Daemon) (*collect.Collector, error) {
	seed, err := d.Store.HashSeed(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the hash seed: %w", err)
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("read the host name: %w", err)
	}
	c := config.collector(host)
	c.Source, c.Decoder = source, decoder
	return collect.New(c, d.Store, seed, d.Log)
}

// collector returns the configuration of internal/collect, but for the source.
func (c *Config) collector(host string) collect.Config {
	shards, _, pending := c.Collect.memory()
	settings := collect.Config{
		Host: host, Version: buildinfo.Read().Version, Shards: shards,
		CommitInterval: c.Commit.Interval, EarlyCommit: cmp.Or(c.Commit.Early, collect.NoEarlyCommits), PendingBytes: pending,
		TooOld: c.Collect.TooOld, TooFarAhead: c.Collect.TooFarAhead,
	}
	settings.Hider = c.hiders()
	return settings
}

// hiders makes what hides keys; nil where all are plain.
func (c *Config) hiders() func() collect.Hider {
	hider := c.Hider(c.Keys)
	if hider == nil {
		return nil
	}
	return func() collect.Hider { return hider() }
}

// reload is how a collector takes on new settings; apply is its input's part of it.
func (c *Config) reload(from input, again func() (*Config, error), d cli.Daemon, apply func(next *Config) error) cli.Reload[Config] {
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
			return from.live(path, next)
		},
		Apply: func(_ context.Context, next *Config) error {
			if err := apply(next); err != nil {
				return err
			}
			return c.Store.Reauthenticate(d.Store, next.Store) // Check has read the URL
		},
		Files: func(c *Config) map[string]string {
			files := map[string]string{"web.config_file": c.Web.ConfigFile}
			if next := c.input(); next.wanted() {
				maps.Copy(files, next.files())
			}
			return files
		},
	}
}
