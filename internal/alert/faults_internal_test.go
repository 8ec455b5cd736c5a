package alert

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/alert/receiver"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/store"
)

// faulty is a receiver that answers as package receiver reports of one over HTTP, by
// the faults of its story. It has what reached it, in order.
type faulty struct {
	answer func(since time.Duration) (processed bool, r receiver.Response)
	began  time.Time
	mu     sync.Mutex
	took   []arrival
}

// seen returns what it took so far.
func (f *faulty) seen() []arrival {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.took)
}

type arrival struct {
	id, incident, event string
	at                  time.Duration // since the story began
	after               time.Duration // since it was put into the outbox
}

func (f *faulty) Notify(ctx context.Context, n *receiver.Notice) receiver.Response {
	processed, r := f.answer(time.Since(f.began))
	if processed {
		f.mu.Lock()
		f.took = append(f.took, arrival{n.ID, n.Subject, n.Event, time.Since(f.began), time.Since(n.At)})
		f.mu.Unlock()
	}
	if r.Silent && !r.Unsent { // a stall
		select {
		case <-ctx.Done():
		case <-time.After(25 * time.Second):
		}
	}
	return r
}

var (
	fine    = receiver.Response{}
	broken  = receiver.Response{Err: errors.New("HTTP 500")}
	busy    = receiver.Response{Err: errors.New("HTTP 429"), RetryAfter: "20"}
	stalled = receiver.Response{Err: errors.New("timeout"), Silent: true}
	refused = receiver.Response{Err: errors.New("connection refused"), Silent: true, Unsent: true}
)

// process is a reporter's part that delivers one route, until it is killed.
type process struct {
	kill func()
	end  chan struct{}
}

func start(t *testing.T, s Store, to *faulty, route, holder string) *process {
	t.Helper()
	r, err := New(Config{Route: route, Receiver: receiver.Settings{Type: receiver.Webhook, URL: "http://127.0.0.1:1"}, Poll: 2 * time.Second}, s, holder, slog.New(slog.DiscardHandler))
	must.Succeed(t, err)
	r.notifier = to
	ctx, cancel := context.WithCancel(t.Context())
	p := &process{kill: cancel, end: make(chan struct{})}
	go func() {
		defer close(p.end)
		if err := r.Run(ctx); err != nil {
			t.Errorf("Run: %v", err)
		}
	}()
	return p
}

func (p *process) stop() { p.kill(); <-p.end }

// newStory returns a store, and what writes an incident's events on all routes as a
// judge does.
func newStory(t *testing.T, routes ...string) (*store.Store, func(incident string, events ...detect.Event)) {
	t.Helper()
	s, err := store.Open(t.Context(), "sqlite::memory:", store.Options{})
	must.Succeed(t, err)
	lease, ok, err := s.AcquireLease(t.Context(), "judge", "test", 100*time.Hour)
	if err != nil || !ok {
		t.Fatalf("lease: %t, %v", ok, err)
	}
	return s, func(incident string, events ...detect.Event) {
		var j store.Judgement
		for _, e := range events {
			for _, route := range routes {
				j.Notifications = append(j.Notifications, store.Notification{
					ID: strings.Join([]string{incident, string(e), route}, "/"), Fingerprint: incident, Incident: incident, Event: string(e), Route: route, Payload: []byte(`{}`),
				})
			}
		}
		must.Succeed(t, s.Judge(t.Context(), lease, j))
		lease.Writes++
	}
}

// life is what a receiver is told of an incident.
var life = []detect.Event{detect.EventFiring, detect.EventUpdated, detect.EventResolved}

// merged is its life where the update went into another message.
var merged = []detect.Event{detect.EventFiring, detect.EventResolved}

// held fails unless each incident's events came in their order, again only under the
// same id and before the next, and returns how many incidents were told of whole. An
// update that waited with another message of its incident went into that one.
func held(t *testing.T, route string, took []arrival) (whole int) {
	t.Helper()
	told := make(map[string][]arrival)
	for _, a := range took {
		told[a.incident] = append(told[a.incident], a)
	}
	for incident, all := range told {
		all = slices.CompactFunc(all, func(a, b arrival) bool { return a.id == b.id })
		var events []detect.Event
		for _, a := range all {
			events = append(events, detect.Event(a.event))
		}
		if !slices.Equal(events, life) && !slices.Equal(events, merged) {
			t.Errorf("%s was told of %s: %v", route, incident, events)
		}
		whole++
	}
	return whole
}

// TestFaultRun: six hours in which incidents begin and end, told to a healthy receiver,
// to one that fails in every way, and to one that is away for two hours, by reporters
// of which the one at work is killed every five seconds, or every minute.
func TestFaultRun(t *testing.T) {
	t.Parallel()
	each := []time.Duration{5 * time.Second, time.Minute}
	if testing.Short() { // the race detector takes ten minutes for all of it
		each = each[1:]
	}
	for _, every := range each {
		t.Run(every.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { faultRun(t, every) })
		})
	}
}

func faultRun(t *testing.T, killed time.Duration) {
	hour := time.Hour
	if testing.Short() {
		hour = 4 * time.Minute
	}
	awayFrom, awayTo := hour, 3*hour
	rng := rand.New(rand.NewPCG(13, uint64(killed)))
	s, judged := newStory(t, "healthy", "failing", "away")
	defer s.Close()
	began := time.Now()
	receivers := map[string]*faulty{
		"healthy": {answer: func(time.Duration) (bool, receiver.Response) { return true, fine }},
		"failing": {answer: func(time.Duration) (bool, receiver.Response) {
			switch n := rng.IntN(100); {
			case n < 30:
				return false, broken
			case n < 40:
				return rng.IntN(2) == 0, stalled
			case n < 45:
				return true, receiver.Response{Err: errors.New("connection reset")}
			case n < 50:
				return false, busy
			}
			return true, fine
		}},
		"away": {answer: func(since time.Duration) (bool, receiver.Response) {
			if since > awayFrom && since < awayTo {
				return false, refused
			}
			return true, fine
		}},
	}
	running := make(map[string]*process)
	for name, r := range receivers {
		r.began = began
		running[name] = start(t, s, r, name, "reporter-0")
	}

	// An incident every two minutes, which is updated and over within the next two.
	type times struct{ begun, over time.Duration }
	var all []times
	reporters := 0
	for now := time.Duration(0); now < 6*hour; now += 5 * time.Second {
		if minute := now.Minutes(); now%time.Minute == 0 && now < 4*hour {
			of := int(minute) / 2
			name := fmt.Sprintf("incident-%03d", of)
			if now%(2*time.Minute) == 0 {
				judged(name, life[0])
				all = append(all, times{begun: now})
			} else {
				judged(name, life[1:]...)
				all[of].over = now
			}
		}
		if now%killed == 0 {
			reporters++
			for name, r := range receivers {
				running[name].stop()
				running[name] = start(t, s, r, name, fmt.Sprint("reporter-", reporters))
			}
		}
		time.Sleep(5 * time.Second)
	}
	for _, p := range running {
		p.stop()
	}

	told := make(map[string]int)
	for name, r := range receivers {
		told[name] = held(t, name, r.seen())
	}
	if told["healthy"] != len(all) {
		t.Errorf("of %d incidents the healthy receiver was told of %d", len(all), told["healthy"])
	}
	// A reporter that is killed between a message and its note of it leaves it to be
	// sent again: nothing else may be the reason of a repeat.
	sent := make(map[string]time.Duration)
	for _, a := range receivers["healthy"].seen() {
		if first, again := sent[a.id]; again && first%killed != 0 {
			t.Errorf("%s came at %s and again at %s, and nobody was killed", a.id, first, a.at)
		}
		sent[a.id] = a.at
	}
	for _, a := range receivers["healthy"].seen() {
		if a.after > killed+time.Minute {
			t.Errorf("%s waited for %s though its receiver was healthy", a.id, a.after)
		}
	}
	if told["failing"] != len(all) {
		t.Errorf("of %d incidents the failing receiver was told of %d", len(all), told["failing"])
	}
	// What began and ended while nobody was there is not told afterwards. What began as it
	// went away was told of if that was looked for at that very moment.
	missed := 0
	for _, i := range all {
		if i.begun >= awayFrom && i.over < awayTo {
			missed++
		}
	}
	if told["away"] < len(all)-missed {
		t.Errorf("of %d incidents, %d of which it missed, the receiver that was away was told of %d", len(all), missed, told["away"])
	}
	t.Logf("%d incidents, %d reporters: %d messages to the failing receiver, %d missed by the one that was away", len(all), reporters, len(receivers["failing"].seen()), len(all)-told["away"])
}

// TestTwoReporters: of two that share the outbox one sends at a time. One that stands
// still in the middle of sending, for longer than its lease, and goes on afterwards has
// sent the one notification that it was at, and nothing else.
func TestTwoReporters(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, judged := newStory(t, "pager")
		defer s.Close()
		const incidents, messages = 20, 20 * 2
		for i := range incidents {
			judged(fmt.Sprintf("incident-%02d", i), life[0])
		}
		frozen := &faulty{began: time.Now()}
		frozen.answer = func(time.Duration) (bool, receiver.Response) {
			if len(frozen.seen()) == 7 {
				time.Sleep(10 * time.Minute) // whatever the context says
			}
			return true, fine
		}
		first := start(t, s, frozen, "pager", "first")
		time.Sleep(time.Minute)
		before := len(frozen.seen())
		second := &faulty{began: time.Now(), answer: func(time.Duration) (bool, receiver.Response) { return true, fine }}
		other := start(t, s, second, "pager", "second")
		time.Sleep(time.Minute)
		for i := range incidents {
			judged(fmt.Sprintf("incident-%02d", i), life[2])
		}
		time.Sleep(time.Minute)
		if before != 7 || len(second.seen()) != messages-7 {
			t.Fatalf("one sent %d and stood still, the other %d", before, len(second.seen()))
		}
		if whole := held(t, "pager", slices.Concat(frozen.seen(), second.seen())); whole != incidents {
			t.Errorf("%d incidents were told of", whole)
		}
		time.Sleep(11 * time.Minute)
		first.stop()
		other.stop()
		again := func(a arrival) bool { return a.id == frozen.seen()[7].id }
		if len(frozen.seen()) != 8 || !slices.ContainsFunc(second.seen(), again) || len(second.seen()) != messages-7 {
			t.Errorf("the one that stood still sent %d in all, the other %d", len(frozen.seen()), len(second.seen()))
		}
	})
}
