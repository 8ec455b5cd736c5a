package browser

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/detect/partition"
	"github.com/keyheat/keyheat/internal/judge/fold"
	"github.com/keyheat/keyheat/internal/web"
	"github.com/keyheat/keyheat/rollup"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/position"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// hostile is text that would break a page that trusted it, and longKey one that would
// break a layout that did not expect it.
const hostile = `"><script>alert(1)</script><img src=x onerror=alert(1)>` + "\u202Egpj.exe\u0007"

var longKey = strings.Repeat("0123456789abcdef", 128)

// hotKeys is how many keys are hot in a world, in tables of 30.
const hotKeys = 300

// each is how many requests a key has in a second.
const each = 50

// world is a store with what a judge leaves of seconds that a test tells it of, and the
// site over it.
type world struct {
	store   *store.Store
	address string

	board *board.Board
	views *fold.Views
	lease store.Lease
	start time.Time
	// second is how many seconds were told, and parts the roll-ups of 10 seconds so far.
	second int
	rolled map[sample.Target]map[int64]*rollup.Rollup
	known  map[string]string
}

// newWorld returns a world of a minute and a half, up to now, of so many hot keys.
func newWorld(t *testing.T, hot int) *world {
	t.Helper()
	s, err := store.Open(t.Context(), "sqlite:"+t.TempDir()+"/keyheat.db", store.Options{Migrate: true})
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	w := &world{
		store: s, board: board.New(board.Options{}), views: fold.NewViewsOfAll(func(detect.Target) detect.Policy { return detect.DefaultPolicy() }), start: time.Now().Add(-90 * time.Second).Truncate(time.Second),
		rolled: make(map[sample.Target]map[int64]*rollup.Rollup), known: make(map[string]string),
	}
	var ok bool
	if w.lease, ok, err = s.AcquireLease(t.Context(), "judge", "test", time.Hour); err != nil || !ok {
		t.Fatalf("lease: %t, %v", ok, err)
	}
	must(t, s.StartWriter(t.Context(), store.Writer{ID: "collector-1", Host: "host-1", Started: time.Now()}))
	site, err := web.New(s, slog.New(slog.DiscardHandler), web.Options{Receivers: func() []string { return []string{"chat", "pagers"} }})
	must(t, err)
	server := httptest.NewServer(site)
	t.Cleanup(server.Close)
	w.address = server.URL
	w.tell(t, 90, hot)
	return w
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// loads are the requests of one second.
func loads(second, hot int) (all []sample.Record) {
	add := func(table, key string, wcu int, throttled bool) {
		r := sample.Record{Table: table, PK: sample.KeyString(key), Op: sample.UpdateItem, WCU: sample.Milli(wcu) * 1000 / each, Caller: "checkout", Rate: 1, N: each}
		if throttled {
			r.Throttle = "TableWriteKeyRangeThroughputExceeded"
		}
		all = append(all, r)
	}
	for n := range hot {
		add(fmt.Sprintf("orders-%02d", n/30), fmt.Sprintf("customer#%05d", 7919*n%100_000), 1050+7*(n%100)+(second*13+n)%40, false)
	}
	add("carts", hostile, 1500+second%9, false)
	add("carts", hostile, 700, true)
	add("carts", longKey, 850+second%5, false)
	add("carts", "warm#1", 300, false)
	for n := range 30 {
		add("carts", fmt.Sprintf("basket#%02d", n), 5+second%4, false)
	}
	if second < 40 {
		add("sessions", "healed#7", 1300, false)
	}
	add("sessions", "calm", 20, false)
	return all
}

// tell judges some more seconds.
func (w *world) tell(t *testing.T, seconds, hot int) {
	t.Helper()
	shard := sketch.NewShard(sketch.Config{})
	for range seconds {
		at := w.start.Add(time.Duration(w.second) * time.Second)
		for _, r := range loads(w.second, hot) {
			r.Time = at.UnixMilli()
			must(t, shard.Add(&r))
		}
		w.second++
	}
	d := sketch.NewDelta(sketch.Config{})
	shard.Seal(d)
	var j store.Judgement
	minutes := make(map[int64]uint64)
	for i := range d.Windows {
		win := &d.Windows[i]
		w.board.Observe(win)
		w.views.Observe(fold.Instant{Target: win.Target, Second: win.Second}, &fold.OpenWindow{Window: *win}, time.Unix(win.Second+1, 0))
		body, err := win.MarshalBinary()
		must(t, err)
		j.Windows = append(j.Windows, store.Window{
			Target: win.Target, Second: time.Unix(win.Second, 0), Complete: true, Body: body,
			Requests: win.Total.Requests - win.Total.ThrottledRequests, WriteMilli: int64(win.Total.Write), ReadMilli: int64(win.Total.Read),
			ThrottledRequests: win.Total.ThrottledRequests,
		})
		minutes[win.Second/60*60] |= 1 << (win.Second % 60)
		w.roll(win)
	}
	for minute, bits := range minutes {
		j.Seen = append(j.Seen, store.SeenMinute{Minute: time.Unix(minute, 0), Seconds: bits})
	}
	for target, buckets := range w.rolled {
		for begins, r := range buckets {
			body, err := r.MarshalBinary()
			must(t, err)
			j.Rollups = append(j.Rollups, store.Rollup{Target: target, Level: int64(rollup.TenSeconds), Begins: time.Unix(begins, 0), Body: body})
		}
	}
	w.board.Settle(w.start.Unix()+int64(w.second), true)
	w.judge(t, &j)
}

func (w *world) roll(win *sketch.Window) {
	if w.rolled[win.Target] == nil {
		w.rolled[win.Target] = make(map[int64]*rollup.Rollup)
	}
	begins := rollup.TenSeconds.Begin(win.Second)
	if w.rolled[win.Target][begins] == nil {
		w.rolled[win.Target][begins] = new(rollup.Rollup)
	}
	w.rolled[win.Target][begins].Add(rollup.OfSecond(win, true))
}

// divide stores a map of a table's eight partitions, of which the third was split off the
// second.
func (w *world) divide(t *testing.T, table string) {
	t.Helper()
	const shards = 8
	delivered := make([]partition.Observed, shards+1) // the last one was split
	for n := range 2000 {
		p := position.String(fmt.Sprintf("basket#%02d", n))
		cell := p.Cell(3)
		if delivered[cell].Add(p); cell == 1 || cell == 2 {
			delivered[shards].Add(p)
		}
	}
	now := time.Now().UTC()
	var listed []partition.Listed
	for n := range delivered {
		l := partition.Listed{Name: fmt.Sprintf("%s/1/shardId-%08d", table, n), Stream: table + "/1", Open: n < shards, Observed: &delivered[n], Ended: now.Add(-10 * time.Minute)}
		if n == 1 || n == 2 {
			l.Parent = fmt.Sprintf("%s/1/shardId-%08d", table, shards)
		}
		listed = append(listed, l)
	}
	m := partition.New(false)
	m.Update(listed, now.Add(-10*time.Minute))
	m.Dissolve(now)
	document, err := json.Marshal(m)
	must(t, err)
	must(t, w.store.Judge(t.Context(), w.lease, store.Judgement{Maps: []store.TargetDocument{{Target: sample.Target{Table: table}, Document: document}}}))
	w.lease.Writes++
}

// attend says that the collector is there.
func (w *world) attend(t *testing.T) {
	t.Helper()
	must(t, w.store.ReportWriter(t.Context(), "collector-1", store.WriterStatus{Version: "v1", State: "running"}))
}

// judge writes what the board says.
func (w *world) judge(t *testing.T, j *store.Judgement) {
	t.Helper()
	for _, table := range w.views.Tables() {
		table.RefusedKeys, table.Walk, table.Provable = w.board.RefusedKeys(table.Target), w.board.Walk(table.Target), w.board.Provable(table.Target)
		document, err := json.Marshal(table)
		must(t, err)
		j.Views = append(j.Views, store.TargetDocument{Target: table.Target, Document: document})
	}
	found := w.board.Findings()
	for _, f := range found {
		document, err := json.Marshal(f)
		must(t, err)
		j.Findings = append(j.Findings, store.Finding{
			Fingerprint: f.Fingerprint, Case: string(f.Case), Subject: string(f.Subject), Target: f.Target, Key: f.Key,
			Severity: string(f.Severity), State: string(f.State), Utilization: f.Utilization,
			FirstSeen: f.FirstSeen, LastSeen: f.LastSeen, Document: document,
		})
		if was := w.known[f.Fingerprint]; was != string(f.State) {
			j.Transitions = append(j.Transitions, store.Transition{Of: f.Fingerprint, At: f.FirstSeen, From: was, To: string(f.State), Severity: string(f.Severity), Note: string(detect.NoteTooOld)})
			w.known[f.Fingerprint] = string(f.State)
		}
	}
	for _, i := range casebook.Incidents(found) {
		document, err := json.Marshal(i)
		must(t, err)
		var fired time.Time
		if i.State == detect.Firing {
			fired = i.OpenedAt
		}
		j.Incidents = append(j.Incidents, store.Incident{
			ID: i.ID, Case: string(i.Case), Subject: string(i.Subject), Target: i.Target, Severity: string(i.Severity), State: string(i.State),
			OpenedAt: i.OpenedAt, FiredAt: fired, LastSeen: i.LastSeen, Root: i.Root, Findings: i.Findings, Document: document,
		})
	}
	must(t, w.store.Judge(t.Context(), w.lease, *j))
	w.lease.Writes++
	w.attend(t)
}

// finding returns the finding of a key's own load.
func (w *world) finding(t *testing.T, key string) detect.Finding {
	t.Helper()
	for _, f := range w.board.Findings() {
		if string(f.Key) == key && f.Subject.OfKey() {
			return f
		}
	}
	t.Fatalf("no finding of %.40s", key)
	return detect.Finding{}
}
