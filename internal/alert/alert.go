// Package alert delivers notifications about findings. It empties the outbox, which a
// judge fills in the same transaction as the findings themselves, so that every notified
// transition is stored, and every stored one notified.
//
// # Guarantees for a receiver
//
// Every notification arrives at least once: after a crash, a timeout or a lost response
// it is sent again with the same id, so that a receiver recognises a repetition by the
// header webhook-id. A repetition within a minute has the same body; a later one has the
// incident's newest state. Notifications of one incident arrive in their order;
// notifications of different incidents may overtake each other.
//
// # A receiver that fails
//
// The pause after a failure belongs to the route, not to the notification: one
// notification at a time tries the receiver again, after pauses that grow to
// [Config.MaxPause], and its first success makes all waiting ones due at once. Only a
// notification that the receiver rejected has a pause of its own. The route gives a
// rejected notification up only if the receiver takes others meanwhile: a receiver that
// rejects all of them fails. The receiver's health is a row in the store, which all
// processes share and which outlives them.
//
// A notification that waited longer than a minute states its delay, and shows the
// incident's present state: waiting updates are merged into the first message that has
// not arrived.
//
// # Routes
//
// Each receiver is a route of the outbox with a Route of its own that delivers it, so
// that an unavailable receiver delays no other. A receiver gets no end without a
// beginning: if an incident ends before any attempt may have arrived, its notifications
// are cancelled. Package receiver encodes each notification for its receiver.
package alert

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/alert/receiver"
	"github.com/keyheat/keyheat/internal/daemon"
	"github.com/keyheat/keyheat/store"
)

// Store is the outbox, as *store.Store implements it.
type Store interface {
	DueNotifications(ctx context.Context, route string, most int) ([]store.Notification, error)
	MarkSending(ctx context.Context, id string, payload []byte) error
	MarkDelivered(ctx context.Context, id, receipt string) error
	MarkFailed(ctx context.Context, id string, f store.Failure) error
	MarkDead(ctx context.Context, id, cause string) error
	MarkAllDead(ctx context.Context, route string, before time.Time, cause string) (int64, error)
	MarkSummarised(ctx context.Context, ids []string) error
	SettleNotifications(ctx context.Context, route string, incidents []string) error
	SummariseUpdates(ctx context.Context, id string) error
	Ongoing(ctx context.Context, route string) ([]store.Notification, error)
	AcquireLease(ctx context.Context, name, holder string, ttl time.Duration) (store.Lease, bool, error)

	// How the receiver answers.
	Receiver(ctx context.Context, route string) (store.Receiver, error)
	ReceiverSucceeded(ctx context.Context, route string) error
	ReceiverFailed(ctx context.Context, route, cause string, pause time.Duration) error

	// The present state, for late notifications and for titles.
	Incident(ctx context.Context, id string) (store.Incident, error)
	Finding(ctx context.Context, fingerprint string) (store.Finding, error)
	FindingsByFingerprint(ctx context.Context, fingerprints []string) ([]store.Finding, error)
}

const most = 100

// Route delivers one route of the outbox to one receiver.
type Route struct {
	measures
	config   Config
	store    Store
	logger   *slog.Logger
	notifier receiver.Notifier
	// told holds the last minute's notices; summarised the time of the last summary.
	told       []telling
	summarised time.Time
	// repeated is the time of the last repetition of open incidents, for a receiver that
	// forgets.
	repeated time.Time
	// receiver is the receiver's stored row, read at looked and at each delivery.
	receiver store.Receiver
	looked   time.Time
	// ahead is how far this host's clock is ahead of the store's, as of the newest lease.
	ahead time.Duration
	// wake asks for a pass before the next poll.
	wake chan struct{}
	// outbox and target hold the present faults of the outbox and the receiver.
	outbox, target daemon.Health
}

// New returns a route that is ready to Run. The holder names this process among the
// processes that share the outbox.
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
		err := r.look(ctx, time.Now())
		if err == nil {
			err = r.pass(ctx)
		}
		if err == nil {
			err = r.repeat(ctx, time.Now())
		}
		if err == nil {
			r.outbox.Heal(daemon.Whole)
		} else if ctx.Err() == nil {
			r.measures.outbox.Inc()
			r.report(&r.outbox, fmt.Sprintf("the outbox cannot be read or written: %v", err))
		}
		daemon.Wait(ctx, r.config.Poll, r.wake)
	}
	return nil
}

// Wake has the route read the outbox now, and not only at its next poll: a judge of the
// same process has written something into it.
func (r *Route) Wake() { daemon.Signal(r.wake) }

// pass delivers due notifications. Processes that share the outbox take turns by a lease,
// so that two never send the same, nor out of order, except when one was stopped for
// longer than its lease.
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
		if r.receiver, err = r.store.Receiver(ctx, r.config.Route); err != nil {
			return err
		}
		if err := r.relieve(ctx, r.now()); err != nil {
			return err
		}
		if err := r.store.SettleNotifications(ctx, r.config.Route, listIncidents(due)); err != nil {
			return err
		}
		// Read once more: another may have delivered them before it was our turn.
		if due, err = r.store.DueNotifications(ctx, r.config.Route, most); err != nil {
			return err
		}
		if r.receiver.Failing() {
			due = due[:min(len(due), 1)] // one is enough to learn whether it answers
		}
		if again, err := r.deliverAll(ctx, due); err != nil || !again {
			return err
		}
	}
}

// listIncidents returns the incidents that notifications are about, each once.
func listIncidents(due []store.Notification) (ids []string) {
	for _, n := range due {
		if n.Incident != "" {
			ids = append(ids, n.Incident)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// lease takes the turn for one more delivery, and compares the clocks.
func (r *Route) lease(ctx context.Context) (bool, error) {
	ttl := 2 * r.config.Timeout
	l, mine, err := r.store.AcquireLease(ctx, "alert/"+r.config.Route, r.config.holder, ttl)
	if mine {
		r.ahead = time.Since(l.Expires.Add(-ttl))
	}
	return mine, err
}

// now returns the store's time, by which notifications and receivers have their times.
func (r *Route) now() time.Time { return time.Now().Add(-r.ahead) }

// deliverAll delivers a few notifications, and reports whether there may be more. When
// the receiver fails the rest waits for it, so that it is not tried a hundred times at
// once.
func (r *Route) deliverAll(ctx context.Context, due []store.Notification) (again bool, err error) {
	var beyond []store.Notification
	for _, n := range due {
		mine, err := r.lease(ctx)
		if err != nil || !mine {
			return false, err
		}
		if n.Event == string(detect.EventFiring) && r.isFull(n.Flow, time.Now()) {
			beyond = append(beyond, n)
			continue
		}
		answered, err := r.deliver(ctx, n)
		if err != nil || !answered {
			return false, err
		}
	}
	if len(beyond) > 0 {
		return false, r.summarise(ctx, beyond)
	}
	return len(due) > 0, nil
}

func (r *Route) notice(ctx context.Context, n store.Notification) (*receiver.Notice, error) {
	named, err := r.store.FindingsByFingerprint(ctx, receiver.ListNamed(&n))
	if err != nil {
		return nil, err
	}
	return receiver.NewNotice(n, r.config.Pages, named), nil
}

// attempt makes one attempt, and notes how the receiver answered. One that ctx ended is
// none: it is made again after the restart.
func (r *Route) attempt(ctx context.Context, n *receiver.Notice) (receiver.Response, error) {
	limited, cancel := context.WithTimeout(ctx, r.config.Timeout)
	defer cancel()
	started := time.Now()
	response := r.notifier.Notify(limited, n)
	if ctx.Err() != nil {
		return response, ctx.Err()
	}
	r.measures.seconds.Observe(time.Since(started).Seconds())
	return response, r.note(ctx, response, r.now())
}

// deliver makes one attempt to deliver a notification and records its outcome. It reports
// whether the receiver answered, so that another notification is worth an attempt.
func (r *Route) deliver(ctx context.Context, n store.Notification) (answered bool, err error) {
	if err := r.refresh(ctx, &n); err != nil {
		return false, err
	}
	if r.isLate(&n) { // it has the present state now
		if err := r.store.SummariseUpdates(ctx, n.ID); err != nil {
			return false, err
		}
	}
	notice, err := r.notice(ctx, n)
	if err != nil {
		return false, err
	}
	if err := r.store.MarkSending(ctx, n.ID, n.Payload); err != nil {
		return false, ignoreNotFound(err)
	}
	notice.Delay = r.delay(n.Created, r.now())
	response, err := r.attempt(ctx, notice)
	if err != nil {
		return false, err
	}
	now := r.now()
	v := judge(r.config, n, response, r.receiver.Failures, now)
	r.measures.attempts.WithLabelValues(string(v.outcome)).Inc()
	r.logAttempt(ctx, &n, v)
	switch v.outcome {
	case delivered:
		r.told = append(r.told, telling{time.Now(), n.Flow})
		err = r.store.MarkDelivered(ctx, n.ID, response.Receipt)
	case failed:
		err = r.store.MarkFailed(ctx, n.ID, store.Failure{Next: v.next, Cause: v.cause, Refused: response.Refused, Unreached: response.Unsent && !n.Reached})
	case dead:
		err = r.store.MarkDead(ctx, n.ID, v.cause)
	}
	return response.Err == nil || !r.pausesAfter(response), ignoreNotFound(err)
}

// logAttempt logs the result of an attempt, with IDs alone: logs may not be allowed to
// hold a key. Attempts that will be repeated are logged at the debug level, because the
// first failure is a warning.
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

func (r *Route) report(h *daemon.Health, cause string) {
	if h.Fail(daemon.Whole, cause) {
		r.logger.Warn("delivery fails; retrying", "cause", cause)
	}
}
