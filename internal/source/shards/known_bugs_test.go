package shards_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/keyheat/keyheat/internal/source/shards"
	"github.com/keyheat/keyheat/internal/source/shards/streams"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest"
)

// Each test here is named for a mistake that consumers of DynamoDB Streams were
// shipped with.

// A consumer kept on asking with an iterator older than 15 minutes.
func TestExpiredIteratorIsNotRetriedForEver(t *testing.T) {
	inBubble(t, streamstest.Options{Seed: 1}, func(w *scenario) {
		c := w.start("a")
		defer c.stop()
		w.write(50, 50*time.Millisecond)
		w.allCounted(20 * time.Second)
		for range 5 {
			w.fake.ExpireIterators()
			w.write(20, 50*time.Millisecond)
			w.allCounted(20 * time.Second)
		}
		if n := expired(w); n < 5 || n > 10 {
			t.Errorf("%d responses report an expired iterator, want about one of each of 5", n)
		}
		w.ready(c, 15*time.Second)
		w.verify()
	})
}

func expired(w *scenario) (n int) {
	for _, c := range w.fake.Calls("GetRecords") {
		if c.Code == "ExpiredIteratorException" {
			n++
		}
	}
	return n
}

// A consumer took the response that a shard does not exist for an outage that
// passes.
func TestResourceNotFoundIsNotTransient(t *testing.T) {
	inBubble(t, streamstest.Options{Seed: 1}, func(w *scenario) {
		c := w.start("a")
		w.write(50, 50*time.Millisecond)
		w.allCounted(20 * time.Second)
		c.stop()
		parent := w.table.OpenShards()[0]
		w.write(7, 50*time.Millisecond) // no collector sees these shards
		w.table.Roll(parent)
		w.table.Vanish(parent)
		w.write(50, 50*time.Millisecond)

		c = w.start("b")
		defer c.stop()
		w.await("the child is read", 30*time.Second, func() bool { return w.count() == 100 })
		if gaps := w.gaps(); len(gaps) != 1 || !strings.HasSuffix(gaps[0], parent) {
			t.Errorf("gaps in %v, want one in %s", gaps, parent)
		}
		w.ready(c, 30*time.Second)
		w.store.verify(t, 100)
	})
}

// A consumer listed hundreds of shards under one time-out, and began again from
// the first page when it ran out.
func TestDiscoveryIsNotAllOrNothing(t *testing.T) {
	inBubble(t, streamstest.Options{Seed: 1, Shards: 1000}, func(w *scenario) {
		w.fake.SetFaults("DescribeStream", 0.7, 0.2)
		c := w.start("a")
		defer c.stop()
		w.await("all shards are known", time.Hour, func() bool { return len(w.store.open()) == 1000 })
		failed, pages := 0, 0
		for _, call := range w.fake.Calls("DescribeStream") {
			if call.Code != "" {
				failed++
			} else {
				pages++
			}
		}
		if failed < 20 || pages > 13 {
			t.Errorf("10 pages took %d responses and %d failures: pages that had come were requested again", pages, failed)
		}
		w.verify()
	})
}

// A consumer called a shard finished when it was closed, before it had read it.
func TestClosedShardIsReadToItsEnd(t *testing.T) {
	inBubble(t, streamstest.Options{Seed: 1, PageRecords: 10, EmptyPages: 0.5}, func(w *scenario) {
		w.write(500, 10*time.Millisecond)
		parent := w.table.OpenShards()[0]
		w.table.Split(parent)
		c := w.start("a")
		for range 8 { // as often as it is interrupted
			pass(3 * time.Second)
			if n := w.count(); n >= 500 && slices.ContainsFunc(w.store.open(), func(s string) bool { return strings.HasSuffix(s, parent) }) {
				break
			}
			c.stop()
			c = w.start("a")
		}
		defer func() { c.stop() }()
		w.allCounted(2 * time.Minute)
		w.verify()
	})
}

// A consumer read children before their parents, and mixed up the changes of an
// item.
func TestParentsAreReadBeforeTheirChildren(t *testing.T) {
	inBubble(t, streamstest.Options{Seed: 1, PageRecords: 20}, func(w *scenario) {
		for range 3 { // the same items, over three generations
			for i := range 200 {
				w.put(items[i%len(items)])
				pass(5 * time.Millisecond)
			}
			for _, shard := range w.table.OpenShards() {
				w.table.Split(shard)
			}
		}
		for i := range 100 {
			w.put(items[i%len(items)])
		}
		for _, name := range []string{"a", "b", "c"} {
			defer w.start(name).stop()
		}
		w.allCounted(2 * time.Minute)
		w.verify() // the store refuses a claim before the parent's end
	})
}

var items = []string{"ann", "bob", "cat", "dan", "eve", "fay", "gus", "hal", "ida", "jim"}

// A consumer waited for the last record of a parent that had none.
func TestEmptyParentReachesItsEnd(t *testing.T) {
	inBubble(t, streamstest.Options{Seed: 1}, func(w *scenario) {
		for range 4 {
			for _, shard := range w.table.OpenShards() {
				w.table.Split(shard)
			}
			pass(time.Second)
		}
		w.write(100, time.Millisecond)
		c := w.start("a")
		defer c.stop()
		w.allCounted(30 * time.Second)
		w.verify()
		if open := len(w.store.open()); open != 16 {
			t.Errorf("%d shards are not finished, want the 16 that are open", open)
		}
	})
}

// A consumer whose checkpoint was older than the stream's 24 hours stood still
// without limit, and reported that it was ready.
func TestCheckpointBeforeTheHorizonIsAGap(t *testing.T) {
	inBubble(t, streamstest.Options{Seed: 1, Rollover: -1}, func(w *scenario) {
		c := w.start("a")
		w.write(50, 50*time.Millisecond)
		w.allCounted(20 * time.Second)
		c.stop()
		begin := time.Now()
		w.write(30, time.Second) // no collector sees these shards
		pass(25 * time.Hour)
		w.write(20, 50*time.Millisecond)
		first := w.table.Written()[80]

		c = w.start("b")
		defer c.stop()
		w.await("what is left is read", 30*time.Second, func() bool { return w.count() == 70 })
		w.ready(c, 30*time.Second)
		w.store.verify(t, 70)
		if len(w.store.gaps) != 1 {
			t.Fatalf("gaps %+v, want one", w.store.gaps)
		}
		g := w.store.gaps[0]
		if g.From != w.table.Written()[49].Sequence || g.To != "at:"+first.Sequence {
			t.Errorf("the gap goes from %s to %s, want from the last counted to the first that is left", g.From, g.To)
		}
		if d := begin.Sub(g.Since); d < 0 || d > 15*time.Second || !g.Until.Equal(first.Time.Truncate(time.Second)) {
			t.Errorf("the gap lasts from %s to %s, want about from %s to %s", g.Since, g.Until, begin, first.Time)
		}
	})
}

// A consumer listed shards now and then, and missed children that were closed
// and trimmed in between.
func TestChildrenBetweenTwoDiscoveriesAreNotMissed(t *testing.T) {
	inBubble(t, streamstest.Options{Seed: 1, Lag: 3 * time.Second}, func(w *scenario) {
		w.config.Discovery = time.Hour
		c := w.start("a")
		defer c.stop()
		w.ready(c, 30*time.Second)
		for range 5 {
			for _, shard := range w.table.OpenShards() {
				w.table.Roll(shard)
			}
			w.write(10, 100*time.Millisecond)
		}
		w.allCounted(2 * time.Minute)
		w.verify()
	})
}

// A consumer deleted its lease when it stopped, and with it the place.
func TestReleasedShardKeepsItsPlace(t *testing.T) {
	inBubble(t, streamstest.Options{Seed: 1, Shards: 4}, func(w *scenario) {
		for i := range 6 {
			c := w.start(string(rune('a' + i)))
			w.write(100, 20*time.Millisecond)
			begin := time.Now()
			c.stop()
			if d := time.Since(begin); d > 5*time.Second {
				t.Errorf("stopping took %s", d)
			}
			if n := w.count(); n < w.written()-20 {
				t.Errorf("%d of %d records were counted at a stop", n, w.written())
			}
		}
		for _, call := range w.fake.Calls("GetShardIterator") {
			if call.Caller != "a" && call.Iterator != "AFTER_SEQUENCE_NUMBER" {
				t.Errorf("%s began at %s", call.Caller, call.Iterator)
			}
		}
		begin := time.Now()
		c := w.start("last")
		defer c.stop()
		w.allCounted(20 * time.Second)
		if d := time.Since(begin); d > 5*time.Second {
			t.Errorf("taking over what was released took %s", d)
		}
		w.verify()
	})
}

// Two consumers with different names wrote their places into one table.
func TestTwoConsumersShareNothing(t *testing.T) {
	inBubble(t, streamstest.Options{Seed: 1, NoRates: true}, func(w *scenario) {
		other := &scenario{TB: t, fake: w.fake, table: w.table, store: newFakeStore(), config: w.config}
		defer w.start("a").stop()
		w.write(100, 20*time.Millisecond)
		b := other.start("b")
		w.table.Split(w.table.OpenShards()[0])
		w.write(100, 20*time.Millisecond)
		other.allCounted(20 * time.Second)
		b.stop()
		w.write(100, 20*time.Millisecond)
		w.allCounted(20 * time.Second)
		w.store.verify(t, 300)
		defer other.start("c").stop()
		other.allCounted(20 * time.Second)
		other.store.verify(t, 300)
	})
}

// A consumer took the first page of DescribeStream for all shards.
func TestAllPagesOfDescribeStreamAreRead(t *testing.T) {
	inBubble(t, streamstest.Options{Seed: 1, Shards: 250, PageShards: 7}, func(w *scenario) {
		w.write(1000, time.Millisecond)
		c := w.start("a")
		defer c.stop()
		w.allCounted(time.Minute)
		if open := len(w.store.open()); open != 250 {
			t.Errorf("%d shards are known, want 250", open)
		}
		w.verify()
	})
}

// stateOf is for tests that check one collector's part.
func stateOf(w *scenario, name string) (owned int) {
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	for _, h := range w.store.shards {
		if h.owner == name && !h.ended {
			owned++
		}
	}
	return owned
}

var (
	_ streams.DynamoDBStreams = (*dynamodbstreams.Client)(nil)
	_ shards.Registry         = (*session)(nil)
)
