package alert

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/keyheat/keyheat/internal/alert/receiver"
	"github.com/keyheat/keyheat/internal/daemon"
)

// Heartbeat posts to a URL again and again while Keyheat finds incidents and delivers
// alerts. The other side raises the alarm when the posts stop: a dead process, or one
// without a database, cannot raise it.
type Heartbeat struct {
	*daemon.MetricSet
	sent   *prometheus.CounterVec
	ping   *receiver.Ping
	every  time.Duration
	alive  func() bool
	health daemon.Health
	logger *slog.Logger
}

// NewHeartbeat returns a heartbeat that posts at every interval at which alive returns
// true.
func NewHeartbeat(to string, every time.Duration, alive func() bool, logger *slog.Logger) (*Heartbeat, error) {
	ping, err := receiver.NewPing(to)
	if err != nil {
		return nil, err
	}
	s := daemon.NewMetrics("heartbeat", nil)
	return &Heartbeat{
		MetricSet: s, sent: s.CounterVec("sent_total", "Heartbeats, by outcome.", "outcome", string(delivered), string(failed)),
		ping: ping, every: every, alive: alive, logger: logger,
	}, nil
}

// Run sends heartbeats until ctx ends.
func (h *Heartbeat) Run(ctx context.Context) error {
	defer h.ping.Close()
	daemon.Every(ctx, h.every, h.beat)
	return nil
}

// beat sends one heartbeat, if there is something to tell. A failure is not repeated
// before the next one is due: who waits for it waits for longer than one.
func (h *Heartbeat) beat(ctx context.Context) {
	if !h.alive() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, min(h.every, defaults.Timeout))
	defer cancel()
	if err := h.ping.Send(ctx); err != nil {
		h.sent.WithLabelValues(string(failed)).Inc()
		if h.health.Fail(daemon.Whole, "the heartbeat fails: "+err.Error()) {
			h.logger.Warn("the heartbeat fails; the next one follows", "error", err)
		}
		return
	}
	h.sent.WithLabelValues(string(delivered)).Inc()
	h.health.Heal(daemon.Whole)
}
