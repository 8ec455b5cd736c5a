package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/collect"
	"github.com/keyheat/keyheat/internal/daemon"
	"github.com/keyheat/keyheat/internal/daemon/admin"
	"github.com/keyheat/keyheat/internal/settings/tables"
	"github.com/keyheat/keyheat/internal/source/push"
	"github.com/keyheat/keyheat/sample/format"
	"github.com/keyheat/keyheat/store"
)

func upCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "up",
		Short: "Run everything in one process: take samples over HTTP, find hot keys, serve the pages",
		Long: "Runs a collector that takes samples over HTTP, and a reporter, on an SQLite file, and\n" +
			"prints where to send samples and where the pages are. To try Keyheat, and for one\n" +
			"machine; the two daemons, collector and reporter, are for production. It takes the\n" +
			"settings of reporter serve. Stop it with Ctrl-C.",
		Example: "  reporter up\n" +
			"  reporter up --store-url sqlite:/var/lib/keyheat/keyheat.db --config reporter.yaml",
		Args: cobra.NoArgs,
	}
	return cli.Reloadable(c, upDefaults, func(c *cobra.Command, config *Config, again func() (*Config, error)) error {
		if err := config.ValidateHiding(tables.Hashing{}); err != nil {
			return cli.Wrong(fmt.Errorf("reporter up has no secret of hashed keys, so run the collector by itself: %w", err))
		}
		if len(config.Web.Operators) == 0 && !config.Web.IsOpen(config.Listen) {
			return cli.Wrong(fmt.Errorf("nobody may send samples: name the producers' users in web.operators, or write * for all users"))
		}
		samples, err := newDoor(config, c.OutOrStdout(), c.ErrOrStderr())
		if err != nil {
			return err
		}
		return serveWith(c.Context(), config, again, samples, c.ErrOrStderr())
	})
}

// upDefaults are the settings of a first try in a terminal.
func upDefaults() *Config {
	c := defaults()
	c.Store.URL = "sqlite:keyheat.db"
	c.Listen = "127.0.0.1:9461" // where clients send if they are told nothing
	c.Log = cli.Log{Level: slog.LevelWarn, Format: "text"}
	return c
}

// doorMemory bounds the samples on their way, pendingMemory the ones that are not yet stored.
const doorMemory, pendingMemory = 16 << 20, 32 << 20

// door takes samples over HTTP into a collector, beside the judge; nil is none.
type door struct {
	source *push.Source
	out    io.Writer
}

func newDoor(config *Config, out, logs io.Writer) (*door, error) {
	instance, err := cli.Instance(config.Listen)
	if err != nil {
		return nil, err
	}
	settings := push.Config{User: admin.User, MemoryBytes: doorMemory, Instance: instance}
	return &door{source: push.New(settings, nil, config.Log.Logger(logs)), out: out}, nil
}

func (d *door) addTo(server *admin.Options) {
	if d != nil {
		server.Handlers, server.Credentials = d.source.Handlers(), push.AccessKeys
	}
}

// open returns what takes samples until its context ends, and then commits the last ones.
func (d *door) open(ctx context.Context, config *Config, at cli.Daemon) (run func(context.Context) error, err error) {
	if d == nil {
		return func(context.Context) error { return nil }, nil
	}
	seed, err := at.Store.HashSeed(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the hash seed: %w", err)
	}
	host, _ := os.Hostname()
	decoding := config.Tables.Decoding()
	collector := collect.New(collect.Config{
		Source: store.Push, Host: host, Version: daemon.ReadBuild().Version, PendingBytes: pendingMemory,
		Hider: config.Hider(tables.Hashing{}), Tables: config.Tables.Targets(),
		Decoder: func(door string) collect.Decoder {
			return format.NewDecoder(format.Format(door[strings.LastIndexByte(door, '/')+1:]), decoding)
		},
	}, at.Store, seed, at.Log)
	d.source.SetStore(at.Store)
	prometheus.WrapRegistererWith(prometheus.Labels{"input": "http"}, at.Ops.Registry()).MustRegister(collector, d.source)
	at.Ops.Ready("collect http", collector.Ready)
	at.Ops.Ready("http", d.source.Ready)
	collector.WatchSource(d.source)
	address := "http://" + at.Ops.Addr()
	fmt.Fprintf(d.out, "Pages:    %s\nSamples:  POST %s/v1/samples, lines of JSON; OpenTelemetry to %s/v1/traces\nDatabase: %s\n\n"+
		"In another terminal, send a hot key for 20 seconds, and look at the pages; Ctrl-C stops:\n\n"+
		"  for i in $(seq 20); do\n"+
		"    echo '{\"ts\":'$(date +%%s)'000,\"table\":\"orders\",\"pk\":\"acme\",\"op\":\"PutItem\",\"wcu\":1,\"n\":1300}' |\n"+
		"      curl -sS -H 'Content-Type: application/x-ndjson' --data-binary @- %s/v1/samples\n"+
		"    sleep 1\n  done\n", address, address, address, config.Store, address)
	return func(ctx context.Context) error {
		commits, lastCommit := context.WithCancel(context.WithoutCancel(ctx))
		g, ctx := errgroup.WithContext(ctx)
		g.Go(func() error { return collector.Run(commits) })
		g.Go(func() error {
			defer lastCommit()
			return d.source.Run(ctx, collector)
		})
		return g.Wait()
	}, nil
}
