package alert

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/alert/receiver"
	"github.com/keyheat/keyheat/internal/daemon"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/store"
)

// look reads how the receiver is, every few polls, also where another process delivers.
func (r *Route) look(ctx context.Context, now time.Time) (err error) {
	if now.Sub(r.looked) < 5*r.config.Poll {
		return nil
	}
	if r.receiver, err = r.store.Receiver(ctx, r.config.Route); err != nil {
		return err
	}
	r.looked = now
	r.measures.show(&r.receiver, r.now())
	if r.receiver.Failing() {
		return r.tend(ctx)
	}
	return nil
}

func (r *Route) tend(ctx context.Context) error {
	mine, err := r.lease(ctx)
	if err != nil || !mine {
		return err
	}
	return r.relieve(ctx, r.now())
}

// relieve gives up the old notifications of a failing receiver: no attempt does, because one
// notification is attempted for all.
func (r *Route) relieve(ctx context.Context, now time.Time) error {
	if !r.receiver.Failing() {
		return nil
	}
	cause := fmt.Sprintf("not delivered within %s: %s", r.config.GiveUp, r.receiver.LastError)
	n, err := r.store.MarkAllDead(ctx, r.config.Route, now.Add(-r.config.GiveUp), cause)
	if n > 0 {
		r.measures.attempts.WithLabelValues(string(dead)).Add(float64(n))
		r.logger.Error("notifications given up", "count", n, "cause", cause)
	}
	return err
}

// note records how the receiver answered. A receiver that rejects a notification may take
// others, so the route pauses only after as many failures in a row as give one up.
func (r *Route) note(ctx context.Context, response receiver.Response, now time.Time) error {
	if response.Err == nil {
		if r.target.Heal(daemon.Whole) {
			r.logger.Info("the receiver takes notifications again")
		}
		r.receiver.Failures = 0
		return r.store.ReceiverSucceeded(ctx, r.config.Route)
	}
	cause, pause := response.Err.Error(), time.Duration(0)
	if r.pausesAfter(response) {
		pause = pauseAfter(response, r.config.MinPause, r.config.MaxPause, r.receiver.Failures, now)
	}
	r.report(&r.target, cause)
	if !r.receiver.Failing() {
		r.receiver.FailedSince = now
	}
	r.receiver.Failures++
	r.receiver.NextAttempt = now.Add(pause)
	return r.store.ReceiverFailed(ctx, r.config.Route, cause, pause)
}

func (r *Route) pausesAfter(response receiver.Response) bool {
	return !response.Refused || r.receiver.Failures >= r.config.Refusals
}

const lateAfter = time.Minute

// delay describes the delay of a notification, with the cause if it is the receiver;
// empty in time.
func (r *Route) delay(created, now time.Time) string {
	late := now.Sub(created)
	if late < lateAfter {
		return ""
	}
	text := "Delivered " + wording.Span(late) + " late"
	until := r.receiver.Recovered
	if r.receiver.Failing() {
		until = now
	}
	if until.After(created) {
		const clock = "15:04"
		text += fmt.Sprintf(": the receiver took no notifications from %s to %s UTC", r.receiver.FailedSince.UTC().Format(clock), until.UTC().Format(clock))
	}
	return text
}

// isLate reports whether a notification that an incident fires waited for so long that it is
// sent with the present state.
func (r *Route) isLate(n *store.Notification) bool {
	return n.Event != string(detect.EventResolved) && n.Event != store.EventReport && r.now().Sub(n.Created) >= lateAfter
}

// refresh gives a late notification of an incident that still fires the incident's newest
// state. The load before the notification, and the other findings of then, are left out.
func (r *Route) refresh(ctx context.Context, n *store.Notification) error {
	if !r.isLate(n) {
		return nil
	}
	p := detect.ReadPayload(n.Payload)
	var then detect.Incident
	if json.Unmarshal(p.Incident, &then) != nil || then.ID == "" {
		return nil
	}
	now, err := r.store.Incident(ctx, then.ID)
	if err != nil || now.State != string(detect.Firing) {
		return ignoreNotFound(err)
	}
	root, err := r.store.Finding(ctx, now.Root)
	if err != nil {
		return ignoreNotFound(err)
	}
	p.Incident, p.Finding, p.Recent, p.Related = now.Document, root.Document, nil, nil
	payload, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("write the notification %s: %w", n.ID, err)
	}
	n.Fingerprint, n.Payload = root.Fingerprint, payload
	return nil
}
