// Package demo runs all of Keyheat in one process, and tells a story with it. The traffic
// of a simulated application is calm, a key gets too hot, partitions refuse requests,
// on-call is paged, and the reader cools the key. The parts are the daemons' own; only
// the log between the traffic and the collector is missing, and the store is SQLite. The
// story's page follows these parts, and causes nothing but the traffic.
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

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/collect"
	"github.com/keyheat/keyheat/internal/daemon/admin"
	"github.com/keyheat/keyheat/internal/judge"
	"github.com/keyheat/keyheat/internal/judge/verdict"
	"github.com/keyheat/keyheat/internal/settings/tables"
	"github.com/keyheat/keyheat/internal/web"
	"github.com/keyheat/keyheat/store"
)

// Defaults of Options.
const (
	DefaultListen  = "127.0.0.1:9412"
	DefaultBacklog = 8 * time.Minute
	defaultCalm    = 20 * time.Second
	defaultViews   = 25 * time.Second
)

// Options are the user's choices.
type Options struct {
	// Listen is where the pages are served; DefaultListen when empty.
	Listen string
	// Database is a new SQLite file to keep; a temporary one when empty.
	Database string
	// Backlog is how much past traffic is there at the start, so that there is
	// something to see at once; DefaultBacklog when 0.
	Backlog time.Duration
	// Calm is how long it is calm before the campaign starts, and Views how long everybody
	// goes on to look at one product after the page of it; their defaults when 0.
	Calm, Views time.Duration
	// Behind returns the lag of the traffic's time behind now: a test that lets it shrink
	// need not wait for minutes. Nil means no lag.
	Behind func() time.Duration
	Out    io.Writer
	Logger *slog.Logger
}

// commitInterval is shorter than a real collector's, so that findings show sooner.
const commitInterval = time.Second

// pageWithin is shorter than a real reporter's, so that nobody is paged of the backlog.
const pageWithin = time.Minute

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
	address := "http://" + server.Addr()
	in, err := openInbox(ctx, st, address)
	if err != nil {
		return errors.Join(err, server.Close())
	}
	parts, err := assemble(ctx, st, server, in, o)
	if err != nil {
		return errors.Join(err, server.Close(), in.listener.Close())
	}
	fmt.Fprintf(o.Out, "Keyheat shows a story of three minutes on simulated traffic: follow it at %s%s (stop with Ctrl-C)\n", address, storyPath)
	return runInTurn(ctx, parts)
}

// database returns the store's path, and a function that removes it afterwards.
func database(path string) (file string, remove func() error, err error) {
	if path != "" {
		if _, err := os.Stat(path); err == nil {
			return "", nil, fmt.Errorf("the file %s exists: the demo begins with a new database, so name another file", path)
		}
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

// assemble returns the parts, in the order in which they stop: writers before readers.
func assemble(ctx context.Context, st *store.Store, server *admin.Server, in *inbox, o Options) ([]part, error) {
	seed, err := st.HashSeed(ctx)
	if err != nil {
		return nil, err
	}
	collector := collect.New(collect.Config{Source: sourceName, Shards: 1, CommitInterval: commitInterval}, st, seed, o.Logger)
	holder := rand.Text()
	route, err := in.route(holder, o.Logger)
	if err != nil {
		return nil, err
	}
	policy, within := tables.Default(), pageWithin
	if o.Behind != nil {
		within += o.Behind()
	}
	judge, err := judge.New(judge.Config{
		Options:  verdict.Options{Policy: policy.DetectPolicy, Facts: factsOf, PageWithin: within, Receivers: func(*detect.Incident) []string { return []string{inboxRoute} }},
		Notified: route.Wake,
	}, st, holder, o.Logger)
	if err != nil {
		return nil, err
	}
	site, err := web.New(st, o.Logger, web.Options{})
	if err != nil {
		return nil, err
	}
	tale := &story{
		store: st, inbox: in, views: cmp.Or(o.Views, defaultViews), log: o.Logger,
		traffic: &traffic{behind: o.Behind, backlog: cmp.Or(o.Backlog, DefaultBacklog), calm: cmp.Or(o.Calm, defaultCalm)},
	}
	if err := tale.show(site); err != nil {
		return nil, err
	}
	server.Handle("/", site)
	server.OnShutdown(site.Close)
	server.Registry().MustRegister(collector, judge)
	server.Ready("collector", collector.Ready)
	server.Ready("judge", judge.Ready)
	return []part{
		tale.Run,
		func(ctx context.Context) error { return tale.traffic.Run(ctx, collector) },
		collector.Run, judge.Run, route.Run, in.Run, server.Run,
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
