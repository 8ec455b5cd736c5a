// Package alert delivers notifications about findings. It empties the outbox, which
// a judge fills in the same transaction as the findings themselves, so that no
// transition is notified without being stored, or stored without being notified.
//
// # What a receiver may rely on
//
// Every notification arrives at least once: after a crash, a timeout or a lost
// response it is sent again, with the same id and the same body, so that a
// receiver recognises a repetition by the header webhook-id. Notifications of
// one finding arrive in their order; those of different findings may overtake
// each other. A receiver that is unavailable is retried after growing
// pauses, which are kept in the outbox and so outlive this process.
//
// The form is Standard Webhooks (https://www.standardwebhooks.com): headers
// webhook-id and webhook-timestamp, and webhook-signature where a secret is
// set. The body is a Message.
package alert

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/keyheat/keyheat/internal/health"
	"github.com/keyheat/keyheat/internal/metrics"
	"github.com/keyheat/keyheat/store"
)

// Store is the outbox, as *store.Store implements it.
type Store interface {
	DueNotifications(ctx context.Context, route string, most int) ([]store.Notification, error)
	MarkDelivered(ctx context.Context, id string) error
	MarkFailed(ctx context.Context, id string, next time.Time, cause string, refused bool) error
	MarkDead(ctx context.Context, id, cause string) error
	AcquireLease(ctx context.Context, name, holder string, ttl time.Duration) (store.Lease, bool, error)
}

// Message is the body of a webhook.
type Message struct {
	// ID is the same on every attempt.
	ID string `json:"id"`
	// Event is what happened to the finding: firing, updated or resolved; or report,
	// which is of no finding.
	Event string `json:"event"`
	// At is when the notification was put into the outbox.
	At time.Time `json:"at"`
	// Title says in one line what it is about, FirstFix what to do first.
	Title    string `json:"title"`
	FirstFix string `json:"first_fix"`
	// URL is the finding's page; empty where it is not known under which address
	// people reach the pages.
	URL string `json:"url"`
	// Finding is the finding's document as it was then.
	Finding json.RawMessage `json:"finding,omitempty"`
	// Report is a scheduled report in short.
	Report json.RawMessage `json:"report,omitempty"`
}

// most is how many notifications one pass takes.
const most = 100

// Webhook delivers one route of the outbox to one URL.
type Webhook struct {
	metrics.Set
	config Config
	store  Store
	logger *slog.Logger
	sender *sender
	// outbox and receiver are what is wrong with either now.
	outbox, receiver health.Status
	measures         *measures
}

// New returns a webhook that is ready to Run. The holder names this process
// among those that share the outbox.
func New(c Config, st Store, holder string, logger *slog.Logger) (*Webhook, error) {
	c = c.withDefaults()
	if err := c.Validate(); err != nil {
		return nil, err
	}
	s, err := newSender(c)
	if err != nil {
		return nil, err
	}
	c.holder = holder
	m := newMeasures(c.Route)
	return &Webhook{
		Set: m.set(), config: c, store: st, sender: s, measures: m,
		logger: logger.With("route", c.Route),
	}, nil
}

// Run delivers until ctx ends.
func (w *Webhook) Run(ctx context.Context) error {
	defer w.sender.close()
	tick := time.NewTicker(w.config.Poll)
	defer tick.Stop()
	for {
		if err := w.pass(ctx); err == nil {
			w.outbox.Heal(health.Whole)
		} else if ctx.Err() == nil {
			w.measures.outbox.Inc()
			w.report(&w.outbox, fmt.Sprintf("the outbox cannot be read or written: %v", err))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// pass delivers what is due. Processes that share the outbox take turns by a
// lease, so that two never send the same, nor out of order, except when one
// was stopped for longer than its lease.
func (w *Webhook) pass(ctx context.Context) error {
	for {
		due, err := w.store.DueNotifications(ctx, w.config.Route, most)
		if err != nil || len(due) == 0 {
			return err
		}
		mine, err := w.lease(ctx)
		if err != nil || !mine {
			return err
		}
		// Read once more: another may have delivered them before it was our turn.
		if due, err = w.store.DueNotifications(ctx, w.config.Route, most); err != nil {
			return err
		}
		if again, err := w.deliverAll(ctx, due); err != nil || !again {
			return err
		}
	}
}

// lease takes the turn for one more delivery.
func (w *Webhook) lease(ctx context.Context) (bool, error) {
	_, mine, err := w.store.AcquireLease(ctx, "alert/"+w.config.Route, w.config.holder, 2*w.config.Timeout)
	return mine, err
}

// deliverAll delivers a few notifications, and reports whether there may be more.
// When the receiver cannot be reached the rest waits for the next pass, so that an
// unavailable receiver is not tried a hundred times at once.
func (w *Webhook) deliverAll(ctx context.Context, due []store.Notification) (again bool, err error) {
	for _, n := range due {
		mine, err := w.lease(ctx)
		if err != nil || !mine {
			return false, err
		}
		reached, err := w.deliver(ctx, n)
		if err != nil || !reached {
			return false, err
		}
	}
	return len(due) > 0, nil
}

// deliver makes one attempt and records its outcome. An attempt that
// ctx ended is no attempt: it is made again after the restart.
func (w *Webhook) deliver(ctx context.Context, n store.Notification) (reached bool, err error) {
	started := time.Now()
	response := w.sender.send(ctx, n)
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	w.measures.seconds.Observe(time.Since(started).Seconds())
	v := judge(w.config, n, response, time.Now())
	w.measures.attempts.WithLabelValues(string(v.outcome)).Inc()
	switch v.outcome {
	case delivered:
		w.receiver.Heal(health.Whole)
		err = w.store.MarkDelivered(ctx, n.ID)
	case failed:
		w.report(&w.receiver, v.cause)
		err = w.store.MarkFailed(ctx, n.ID, v.next, v.cause, v.refused)
	case dead:
		w.receiver.Heal(health.Whole) // no notification waits for it
		w.logger.Error("notification dropped", "id", n.ID, "fingerprint", n.Fingerprint, "cause", v.cause)
		err = w.store.MarkDead(ctx, n.ID, v.cause)
	}
	if errors.Is(err, store.ErrNotFound) { // another process was quicker
		err = nil
	}
	return response.err == nil, err
}

// report records what is wrong, and logs it when that is new.
func (w *Webhook) report(h *health.Status, cause string) {
	if h.Fail(health.Whole, cause) {
		w.logger.Warn("webhook delivery fails; retrying", "cause", cause)
	}
}

// Ready returns why the webhook is not ready; nothing when it is.
func (w *Webhook) Ready() []string {
	var reasons []string
	for _, h := range []*health.Status{&w.outbox, &w.receiver} {
		for _, cause := range h.Reasons() {
			reasons = append(reasons, fmt.Sprintf("webhook %s: %s", w.config.Route, cause))
		}
	}
	return reasons
}
