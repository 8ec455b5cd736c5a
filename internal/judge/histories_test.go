package judge_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/alert"
	"github.com/keyheat/keyheat/internal/alert/receiver"
	"github.com/keyheat/keyheat/internal/judge"
	"github.com/keyheat/keyheat/store"
)

var histories = flag.Int("histories.n", 20, "how many random histories TestHistories plays")

// endless is the history of a moving hot spot that never ended: one of 1,000, and 453 and
// 627 are the others.
const endless = 434

// TestHistories plays random loads whose causes take over and give back, before two
// reporters that are stopped and killed. Whenever the load rests, the newest message that
// each receiver has of each incident must be true, and all messages must have come in the
// order of their revisions.
func TestHistories(t *testing.T) {
	t.Parallel()
	n := *histories
	if testing.Short() {
		n = min(n, 4)
	}
	for seed := range n + 1 {
		if seed == n {
			seed = endless
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			engine := anyEngine()
			if seed%10 == 0 {
				engine = "postgres"
			}
			newHistory(t, open(t, engines[engine](t)), uint64(seed)).play()
		})
	}
}

// The receivers of a history: of each incident, and of critical ones.
const (
	onEach     = "each"
	onCritical = "critical"
)

// told is what a receiver knows of one incident.
type knowledge struct {
	event    string
	revision int
}

// inbox is what one receiver knows.
type inbox struct {
	ids       map[string]bool
	incidents map[string]knowledge
}

// history is one random history.
type history struct {
	t      *testing.T
	random *rand.Rand
	store  *store.Store
	w      *collector
	config judge.Config
	server *httptest.Server
	stands time.Time
	second int // of event time
	ahead  time.Duration
	judges []*runner
	routes []func() // each stops one
	wake   []func()
	log    []string // what happened, for a failure

	mu    sync.Mutex
	inbox map[string]*inbox
}

func newHistory(t *testing.T, s *store.Store, seed uint64) *history {
	t.Helper()
	h := &history{
		t: t, store: s, random: rand.New(rand.NewPCG(seed, 24)), stands: time.Now(), w: collect(t, s, "a", 0, begin()), inbox: make(map[string]*inbox),
	}
	policy := detect.DefaultPolicy()
	policy.KeepFiring = time.Duration(h.random.IntN(2)) * time.Minute
	policy.OnHarm = h.random.IntN(2) == 0
	h.config = quick()
	h.config.Lease = 3 * time.Second      // a pass under the race detector, or on a busy machine, takes more than quick's
	h.config.Poll = 20 * time.Millisecond // two judges that ask all the time leave no time for anything else
	h.config.Policy = func(detect.Target) detect.Policy { return policy }
	h.config.Receivers = func(i *detect.Incident) []string {
		if i.Severity == detect.Critical {
			return []string{onEach, onCritical}
		}
		return []string{onEach}
	}
	h.config.Notified = func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		for _, wake := range h.wake {
			wake()
		}
	}
	for _, name := range []string{onEach, onCritical} {
		h.inbox[name] = &inbox{make(map[string]bool), make(map[string]knowledge)}
	}
	h.server = httptest.NewServer(http.HandlerFunc(h.receive))
	t.Cleanup(h.server.Close)
	for range 2 {
		h.startReporter()
	}
	h.deliver()
	return h
}

// receive takes a message, and fails where it does not follow on the one before it.
func (h *history) receive(_ http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	var m receiver.Message
	var i detect.Incident
	if err == nil {
		err = json.Unmarshal(body, &m)
	}
	if err == nil {
		err = json.Unmarshal(m.Incident, &i)
	}
	if err != nil {
		h.t.Errorf("a message that cannot be read: %v", err)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	name := strings.TrimPrefix(q.URL.Path, "/")
	in := h.inbox[name]
	if in.ids[m.ID] {
		return // as receivers drop it
	}
	in.ids[m.ID] = true
	before := in.incidents[i.ID]
	if i.Revision <= before.revision || m.Event == "resolved" && !before.fires() || m.Event == "firing" && before.fires() {
		h.t.Errorf("%s: %s of %s at revision %d follows on %+v", name, m.Event, i.ID, i.Revision, before)
	}
	in.incidents[i.ID] = knowledge{m.Event, i.Revision}
	h.log = append(h.log, fmt.Sprintf("  %s: %s %s %s, revision %d", name, m.Event, i.Case, i.ID[:4], i.Revision))
}

func (k knowledge) fires() bool { return k.event != "" && k.event != "resolved" }

// startReporter starts one more judge.
func (h *history) startReporter() {
	p := &probe{Store: h.store, stands: h.stands}
	p.ahead.Store(int64(h.ahead))
	h.judges = append(h.judges, run(h.t, h.config, p))
}

// deliver delivers to all receivers, in the place of the process before.
func (h *history) deliver() {
	for _, stop := range h.routes {
		stop()
	}
	h.routes = nil
	var wake []func()
	for name := range h.inbox {
		r, err := alert.New(alert.Config{
			Route: name, Receiver: receiver.Settings{Type: receiver.Webhook, URL: h.server.URL + "/" + name}, Poll: 200 * time.Millisecond,
		}, h.store, "reporter", slog.New(slog.DiscardHandler))
		must(h.t, err)
		stop := goRun(h.t, r.Run)
		h.routes, wake = append(h.routes, stop), append(wake, r.Wake)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.wake = wake
}

// play lets load and faults follow each other until nothing is hot. Then one key is hot for
// ten minutes.
func (h *history) play() {
	h.t.Cleanup(func() {
		if h.t.Failed() {
			h.t.Log(strings.Join(h.log, "\n"))
		}
	})
	for range 20 {
		h.fault()
		name, keys := h.pickLoad()
		h.pour(name, 3+h.random.IntN(30), keys)
		h.isTrue()
		if h.t.Failed() {
			return
		}
	}
	h.pour("calm", 400, nil)
	h.pass(time.Hour)
	h.isTrue()
	for name, in := range h.inbox {
		for id, k := range in.incidents {
			if k.fires() {
				h.t.Errorf("%s: in the end %s fires: %s", name, id, h.findings(id))
			}
		}
	}
	h.pour("one key", 600, func(int) []string { return []string{"a"} })
	h.isTrue()
	if len(h.firing()) == 0 {
		h.t.Error("one key is hot for ten minutes, and nothing fires")
	}
}

// fault stops or kills a reporter, which another one follows, in some cases.
func (h *history) fault() {
	switch n := h.random.IntN(len(h.judges)); h.random.IntN(6) {
	case 0:
		h.note("reporter %d is restarted", n)
		h.replace(n)
	case 1:
		h.note("reporter %d is killed", n)
		h.judges[n].dead.Store(true)
		h.replace(n)
	case 2:
		h.note("delivery is restarted")
		h.deliver()
	}
}

// replace ends a judge, and starts another one.
func (h *history) replace(n int) {
	h.judges[n].stop()
	h.judges = slices.Delete(h.judges, n, n+1)
	h.startReporter()
}

func (h *history) note(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.log = append(h.log, fmt.Sprintf("%4d ", h.second)+fmt.Sprintf(format, args...))
}

// pickLoad returns what is hot next: the load of a second.
func (h *history) pickLoad() (name string, keys func(second int) []string) {
	fixed := func(names ...string) func(int) []string { return func(int) []string { return names } }
	switch h.random.IntN(8) {
	case 0:
		return "calm", fixed()
	case 1:
		return "one key", fixed("a")
	case 2, 3:
		return "one key with all load", fixed("a", "")
	case 4, 5:
		return "two keys with all load", fixed("a", "b", "")
	case 6:
		return "three keys", fixed("a", "b", "c")
	}
	first := h.random.IntN(1000)
	return "an import", func(second int) []string { return []string{fmt.Sprintf("customer %x", (first+second/4)*7919)} }
}

// pour writes a load for some seconds, in some commits.
func (h *history) pour(name string, seconds int, keys func(second int) []string) {
	h.note("%s for %d s", name, seconds)
	for until := h.second + seconds; h.second < until; {
		next := min(until, h.second+max(3, seconds/(1+h.random.IntN(3))))
		var all []load
		for second := h.second; second < next; second++ {
			whole := false
			if keys != nil {
				for _, key := range keys(second) {
					if whole = whole || key == ""; key != "" {
						all = append(all, load{second, key, 1200})
					}
				}
			}
			if !whole {
				for cool := range 50 {
					all = append(all, load{second, fmt.Sprintf("cool %x", cool*7919), 10})
				}
			}
		}
		d := time.Duration(next-h.second) * time.Second
		h.second = next
		h.w.commit(next, all...)
		h.pass(d)
	}
}

// pass lets the judges' time pass, and waits until they and the delivery rest.
func (h *history) pass(d time.Duration) {
	h.t.Helper()
	h.ahead += d
	for _, j := range h.judges {
		j.ahead.Store(int64(h.ahead))
		j.idle.Store(0)
	}
	await(h.t, func() bool {
		return slices.ContainsFunc(h.judges, func(j *runner) bool { return j.idle.Load() >= 3 })
	})
	await(h.t, func() bool {
		waiting, err := h.store.RecentNotifications(h.t.Context(), store.NotificationQuery{State: store.Pending, Limit: 1})
		must(h.t, err)
		return len(waiting) == 0
	})
}

// firing are the stored incidents that fire.
func (h *history) firing() map[string]detect.Incident {
	rows, err := h.store.Incidents(h.t.Context(), store.IncidentQuery{State: string(detect.Firing), Limit: 1000})
	must(h.t, err)
	all := make(map[string]detect.Incident)
	for _, row := range rows {
		var i detect.Incident
		must(h.t, json.Unmarshal(row.Document, &i))
		all[i.ID] = i
	}
	return all
}

// isTrue holds what the receivers know of single incidents to the stored ones.
func (h *history) isTrue() {
	h.t.Helper()
	firing := h.firing()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, name := range []string{onEach, onCritical} {
		in := h.inbox[name]
		for id, k := range in.incidents {
			if _, fires := firing[id]; k.fires() && !fires {
				h.t.Errorf("second %d: %s knows that %s fires, and it does not", h.second, name, id)
			}
		}
		for id, i := range firing {
			if (name == onEach || i.Severity == detect.Critical) && !in.incidents[id].fires() {
				h.t.Errorf("second %d: %s does not know that %s of %s fires: %+v", h.second, name, id, i.Case, in.incidents[id])
			}
		}
	}
}

// findings are the states of the findings of an incident.
func (h *history) findings(id string) (all []string) {
	rows, err := h.store.IncidentFindings(h.t.Context(), []string{id}, 100)
	must(h.t, err)
	for _, f := range rows {
		all = append(all, fmt.Sprintf("%s %s %s until %d, root %s", f.State, f.Case, f.Key, int(f.LastSeen.Sub(h.w.start).Seconds()), f.Incident))
	}
	return all
}
