package alert

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/alert/receiver"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// pager is a receiver that is down at times.
type pager struct {
	began  time.Time
	answer func(since time.Duration, n *receiver.Notice) receiver.Response

	mu    sync.Mutex
	tries []try
}

// try is one attempt, whether the pager took it or not.
type try struct {
	at time.Duration
	*receiver.Notice
	receiver.Response
}

func (p *pager) Notify(_ context.Context, n *receiver.Notice) receiver.Response {
	since := time.Since(p.began)
	response := p.answer(since, n)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tries = append(p.tries, try{since, n, response})
	return response
}

// attempts counts the attempts so far. A bubble's clock orders goroutines, and the race
// detector sees only locks.
func (p *pager) attempts() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.tries)
}

// took returns what was delivered: when, and what.
func (p *pager) took() (all []string) {
	for _, t := range p.tries {
		if t.Err == nil {
			all = append(all, fmt.Sprintf("%s %s %s", t.at.Truncate(10*time.Second), t.Subject, t.Event))
		}
	}
	return all
}

// down answers like a receiver that is away between two times.
func down(from, to time.Duration, as receiver.Response) func(time.Duration, *receiver.Notice) receiver.Response {
	return func(since time.Duration, _ *receiver.Notice) receiver.Response {
		if since >= from && since < to {
			return as
		}
		return fine
	}
}

// page runs the route "pager" until the returned function is called. The pauses are the
// default ones. A poll costs SQLite under the race detector 20 ms, so that it comes every
// five seconds.
func page(t *testing.T, s Store, to receiver.Notifier, change func(*Config)) (stop func()) {
	t.Helper()
	c := Config{Route: "pager", Poll: 5 * time.Second, Receiver: receiver.Settings{Type: receiver.Webhook, URL: "http://127.0.0.1:1"}}
	if change != nil {
		change(&c)
	}
	r, err := New(c, s, "reporter", slog.New(slog.DiscardHandler))
	must.Succeed(t, err)
	r.notifier = to
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- r.Run(ctx) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func receiverOf(t *testing.T, s *store.Store) store.Receiver {
	t.Helper()
	r, err := s.Receiver(t.Context(), "pager")
	must.Succeed(t, err)
	return r
}

// TestARecoveredReceiverIsToldAllAtOnce: whatever way it was down, for 40 minutes, it was
// tried by one notification at a time, at most 30 s apart, and all that waited arrives
// with the first success.
func TestARecoveredReceiverIsToldAllAtOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		as    receiver.Response
		after time.Duration
	}{
		"refuses connections": {refused, 0}, "returns 500": {broken, 0}, "hangs until the timeout": {stalled, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, judged := newStory(t, "pager")
				defer s.Close()
				const incidents = 50
				outage := 40 * time.Minute
				if testing.Short() {
					outage = 10 * time.Minute
				}
				p := &pager{began: time.Now(), answer: func(since time.Duration, n *receiver.Notice) receiver.Response {
					response := down(0, outage, c.as)(since, n)
					if response.Err != nil {
						time.Sleep(c.after)
					}
					return response
				}}
				stop := page(t, s, p, nil)
				for i := range incidents {
					judged(fmt.Sprintf("incident-%02d", i), detect.EventFiring)
					time.Sleep(10 * time.Second)
				}
				time.Sleep(outage + time.Minute - incidents*10*time.Second)
				stop()
				var before time.Duration
				failed := 0
				for _, try := range p.tries {
					if try.Err == nil {
						continue
					}
					failed++
					if gap := try.at - before; gap > 30*time.Second || failed > 3 && gap < 10*time.Second {
						t.Errorf("attempt %d came %s after the one before", failed, gap)
					}
					before = try.at
				}
				took := p.tries[failed:]
				if len(took) != incidents {
					t.Fatalf("%d of %d arrived after %d failures", len(took), incidents, failed)
				}
				if first, last := took[0].at, took[incidents-1].at; first-outage > 30*time.Second || last-first > 2*time.Second {
					t.Errorf("back at %s, it was told from %s to %s", outage, first, last)
				}
			})
		})
	}
}

// TestOneThatAlwaysFailsKeepsNoOtherBack: a notification that makes the receiver fail is
// tried last.
func TestOneThatAlwaysFailsKeepsNoOtherBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, judged := newStory(t, "pager")
		defer s.Close()
		p := &pager{began: time.Now(), answer: func(_ time.Duration, n *receiver.Notice) receiver.Response {
			if n.Subject == "poison" {
				return broken
			}
			return fine
		}}
		stop := page(t, s, p, nil)
		judged("poison", detect.EventFiring)
		time.Sleep(10 * time.Minute)
		for i := range 20 {
			judged(fmt.Sprint("incident-", i), detect.EventFiring)
		}
		time.Sleep(20 * time.Second)
		stop()
		if took := p.took(); len(took) != 20 {
			t.Errorf("%d of 20 arrived within 20 s: %q", len(took), took)
		}
	})
}

// TestAReceiverAsksForTenMinutes: it is tried every 30 s all the same, since a critical
// incident may wait.
func TestAReceiverAsksForTenMinutes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, judged := newStory(t, "pager")
		defer s.Close()
		asks := busy
		asks.RetryAfter = "600"
		p := &pager{began: time.Now(), answer: down(0, time.Minute, asks)}
		stop := page(t, s, p, nil)
		judged("a", detect.EventFiring)
		time.Sleep(time.Minute)
		judged("b", detect.EventFiring)
		time.Sleep(15 * time.Minute)
		stop()
		if took := p.took(); len(p.tries) != 4 || !slices.Equal(took, []string{"1m0s a firing", "1m0s b firing"}) &&
			!slices.Equal(took, []string{"1m0s b firing", "1m0s a firing"}) {
			t.Errorf("%d attempts, %q arrived", len(p.tries), took)
		}
	})
}

// TestARefusedNotificationPausesAlone: the receiver takes the others meanwhile, and its
// recovery does not hurry the refused one.
func TestARefusedNotificationPausesAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, judged := newStory(t, "pager")
		defer s.Close()
		rejected := receiver.Response{Err: fmt.Errorf("HTTP 400"), Refused: true, Unsent: true}
		p := &pager{began: time.Now(), answer: func(_ time.Duration, n *receiver.Notice) receiver.Response {
			if n.Subject == "bad" {
				return rejected
			}
			return fine
		}}
		stop := page(t, s, p, func(c *Config) { c.Poll = time.Second })
		judged("bad", detect.EventFiring)
		time.Sleep(time.Second)
		judged("good", detect.EventFiring)
		time.Sleep(2 * time.Second)
		tried := p.attempts()
		time.Sleep(10 * time.Minute)
		stop()
		if took := p.took(); tried != 2 || !slices.Equal(took, []string{"0s good firing"}) || len(p.tries) != 6 {
			t.Errorf("%d attempts at first, %d in all; %q arrived", tried, len(p.tries), took)
		}
	})
}

// slowClock is a store whose clock is an hour behind this host's.
type slowClock struct{ *store.Store }

func (s slowClock) AcquireLease(ctx context.Context, name, holder string, ttl time.Duration) (store.Lease, bool, error) {
	l, mine, err := s.Store.AcquireLease(ctx, name, holder, ttl)
	l.Expires = l.Expires.Add(-time.Hour)
	return l, mine, err
}

func (s slowClock) DueNotifications(ctx context.Context, route string, most int) ([]store.Notification, error) {
	due, err := s.Store.DueNotifications(ctx, route, most)
	for i := range due {
		due[i].Created = due[i].Created.Add(-time.Hour)
	}
	return due, err
}

func (s slowClock) MarkFailed(ctx context.Context, id string, f store.Failure) error {
	f.Next = f.Next.Add(time.Hour)
	return s.Store.MarkFailed(ctx, id, f)
}

// TestAHostsClockIsAhead: a notification that was rejected is tried again soon, and none is
// late.
func TestAHostsClockIsAhead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, judged := newStory(t, "pager")
		defer s.Close()
		p := &pager{began: time.Now(), answer: down(0, 10*time.Second, receiver.Response{Err: errors.New("HTTP 400"), Refused: true})}
		stop := page(t, slowClock{s}, p, func(c *Config) { c.Poll = time.Second })
		judged("i", detect.EventFiring)
		time.Sleep(30 * time.Second)
		stop()
		if took := p.took(); len(took) != 1 {
			t.Errorf("%d attempts, %q arrived", len(p.tries), took)
		}
		for _, tried := range p.tries {
			if tried.Delay != "" {
				t.Errorf("after %s: %q, want no delay", tried.at, tried.Delay)
			}
		}
	})
}

// TestTheReceiversStateSurvivesARestart: who serves next knows since when it fails, and
// does not try it at once.
func TestTheReceiversStateSurvivesARestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, judged := newStory(t, "pager")
		defer s.Close()
		began := time.Now()
		p := &pager{began: began, answer: down(time.Minute, time.Hour, refused)}
		stop := page(t, s, p, nil)
		judged("a", detect.EventFiring)
		time.Sleep(2 * time.Minute)
		judged("b", detect.EventFiring)
		time.Sleep(18 * time.Minute)
		stop()
		was, tried := receiverOf(t, s), p.attempts()
		stop = page(t, s, p, nil)
		time.Sleep(time.Second)
		soon := p.attempts() - tried
		time.Sleep(10 * time.Minute)
		stop()
		now := receiverOf(t, s)
		if soon > 1 || !now.Failing() || !now.FailedSince.Equal(was.FailedSince) || now.Failures <= was.Failures || now.LastError != "connection refused" || now.Pending != 1 {
			t.Errorf("%d attempts at once, the receiver was %+v and is %+v", soon, was, now)
		}
		if since, success := now.FailedSince.Sub(began), now.Succeeded.Sub(began); since < 2*time.Minute || since > 2*time.Minute+6*time.Second || success > 2*time.Second {
			t.Errorf("it fails since %s, the last success was at %s", since, success)
		}
	})
}

// TestALateNotificationTellsOfNow: an incident that got worse while the receiver was away
// arrives as one message with today's state and the delay.
func TestALateNotificationTellsOfNow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, err := store.Open(t.Context(), "sqlite::memory:", store.Options{})
		must.Succeed(t, err)
		defer s.Close()
		lease, _, err := s.AcquireLease(t.Context(), "judge", "test", 100*time.Hour)
		must.Succeed(t, err)
		// judged writes the incident's state, and tells of it.
		judged := func(severity detect.Severity, wcu float64, event detect.Event, id string) {
			f := detect.NewFinding(detect.KeyWrites, detect.Target{Table: "orders"}, sample.Key{Text: "k", Type: "S"})
			f.Fingerprint, f.Severity = "f", severity
			f.Peak.WCU = detect.Figure{Value: wcu, Low: wcu, High: wcu}
			i := detect.Incident{ID: "i", Root: "f", Target: f.Target, Severity: severity, State: detect.Firing, Findings: []string{"f"}}
			finding, err := json.Marshal(f)
			must.Succeed(t, err)
			payload, err := detect.NewPayload(&i, finding)
			must.Succeed(t, err)
			body, err := json.Marshal(payload)
			must.Succeed(t, err)
			what := store.Judgement{
				Findings:  []store.Finding{{Fingerprint: "f", Document: finding, Target: f.Target}},
				Incidents: []store.Incident{{ID: "i", Root: "f", State: "firing", Document: payload.Incident, Target: f.Target}},
			}
			if id != "" {
				what.Notifications = []store.Notification{{ID: id, Fingerprint: "f", Incident: "i", Event: string(event), Route: "pager", Payload: body}}
			}
			must.Succeed(t, s.Judge(t.Context(), lease, what))
			lease.Writes++
		}
		const outage = 40 * time.Minute
		p := &pager{began: time.Now(), answer: down(0, outage, refused)}
		stop := page(t, s, p, nil)
		judged(detect.Warning, 900, detect.EventFiring, "n1")
		time.Sleep(5 * time.Minute)
		judged(detect.Critical, 1500, detect.EventUpdated, "n2")
		time.Sleep(5 * time.Minute)
		judged(detect.Critical, 1800, detect.EventUpdated, "n3")
		time.Sleep(5 * time.Minute)
		judged(detect.Critical, 2400, "", "")
		time.Sleep(26 * time.Minute)
		judged(detect.Critical, 2500, detect.EventUpdated, "n4")
		time.Sleep(10 * time.Second)
		stop()
		took := slices.DeleteFunc(p.tries, func(t try) bool { return t.Err != nil })
		if len(took) != 2 || took[0].ID != "n1" || took[1].ID != "n4" {
			t.Fatalf("%d arrived: %+v", len(took), took)
		}
		now, next := took[0].Notice, took[1].Notice
		if now.Event != "firing" || now.Severity() != detect.Critical || now.Finding.Peak.WCU.Value != 2400 {
			t.Errorf("the late one is %s, %s: %s", now.Event, now.Severity(), now.Brief.Why)
		}
		const delay = "Delivered 40 min late: the receiver took no notifications from 00:00 to 00:40 UTC"
		if now.Delay != delay || !strings.Contains(now.Text(), "\nDelay: "+delay+"\n") {
			t.Errorf("its delay is %q: %s", now.Delay, now.Text())
		}
		if next.Delay != "" || strings.Contains(next.Text(), "Delay") {
			t.Errorf("the one in time says %q", next.Delay)
		}
	})
}

// TestHostilePauses: no header of a receiver's makes it wait longer than 30 s, however far off
// its time is, and one that is no time asks for nothing.
func TestHostilePauses(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for header, want := range map[string]time.Duration{
		"": 0, "0": 0, "-5": 0, "1.5": 0, "NaN": 0, "1e30": 0, "\x1b[2J": 0, "20": 20 * time.Second, "3601": maxRetryAfter,
		"1" + strings.Repeat("0", 30): maxRetryAfter, strings.Repeat("9", 60_000): maxRetryAfter,
		"Fri, 31 Dec 9999 23:59:59 GMT": maxRetryAfter, "Mon, 01 Jan 0001 00:00:00 GMT": 0,
	} {
		if got := max(0, retryAfter(header, now).Sub(now)); got != want {
			t.Errorf("%.40q: %s, want %s", header, got, want)
		}
	}
}
