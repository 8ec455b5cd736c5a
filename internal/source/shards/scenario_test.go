package shards_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"go.uber.org/goleak"

	"github.com/keyheat/keyheat/internal/source/shards"
	"github.com/keyheat/keyheat/internal/source/shards/streams"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// logs returns the source's logger; a variable shows its output.
func logs() *slog.Logger {
	if os.Getenv("KEYHEAT_TEST_LOGS") != "" {
		return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	return slog.New(slog.NewTextHandler(io.Discard, nil))
}

// scenario is a DynamoDB with a table, and a fake store that counts records. It runs in a
// bubble's time.
type scenario struct {
	testing.TB
	fake   *streamstest.Fake
	table  *streamstest.Table
	store  *fakeStore
	config shards.Config
}

// orders is the table that most tests read.
var orders = model.Schema{Name: "orders", Key: model.Key{Partition: []string{"pk"}}}

// inBubble runs a test on virtual time.
func inBubble(t *testing.T, o streamstest.Options, test func(*scenario)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { test(newScenario(t, o)) })
}

// pass lets the bubble's time pass.
func pass(d time.Duration) { time.Sleep(d) }

func newScenario(t testing.TB, o streamstest.Options) *scenario {
	w := &scenario{TB: t, fake: streamstest.New(o), store: newFakeStore(), config: shards.Config{Tables: []string{"orders"}}}
	w.table = w.fake.CreateTable(orders)
	w.table.EnableStream(streamstest.NewAndOldImages)
	return w
}

// collector is a running source.
type collector struct {
	*shards.Source
	session *session
	stop    func() // gracefully, and waits
	kill    func() // without another request to the store
}

// start runs a source as the process of that name.
func (w *scenario) start(name string) *collector {
	w.Helper()
	d := &session{store: w.store, name: name}
	api := dynamodbstreams.NewFromConfig(w.fake.Config(name))
	config := w.config
	config.Member = name
	s, err := streams.New(config, api, d, logs())
	if err != nil {
		w.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := s.Run(ctx, d); err != nil {
			w.Error(err)
		}
	}()
	stop := func() { cancel(); <-done }
	return &collector{s, d, stop, func() { d.kill(); stop() }}
}

// write puts n new items, each under a key of its own, a while apart.
func (w *scenario) write(n int, apart time.Duration) {
	w.Helper()
	for range n {
		w.put(fmt.Sprint("item", len(w.table.Written())))
		time.Sleep(apart)
	}
}

// put writes an item so that it changes.
func (w *scenario) put(key string) {
	w.Helper()
	item := model.Item{"pk": model.S(key), "n": model.N(fmt.Sprint(len(w.table.Written())))}
	if err := w.table.Put(item); err != nil {
		w.Fatal(err)
	}
}

// await waits until something holds, for so long at most.
func (w *scenario) await(what string, most time.Duration, holds func() bool) {
	w.Helper()
	for begin := time.Now(); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Since(begin) > most {
			w.Fatalf("after %s not yet: %s", most, what)
		}
	}
}

// written is how many records there are, of all streams.
func (w *scenario) written() int { return len(w.table.Written()) }

// count is how many records were counted.
func (w *scenario) count() int {
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	return len(w.store.counted)
}

// allCounted waits until all that is written was counted.
func (w *scenario) allCounted(most time.Duration) {
	w.Helper()
	w.await("all is counted", most, func() bool { return w.count() >= w.written() })
}

// ready waits until a source is ready.
func (w *scenario) ready(c *collector, most time.Duration) {
	w.Helper()
	w.await("ready", most, func() bool { return len(c.Ready()) == 0 })
}

// notReady waits until a source has a text in its reasons.
func (w *scenario) notReady(c *collector, reason string, most time.Duration) {
	w.Helper()
	w.await("not ready: "+reason, most, func() bool { return strings.Contains(strings.Join(c.Ready(), "\n"), reason) })
}

// verify checks the counted records and the API's limits.
func (w *scenario) verify() {
	w.Helper()
	w.store.verify(w, w.written())
	if rate := w.fake.Rate("DescribeStream"); rate > 10 {
		w.Errorf("%d DescribeStream in a second", rate)
	}
	if most, shard := w.fake.MostReaders(); most > 2 {
		w.Errorf("%d readers at once of %s", most, shard)
	}
	w.atMostFiveASecond()
}

// atMostFiveASecond checks how often each shard was asked for records.
func (w *scenario) atMostFiveASecond() {
	w.Helper()
	asked := map[string][]time.Time{}
	for _, c := range w.fake.Calls("GetRecords") {
		if c.Shard == "" { // refused before it was looked at
			continue
		}
		asked[c.Caller+c.Shard] = append(asked[c.Caller+c.Shard], c.Time)
	}
	for shard, times := range asked {
		slices.SortFunc(times, time.Time.Compare)
		for i := range times {
			if i >= 5 && times[i].Sub(times[i-5]) < time.Second {
				w.Errorf("%s was asked for records more than five times in a second, at %s", shard, times[i])
				break
			}
		}
	}
}

// gaps are the gaps recorded.
func (w *scenario) gaps() []string {
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	return slices.Clone(w.store.gapsOf)
}
