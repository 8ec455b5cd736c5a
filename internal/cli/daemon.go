package cli

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/keyheat/keyheat/internal/admin"
	"github.com/keyheat/keyheat/internal/health"
	"github.com/keyheat/keyheat/store"
)

// Main executes the process's own command line, until SIGINT or SIGTERM, and
// returns the exit code.
func Main(root *cobra.Command) int {
	// The garbage collector keeps the heap below nine tenths of the container's limit,
	// unless GOMEMLIMIT says otherwise. Outside of a container there is none to keep.
	_, _ = memlimit.Set()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	return Run(ctx, root, os.Args[1:], Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
}

// Daemon is what the work of a daemon needs.
type Daemon struct {
	Ops   *admin.Server
	Store *store.Store
	Log   *slog.Logger
}

// Serve serves operations, opens the store, waiting for it while
// it cannot be reached, and does the work until that ends, which it should when
// its context does. The operations server starts first and stops last.
func Serve(ctx context.Context, o admin.Options, db Store, log *slog.Logger, work func(context.Context, Daemon) error) error {
	ops, err := admin.Open(ctx, o, log)
	if err != nil {
		return err
	}
	defer heedHangups(log)()
	opsCtx, stopOps := context.WithCancel(context.WithoutCancel(ctx))
	var g errgroup.Group
	g.Go(func() error { return ops.Run(opsCtx) })
	err = withStore(ctx, db, Daemon{Ops: ops, Log: log}, work)
	stopOps()
	return errors.Join(err, g.Wait())
}

// heedHangups keeps SIGHUP from ending the process without a word, as it does where
// nobody takes it: an operator who expects it to reload is told what to do. The
// returned function stops that.
func heedHangups(log *slog.Logger) (stop func()) {
	hangups, stopped := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(hangups, syscall.SIGHUP)
	go func() {
		for {
			select {
			case <-stopped:
				return
			case <-hangups:
				log.Warn("SIGHUP does not reload the configuration: check the new one with `check`, then restart; what was gathered is stored at the stop")
			}
		}
	}()
	return func() { signal.Stop(hangups); close(stopped) }
}

func withStore(ctx context.Context, db Store, d Daemon, work func(context.Context, Daemon) error) (err error) {
	var status health.Status
	d.Ops.Ready("store", status.Reasons)
	d.Store, err = db.open(ctx, d.Log, &status)
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
