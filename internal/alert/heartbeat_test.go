package alert_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/alert"
	wait "github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/must"
)

// TestHeartbeat: it is sent while all is well, goes on after failures, and is not sent
// while it is not; no URL reaches the log.
func TestHeartbeat(t *testing.T) {
	t.Parallel()
	var beats, fails atomic.Int64
	var alive atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method != http.MethodPost || r.URL.Path != "/ping/secret-token" || len(body) != 0 {
			t.Errorf("%s %s with %q", r.Method, r.URL, body)
		}
		if fails.Add(-1) >= 0 {
			http.Error(w, "answer-of-the-server", http.StatusInternalServerError)
			return
		}
		beats.Add(1)
	}))
	defer server.Close()
	var log strings.Builder // written by the one loop, read after its end
	var asked atomic.Int64
	h, err := alert.NewHeartbeat(server.URL+"/ping/secret-token", time.Millisecond*20, func() bool {
		asked.Add(1)
		return alive.Load()
	}, slog.New(slog.NewTextHandler(&log, nil)))
	must.Succeed(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- h.Run(ctx) }()
	reaches := func(what string, of *atomic.Int64, n int64) {
		t.Helper()
		wait.Until(t, what, func() bool { return of.Load() >= n })
	}
	reaches("asked while all is not well", &asked, 3)
	if n := beats.Load(); n != 0 {
		t.Errorf("%d beats while all is not well", n)
	}
	fails.Store(2)
	alive.Store(true)
	reaches("beats", &beats, 3)
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if said := log.String(); !strings.Contains(said, "the heartbeat fails") || strings.Contains(said, "secret-token") || strings.Contains(said, "answer-of-the-server") {
		t.Errorf("the log is %q", said)
	}
}

// TestAHeartbeatGoesNowhereElse: metadata services are refused, as for receivers, and
// what is no URL.
func TestAHeartbeatGoesNowhereElse(t *testing.T) {
	t.Parallel()
	for _, to := range []string{"", "ftp://example.com", "no url"} {
		if _, err := alert.NewHeartbeat(to, time.Minute, nil, nil); err == nil {
			t.Errorf("%q is taken", to)
		}
	}
}
