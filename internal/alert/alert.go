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
// # Routes
//
// Each receiver is a route of the outbox with a Route of its own that delivers it, so
// that one that is unavailable delays no other. What its receiver has not been told
// is never told to be over: where an incident ends before any attempt to tell it may
// have arrived, its notifications are cancelled. Package receiver says in which form a
// notification is delivered.
package alert

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/alert/notify"
	"github.com/keyheat/keyheat/internal/alert/receiver"
	"github.com/keyheat/keyheat/internal/health"
	"github.com/keyheat/keyheat/internal/retry"
	"github.com/keyheat/keyheat/store"
)

// Store is the outbox, as *store.Store implements it.
type Store interface {
	DueNotifications(ctx context.Context, route string, most int) ([]store.Notification, error)
	MarkSending(ctx context.Context, id string) error
	MarkDelivered(ctx context.Context, id, receipt string) error
	MarkFailed(ctx context.Context, id string, f store.Failure) error
	MarkDead(ctx context.Context, id, cause string) error
	MarkSummarised(ctx context.Context, ids []string) error
	CancelUntold(ctx context.Context, route string) error
	FallBack(ctx context.Context, id, to, copied string) error
	Ongoing(ctx context.Context, route string) ([]store.Notification, error)
	AcquireLease(ctx context.Context, name, holder string, ttl time.Duration) (store.Lease, bool, error)
}

// most is how many notifications one pass takes.
const most = 100

// Route delivers one route of the outbox to one receiver.
type Route struct {
	measures
	config   Config
	store    Store
	logger   *slog.Logger
	notifier notify.Notifier
	// told is when notices went out in the last minute; summarised when the last
	// summary did.
	told       []time.Time
	summarised time.Time
	// repeated is when incidents that go on were last told again, of a receiver that
	// forgets.
	repeated time.Time
	// wake asks for a pass before the next poll.
	wake chan struct{}
	// outbox and target are what is wrong with the outbox and the receiver now.
	outbox, target health.Status
}

// New returns a route that is ready to Run. The holder names this process among those
// that share the outbox.
func New(c Config, st Store, holder string, logger *slog.Logger) (*Route, error) {
	c = c.withDefaults()
	if err := c.Validate(); err != nil {
		return nil, err
	}
	notifier, err := receiver.New(c.Receiver)
	if err != nil {
		return nil, err
	}
	c.holder = holder
	return &Route{
		measures: newMeasures(c.Route), config: c, store: st, notifier: notifier, wake: make(chan struct{}, 1),
		logger: logger.With("route", c.Route),
	}, nil
}

// Run delivers until ctx ends.
func (r *Route) Run(ctx context.Context) error {
	if c, ok := r.notifier.(interface{ Close() }); ok {
		defer c.Close()
	}
	for ctx.Err() == nil {
		err := r.pass(ctx)
		if err == nil {
			err = r.repeat(ctx, time.Now())
		}
		if err == nil {
			r.outbox.Heal(health.Whole)
		} else if ctx.Err() == nil {
			r.measures.outbox.Inc()
			r.report(&r.outbox, fmt.Sprintf("the outbox cannot be read or written: %v", err))
		}
		retry.Wait(ctx, r.config.Poll, r.wake)
	}
	return nil
}

// Wake has the route read the outbox now, and not only at its next poll: a judge of the
// same process has written something into it.
func (r *Route) Wake() { retry.Signal(r.wake) }

// pass delivers what is due. Processes that share the outbox take turns by a
// lease, so that two never send the same, nor out of order, except when one
// was stopped for longer than its lease.
func (r *Route) pass(ctx context.Context) error {
	for {
		due, err := r.store.DueNotifications(ctx, r.config.Route, most)
		if err != nil || len(due) == 0 {
			return err
		}
		mine, err := r.lease(ctx)
		if err != nil || !mine {
			return err
		}
		if err := r.store.CancelUntold(ctx, r.config.Route); err != nil {
			return err
		}
		// Read once more: another may have delivered them before it was our turn.
		if due, err = r.store.DueNotifications(ctx, r.config.Route, most); err != nil {
			return err
		}
		if again, err := r.deliverAll(ctx, due); err != nil || !again {
			return err
		}
	}
}

// lease takes the turn for one more delivery.
func (r *Route) lease(ctx context.Context) (bool, error) {
	_, mine, err := r.store.AcquireLease(ctx, "alert/"+r.config.Route, r.config.holder, 2*r.config.Timeout)
	return mine, err
}

// deliverAll delivers a few notifications, and reports whether there may be more.
// When the receiver cannot be reached the rest waits for the next pass, so that an
// unavailable receiver is not tried a hundred times at once.
func (r *Route) deliverAll(ctx context.Context, due []store.Notification) (again bool, err error) {
	for i, n := range due {
		mine, err := r.lease(ctx)
		if err != nil || !mine {
			return false, err
		}
		if r.full(time.Now()) && n.Event == string(detect.EventFiring) {
			return false, r.summarise(ctx, due[i:])
		}
		reached, err := r.deliver(ctx, n)
		if err != nil || !reached {
			return false, err
		}
	}
	return len(due) > 0, nil
}

// notice returns what the receiver is given of a notification.
func (r *Route) notice(n store.Notification) *notify.Notice {
	return notify.NewNotice(n, r.config.Pages)
}

// attempt makes one attempt. One that ctx ended is none: it is made again after the
// restart.
func (r *Route) attempt(ctx context.Context, n *notify.Notice) (notify.Response, error) {
	limited, cancel := context.WithTimeout(ctx, r.config.Timeout)
	defer cancel()
	started := time.Now()
	response := r.notifier.Notify(limited, n)
	if ctx.Err() != nil {
		return response, ctx.Err()
	}
	r.measures.seconds.Observe(time.Since(started).Seconds())
	return response, nil
}

// deliver makes one attempt to deliver a notification and records its outcome.
func (r *Route) deliver(ctx context.Context, n store.Notification) (reached bool, err error) {
	if err := r.store.MarkSending(ctx, n.ID); err != nil {
		return false, ignoreNotFound(err)
	}
	response, err := r.attempt(ctx, r.notice(n))
	if err != nil {
		return false, err
	}
	now := time.Now()
	v := judge(r.config, n, response, now)
	r.measures.attempts.WithLabelValues(string(v.outcome)).Inc()
	r.logAttempt(ctx, &n, v)
	// First, so that a process which ends between the two does it again: of what is
	// delivered or dead nobody would.
	if r.fallsBack(n, v.outcome, now) {
		err := r.store.FallBack(ctx, n.ID, r.config.Fallback, detect.CopiedID(n.ID, r.config.Fallback))
		if ignoreNotFound(err) != nil {
			return false, err
		}
	}
	switch v.outcome {
	case delivered:
		r.target.Heal(health.Whole)
		r.told = append(r.told, now)
		err = r.store.MarkDelivered(ctx, n.ID, response.Receipt)
	case failed:
		r.report(&r.target, v.cause)
		err = r.store.MarkFailed(ctx, n.ID, store.Failure{Next: v.next, Cause: v.cause, Refused: response.Refused, Unreached: response.Unsent && !n.Reached})
	case dead:
		r.target.Heal(health.Whole) // no notification waits for it
		err = r.store.MarkDead(ctx, n.ID, v.cause)
	}
	return !response.Silent, ignoreNotFound(err)
}

// logAttempt logs what came of an attempt, with IDs alone: a key may be one that logs
// are not to have. One that is to be repeated is for those who look for it, since the
// first failure is logged as a warning.
func (r *Route) logAttempt(ctx context.Context, n *store.Notification, v verdict) {
	level := slog.LevelInfo
	switch v.outcome {
	case failed:
		level = slog.LevelDebug
	case dead:
		level = slog.LevelError
	case delivered, summarised:
	}
	r.logger.Log(ctx, level, "notification attempted",
		"id", n.ID, "incident", n.Incident, "event", n.Event, "attempt", n.Attempts+1, "outcome", string(v.outcome), "cause", v.cause)
}

// ignoreNotFound makes nothing of a notification that another process has dealt with.
func ignoreNotFound(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// fallsBack reports whether a notification goes to the fallback too: because this
// receiver does not take it, or because that is where the incident was told of.
func (r *Route) fallsBack(n store.Notification, o outcome, now time.Time) bool {
	if r.config.Fallback == "" {
		return false
	}
	return n.Fallback || o == dead || o == failed && now.Sub(n.Created) >= r.config.FallbackAfter
}

// report records what is wrong, and logs it when that is new.
func (r *Route) report(h *health.Status, cause string) {
	if h.Fail(health.Whole, cause) {
		r.logger.Warn("delivery fails; retrying", "cause", cause)
	}
}

// Ready returns why the route is not ready; nothing when it is.
func (r *Route) Ready() []string {
	var reasons []string
	for _, h := range []*health.Status{&r.outbox, &r.target} {
		reasons = append(reasons, h.Reasons()...)
	}
	return reasons
}
