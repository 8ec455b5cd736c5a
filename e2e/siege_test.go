//go:build e2e

package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	_ "modernc.org/sqlite" // to read the stored totals as an operator would

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/httpsink"
)

const (
	// pageWithin, answerWithin and namedWithin are how long readers, producers and on-call wait
	// at most while somebody floods Keyheat.
	pageWithin   = 2 * time.Second
	answerWithin = 5 * time.Second
	namedWithin  = time.Minute
	// victim is the table, and its producer's user, that a flood may not harm.
	victim, attacker = "payments", "flooded"
)

// siege is a collector that takes samples over HTTP and a reporter with seven receivers, on a
// Postgres or one SQLite file. A victim sends samples while a test floods the collector.
type siege struct {
	scenario
	size      string // the SQL of the database's size
	receivers []*hearer
	pages     timings
	answers   timings
	sent      totals                    // the victim's
	heated    atomic.Pointer[time.Time] // when its key gets hot
}

// receiverTypes are the receivers of a siege, which all speak HTTP.
var receiverTypes = []string{"webhook", "alertmanager", "pagerduty", "slack", "jsm", "teams", "webhook"}

// eachSiege runs a test on each engine, one after the other: it measures times.
func eachSiege(t *testing.T, test func(*testing.T, *siege)) {
	if !*hostileFaults {
		t.Skip("make faults runs it")
	}
	for _, engine := range []string{"postgres", "sqlite"} {
		t.Run(engine, func(t *testing.T) { test(t, newSiege(t, engine)) })
	}
}

func newSiege(t *testing.T, engine string) *siege {
	t.Helper()
	w := &siege{}
	var settings strings.Builder
	settings.WriteString("receivers:\n")
	for i, kind := range receiverTypes {
		h := &hearer{}
		server := httptest.NewServer(h)
		t.Cleanup(server.Close)
		w.receivers = append(w.receivers, h)
		secret := ""
		if kind == "pagerduty" || kind == "jsm" {
			secret = ", secret: 0123456789abcdef0123456789abcdef"
		}
		// Every other one has the default limit of notifications a minute.
		fmt.Fprintf(&settings, "  %s-%d: {type: %s, url: %q, limit: %d%s}\n", kind, i, kind, server.URL, -(i % 2), secret)
	}
	url := ""
	if engine == "postgres" {
		url = w.startReporter(t, settings.String())
		w.size = `SELECT pg_database_size(current_database())`
	} else {
		file := t.TempDir() + "/keyheat.db"
		url = "sqlite:" + file
		w.serve(t, url, settings.String())
		w.openDatabase(t, "sqlite", file)
		w.size = `SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()`
	}
	w.collectors = []*process{newProcess(t, "collector", "collector run", fmt.Sprintf(`
http: {enabled: true}
store: {url: %q}
admin: {listen: "%%listen%%"}
web: {user_header: User, trusted_proxies: [127.0.0.1], operators: ["*"]}
`, url))}
	w.startCollectors(t)
	w.collectors[0].ready(t)
	return w
}

// timings are the longest times of some requests, by their names.
type timings struct {
	mu   sync.Mutex
	most map[string]time.Duration
	err  error
}

func (m *timings) note(name string, took time.Duration, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.most == nil {
		m.most = make(map[string]time.Duration)
	}
	m.most[name] = max(m.most[name], took)
	if err != nil && m.err == nil {
		m.err = fmt.Errorf("%s: %w", name, err)
	}
}

// check holds all times to a limit, and returns them as text.
func (m *timings) check(t *testing.T, limit time.Duration) string {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		t.Error(m.err)
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(m.most)) {
		took := m.most[name]
		if took > limit {
			t.Errorf("%s took %s, want at most %s", name, rounded(took), limit)
		}
		all = append(all, fmt.Sprintf("%s %s", name, rounded(took)))
	}
	return strings.Join(all, ", ")
}

// hearer is a receiver of notifications. It notes when it got the 20th, and when one named the
// victim's table first.
type hearer struct {
	mu             sync.Mutex
	messages       int
	twenty, victim time.Time
}

func (h *hearer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.messages++
	if h.messages == 20 {
		h.twenty = time.Now()
	}
	if h.victim.IsZero() && strings.Contains(string(body), victim) {
		h.victim = time.Now()
	}
	w.WriteHeader(http.StatusAccepted)
}

// readPages reads pages and the API again and again until ctx ends.
func (w *siege) readPages(ctx context.Context) {
	paths := []string{"/", "/status", "/tables", "/table?table=" + victim, "/table?table=" + attacker + "-0", "/api/v1/incidents", "/api/v1/findings"}
	for ctx.Err() == nil {
		for _, path := range paths {
			began := time.Now()
			_, err := w.reporter.get(path)
			if err != nil && !strings.HasPrefix(err.Error(), "5") {
				err = nil // the table has no view yet
			}
			w.pages.note(path, time.Since(began), err)
		}
		time.Sleep(time.Second)
	}
}

// asUser sends requests as a user, and times their answers.
type asUser struct {
	user    string
	answers *timings
}

func (a asUser) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("User", a.user)
	began := time.Now()
	response, err := again{http.DefaultTransport}.RoundTrip(r)
	a.answers.note(a.user, time.Since(began), err)
	return response, err
}

// again sends a request again when its connection ends before the answer, as producers do: a
// collector closes connections that wait, to make room for others.
type again struct{ http.RoundTripper }

func (a again) RoundTrip(r *http.Request) (*http.Response, error) {
	for {
		response, err := a.RoundTripper.RoundTrip(r)
		if !isClosed(err) {
			return response, err
		}
		body, err := r.GetBody()
		if err != nil {
			return nil, err
		}
		r = r.Clone(r.Context())
		r.Body = body
	}
}

func isClosed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		err != nil && strings.Contains(err.Error(), "server closed idle connection") // net/http does not export it
}

// sink returns what sends samples as a user.
func (w *siege) sink(user string, answers *timings) *httpsink.Sink {
	return httpsink.New(httpsink.Options{
		Collectors: []string{"http://" + w.collectors[0].address}, Client: &http.Client{Transport: asUser{user, answers}},
	})
}

// sendVictim sends the victim's samples until ctx ends, with a hot key from w.heated on.
func (w *siege) sendVictim(ctx context.Context, t *testing.T) {
	sink, last := w.sink(victim, &w.answers), time.Now()
	for ctx.Err() == nil {
		now := time.Now()
		steps := now.Sub(last) / latencySlot
		var records []sample.Record
		for i := range steps {
			at := last.Add(i * latencySlot)
			r := sample.Record{Time: at.UnixMilli(), Table: victim, PK: sample.KeyString(fmt.Sprint("payment#", at.UnixMilli()%50)), Op: sample.PutItem, WCU: 1000, Rate: 1, N: 1}
			if heated := w.heated.Load(); heated != nil && at.After(*heated) {
				r.PK, r.WCU = sample.KeyString("payment#hot"), 30_000
			}
			records = append(records, r)
			w.sent.requests++
			w.sent.units += int64(r.WCU / 1000)
		}
		last = last.Add(steps * latencySlot)
		if err := sink.Write(t.Context(), records); err != nil {
			t.Errorf("the victim's batch was dropped: %v", err)
			return
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// endure floods the collector for at least floodLasts, beside the victim and a reader of pages. The
// victim's key gets hot after half of that time; every receiver has to name its table. It logs
// what the flood cost. flood may go on when its context ends. says is why the collector is not ready
// at the end; empty if it is.
func (w *siege) endure(t *testing.T, says string, flood func(ctx context.Context)) {
	t.Helper()
	flooding, endFlood := context.WithCancel(t.Context())
	defer endFlood()
	beside, end := context.WithCancel(t.Context())
	defer end()
	var floods, others sync.WaitGroup
	others.Go(func() { w.readPages(beside) })
	others.Go(func() { w.sendVictim(beside, t) })
	within(t, time.Minute, victim+" is known", func() error {
		var known int
		err := w.database.QueryRow(`SELECT count(*) FROM targets WHERE table_name = $1`, victim).Scan(&known)
		if err == nil && known == 0 {
			err = errors.New("it is not")
		}
		return err
	})
	began := time.Now()
	heated := began.Add(*floodLasts / 2)
	w.heated.Store(&heated)
	floods.Go(func() { flood(flooding) })
	named := errors.New("it is too early")
	for time.Since(began) < *floodLasts || named != nil && time.Since(heated) < namedWithin {
		time.Sleep(time.Second)
		named = w.unnamed()
	}
	endFlood()
	floods.Wait()
	end()
	others.Wait()
	if named != nil {
		t.Error(named)
	}
	w.counted(t, victim, w.sent)
	if _, err := w.collectors[0].get("/-/ready"); says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
		t.Errorf("the collector's readiness is %v, want %q", err, says)
	}
	w.reporter.ready(t)
	w.reporter.note()
	w.collectors[0].note()
	t.Logf("answers: %s; pages: %s", w.answers.check(t, answerWithin), w.pages.check(t, pageWithin))
	t.Logf("%s", w.cost(t, began))
}

// unnamed returns an error as long as a receiver has not heard of the victim.
func (w *siege) unnamed() error {
	for i, h := range w.receivers {
		h.mu.Lock()
		at := h.victim
		h.mu.Unlock()
		if at.IsZero() {
			return fmt.Errorf("receiver %d, %s, did not hear of %s", i, receiverTypes[i], victim)
		}
	}
	return nil
}

// counted waits until the counts of the tables whose names begin so are what was sent.
func (w *siege) counted(t *testing.T, table string, want totals) {
	t.Helper()
	within(t, time.Minute, table+" is counted", func() error {
		var got totals
		err := w.database.QueryRow(`
			SELECT CAST(coalesce(sum(requests), 0) AS bigint), CAST(coalesce(sum(write_milli), 0) AS bigint) / 1000
			FROM keyheat_totals WHERE table_name LIKE $1`, table+"%").Scan(&got.requests, &got.units)
		if err == nil && got != want {
			err = fmt.Errorf("stored %+v, sent %+v", got, want)
		}
		return err
	})
}

// cost returns what the flood took: memory, space and messages.
func (w *siege) cost(t *testing.T, began time.Time) string {
	t.Helper()
	var size int64
	if err := w.database.QueryRow(w.size).Scan(&size); err != nil {
		t.Error(err)
	}
	var incidents, pending int
	if err := w.database.QueryRow(`SELECT (SELECT count(*) FROM incidents), (SELECT count(*) FROM notifications WHERE state = 'pending')`).Scan(&incidents, &pending); err != nil {
		t.Error(err)
	}
	var twenty, named time.Duration
	var messages []int
	for _, h := range w.receivers {
		h.mu.Lock()
		messages = append(messages, h.messages)
		twenty, named = max(twenty, h.twenty.Sub(began)), max(named, h.victim.Sub(*w.heated.Load()))
		h.mu.Unlock()
	}
	return fmt.Sprintf("%d incidents, %d messages (%d wait), the first 20 after %s, the victim named after %s; collector %d MiB, reporter %d MiB, database %d MiB",
		incidents, messages, pending, rounded(twenty), rounded(named), w.collectors[0].peak>>20, w.reporter.peak>>20, size>>20)
}
