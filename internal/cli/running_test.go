package cli_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/daemon/admin"
	"github.com/keyheat/keyheat/internal/testsupport/must"
)

// TestTheRunningDaemonIsAsked: `check --daemon` says what a daemon itself says, through
// whatever protects it, and that there is none.
func TestTheRunningDaemonIsAsked(t *testing.T) {
	t.Parallel()
	s, err := admin.Open(t.Context(), admin.Options{Address: "0.0.0.0:0"}, slog.New(slog.DiscardHandler))
	must.Succeed(t, err)
	var reasons []string
	s.Ready("kafka", func() []string { return reasons })
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	_, port, _ := strings.Cut(s.Addr(), "]:")
	for _, address := range []string{"0.0.0.0:" + port, ":" + port, "[::]:" + port, "127.0.0.1:" + port} {
		if found, err := (cli.Web{}).Running(address).Run(t.Context()); err != nil || !strings.Contains(found, "is ready") {
			t.Errorf("%s: %q, %v", address, found, err)
		}
	}
	reasons = []string{"no broker answers"}
	if _, err := (cli.Web{}).Running("0.0.0.0:" + port).Run(t.Context()); err == nil || !strings.Contains(err.Error(), "kafka: no broker answers") {
		t.Errorf("a daemon that is not ready: %v", err)
	}
	if _, err := (cli.Web{}).Running("127.0.0.1:1").Run(t.Context()); err == nil || !strings.Contains(err.Error(), "nothing answers at 127.0.0.1:1") {
		t.Errorf("no daemon: %v", err)
	}
}

func TestARunningDaemonMayHideBehindAPassword(t *testing.T) {
	t.Parallel()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	t.Cleanup(s.Close)
	file := filepath.Join(t.TempDir(), "web.yaml")
	must.Succeed(t, os.WriteFile(file, nil, 0o600))
	found, err := cli.Web{ConfigFile: file}.Running(s.Listener.Addr().String()).Run(t.Context())
	if err != nil || !strings.Contains(found, "password") {
		t.Errorf("%q, %v", found, err)
	}
}
