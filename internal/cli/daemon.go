package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"sync"
	"syscall"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/keyheat/keyheat/internal/daemon"
	"github.com/keyheat/keyheat/internal/daemon/admin"
	"github.com/keyheat/keyheat/internal/settings/options"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// Main executes the process's own command line, until SIGINT or SIGTERM, and
// returns the exit code. A program that was installed as keyheat-NAME calls itself so.
func Main(root *cobra.Command) int {
	if filepath.Base(os.Args[0]) == installed+root.Name() {
		Install(root)
	}
	// The garbage collector keeps the heap below nine tenths of the container's limit,
	// unless GOMEMLIMIT is set. Outside of a container there is no limit.
	_, _ = memlimit.Set()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	return Run(ctx, root, os.Args[1:], Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
}

// installed is what the names of programs begin with in packages and archives, where "collector"
// alone might be anybody's.
const installed = "keyheat-"

// examples matches our programs' short names in command lines.
var examples = regexp.MustCompile(`(^|[ |(])(collector|reporter) `)

// Install gives a program the name that it has in packages, in its help, pages and completions.
func Install(root *cobra.Command) {
	root.Use = installed + root.Name()
	for all := []*cobra.Command{root}; len(all) > 0; all = all[1:] {
		all[0].Example = examples.ReplaceAllString(all[0].Example, "${1}"+installed+"$2 ")
		all = append(all, all[0].Commands()...)
	}
}

// BoundHeap lets the garbage collector run often enough to keep the heap near the
// configured memory; by default it runs when the heap has doubled. beside is the daemon's
// other memory. A lower limit, or the operator's own, stands.
func BoundHeap(memory, beside int64) {
	if _, given := os.LookupEnv("GOMEMLIMIT"); given {
		return
	}
	debug.SetMemoryLimit(min(debug.SetMemoryLimit(-1), memory+memory/5+beside))
}

// Daemon holds the parts that a daemon's work needs.
type Daemon struct {
	Ops   *admin.Server
	Store *store.Store
	Log   *slog.Logger

	// hangups are SIGHUPs that nobody has heeded yet: see [Reload].
	hangups <-chan os.Signal
}

// WarnOfNames logs the settings that name a table or index that is not among the known ones of
// the store, each with the nearest name. A table may be named before its first sample: so it is
// no error.
func (d Daemon) WarnOfNames(ctx context.Context, settings []options.NamedSetting, targets func(context.Context) ([]sample.Target, error)) {
	known, err := targets(ctx)
	if err != nil {
		d.Log.Warn("the tables that the settings name were not checked", "error", err)
	}
	for _, warning := range options.CheckSettings(settings, known) {
		d.Log.Warn("a setting names what no sample had", "setting", warning)
	}
}

// Serve serves operations, opens the store, waits while the store is unreachable, and
// then works until the work ends, which it should when its context does. The operations
// server starts first and stops last. A failure is logged, and Run does not print it again.
func Serve(ctx context.Context, o admin.Options, db Store, log *slog.Logger, work func(context.Context, Daemon) error) error {
	log.Info("starting", "version", daemon.ReadBuild().String())
	if err := serve(ctx, o, db, log, work); err != nil {
		log.Error("ended by a failure", "error", err)
		return &codedError{err, exitCode(err, true), true}
	}
	log.Info("stopped")
	return nil
}

func serve(ctx context.Context, o admin.Options, db Store, log *slog.Logger, work func(context.Context, Daemon) error) error {
	ops, err := admin.Open(ctx, o, log)
	if err != nil {
		return err
	}
	// From here on, so that a SIGHUP never ends the process: one that comes while the
	// database is waited for is heeded after.
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	opsCtx, stopOps := context.WithCancel(context.WithoutCancel(ctx))
	var g errgroup.Group
	g.Go(func() error { return ops.Run(opsCtx) })
	tried := make(chan struct{})
	g.Go(func() error { notifySystemd(ctx, opsCtx, tried); return nil })
	err = withStore(ctx, db, Daemon{Ops: ops, Log: log, hangups: hangups}, sync.OnceFunc(func() { close(tried) }), work)
	stopOps()
	return errors.Join(err, g.Wait())
}

// withStore calls tried once the store is open, or is waited for.
func withStore(ctx context.Context, db Store, d Daemon, tried func(), work func(context.Context, Daemon) error) (err error) {
	var status daemon.Health
	d.Ops.Ready("store", status.Reasons)
	d.Store, err = db.open(ctx, d.Log, &status, tried)
	if err != nil {
		return unlessStopped(ctx, err)
	}
	defer func() { err = errors.Join(err, d.Store.Close()) }()
	return unlessStopped(ctx, work(ctx, d))
}

// unlessStopped drops an error that is only the stop's.
func unlessStopped(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// Instance returns the name of a daemon of this host that listens at an address, which is the same
// after a restart: two of a host listen at different addresses.
func Instance(listen string) (string, error) {
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("read the host name: %w", err)
	}
	return notInInstances.ReplaceAllString(host+"-"+listen, "_"), nil
}

// notInInstances matches characters that Kafka refuses in a member's name.
var notInInstances = regexp.MustCompile(`[^a-zA-Z0-9._-]`)
