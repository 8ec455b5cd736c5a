package shards_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/keyheat/keyheat/internal/testsupport/streamstest"
)

// story is one life of a table's stream and its readers.
type story struct {
	seed             uint64
	shards, depth    int // of the trees of splits, about
	records          int
	collectors       int
	kills, stops     int
	throttles, fails float64
	lag, delay       time.Duration // of DescribeStream, and of GetRecords
}

func drawStory(rt *rapid.T) story {
	return story{
		seed:       rapid.Uint64().Draw(rt, "seed"),
		shards:     rapid.IntRange(1, 40).Draw(rt, "shards"),
		depth:      rapid.IntRange(1, 6).Draw(rt, "depth"),
		records:    rapid.IntRange(0, 400).Draw(rt, "records"),
		collectors: rapid.IntRange(1, 3).Draw(rt, "collectors"),
		kills:      rapid.IntRange(0, 2).Draw(rt, "kills"),
		stops:      rapid.IntRange(0, 2).Draw(rt, "stops"),
		throttles:  rapid.SampledFrom([]float64{0, 0.1, 0.3}).Draw(rt, "throttles"),
		fails:      rapid.SampledFrom([]float64{0, 0.01, 0.1}).Draw(rt, "errors"),
		lag:        time.Duration(rapid.IntRange(0, 5).Draw(rt, "lag in seconds")) * time.Second,
		delay:      time.Duration(rapid.IntRange(0, 2000).Draw(rt, "delay in milliseconds")) * time.Millisecond,
	}
}

// TestLineageUnderRandomSplits splits shards, and fails and kills collectors. Each record
// counts once, an item's records in order. No child is read before its parent, no second is
// called complete too early, and no limit of the API is exceeded.
func TestLineageUnderRandomSplits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s := drawStory(rt)
		synctest.Test(t, func(t *testing.T) { s.run(t) })
	})
}

// TestLineageOfFiveHundredShards has 500 shards in six generations, throttles, errors and
// expired iterators.
func TestLineageOfFiveHundredShards(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := story{seed: 1, shards: 500, depth: 6, records: 5000, collectors: 3, kills: 2, stops: 2,
			throttles: 0.1, fails: 0.01, lag: 2 * time.Second, delay: time.Second}
		if testing.Short() {
			s.shards, s.records = 100, 1000
		}
		s.run(t)
	})
}

func (s story) run(t *testing.T) {
	defer func() {
		if t.Failed() { // this ends the test without a message of rapid
			t.Logf("%+v", s)
		}
	}()
	rng := rand.New(rand.NewPCG(s.seed, 7))
	// A tree of that depth has 2^(depth+1)-1 shards if all of them split.
	roots := max(1, s.shards/(1<<(s.depth+1)-1))
	w := newScenario(t, streamstest.Options{Seed: s.seed, Shards: roots, Lag: s.lag, Delay: s.delay, EmptyPages: 0.2, PageRecords: 50, Rollover: -1})
	w.fake.SetFaults("", s.throttles, s.fails)
	w.store.rng = rand.New(rand.NewPCG(s.seed, 8))
	w.store.lossy = 5
	before := s.records / 3
	s.live(w, rng, before, s.depth/2)
	all := make([]*collector, s.collectors)
	for i := range all {
		all[i] = w.start(fmt.Sprint("c", i))
	}
	next := len(all)
	replace := func(end func(*collector)) {
		i := rng.IntN(len(all))
		end(all[i])
		all[i] = w.start(fmt.Sprint("c", next))
		next++
	}
	for step := range 4 {
		s.live(w, rng, (s.records-before)/4, (s.depth+1)/2)
		if step < s.kills {
			replace(func(c *collector) { c.kill() })
		}
		if step < s.stops {
			replace(func(c *collector) { c.stop() })
		}
		if rng.IntN(2) == 0 {
			w.fake.ExpireIterators()
		}
	}
	w.allCounted(20 * time.Minute)
	w.fake.SetFaults("", 0, 0)
	for _, c := range all {
		w.ready(c, time.Minute)
	}
	w.verify()
	for _, c := range all {
		c.stop()
	}
	if gaps := w.gaps(); len(gaps) > 0 {
		t.Errorf("gaps in %v, want none", gaps)
	}
}

// live lets the table live: items change, shards split and roll over.
func (s story) live(w *scenario, rng *rand.Rand, records, generations int) {
	w.Helper()
	for g := range max(1, generations) {
		for range records / max(1, generations) {
			w.put(fmt.Sprint("item", rng.IntN(50)))
			time.Sleep(time.Duration(rng.IntN(20)) * time.Millisecond)
		}
		for _, shard := range w.table.OpenShards() {
			full := len(w.table.Shards()) >= s.shards
			switch {
			case full && (g > 0 || rng.IntN(4) > 0):
			case full || rng.IntN(4) == 0:
				w.table.Roll(shard)
			default:
				w.table.Split(shard)
			}
		}
		time.Sleep(time.Duration(rng.IntN(3000)) * time.Millisecond)
	}
}

// TestTwoThousandRetainedShards: a stream that was on for a day before the first collector
// has 2,000 shards.
func TestTwoThousandRetainedShards(t *testing.T) {
	roots := 200
	if testing.Short() {
		roots = 40
	}
	inBubble(t, streamstest.Options{Seed: 1, Shards: roots, Throttles: 0.1, Errors: 0.01, Rollover: -1}, func(w *scenario) {
		for range 9 {
			for range 30 {
				w.put(items[len(w.table.Written())%len(items)])
			}
			for _, shard := range w.table.OpenShards() {
				w.table.Roll(shard)
			}
			time.Sleep(time.Second)
		}
		w.write(100, 0)
		if n := len(w.table.Shards()); n != 10*roots {
			t.Fatalf("%d shards", n)
		}
		c := w.start("a")
		defer c.stop()
		begin := time.Now()
		w.await("a reader has started", 10*time.Second, func() bool { return len(w.fake.Calls("GetRecords")) > 0 })
		t.Logf("the first reader started after %s", time.Since(begin))
		w.allCounted(30 * time.Minute)
		t.Logf("all %d shards were read after %s", 10*roots, time.Since(begin))
		w.verify()
	})
}

// TestCollectorsShareTheShards: members come and go, and the shards stay evenly shared.
func TestCollectorsShareTheShards(t *testing.T) {
	inBubble(t, streamstest.Options{Seed: 1, Shards: 30}, func(w *scenario) {
		share := func(want map[string]int) {
			t.Helper()
			time.Sleep(20 * time.Second)
			for name, n := range want {
				if got := stateOf(w, name); got < n-1 || got > n+1 {
					t.Errorf("%s reads %d shards, want about %d", name, got, n)
				}
			}
		}
		a := w.start("a")
		share(map[string]int{"a": 30})
		b := w.start("b")
		c := w.start("c")
		share(map[string]int{"a": 10, "b": 10, "c": 10})
		claims := w.store.claims
		time.Sleep(time.Minute)
		if w.store.claims != claims {
			t.Errorf("%d claims when nothing changed", w.store.claims-claims)
		}
		a.stop()
		share(map[string]int{"a": 0, "b": 15, "c": 15})
		b.kill()
		share(map[string]int{"c": 30})
		w.write(100, 10*time.Millisecond)
		w.allCounted(20 * time.Second)
		w.verify()
		c.stop()
	})
}

// TestTakeOverAfterAKill: others take over a killed collector's shards after its lease.
func TestTakeOverAfterAKill(t *testing.T) {
	inBubble(t, streamstest.Options{Seed: 1, Shards: 8}, func(w *scenario) {
		a := w.start("a")
		b := w.start("b")
		defer b.stop()
		w.write(200, 20*time.Millisecond)
		a.kill()
		begin := time.Now()
		w.write(200, 20*time.Millisecond)
		w.allCounted(30 * time.Second)
		if d := time.Since(begin); d > w.lease()+10*time.Second {
			t.Errorf("all was counted after %s", d)
		}
		w.verify()
	})
}

func (w *scenario) lease() time.Duration { return 15 * time.Second }

// TestStoreIsAway: while its store is away, a collector reads no shard that another might
// read. It goes on when the store is back.
func TestStoreIsAway(t *testing.T) {
	inBubble(t, streamstest.Options{Seed: 1, Shards: 4}, func(w *scenario) {
		c := w.start("a")
		defer c.stop()
		w.write(100, 20*time.Millisecond)
		w.allCounted(20 * time.Second)
		w.setDown(true)
		w.notReady(c, "the store is away", 30*time.Second)
		time.Sleep(w.lease())
		calls := len(w.fake.Calls("GetRecords"))
		w.write(100, 20*time.Millisecond)
		time.Sleep(time.Minute)
		if n := len(w.fake.Calls("GetRecords")); n > calls {
			t.Errorf("%d pages were read without a lease", n-calls)
		}
		w.setDown(false)
		w.ready(c, 30*time.Second)
		w.allCounted(30 * time.Second)
		w.verify()
	})
}

// TestNothingIsReadWithoutALease: a collector that cannot renew its membership reads
// nothing beyond its lease, even if it could still write. Another collector reads by then.
func TestNothingIsReadWithoutALease(t *testing.T) {
	inBubble(t, streamstest.Options{Seed: 1, Shards: 4}, func(w *scenario) {
		c := w.start("a")
		defer c.stop()
		w.write(100, 20*time.Millisecond)
		c.session.mute(true)
		time.Sleep(w.lease() + time.Second)
		calls := len(w.fake.Calls("GetRecords"))
		time.Sleep(time.Minute)
		if n := len(w.fake.Calls("GetRecords")); n > calls {
			t.Errorf("%d pages were read without a lease", n-calls)
		}
		b := w.start("b")
		defer b.stop()
		w.write(100, 20*time.Millisecond)
		w.allCounted(20 * time.Second)
		c.session.mute(false)
		w.write(100, 20*time.Millisecond)
		w.allCounted(20 * time.Second)
		w.verify()
	})
}

func (d *session) mute(deaf bool) {
	defer d.enter()()
	d.registryAway = deaf
}

func (w *scenario) setDown(down bool) {
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	w.store.down = down
}

// TestOldStreamIsFinishedBeforeTheNewOne: a stream that is disabled and enabled again is a
// new stream. The old one is read to its end first.
func TestOldStreamIsFinishedBeforeTheNewOne(t *testing.T) {
	inBubble(t, streamstest.Options{Seed: 1, Shards: 3, PageRecords: 10}, func(w *scenario) {
		for i := range 300 {
			w.put(items[i%len(items)])
		}
		old := w.table.StreamARN()
		w.table.DisableStream()
		time.Sleep(2 * time.Second)
		w.table.EnableStream(streamstest.NewAndOldImages)
		for i := range 100 {
			w.put(items[i%len(items)])
		}
		if w.table.StreamARN() == old {
			t.Fatal("the stream has its old ARN")
		}
		c := w.start("a")
		defer c.stop()
		w.allCounted(time.Minute)
		w.settleOrder()
		w.ready(c, 30*time.Second)

		// Once more, while it is read.
		w.table.DisableStream()
		w.notReady(c, "orders: it has no enabled stream", 2*time.Minute)
		w.table.EnableStream(streamstest.NewAndOldImages)
		w.write(50, 10*time.Millisecond)
		w.allCounted(2 * time.Minute)
		w.ready(c, 30*time.Second)
		if open := len(w.store.open()); open != 3 {
			t.Errorf("%d shards are not finished, want the newest stream's 3", open)
		}
	})
}

// settleOrder checks that the streams were read one after the other.
func (w *scenario) settleOrder() {
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	var labels []string
	for _, r := range w.store.counted {
		labels = append(labels, r.shard[:len("orders/2006-01-02T15:04:05.000")])
	}
	if !slices.IsSorted(labels) {
		w.Error("records of two streams of one table were mixed")
	}
}
