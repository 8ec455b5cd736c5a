package admin_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"github.com/keyheat/keyheat/internal/daemon/admin"
	"github.com/keyheat/keyheat/internal/testsupport/await"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open returns a server on a free port of loopback that is not run yet.
func open(t *testing.T) *admin.Server {
	t.Helper()
	s, err := admin.Open(t.Context(), admin.Options{Address: "127.0.0.1:0"}, slog.New(slog.DiscardHandler))
	must(t, err)
	return s
}

// run runs it until stop, which returns what Run returned.
func run(t *testing.T, s *admin.Server) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	stopped := false
	stop = func() error {
		stopped = true
		cancel()
		return <-done
	}
	t.Cleanup(func() {
		if !stopped {
			if err := stop(); err != nil {
				t.Error(err)
			}
		}
	})
	return stop
}

var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: await.Limit}

func get(t *testing.T, s *admin.Server, path string) (int, string) {
	t.Helper()
	answer, err := client.Get("http://" + s.Addr() + path)
	must(t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	must(t, err)
	return answer.StatusCode, string(body)
}

func TestReadySaysWhyNot(t *testing.T) {
	t.Parallel()
	s := open(t)
	run(t, s)
	var kafka, store []string
	s.Ready("kafka", func() []string { return kafka })
	s.Ready("store", func() []string { return store })
	for _, step := range []struct {
		kafka, store []string
		code         int
		body         string
	}{
		{nil, nil, 200, `{"ready":true,"reasons":[]}`},
		{[]string{"no leader"}, []string{"away", "behind"}, 503, `{"ready":false,"reasons":["kafka: no leader","store: away","store: behind"]}`},
		{nil, nil, 200, `{"ready":true,"reasons":[]}`},
	} {
		kafka, store = step.kafka, step.store
		if code, body := get(t, s, "/-/ready"); code != step.code || strings.TrimSpace(body) != step.body {
			t.Errorf("got %d %s, want %d %s", code, body, step.code, step.body)
		}
		if code, _ := get(t, s, "/-/healthy"); code != 200 {
			t.Errorf("healthy: %d; not being ready is not being ill", code)
		}
	}
}

func TestMetricsAreTheServersOwn(t *testing.T) {
	t.Parallel()
	s, other := open(t), open(t)
	run(t, s)
	run(t, other)
	counter := prometheus.NewCounter(prometheus.CounterOpts{Name: "keyheat_test_things_total", Help: "Things."})
	s.Registry().MustRegister(counter)
	counter.Add(3)
	_, metrics := get(t, s, "/metrics")
	for _, want := range []string{"keyheat_test_things_total 3\n", "go_goroutines ", "process_resident_memory_bytes ", `keyheat_build_info{goversion="go`} {
		if !strings.Contains(metrics, want) {
			t.Errorf("no %q in the metrics", want)
		}
	}
	if _, metrics := get(t, other, "/metrics"); strings.Contains(metrics, "keyheat_test") {
		t.Error("two servers share a registry")
	}
}

func TestHandleAddsPages(t *testing.T) {
	t.Parallel()
	s := open(t)
	run(t, s)
	s.Handle("GET /", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "findings") }))
	if code, body := get(t, s, "/"); code != 200 || body != "findings" {
		t.Errorf("%d %s", code, body)
	}
}

func TestOpenTakesAnAddressOnce(t *testing.T) {
	t.Parallel()
	s := open(t)
	if _, err := admin.Open(t.Context(), admin.Options{Address: s.Addr()}, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), s.Addr()) {
		t.Errorf("two servers at one address: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// A request in flight is served; one that never ends does not hold the stop.
func TestStopIsGracefulAndBounded(t *testing.T) {
	t.Parallel()
	s := open(t)
	entered, leave := make(chan struct{}), make(chan struct{})
	s.OnShutdown(func() { leave <- struct{}{} }) // for one of two
	stop := run(t, s)
	s.Handle("GET /slow", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		entered <- struct{}{}
		<-leave
		io.WriteString(w, "done")
	}))
	body := make(chan string, 2)
	ask := func() {
		answer, err := client.Get("http://" + s.Addr() + "/slow")
		if err != nil {
			body <- "cut off"
			return
		}
		defer answer.Body.Close()
		text, _ := io.ReadAll(answer.Body)
		body <- string(text)
	}
	go ask()
	<-entered
	go ask()
	<-entered
	if err := stop(); err != nil { // which does not wait for both to leave
		t.Error(err)
	}
	close(leave)
	if first, second := <-body, <-body; first != "done" || second != "cut off" {
		t.Errorf("got %q and %q, want one served and one cut off", first, second)
	}
}

// TestEndlessRequestsEndOnShutdown has a request that ends only when the server says that
// it shuts down, so that it gets its whole answer.
func TestEndlessRequestsEndOnShutdown(t *testing.T) {
	s := open(t)
	ended := make(chan struct{})
	s.OnShutdown(func() { close(ended) })
	s.Handle("GET /endless", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = http.NewResponseController(w).Flush()
		<-ended
		_, _ = io.WriteString(w, "the end")
	}))
	stop := run(t, s)
	answer, err := client.Get("http://" + s.Addr() + "/endless")
	must(t, err)
	defer answer.Body.Close()
	if err := stop(); err != nil {
		t.Errorf("Run: %v", err)
	}
	if text, err := io.ReadAll(answer.Body); err != nil || string(text) != "the end" {
		t.Errorf("the request got %q, %v", text, err)
	}
}
