package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/daemon/admin"
	"github.com/keyheat/keyheat/internal/settings/config"
	"github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/store"
)

// TestSystemdIsTold: a daemon tells that it serves, that it is alive, and that it stops.
func TestSystemdIsTold(t *testing.T) {
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "s"), Net: "unixgram"})
	must.Succeed(t, err)
	defer socket.Close()
	t.Setenv("NOTIFY_SOCKET", socket.LocalAddr().String())
	t.Setenv("WATCHDOG_USEC", "200000")
	t.Setenv("WATCHDOG_PID", strconv.Itoa(os.Getpid()))
	hear := func(want string) {
		t.Helper()
		must.Succeed(t, socket.SetReadDeadline(time.Now().Add(await.Limit)))
		for text := make([]byte, 100); ; {
			n, err := socket.Read(text)
			if err != nil {
				t.Fatalf("waiting for %s: %v", want, err)
			}
			if string(text[:n]) == want {
				return
			}
		}
	}
	url := "sqlite:" + filepath.Join(t.TempDir(), "k.db")
	if _, err := store.Migrate(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() {
		ended <- cli.Serve(ctx, admin.Options{Address: "127.0.0.1:0"}, cli.Store{URL: config.Secret(url)}, slog.New(slog.DiscardHandler), func(ctx context.Context, _ cli.Daemon) error {
			<-ctx.Done()
			return nil
		})
	}()
	hear("READY=1")
	hear("WATCHDOG=1")
	hear("WATCHDOG=1")
	stop()
	hear("STOPPING=1")
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestSystemdIsNotToldOfAFailedStart: a store that can never be opened fails the unit's start.
func TestSystemdIsNotToldOfAFailedStart(t *testing.T) {
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "s"), Net: "unixgram"})
	must.Succeed(t, err)
	defer socket.Close()
	t.Setenv("NOTIFY_SOCKET", socket.LocalAddr().String())
	missing := cli.Store{URL: config.Secret("sqlite:" + filepath.Join(t.TempDir(), "none", "k.db"))}
	err = cli.Serve(t.Context(), admin.Options{Address: "127.0.0.1:0"}, missing, slog.New(slog.DiscardHandler), func(context.Context, cli.Daemon) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "make the folder") {
		t.Errorf("the daemon ended with %v", err)
	}
	_ = socket.SetReadDeadline(time.Now())
	text := make([]byte, 100)
	if n, err := socket.Read(text); err == nil {
		t.Errorf("systemd was told %q", text[:n])
	}
}

// TestAFailureIsLoggedOnce: in the format of the log, and not once more as text.
func TestAFailureIsLoggedOnce(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	root := &cobra.Command{Use: "daemon"}
	root.AddCommand(&cobra.Command{Use: "run", RunE: func(c *cobra.Command, _ []string) error {
		log := cli.DefaultLog().Logger(&out)
		return cli.Serve(c.Context(), admin.Options{Address: "127.0.0.1:0"}, cli.Store{URL: "sqlite:/no/such/folder/k.db"}, log, func(context.Context, cli.Daemon) error { return nil })
	}})
	code := cli.Run(t.Context(), root, []string{"run"}, cli.Streams{Out: &out, Err: &errs})
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if last := lines[len(lines)-1]; code != cli.Failed || errs.Len() > 0 || !json.Valid([]byte(last)) || !strings.Contains(last, `"msg":"ended by a failure","error":"open sqlite`) {
		t.Errorf("%d, %q, %q", code, errs.String(), out.String())
	}
}
