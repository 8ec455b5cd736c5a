package alert_test

import (
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/alert"
	"github.com/keyheat/keyheat/internal/alert/receiver"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/store"
)

// told is a store with notifications of incidents: "id incident event" each.
func told(t *testing.T, all ...string) *store.Store {
	t.Helper()
	s := outbox(t)
	add(t, s, all...)
	return s
}

func add(t *testing.T, s *store.Store, all ...string) {
	t.Helper()
	for _, n := range all {
		f := strings.Fields(n)
		err := s.PutNotification(t.Context(), store.Notification{
			ID: f[0], Fingerprint: "f-" + f[1], Incident: f[1], Event: f[2], Route: alert.DefaultRoute,
			Payload: []byte(`{"incident":{"id":"` + f[1] + `","table":"orders","severity":"critical"},"finding":{"case":"hot_key","subject":"key_writes","table":"orders","key":"` + f[1] + `","severity":"critical"}}`),
		})
		must.Succeed(t, err)
	}
}

// states are those of a route's notifications, by ID.
func states(t *testing.T, s *store.Store, route string) map[string]string {
	t.Helper()
	all, err := s.RecentNotifications(t.Context(), store.NotificationQuery{Route: route})
	must.Succeed(t, err)
	by := make(map[string]string)
	for _, n := range all {
		by[n.ID] = n.State
	}
	return by
}

// none reports whether nothing is pending on a route.
func none(t *testing.T, s *store.Store, route string) func() bool {
	return func() bool {
		for _, state := range states(t, s, route) {
			if state == store.Pending {
				return false
			}
		}
		return true
	}
}

func TestWhatEndedBeforeItWasToldIsCancelled(t *testing.T) {
	t.Parallel()
	s := told(t, "a1 a firing", "b1 b firing", "b2 b updated", "a2 a resolved")
	r := receive(t, status(http.StatusOK))
	deliver(t, quick(r.URL), s, none(t, s, alert.DefaultRoute))
	if got, want := events(r.seen()), []string{"b1 firing"}; !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
	if got := states(t, s, alert.DefaultRoute); got["a1"] != store.Cancelled || got["a2"] != store.Cancelled || got["b2"] != store.Summarised {
		t.Errorf("states %v", got)
	}
}

// TestAnAttemptThatMayHaveArrivedIsEnded: the receiver took it and the connection
// broke, so that it has to be told of the end.
func TestAnAttemptThatMayHaveArrivedIsEnded(t *testing.T) {
	t.Parallel()
	s := told(t, "a1 a firing")
	var once atomic.Bool
	r := receive(t, func(w http.ResponseWriter, _ int) {
		if once.CompareAndSwap(false, true) {
			add(t, s, "a2 a resolved")
			panic(http.ErrAbortHandler)
		}
	})
	deliver(t, quick(r.URL), s, none(t, s, alert.DefaultRoute))
	if got, want := events(r.seen()), []string{"a1 firing", "a1 firing", "a2 resolved"}; !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
}

// TestARefusedBeginningNeedsNoEnd: what the receiver rejected has certainly not
// arrived.
func TestARefusedBeginningNeedsNoEnd(t *testing.T) {
	t.Parallel()
	s := told(t, "a1 a firing", "b1 b firing")
	var once atomic.Bool
	r := receive(t, func(w http.ResponseWriter, _ int) {
		if once.CompareAndSwap(false, true) {
			add(t, s, "a2 a resolved")
			w.WriteHeader(http.StatusTooManyRequests)
		}
	})
	deliver(t, quick(r.URL), s, none(t, s, alert.DefaultRoute))
	if got, want := events(r.seen()), []string{"a1 firing", "b1 firing"}; !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
}

func TestAnIncidentThatBeginsAgainIsToldAgain(t *testing.T) {
	t.Parallel()
	s := told(t, "a1 a firing", "a2 a resolved")
	r := receive(t, status(http.StatusOK))
	deliver(t, quick(r.URL), s, none(t, s, alert.DefaultRoute))
	add(t, s, "a3 a firing")
	deliver(t, quick(r.URL), s, none(t, s, alert.DefaultRoute))
	add(t, s, "a4 a resolved")
	deliver(t, quick(r.URL), s, none(t, s, alert.DefaultRoute))
	if got, want := events(r.seen()), []string{"a3 firing", "a4 resolved"}; !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
}

// TestAnEndIsToldThoughItFiredAgain: while the receiver is away an incident of which it
// knows is over, fires again and is over once more: it needs to hear of the last end.
func TestAnEndIsToldThoughItFiredAgain(t *testing.T) {
	t.Parallel()
	s := told(t, "a1 a firing")
	r := receive(t, status(http.StatusOK))
	deliver(t, quick(r.URL), s, none(t, s, alert.DefaultRoute))
	add(t, s, "a2 a updated", "a3 a resolved", "a4 a firing", "a5 a updated", "a6 a resolved")
	deliver(t, quick(r.URL), s, none(t, s, alert.DefaultRoute))
	if got, want := events(r.seen()), []string{"a1 firing", "a6 resolved"}; !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
	if got := states(t, s, alert.DefaultRoute); got["a3"] != store.Summarised || got["a4"] != store.Summarised || got["a5"] != store.Summarised {
		t.Errorf("states %v", got)
	}
}

// TestAFiringDoesNotWaitForItsOlderEnd: the receiver refuses ends, and takes beginnings.
func TestAFiringDoesNotWaitForItsOlderEnd(t *testing.T) {
	t.Parallel()
	s := told(t, "a1 a firing")
	var refuses atomic.Bool
	r := receive(t, func(w http.ResponseWriter, _ int) {
		if refuses.Load() {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	deliver(t, quick(r.URL), s, none(t, s, alert.DefaultRoute))
	refuses.Store(true)
	add(t, s, "a2 a resolved")
	deliver(t, quick(r.URL), s, func() bool { return len(r.seen()) > 1 })
	refuses.Store(false)
	add(t, s, "a3 a firing")
	deliver(t, quick(r.URL), s, none(t, s, alert.DefaultRoute))
	if got := states(t, s, alert.DefaultRoute); got["a2"] != store.Cancelled || got["a3"] != store.Delivered {
		t.Errorf("states %v", got)
	}
}

func TestBeyondTheLimitOneMessageSaysHowManyMore(t *testing.T) {
	t.Parallel()
	var all []string
	for _, letter := range strings.Split("abcdefghij", "") {
		all = append(all, letter+"1 "+letter+" firing")
	}
	s := told(t, all...)
	r := receive(t, status(http.StatusOK))
	c := quick(r.URL)
	c.Limit = 3
	deliver(t, c, s, none(t, s, alert.DefaultRoute))
	calls := r.seen()
	if len(calls) != 4 || !strings.HasPrefix(calls[3].Title, "7 more incidents than 3 a minute: 7 on orders. The worst: orders: ") || !strings.HasSuffix(calls[3].Title, "(“d”)") {
		t.Fatalf("told %q, the last %q", events(calls), calls[len(calls)-1].Title)
	}
	// Of what was summed up no end is told; of the others it is, whatever the limit.
	add(t, s, "a2 a resolved", "j2 j resolved")
	deliver(t, c, s, none(t, s, alert.DefaultRoute))
	if got := events(r.seen()[4:]); !slices.Equal(got, []string{"a2 resolved"}) {
		t.Errorf("then told %q", got)
	}
}

// TestAlertmanagerIsToldAgain: it forgets what it is not told, also over a restart.
func TestAlertmanagerIsToldAgain(t *testing.T) {
	t.Parallel()
	s := told(t, "a1 a firing", "b1 b firing")
	l, _, err := s.AcquireLease(t.Context(), "judge", "test", time.Minute)
	must.Succeed(t, err)
	err = s.Judge(t.Context(), l, store.Judgement{Incidents: []store.Incident{
		{ID: "a", State: "firing", Document: []byte("{}")}, {ID: "b", State: "resolved", Document: []byte("{}")},
	}})
	must.Succeed(t, err)
	var posts atomic.Int32
	var last atomic.Value
	r := receiveBodies(t, func(body string) { posts.Add(1); last.Store(body) })
	c := quick("")
	c.Receiver = receiver.Settings{Type: receiver.Alertmanager, URL: r}
	// The two, and the one that goes on, at once after each start.
	deliver(t, c, s, func() bool { return posts.Load() == 3 })
	deliver(t, c, s, func() bool { return posts.Load() == 4 })
	if got, _ := last.Load().(string); !strings.Contains(got, `"incident":"a"`) {
		t.Errorf("told again: %s", got)
	}
}

func TestSettingsAreChecked(t *testing.T) {
	t.Parallel()
	c := alert.Config{Receiver: receiver.Settings{Type: receiver.PagerDuty}}
	if _, err := alert.New(c, nil, "test", slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "secret: missing") {
		t.Errorf("got %v", err)
	}
}
