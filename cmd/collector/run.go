package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/collect"
	"github.com/keyheat/keyheat/internal/form"
	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/store"
)

func runCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "run",
		Short: "Collect until stopped",
		Long: "Reads the topics as a member of the consumer group, summarises what it reads, and\n" +
			"stores summaries and positions together. Start as many as you like: they share\n" +
			"the partitions. SIGTERM stops it within 10 seconds, with everything committed.",
		Example: "  collector run --config collector.yaml\n" +
			"  collector run --kafka-brokers kafka:9092 --kafka-topics samples --store-url postgres://keyheat@db/keyheat",
		Args: cobra.NoArgs,
	}
	config := defaults()
	load := cli.Layers(c, config)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := load(); err != nil {
			return err
		}
		return run(c.Context(), config, c.ErrOrStderr())
	}
	return c
}

// run collects until ctx ends. What was begun last ends first: the source gives
// its partitions up, then the last commit is written, then the operations server
// stops.
func run(ctx context.Context, config *Config, logs io.Writer) error {
	return cli.Serve(ctx, config.Admin.Listen, config.Store, config.Log.Logger(logs), func(ctx context.Context, d cli.Daemon) error {
		collector, err := newCollector(ctx, config, d.Store, d.Log)
		if err != nil {
			return err
		}
		kafka, err := newKafka(config, d.Log)
		if err != nil {
			return cli.Wrong(err)
		}
		d.Ops.Registry().MustRegister(collector, kafka)
		d.Ops.Ready("kafka", kafka.Ready)
		d.Ops.Ready("collect", collector.Ready)

		commitCtx, lastCommit := context.WithCancel(context.WithoutCancel(ctx))
		g, gctx := errgroup.WithContext(ctx)
		g.Go(func() error { return collector.Run(commitCtx) })
		g.Go(func() error {
			defer lastCommit()
			return kafka.Run(gctx, collector)
		})
		return g.Wait()
	})
}

func newKafka(config *Config, log *slog.Logger) (*source.Kafka, error) {
	c, err := config.Kafka.source()
	if err != nil {
		return nil, err
	}
	return source.NewKafka(c, log)
}

func newCollector(ctx context.Context, config *Config, st *store.Store, log *slog.Logger) (*collect.Collector, error) {
	seed, err := st.HashSeed(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the hash seed: %w", err)
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("ask for the host's name: %w", err)
	}
	forms, err := config.Kafka.forms()
	if err != nil {
		return nil, cli.Wrong(err)
	}
	return collect.New(config.collector(host, forms), st, seed, log)
}

// collector is the configuration of internal/collect.
func (c *Config) collector(host string, forms topicForms) collect.Config {
	tables := c.Tables.Schemas()
	decoder := func(partition string) collect.Decoder {
		return form.NewDecoder(forms.of(partition), tables)
	}
	return collect.Config{
		Source: "kafka:" + c.Kafka.Group, Host: host, Decoder: decoder, Shards: c.Collect.Shards,
		CommitInterval: c.Commit.Interval, PendingBytes: int64(c.Collect.Memory),
		TooOld: c.Collect.TooOld, TooFarAhead: c.Collect.TooFarAhead,
	}
}
