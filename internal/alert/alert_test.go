package alert_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"go.uber.org/goleak"

	"github.com/keyheat/keyheat/internal/alert"
	"github.com/keyheat/keyheat/internal/alert/receiver"
	wait "github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/port"
	"github.com/keyheat/keyheat/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="

// call is one request that a receiver saw.
type call struct {
	header http.Header
	body   []byte
	receiver.Message
}

// target returns every request by a function and remembers it.
type target struct {
	*httptest.Server
	mu    sync.Mutex
	calls []call
}

func receive(t *testing.T, answer func(w http.ResponseWriter, nth int)) *target {
	t.Helper()
	r := &target{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		c := call{header: q.Header, body: body}
		if err := json.Unmarshal(body, &c.Message); err != nil {
			t.Errorf("the body is no message: %v", err)
		}
		r.mu.Lock()
		r.calls = append(r.calls, c)
		nth := len(r.calls)
		r.mu.Unlock()
		answer(w, nth)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *target) seen() []call {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.calls)
}

func status(code int) func(http.ResponseWriter, int) {
	return func(w http.ResponseWriter, _ int) { w.WriteHeader(code) }
}

// outbox is a store with these notifications, "id fingerprint event" each.
func outbox(t *testing.T, all ...string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), "sqlite::memory:", store.Options{})
	must.Succeed(t, err)
	t.Cleanup(func() { _ = s.Close() })
	l, ok, err := s.AcquireLease(t.Context(), "judge", "test", time.Minute)
	if err != nil || !ok {
		t.Fatalf("lease: %t, %v", ok, err)
	}
	var j store.Judgement
	for _, n := range all {
		f := strings.Fields(n)
		j.Notifications = append(j.Notifications, store.Notification{
			ID: f[0], Fingerprint: f[1], Event: f[2], Route: alert.DefaultRoute,
			Payload: []byte(`{"fingerprint":"` + f[1] + `"}`),
		})
	}
	must.Succeed(t, s.Judge(t.Context(), l, j))
	return s
}

// quick is a configuration whose pauses a test can wait for.
func quick(url string) alert.Config {
	return alert.Config{
		Receiver: receiver.Settings{Type: receiver.Webhook, URL: url}, Timeout: time.Minute, Poll: 2 * time.Millisecond,
		MinPause: time.Millisecond, MaxPause: 4 * time.Millisecond,
	}
}

// deliver runs a webhook until done holds.
func deliver(t *testing.T, c alert.Config, s alert.Store, done func() bool) *alert.Route {
	t.Helper()
	return deliverLogged(t, c, s, io.Discard, done)
}

func deliverLogged(t *testing.T, c alert.Config, s alert.Store, log io.Writer, done func() bool) *alert.Route {
	t.Helper()
	w, err := alert.New(c, s, "test", slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	must.Succeed(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	await(t, done)
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("Run: %v", err)
	}
	return w
}

func await(t *testing.T, done func() bool) {
	t.Helper()
	wait.Until(t, "what the test waits for", done)
}

// settled reports whether a finding has no notification pending.
func settled(t *testing.T, s *store.Store, fingerprint string) func() bool {
	return func() bool {
		for _, n := range kept(t, s, fingerprint) {
			if n.State == store.Pending {
				return false
			}
		}
		return true
	}
}

func kept(t *testing.T, s *store.Store, fingerprint string) []store.Notification {
	t.Helper()
	all, err := s.Notifications(context.WithoutCancel(t.Context()), fingerprint)
	must.Succeed(t, err)
	return all
}

// answers is how the receiver answers, as it is stored.
func answers(t *testing.T, s *store.Store) store.Receiver {
	t.Helper()
	r, err := s.Receiver(context.WithoutCancel(t.Context()), alert.DefaultRoute)
	must.Succeed(t, err)
	return r
}

func events(calls []call) []string {
	var all []string
	for _, c := range calls {
		all = append(all, c.ID+" "+c.Event)
	}
	return all
}

func TestASignedMessageIsVerifiedByTheStandardsOwnLibrary(t *testing.T) {
	t.Parallel()
	s := outbox(t, "n1 f firing")
	r := receive(t, status(http.StatusNoContent))
	c := quick(r.URL)
	c.Receiver.Secret = secret
	deliver(t, c, s, settled(t, s, "f"))
	calls := r.seen()
	if len(calls) != 1 {
		t.Fatalf("%d calls, want 1", len(calls))
	}
	verifier, err := standardwebhooks.NewWebhook(secret)
	must.Succeed(t, err)
	if err := verifier.Verify(calls[0].body, calls[0].header); err != nil {
		t.Errorf("signature: %v", err)
	}
	if err := verifier.Verify(append(calls[0].body, ' '), calls[0].header); err == nil {
		t.Error("a changed body passes the verification")
	}
	if got := calls[0].Message; got.ID != "n1" || got.Event != "firing" || string(got.Finding) != `{"fingerprint":"f"}` || got.At.IsZero() {
		t.Errorf("message %+v", got)
	}
	if got := calls[0].header.Get("Content-Type"); got != "application/json" {
		t.Errorf("content type %q", got)
	}
	if got := answers(t, s); got.Failing() || got.Succeeded.IsZero() {
		t.Errorf("the receiver is %+v", got)
	}
}

func TestAWokenRouteDeliversAtOnce(t *testing.T) {
	t.Parallel()
	s := outbox(t, "n1 f firing")
	r := receive(t, status(http.StatusNoContent))
	c := quick(r.URL)
	c.Poll = time.Hour
	w, err := alert.New(c, s, "test", slog.New(slog.DiscardHandler))
	must.Succeed(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	await(t, settled(t, s, "f"))
	err = s.PutNotification(t.Context(), store.Notification{ID: "n2", Fingerprint: "g", Event: "firing", Route: alert.DefaultRoute, Payload: []byte(`{}`)})
	must.Succeed(t, err)
	w.Wake()
	await(t, settled(t, s, "g"))
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("Run: %v", err)
	}
	if got := events(r.seen()); len(got) != 2 {
		t.Errorf("delivered %v, want two notifications", got)
	}
}

func TestAReportIsNoFinding(t *testing.T) {
	t.Parallel()
	s := outbox(t, "n1 weekly report", "n2 f firing")
	r := receive(t, status(http.StatusNoContent))
	deliver(t, quick(r.URL), s, func() bool { return settled(t, s, "f")() && settled(t, s, "weekly")() })
	bodies := map[string]string{}
	for _, c := range r.seen() {
		var m map[string]json.RawMessage
		must.Succeed(t, json.Unmarshal(c.body, &m))
		bodies[c.ID] = string(m["finding"]) + " " + string(m["report"])
	}
	if bodies["n1"] != ` {"fingerprint":"weekly"}` || bodies["n2"] != `{"fingerprint":"f"} ` {
		t.Errorf("got %q", bodies)
	}
}

func TestWithoutASecretNothingIsSigned(t *testing.T) {
	t.Parallel()
	s := outbox(t, "n1 f firing")
	r := receive(t, status(http.StatusOK))
	deliver(t, quick(r.URL), s, settled(t, s, "f"))
	if got := r.seen()[0].header.Get("webhook-signature"); got != "" {
		t.Errorf("signature %q", got)
	}
}

func TestAFailedDeliveryIsRepeatedWithTheSameIDAndBody(t *testing.T) {
	t.Parallel()
	s := outbox(t, "n1 f firing", "n2 f resolved", "n3 g firing")
	r := receive(t, func(w http.ResponseWriter, nth int) {
		if nth <= 3 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	deliver(t, quick(r.URL), s, func() bool { return settled(t, s, "f")() && settled(t, s, "g")() })
	bodies := make(map[string]string)
	var order []string
	for _, c := range r.seen() {
		if before, again := bodies[c.ID]; again && before != string(c.body) {
			t.Errorf("the repetition of %s differs:\n%s\n%s", c.ID, before, c.body)
		}
		bodies[c.ID] = string(c.body)
		if c.Fingerprint() == "f" && !slices.Contains(order, c.ID) {
			order = append(order, c.ID)
		}
	}
	if want := []string{"n1", "n2"}; !slices.Equal(order, want) {
		t.Errorf("f's notifications arrive as %v, want %v", order, want)
	}
	if n := len(r.seen()); n != 6 {
		t.Errorf("%d attempts, want 3 failed and 3 good ones", n)
	}
}

// TestEachAttemptIsLogged: with what came of it, and without what it is about.
func TestEachAttemptIsLogged(t *testing.T) {
	t.Parallel()
	s := outbox(t, "n1 customer-smith firing", "n2 customer-smith resolved")
	r := receive(t, func(w http.ResponseWriter, nth int) {
		if nth <= 2 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	var log bytes.Buffer
	deliverLogged(t, quick(r.URL), s, &log, settled(t, s, "customer-smith"))
	var attempts []string
	for line := range strings.Lines(log.String()) {
		var entry struct {
			Level, Msg, ID, Event, Outcome, Route string
			Attempt                               int
		}
		must.Succeed(t, json.Unmarshal([]byte(line), &entry))
		if entry.Msg == "notification attempted" {
			attempts = append(attempts, fmt.Sprintf("%s %s %s %s %s %d", entry.Level, entry.Route, entry.ID, entry.Event, entry.Outcome, entry.Attempt))
		}
	}
	want := []string{
		"DEBUG webhook n1 firing failed 1", "DEBUG webhook n1 firing failed 2", "INFO webhook n1 firing delivered 3", "INFO webhook n2 resolved delivered 1",
	}
	if !slices.Equal(attempts, want) || strings.Contains(log.String(), "smith") {
		t.Errorf("logged are %q, want %q: %s", attempts, want, log.String())
	}
}

func (c call) Fingerprint() string {
	var f struct{ Fingerprint string }
	_ = json.Unmarshal(c.Finding, &f)
	return f.Fingerprint
}

func TestARefusalIsGivenUpAndLetsTheNextThrough(t *testing.T) {
	t.Parallel()
	s := outbox(t, "n1 f firing", "n2 f resolved", "n3 g firing")
	r := receive(t, func(w http.ResponseWriter, nth int) {
		if nth <= 4 && nth != 2 {
			http.Error(w, "no such\nchannel", http.StatusNotFound)
		}
	})
	c := quick(r.URL)
	c.Refusals = 3
	deliver(t, c, s, settled(t, s, "f"))
	if got, want := events(r.seen()), []string{"n1 firing", "n3 firing", "n1 firing", "n1 firing", "n2 resolved"}; !slices.Equal(got, want) {
		t.Errorf("calls %v, want %v", got, want)
	}
	all := kept(t, s, "f")
	if all[0].State != store.Dead || all[0].LastError != "the receiver returned 404 Not Found: see its own log" {
		t.Errorf("the refused one: %+v", all[0])
	}
	if all[1].State != store.Delivered {
		t.Errorf("the later one: %+v", all[1])
	}
}

// TestARefusalAfterFailuresIsOneRefusal: what failed on the way counts for
// nothing, so that one rejection after an outage does not lose the page.
func TestARefusalAfterFailuresIsOneRefusal(t *testing.T) {
	t.Parallel()
	s := outbox(t, "n1 f firing")
	r := receive(t, func(w http.ResponseWriter, nth int) {
		switch nth {
		case 1, 2, 4:
			w.WriteHeader(http.StatusInternalServerError)
		case 3: // the connection breaks
			panic(http.ErrAbortHandler)
		case 5:
			w.WriteHeader(http.StatusBadRequest)
		}
	})
	c := quick(r.URL)
	c.Refusals = 2
	deliver(t, c, s, settled(t, s, "f"))
	if n := kept(t, s, "f")[0]; n.State != store.Delivered || n.Attempts != 5 || n.Refusals != 1 {
		t.Errorf("state %s after %d attempts, %d of them refused", n.State, n.Attempts, n.Refusals)
	}
}

// TestTheReceiversWordsAreNotKept: it may echo the message, or its own secrets.
func TestTheReceiversWordsAreNotKept(t *testing.T) {
	t.Parallel()
	const echoed = "Bearer-canary-4711"
	s := outbox(t, "n1 f firing")
	r := receive(t, func(w http.ResponseWriter, _ int) { http.Error(w, echoed, http.StatusInternalServerError) })
	var log bytes.Buffer
	deliverLogged(t, quick(r.URL), s, &log, func() bool { return kept(t, s, "f")[0].Attempts > 0 })
	for where, text := range map[string]string{
		"the store": kept(t, s, "f")[0].LastError, "the receiver's state": answers(t, s).LastError, "the log": log.String(),
	} {
		if strings.Contains(text, echoed) {
			t.Errorf("%s says %q", where, text)
		}
	}
}

func TestARedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	s := outbox(t, "n1 f firing")
	elsewhere := receive(t, status(http.StatusOK))
	r := receive(t, func(w http.ResponseWriter, _ int) {
		w.Header().Set("Location", elsewhere.URL)
		w.WriteHeader(http.StatusTemporaryRedirect)
	})
	deliver(t, quick(r.URL), s, func() bool { return kept(t, s, "f")[0].Refusals >= 2 })
	if n := len(elsewhere.seen()); n != 0 {
		t.Errorf("the redirect's target got %d calls", n)
	}
	if n := kept(t, s, "f")[0]; n.State != store.Pending {
		t.Errorf("state %s after %d attempts, want pending", n.State, n.Attempts)
	}
}

func TestRetryAfterIsHonoured(t *testing.T) {
	t.Parallel()
	for _, code := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
		for _, dated := range []bool{false, true} {
			asked, begun := "25", time.Now()
			if dated {
				asked = begun.Add(25 * time.Second).UTC().Format(http.TimeFormat)
			}
			s := outbox(t, "n1 f firing")
			r := receive(t, func(w http.ResponseWriter, _ int) {
				w.Header().Set("Retry-After", asked)
				w.WriteHeader(code)
			})
			c := quick(r.URL)
			c.Refusals = 1
			deliver(t, c, s, func() bool { return kept(t, s, "f")[0].Attempts == 1 })
			n, to := kept(t, s, "f")[0], answers(t, s)
			if n.State != store.Pending || to.NextAttempt.Before(begun.Add(20*time.Second)) || time.Until(to.NextAttempt) > 30*time.Second {
				t.Errorf("%d, Retry-After %s at %s: %s, next at %s", code, asked, begun, n.State, to.NextAttempt)
			}
		}
	}
}

func TestPausesDouble(t *testing.T) {
	t.Parallel()
	s := outbox(t, "n1 f firing")
	r := receive(t, status(http.StatusBadGateway))
	c := quick(r.URL)
	c.MinPause, c.MaxPause = 20*time.Millisecond, time.Hour
	started := time.Now()
	deliver(t, c, s, func() bool { return kept(t, s, "f")[0].Attempts >= 4 })
	// 20 + 40 + 80 ms, of each up to a fifth less.
	if took := time.Since(started); took < 112*time.Millisecond {
		t.Errorf("four attempts within %s", took)
	}
	to := answers(t, s)
	if wait, longest := time.Until(to.NextAttempt), c.MinPause<<(to.Failures-1); wait > longest {
		t.Errorf("after %d failures the next attempt comes in %s, want at most %s", to.Failures, wait, longest)
	}
}

func TestASilentReceiverIsLeftAfterTheTimeout(t *testing.T) {
	t.Parallel()
	s := outbox(t, "n1 f firing")
	release := make(chan struct{})
	r := receive(t, func(http.ResponseWriter, int) { <-release })
	defer close(release)
	c := quick(r.URL)
	c.Timeout = 50 * time.Millisecond
	deliver(t, c, s, func() bool { return kept(t, s, "f")[0].Attempts >= 2 })
}

func TestAnEndlessAnswerIsCutOff(t *testing.T) {
	t.Parallel()
	s := outbox(t, "n1 f firing")
	r := receive(t, func(w http.ResponseWriter, _ int) {
		chunk := make([]byte, 64<<10)
		for range 1 << 10 {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
		t.Error("64 MiB of response were read")
	})
	deliver(t, quick(r.URL), s, settled(t, s, "f"))
	if n := kept(t, s, "f")[0]; n.State != store.Delivered {
		t.Errorf("%+v", n)
	}
}

func TestWhatIsTooOldIsGivenUp(t *testing.T) {
	t.Parallel()
	s := outbox(t, "n1 f firing")
	r := receive(t, status(http.StatusInternalServerError))
	c := quick(r.URL)
	c.GiveUp = 30 * time.Millisecond
	deliver(t, c, s, settled(t, s, "f"))
	if n := kept(t, s, "f")[0]; n.State != store.Dead || !strings.Contains(n.LastError, "not delivered within 30ms") {
		t.Errorf("%+v", n)
	}
}

func TestTwoProcessesTakeTurns(t *testing.T) {
	t.Parallel()
	var all []string
	for i := range 40 {
		all = append(all, string(rune('a'+i%26))+strings.Repeat("x", i)+" f"+string(rune('a'+i%5))+" firing")
	}
	s := outbox(t, all...)
	r := receive(t, status(http.StatusOK))
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for _, holder := range []string{"one", "two"} {
		w, err := alert.New(quick(r.URL), s, holder, slog.New(slog.DiscardHandler))
		must.Succeed(t, err)
		group.Go(func() { _ = w.Run(ctx) })
	}
	await(t, func() bool { return len(r.seen()) >= len(all) })
	for _, fingerprint := range []string{"fa", "fb", "fc", "fd", "fe"} {
		await(t, settled(t, s, fingerprint))
	}
	cancel()
	group.Wait()
	if n := len(r.seen()); n != len(all) {
		t.Errorf("%d calls for %d notifications", n, len(all))
	}
}

// TestARouteIsNoPartOfReadiness: a receiver that is down must not take the pages away.
func TestARouteIsNoPartOfReadiness(t *testing.T) {
	t.Parallel()
	s := outbox(t, "n1 f firing")
	w := deliver(t, quick("http://"+port.HoldAddress(t)), s, func() bool { return kept(t, s, "f")[0].Attempts >= 1 })
	if _, gates := any(w).(interface{ Ready() []string }); gates {
		t.Error("a route has a say in readiness")
	}
	if got := answers(t, s); !got.Failing() || got.FailedSince.IsZero() || !strings.Contains(got.LastError, "refused") || got.Pending != 1 {
		t.Errorf("the receiver is %+v", got)
	}
}

// receiveBodies starts a receiver of anything and returns its URL.
func receiveBodies(t *testing.T, take func(body string)) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		take(string(body))
	}))
	t.Cleanup(server.Close)
	return server.URL
}
