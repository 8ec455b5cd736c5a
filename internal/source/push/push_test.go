package push_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/keyheat/keyheat/internal/collect"
	"github.com/keyheat/keyheat/internal/source/push"
	"github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/counted"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/format"
	"github.com/keyheat/keyheat/sample/samplepb"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

var quiet = slog.New(slog.DiscardHandler)

// small keeps many collectors cheap.
var small = sketch.Config{Sets: 8, CounterBytes: 4096, Seed: 42}

// openStore returns another handle of a store, which the first one makes.
func openStore(t *testing.T, url string) *store.Store {
	t.Helper()
	if _, err := store.Migrate(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), url, store.Options{})
	must.Succeed(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// dying is a store that a killed collector no longer reaches. Its last commit may be stored
// without an answer.
type dying struct {
	*store.Store
	dead   atomic.Bool
	stored atomic.Int64 // commits of samples that have begun
}

func (d *dying) Commit(ctx context.Context, c store.Commit) error {
	if d.dead.Load() {
		return store.ErrUnavailable
	}
	if len(c.Body) > 0 {
		d.stored.Add(1)
	}
	err := d.Store.Commit(ctx, c)
	if d.dead.Load() {
		return errors.Join(store.ErrUnavailable, store.ErrAmbiguous)
	}
	return err
}

func (d *dying) IsCommitted(ctx context.Context, writer string, seq int64) (bool, error) {
	if d.dead.Load() {
		return false, store.ErrUnavailable
	}
	return d.Store.IsCommitted(ctx, writer, seq)
}

// lookups is a store that counts its answers about producers.
type lookups struct {
	*store.Store
	answered atomic.Int64
}

func (l *lookups) Producer(ctx context.Context, names ...string) (store.Position, error) {
	p, err := l.Store.Producer(ctx, names...)
	if err == nil {
		l.answered.Add(1)
	}
	return p, err
}

// userKey is the key of a request's user, whom the header User names in tests.
type userKey struct{}

// door is a collector that takes batches.
type door struct {
	url, traces, firehose string
	store                 *dying
	stop                  func()
}

// openDoor starts a collector; settings may be zero.
func openDoor(t *testing.T, st *store.Store, instance string, settings push.Config) *door {
	t.Helper()
	return openDoorWith(t, st, instance, settings, small)
}

func openDoorWith(t *testing.T, st *store.Store, instance string, settings push.Config, geometry sketch.Config) *door {
	t.Helper()
	return openDoorOn(t, st, st, instance, settings, geometry)
}

// openDoorOn starts a collector that looks producers up elsewhere than it commits.
func openDoorOn(t *testing.T, looked push.Store, st *store.Store, instance string, settings push.Config, geometry sketch.Config) *door {
	t.Helper()
	d := &door{store: &dying{Store: st}}
	settings.Instance = instance
	settings.ReleaseTimeout = cmp.Or(settings.ReleaseTimeout, time.Second)
	if settings.NameRest == 0 {
		settings.NameRest = 10 * time.Millisecond
	}
	settings.User = func(ctx context.Context) string { user, _ := ctx.Value(userKey{}).(string); return user }
	s := push.New(settings, looked, quiet)
	c := collect.New(collect.Config{
		Source: store.Push, Sketch: geometry, Shards: 2, CommitInterval: 20 * time.Millisecond, StopTimeout: settings.ReleaseTimeout / 10,
		Decoder: func(partition string) collect.Decoder {
			return format.NewDecoder(format.Format(partition[strings.LastIndexByte(partition, '/')+1:]), nil)
		},
	}, d.store, 42, quiet)
	c.WatchSource(s)
	routes := http.NewServeMux()
	for pattern, h := range s.Handlers() {
		routes.Handle(pattern, h)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		routes.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), userKey{}, r.Header.Get("User"))))
	}))
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	commits, last := context.WithCancel(context.Background())
	wg.Go(func() { _ = c.Run(commits) })
	wg.Go(func() {
		defer last()
		_ = s.Run(ctx, c)
	})
	d.url, d.traces, d.firehose = server.URL+"/v1/samples", server.URL+"/v1/traces", server.URL+"/v1/firehose"
	d.stop = sync.OnceFunc(func() {
		cancel()
		wg.Wait()
		server.Close()
	})
	t.Cleanup(d.stop)
	await.Until(t, "the door is open", func() bool { return len(s.Ready()) == 0 })
	return d
}

// batch returns so many samples as lines.
func batch(n int) string {
	line := fmt.Sprintf(`{"ts":%d,"table":"orders","pk":"a","op":"PutItem","wcu":2}`, time.Now().UnixMilli())
	return strings.Repeat(line+"\n", n)
}

// reply is a response to a batch.
type reply struct {
	status int
	after  string
	Error  string
	Next   int64

	Delivery  string
	Duplicate bool
	Counted   *int64
	Rejected  map[string]int64
	Refused   map[string]int64 `json:"refused_tables"`
	Remedy    string
}

// send sends a batch with headers; an error is a response that did not arrive.
func send(ctx context.Context, url, body string, headers ...string) (r reply, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return r, err
	}
	request.Header.Set("Content-Type", "application/x-ndjson")
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return r, err
	}
	defer response.Body.Close()
	r.status, r.after = response.StatusCode, response.Header.Get("Retry-After")
	return r, json.NewDecoder(response.Body).Decode(&r)
}

// numbered are the headers of a numbered batch.
func numbered(producer string, sequence int) []string {
	return []string{"Keyheat-Producer", producer, "Keyheat-Sequence", fmt.Sprint(sequence)}
}

func mustSend(t *testing.T, url, body string, headers ...string) reply {
	t.Helper()
	r, err := send(t.Context(), url, body, headers...)
	must.Succeed(t, err)
	return r
}

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	must.Succeed(t, w.Close())
	return b.String()
}

func zstandard(t *testing.T, text string) string {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	must.Succeed(t, err)
	return string(w.EncodeAll([]byte(text), nil))
}

// TestEveryRequestGetsItsResponse sends requests one after the other, to one collector.
func TestEveryRequestGetsItsResponse(t *testing.T) {
	t.Parallel()
	st := openStore(t, pgtest.Quick(t))
	d := openDoor(t, st, "one", push.Config{MaxBatch: 1 << 20})
	protobuf := string(samplepb.NewEncoder().Append(nil, []sample.Record{{
		Time: time.Now().UnixMilli(), Table: "orders", PK: sample.KeyString("a"), Op: sample.PutItem, WCU: 2000, Rate: 1, N: 1,
	}}))
	two, other := batch(2), batch(3)
	var want int64
	for _, s := range []struct {
		name, body string
		headers    []string
		status     int
		counted    int64
		delivery   string
		check      func(reply) bool
	}{
		{"lines without a number", two, nil, 200, 2, "at_least_once", nil},
		{"the same lines count again", two, nil, 200, 2, "at_least_once", nil},
		{"a first batch", two, numbered("a", 1), 200, 2, "exactly_once", nil},
		{"the newest batch again", two, numbered("a", 1), 200, 0, "exactly_once", func(r reply) bool { return r.Duplicate }},
		{"the newest batch again, compressed this time", zipped(t, two), append(numbered("a", 1), "Content-Encoding", "gzip"), 200, 0, "exactly_once", func(r reply) bool { return r.Duplicate }},
		{"the newest number with other content", other, numbered("a", 1), 409, 0, "", func(r reply) bool { return r.Next == 2 }},
		{"a jump", two, numbered("a", 3), 409, 0, "", func(r reply) bool { return r.Next == 2 }},
		{"the next batch", two, numbered("a", 2), 200, 2, "exactly_once", nil},
		{"an older batch", two, numbered("a", 1), 409, 0, "", func(r reply) bool { return r.Next == 3 }},
		{"a new producer that does not begin at 1", two, numbered("b", 7), 409, 0, "", func(r reply) bool { return r.Next == 1 }},
		{"a batch rejected in part", two + "nonsense\n", numbered("b", 1), 200, 2, "exactly_once", func(r reply) bool { return r.Rejected["syntax"] == 1 }},
		{"a batch rejected in part, again", two + "nonsense\n", numbered("b", 1), 200, 0, "exactly_once", func(r reply) bool { return r.Duplicate }},
		{"a batch rejected whole", "nonsense", numbered("b", 2), 200, 0, "exactly_once", func(r reply) bool { return *r.Counted == 0 && r.Rejected["syntax"] == 1 }},
		{"an empty batch", "", numbered("b", 3), 200, 0, "exactly_once", nil},
		{"gzip", zipped(t, two), append(numbered("b", 4), "Content-Encoding", "gzip"), 200, 2, "exactly_once", nil},
		{"zstd", zstandard(t, two), append(numbered("b", 5), "Content-Encoding", "zstd"), 200, 2, "exactly_once", nil},
		{"protobuf", protobuf, append(numbered("b", 6), "Content-Type", "application/x-protobuf"), 200, 1, "exactly_once", nil},
		{"protobuf in zstd", zstandard(t, protobuf), append(numbered("b", 7), "Content-Type", "application/x-protobuf", "Content-Encoding", "zstd"), 200, 1, "exactly_once", nil},
		{"a type with parameters", two, []string{"Content-Type", "application/json; charset=utf-8"}, 200, 2, "at_least_once", nil},
		{"a type that any page may send", two, []string{"Content-Type", "text/plain"}, 415, 0, "", nil},
		{"no type", two, []string{"Content-Type", ""}, 415, 0, "", nil},
		{"another compression", two, []string{"Content-Encoding", "br"}, 415, 0, "", nil},
		{"a producer without a number", two, []string{"Keyheat-Producer", "c"}, 400, 0, "", nil},
		{"a number without a producer", two, []string{"Keyheat-Sequence", "1"}, 400, 0, "", nil},
		{"number 0", two, numbered("c", 0), 400, 0, "", nil},
		{"a name that is no name", two, numbered("c d", 1), 400, 0, "", nil},
		{"a name that is too long", two, numbered(strings.Repeat("c", 129), 1), 400, 0, "", nil},
		{"no gzip", two, []string{"Content-Encoding", "gzip"}, 400, 0, "", nil},
		{"no zstd", two, []string{"Content-Encoding", "zstd"}, 400, 0, "", nil},
		{"half a body", zipped(t, two)[:20], []string{"Content-Encoding", "gzip"}, 400, 0, "", nil},
		{"too large", strings.Repeat(" ", 1<<20+1), nil, 413, 0, "", nil},
		{"too large in gzip", zipped(t, strings.Repeat(" ", 1<<20+1)), []string{"Content-Encoding", "gzip"}, 413, 0, "", nil},
		{"too large in zstd", zstandard(t, strings.Repeat(" ", 1<<20+1)), []string{"Content-Encoding", "zstd"}, 413, 0, "", nil},
	} {
		r := mustSend(t, d.url, s.body, s.headers...)
		want += s.counted
		if r.status != s.status || r.Delivery != s.delivery || s.status != 200 && r.Error == "" ||
			s.counted > 0 && (r.Counted == nil || *r.Counted != s.counted) || s.check != nil && !s.check(r) {
			t.Errorf("%s: %+v", s.name, r)
		}
		if got := counted.Requests(t, st); got != want {
			t.Fatalf("%s: the store has %d samples, want %d", s.name, got, want)
		}
	}
}

// TestBusyDoorsSaySo fills what bounds batches. Nothing is counted, and each response tells
// when to send again.
func TestBusyDoorsSaySo(t *testing.T) {
	t.Parallel()
	st := openStore(t, pgtest.Quick(t))
	d := openDoor(t, st, "one", push.Config{MaxWaiting: 1, RespondWithin: 300 * time.Millisecond})
	d.store.dead.Store(true)
	var replies []reply
	first := batch(1)
	replies = append(replies, mustSend(t, d.url, first, numbered("a", 1)...)) // takes the only place
	replies = append(replies, mustSend(t, d.url, first, numbered("a", 1)...)) // joins it
	replies = append(replies, mustSend(t, d.url, batch(2), numbered("a", 2)...))
	replies = append(replies, mustSend(t, d.url, batch(1)))
	for i, status := range []int{503, 503, 429, 429} {
		if replies[i].status != status || replies[i].after == "" || replies[i].Error == "" {
			t.Errorf("response %d: %+v, want %d with Retry-After", i, replies[i], status)
		}
	}
	d.store.dead.Store(false)
	await.Until(t, "the store is back, and the batch is taken", func() bool {
		return mustSend(t, d.url, first, numbered("a", 1)...).status == 200
	})
	if n := counted.Requests(t, st); n != 1 {
		t.Errorf("the store has %d samples, want 1", n)
	}
}

// TestASharedNameHarmsItsProducersAlone: two processes send under one name to two collectors at
// once. The collector whose commit fails for that refuses the name for a while, and no other.
func TestASharedNameHarmsItsProducersAlone(t *testing.T) {
	t.Parallel()
	url := pgtest.Quick(t)
	settings := push.Config{NameRest: time.Hour, RespondWithin: 100 * time.Millisecond}
	st := &lookups{Store: openStore(t, url)}
	one, two := openDoorOn(t, st, st.Store, "one", settings, small), openDoor(t, openStore(t, url), "two", settings)
	untilStored(t, []*door{one}, batch(1), "first", 1, nil) // it has claimed what it writes
	one.store.dead.Store(true)
	body, before := batch(1), st.answered.Load()
	await.Until(t, "the batch is the next of its producer", func() bool {
		if r := mustSend(t, one.url, body, numbered("shared", 1)...); r.status != http.StatusServiceUnavailable {
			t.Errorf("without its store a collector answers %+v", r)
		}
		return st.answered.Load() > before
	})
	untilStored(t, []*door{two}, batch(2), "shared", 1, nil)
	one.store.dead.Store(false)
	untilStored(t, []*door{one}, batch(1), "other", 1, nil) // behind the commit that fails
	r := mustSend(t, one.url, batch(1), numbered("shared", 2)...)
	if r.status != http.StatusTooManyRequests || r.after == "" || !strings.Contains(r.Error, "name of its own") {
		t.Errorf("the name that two processes share gets %+v", r)
	}
	untilStored(t, []*door{one}, batch(1), "other", 2, nil)
	untilStored(t, []*door{two}, batch(1), "shared", 2, nil) // nothing failed there
}

// TestOneBatchAtTwoCollectors sends each batch to both collectors at once. One of them counts
// it, and the other drops it and recognises it afterwards.
func TestOneBatchAtTwoCollectors(t *testing.T) {
	t.Parallel()
	url := pgtest.Quick(t)
	st := openStore(t, url)
	doors := []*door{openDoor(t, st, "one", push.Config{}), openDoor(t, openStore(t, url), "two", push.Config{})}
	for sequence := 1; sequence <= 5; sequence++ {
		body := batch(10)
		var wg sync.WaitGroup
		for _, d := range doors {
			wg.Go(func() { untilStored(t, []*door{d}, body, "both", sequence, nil) })
		}
		wg.Wait()
	}
	if n := counted.Requests(t, st); n != 50 {
		t.Errorf("the store has %d samples, want 50", n)
	}
}

// untilStored sends a batch to one of the doors until it is stored. random cuts some requests
// off.
func untilStored(t *testing.T, doors []*door, body, producer string, sequence int, random *rand.Rand) {
	await.Until(t, fmt.Sprintf("batch %d of %s is stored", sequence, producer), func() bool {
		d, patience := doors[0], await.Limit
		if random != nil {
			d = doors[random.IntN(len(doors))]
			if random.IntN(3) == 0 {
				patience = time.Duration(random.IntN(40)) * time.Millisecond
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		r, err := send(ctx, d.url, body, numbered(producer, sequence)...)
		cancel()
		stored := err == nil && r.status == 200
		if !stored && err == nil && r.status != 429 && r.status != 503 {
			t.Errorf("batch %d of %s: %+v", sequence, producer, r)
			return true
		}
		return stored
	})
}

// TestNothingIsLostOrTwice has producers send batches to any of three collectors. Requests are
// cut off, and two collectors die in the middle of their commits.
func TestNothingIsLostOrTwice(t *testing.T) {
	t.Parallel()
	url := pgtest.Quick(t)
	st := openStore(t, url)
	var doors []*door
	for _, instance := range []string{"one", "two", "three"} {
		doors = append(doors, openDoor(t, openStore(t, url), instance, push.Config{}))
	}
	const producers, batches, samples = 6, 8, 5
	var wg sync.WaitGroup
	for p := range producers {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(uint64(p), 1))
			for sequence := 1; sequence <= batches; sequence++ {
				untilStored(t, doors, batch(samples), fmt.Sprint("p", p), sequence, random)
			}
		})
	}
	for i, d := range doors[:2] {
		await.Until(t, "a part is counted", func() bool { return counted.Requests(t, st) >= int64(i+1)*producers*batches*samples/4 })
		d.store.dead.Store(true)
		d.stop()
	}
	wg.Wait()
	if n := counted.Requests(t, st); n != producers*batches*samples {
		t.Errorf("the store has %d samples, want %d", n, producers*batches*samples)
	}
}

// TestAnIdleDoorMovesTheWatermark: nothing arrives, and seconds close all the same.
func TestAnIdleDoorMovesTheWatermark(t *testing.T) {
	t.Parallel()
	st := openStore(t, pgtest.Quick(t))
	openDoor(t, st, "one", push.Config{Late: time.Second})
	await.Until(t, "the watermarks are a few seconds behind", func() bool {
		snap, err := st.Read(t.Context(), nil, store.ReadLimit{})
		must.Succeed(t, err)
		lag := time.Duration(0)
		for _, w := range snap.Watermarks {
			lag = max(lag, snap.Now.Sub(w.Time))
		}
		return len(snap.Watermarks) == 4 && lag < 10*time.Second
	})
}

// TestWhatAStopHasCountedIsAnswered stops a collector that has a batch: its producer learns
// that it was stored.
func TestWhatAStopHasCountedIsAnswered(t *testing.T) {
	t.Parallel()
	st := openStore(t, pgtest.Quick(t))
	d := openDoor(t, st, "one", push.Config{ReleaseTimeout: 2 * await.Limit}) // a commit is waited for
	answered := make(chan reply, 1)
	go func() {
		r, _ := send(context.Background(), d.url, batch(4), numbered("a", 1)...)
		answered <- r
	}()
	await.Until(t, "the batch is being stored", func() bool { return d.store.stored.Load() > 0 })
	d.stop()
	r, n := <-answered, counted.Requests(t, st)
	if r.status != 200 || n != 4 {
		t.Errorf("the response is %+v, and the store has %d samples", r, n)
	}
}

// TestDroppedSamplesAreAGap: what a producer says it has dropped is a gap of its time, once
// however often the batch is sent, and of the last hour.
func TestDroppedSamplesAreAGap(t *testing.T) {
	t.Parallel()
	st := openStore(t, pgtest.Quick(t))
	d := openDoor(t, st, "a", push.Config{})
	now := time.Now().Truncate(time.Millisecond)
	dropped := func(n int, since, until time.Duration) []string {
		return []string{"Keyheat-Dropped", fmt.Sprint(n, now.Add(-since).UnixMilli(), now.Add(-until).UnixMilli())}
	}
	body := batch(1)
	for range 2 {
		if r := mustSend(t, d.url, body, append(numbered("p", 1), dropped(7, 5*time.Second, 3*time.Second)...)...); r.status != http.StatusOK {
			t.Errorf("the batch is answered with %+v", r)
		}
	}
	mustSend(t, d.url, batch(1), dropped(2, 3*time.Hour, time.Second)...)
	mustSend(t, d.url, batch(1), dropped(2, 3*time.Hour, 2*time.Hour)...)
	for _, wrong := range []string{"x", "0 1 2", "1 5 4", "1"} {
		if r := mustSend(t, d.url, batch(1), "Keyheat-Dropped", wrong); r.status != http.StatusBadRequest {
			t.Errorf("%q is answered with %+v", wrong, r)
		}
	}
	d.stop()
	gaps, err := st.Gaps(t.Context(), store.GapQuery{})
	if err != nil || len(gaps) != 2 {
		t.Fatalf("the store has the gaps %+v, %v", gaps, err)
	}
	slices.SortFunc(gaps, func(a, b store.Gap) int { return b.Since.Compare(a.Since) })
	first, second := gaps[0], gaps[1]
	if !first.Since.Equal(now.Add(-5*time.Second)) || !first.Until.Equal(now.Add(-3*time.Second)) || !strings.Contains(first.Reason, "dropped 7 samples") || first.NoneKnown() {
		t.Errorf("the first gap is %+v", first)
	}
	if lasted := second.Until.Sub(second.Since); lasted > time.Hour || lasted < 50*time.Minute || !strings.Contains(second.Reason, "dropped 2 samples") {
		t.Errorf("the second gap is %+v", second)
	}
}
