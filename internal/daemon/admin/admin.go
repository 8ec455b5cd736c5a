// Package admin is a daemon's operations server, for orchestrators, Prometheus and people
// with curl:
//
//	GET /-/healthy   200 while the process serves at all
//	GET /-/ready     200, or 503 with {"ready":false,"reasons":["kafka: …"]}
//	GET /metrics     Prometheus, from a registry of the server's own
//	GET /debug/pprof/…  Go's profiles, for operators alone
//
// Components register their reasons against readiness and their metrics; a daemon with
// pages adds them with Handle. The default address is on loopback, because metrics and
// reasons name tables and topics.
package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/exporter-toolkit/web"

	"github.com/keyheat/keyheat/internal/daemon"
	"github.com/keyheat/keyheat/internal/say/wording"
)

// Bounds of one connection, so that a slow or silent client holds nothing.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 30 * time.Second
	writeTimeout  = 60 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 16 << 10
	// drainTimeout is how long the rest of a body may take to arrive that nobody wants: a
	// connection is used again only behind it.
	drainTimeout = time.Second
)

// http2Bounds keep a connection of HTTP/2 as small. By default, nine bytes make the server
// allocate a megabyte for the frame that they announce.
var http2Bounds = http.HTTP2Config{MaxConcurrentStreams: 32, MaxReadFrameSize: 16 << 10, MaxReceiveBufferPerConnection: 64 << 10, MaxReceiveBufferPerStream: 64 << 10}

// stopTimeout is how long requests under way may go on once Run's context
// ended.
const stopTimeout = 3 * time.Second

// Server is an operations server that listens already.
type Server struct {
	listener *connections
	hosts    []string
	access   Access
	// credentials is Options.Credentials; never nil.
	credentials func(http.Handler) http.Handler
	mux         *http.ServeMux
	registry    *prometheus.Registry
	log         *slog.Logger

	mu       sync.Mutex
	gates    []gate
	stopping []func()
}

type gate struct {
	name    string
	reasons func() []string
}

// Options say where a server listens.
type Options struct {
	// Address is a host:port such as "127.0.0.1:9411"; port 0 takes a free one.
	Address string
	// Hosts are the accepted host names of requests, beside localhost and any IP address.
	Hosts []string
	// Handlers are served from the first moment, by their ServeMux patterns; others are added
	// with Handle.
	Handlers map[string]http.Handler
	// Credentials, if set, is in front of everything: it may turn another proof of who sends a
	// request into a user and a password.
	Credentials func(http.Handler) http.Handler
	// Access is who may reach it. Open does not judge whether that is wise:
	// [Access.Validate] does.
	Access Access
}

// Open listens. The caller calls Run, or Close.
func Open(ctx context.Context, o Options, logger *slog.Logger) (*Server, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", o.Address)
	const remedy = "set another address (listen; of a collector admin.listen)"
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%w: stop the process that listens there, or "+remedy, err)
	case err != nil:
		return nil, fmt.Errorf("%w: "+remedy, err)
	}
	s := &Server{listener: newConnections(listener), hosts: o.Hosts, access: o.Access, mux: http.NewServeMux(), registry: newRegistry(), log: logger}
	if s.credentials = o.Credentials; s.credentials == nil {
		s.credentials = func(h http.Handler) http.Handler { return h }
	}
	s.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "keyheat_ready", Help: "1 while the daemon can do its own work, 0 while /-/ready lists reasons why not.",
	}, s.readyValue), s.listener.evicted)
	s.mux.HandleFunc("GET /-/healthy", healthy)
	s.mux.HandleFunc("GET /-/ready", s.ready)
	s.handleProfiles()
	for pattern, h := range o.Handlers {
		s.mux.Handle(pattern, h)
	}
	s.mux.Handle("GET /metrics", promhttp.HandlerFor(s.registry, promhttp.HandlerOpts{Registry: s.registry}))
	return s, nil
}

func newRegistry() *prometheus.Registry {
	build := daemon.ReadBuild()
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "keyheat_build_info", Help: "1, with the build in its labels.",
		ConstLabels: prometheus.Labels{"version": build.Version, "revision": build.Revision, "goversion": build.Go},
	})
	info.Set(1)
	registry := prometheus.NewRegistry()
	registry.MustRegister(info, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return registry
}

// Addr is where the server listens, as host:port.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Registry is the registry of all components' metrics. A metric's label is never a key.
func (s *Server) Registry() prometheus.Registerer { return s.registry }

// Handle adds a page. The pattern is ServeMux's.
func (s *Server) Handle(pattern string, h http.Handler) { s.mux.Handle(pattern, h) }

// Ready adds a component by name, in the place of another one of that name; nil takes
// it away. reasons returns why it is not ready, a sentence each; none when it is. It is
// called for every request, so it must not block.
func (s *Server) Ready(name string, reasons func() []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	// Into another slice: requests read the one before without the lock.
	gates := slices.DeleteFunc(slices.Clone(s.gates), func(g gate) bool { return g.name == name })
	if reasons != nil {
		gates = append(gates, gate{name, reasons})
	}
	s.gates = gates
}

// OnShutdown adds a function that the server calls when its shutdown begins, to end
// requests that would not end by themselves.
func (s *Server) OnShutdown(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopping = append(s.stopping, f)
}

// Run serves until ctx ends, and then lets requests under way finish, for a few
// seconds. Call it once.
func (s *Server) Run(ctx context.Context) error {
	server := &http.Server{
		Handler:           hostGuard(s.hosts, s.access.guard(daemon.IsLoopbackAddress(s.Addr()), s.mux)),
		ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout,
		WriteTimeout: writeTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		HTTP2: &http2Bounds, ConnContext: withConnection, ConnState: noteState,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
	s.mu.Lock()
	for _, f := range s.stopping {
		server.RegisterOnShutdown(f)
	}
	s.mu.Unlock()
	served := make(chan error, 1)
	go func() { served <- s.serve(server) }()
	s.log.Info("serving", "address", s.Addr())
	select {
	case err := <-served:
		return fmt.Errorf("serve operations: %w", err)
	case <-ctx.Done():
	}
	bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if err := server.Shutdown(bound); errors.Is(err, context.DeadlineExceeded) {
		return server.Close() // the remaining clients read too slowly
	} else if err != nil {
		return fmt.Errorf("stop serving operations: %w", err)
	}
	return nil
}

// serve accepts connections, with the TLS and the users of the web configuration file.
func (s *Server) serve(server *http.Server) error {
	if s.access.ConfigFile == "" {
		return server.Serve(s.listener)
	}
	if p, err := protectionOf(s.access.ConfigFile); err == nil && p.encrypts { // web.Serve returns the error
		s.listener.encrypt()
	}
	// Called when web.Serve has put its question for passwords before the handler, and nothing is
	// accepted yet: there is no other way in front of it.
	server.BaseContext = func(net.Listener) context.Context {
		server.Handler = s.credentials(server.Handler)
		return context.Background()
	}
	return web.Serve(s.listener, server, &web.FlagConfig{WebConfigFile: &s.access.ConfigFile}, s.log)
}

// Close stops listening; for a Server that will not run.
func (s *Server) Close() error { return s.listener.Close() }

func healthy(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	fmt.Fprintln(w, "healthy")
}

type readiness struct {
	Ready   bool     `json:"ready"`
	Reasons []string `json:"reasons"`
}

func (s *Server) ready(w http.ResponseWriter, _ *http.Request) {
	status := readiness{Reasons: s.reasons()}
	status.Ready = len(status.Reasons) == 0
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if !status.Ready {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	body, err := json.Marshal(status)
	if err == nil { // what servers wrote into errors is shown in terminals
		_, err = io.WriteString(w, wording.InertJSON(string(body))+"\n")
	}
	if err != nil {
		s.log.Debug("the client left before the response", "error", err)
	}
}

func (s *Server) readyValue() float64 {
	if len(s.reasons()) > 0 {
		return 0
	}
	return 1
}

// reasons asks every component; never nil, so that JSON has a list.
func (s *Server) reasons() []string {
	s.mu.Lock()
	gates := s.gates
	s.mu.Unlock()
	all := []string{}
	for _, g := range gates {
		for _, reason := range g.reasons() {
			all = append(all, g.name+": "+reason)
		}
	}
	return all
}
