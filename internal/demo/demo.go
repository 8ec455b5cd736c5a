// Package demo runs all of Keyheat in one process: traffic is made here, a
// collector counts it, a reporter judges it and shows what it finds. The parts
// are those of the daemons; only the log between the traffic and the collector
// is missing, and the store is SQLite.
package demo

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/keyheat/keyheat/internal/admin"
	"github.com/keyheat/keyheat/internal/collect"
	"github.com/keyheat/keyheat/internal/report"
	"github.com/keyheat/keyheat/internal/web"
	"github.com/keyheat/keyheat/store"
)

// Defaults of Options.
const (
	DefaultListen  = "127.0.0.1:9412"
	DefaultBacklog = 45 * time.Second
)

// Options are what a user may choose.
type Options struct {
	// Listen is where the pages are served; DefaultListen when empty.
	Listen string
	// Database is an SQLite file to keep; a temporary one when empty.
	Database string
	// Backlog is how much past traffic is there at the start, so that there is
	// something to see at once; DefaultBacklog when 0.
	Backlog time.Duration
	// Out receives the address.
	Out io.Writer
	// Logger takes the parts' logs.
	Logger *slog.Logger
}

// commitInterval is shorter than a real collector's, so that findings show sooner.
const commitInterval = time.Second

// Run shows the demo until ctx ends.
func Run(ctx context.Context, o Options) (err error) {
	path, remove, err := database(o.Database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	st, err := store.Open(ctx, "sqlite:"+path, store.Options{Migrate: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	server, err := admin.Open(ctx, admin.Options{Address: cmp.Or(o.Listen, DefaultListen)}, o.Logger)
	if err != nil {
		return err
	}
	parts, err := assemble(ctx, st, server, o)
	if err != nil {
		return errors.Join(err, server.Close())
	}
	fmt.Fprintf(o.Out, "Keyheat shows generated traffic at http://%s (stop with Ctrl-C)\n", server.Addr())
	return runInTurn(ctx, parts)
}

// database returns where the store is, and what removes it afterwards.
func database(path string) (file string, remove func() error, err error) {
	if path != "" {
		return path, func() error { return nil }, nil
	}
	dir, err := os.MkdirTemp("", "keyheat-demo-")
	if err != nil {
		return "", nil, fmt.Errorf("make a folder for the demo's database: %w", err)
	}
	return filepath.Join(dir, "keyheat.db"), func() error { return os.RemoveAll(dir) }, nil
}

// part is something that runs until its context ends.
type part func(ctx context.Context) error

// assemble returns the parts, in the order in which they are to stop: what
// writes before what reads.
func assemble(ctx context.Context, st *store.Store, server *admin.Server, o Options) ([]part, error) {
	seed, err := st.HashSeed(ctx)
	if err != nil {
		return nil, err
	}
	collector, err := collect.New(collect.Config{
		Source: sourceName, Shards: 1, CommitInterval: commitInterval,
	}, st, seed, o.Logger)
	if err != nil {
		return nil, err
	}
	judge, err := report.New(report.Config{}, st, rand.Text(), o.Logger)
	if err != nil {
		return nil, err
	}
	site, err := web.New(st, o.Logger)
	if err != nil {
		return nil, err
	}
	server.Handle("/", site)
	server.OnShutdown(site.Close)
	server.Registry().MustRegister(collector, judge)
	server.Ready("collector", collector.Ready)
	server.Ready("judge", judge.Ready)
	traffic := &traffic{backlog: cmp.Or(o.Backlog, DefaultBacklog)}
	return []part{
		func(ctx context.Context) error { return traffic.Run(ctx, collector) },
		collector.Run, judge.Run, server.Run,
	}, nil
}

// runInTurn runs the parts side by side until ctx ends or one fails. Each stops
// when the one before it has, so that nothing is left uncounted.
func runInTurn(ctx context.Context, parts []part) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var group errgroup.Group
	for _, run := range parts {
		next, stopNext := context.WithCancel(context.WithoutCancel(ctx))
		mine := ctx
		group.Go(func() error {
			defer stopNext()
			err := run(mine)
			stop() // one that fails stops all
			return err
		})
		ctx = next
	}
	return group.Wait()
}
