package shards_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest/model"
)

// TestStopOfSixteenMinutes: all iterators expire and shards split meanwhile. No record is
// lost.
func TestStopOfSixteenMinutes(t *testing.T) {
	inBubble(t, streamstest.Options{Seed: 1, Shards: 4}, func(w *scenario) {
		c := w.start("a")
		w.write(200, 20*time.Millisecond)
		c.stop()
		for i := range 16 * 60 {
			w.put(items[i%len(items)])
			pass(time.Second)
			if i%200 == 100 {
				w.table.Split(w.table.OpenShards()[i%3])
			}
		}
		c = w.start("a")
		defer c.stop()
		begin := time.Now()
		w.allCounted(5 * time.Minute)
		t.Logf("caught up after %s", time.Since(begin))
		w.ready(c, 30*time.Second)
		w.verify()
		if gaps := w.gaps(); len(gaps) > 0 {
			t.Errorf("gaps in %v, want none", gaps)
		}
	})
}

// TestStopOfTwentyFiveHours: each known shard that was trimmed is one gap, and so is each
// child whose parent was never seen. All remaining records count.
func TestStopOfTwentyFiveHours(t *testing.T) {
	inBubble(t, streamstest.Options{Seed: 1, Shards: 4, Rollover: -1}, func(w *scenario) {
		c := w.start("a")
		w.write(200, 20*time.Millisecond)
		w.allCounted(30 * time.Second)
		c.stop()
		stopped := time.Now()
		known := w.table.OpenShards()
		w.write(40, time.Second)
		for _, shard := range known[:3] { // the fourth goes on
			w.table.Roll(shard)
		}
		w.write(40, time.Second)
		var unseen []string // by anybody: children that are closed and trimmed
		for _, shard := range w.table.OpenShards() {
			if !slices.Contains(known, shard) {
				unseen = append(unseen, shard)
				w.table.Split(shard)
			}
		}
		pass(20 * time.Hour)
		w.write(40, time.Second)
		pass(5 * time.Hour)
		w.write(40, time.Second)
		back := time.Now()

		w.store.lossy = 300 // all folded batches and gaps are dropped again and again
		c = w.start("b")
		defer c.stop()
		w.ready(c, time.Minute)
		t.Logf("ready again after %s", time.Since(back))
		w.await("what is left is counted", 5*time.Minute, func() bool { return w.count() == 200+80 })
		w.await("all gaps are recorded", 5*time.Minute, func() bool { return len(w.gaps()) >= 10 })
		w.store.verify(t, 280)

		var want []string
		want = append(want, known...)
		for _, shard := range w.table.OpenShards() { // the children of the unseen shards
			if !slices.Contains(known, shard) {
				want = append(want, shard)
			}
		}
		var got []string
		for _, gap := range w.gaps() {
			got = append(got, gap[strings.LastIndexByte(gap, '/')+1:])
		}
		slices.Sort(want)
		slices.Sort(got)
		if len(unseen) != 3 || !slices.Equal(got, want) {
			t.Errorf("gaps in %v\nwant        %v", got, want)
		}
		for i, g := range w.store.gaps {
			if g.Since.IsZero() || g.Since.Before(stopped.Add(-time.Minute)) || g.Since.After(stopped.Add(time.Minute)) {
				t.Errorf("%s: lost since %s, stopped at %s", w.store.gapsOf[i], g.Since, stopped)
			}
			if g.Until.Before(back.Add(-24*time.Hour-time.Minute)) || g.Until.After(back.Add(-3*time.Hour)) {
				t.Errorf("%s: lost until %s, began again at %s", w.store.gapsOf[i], g.Until, back)
			}
		}
	})
}

// TestShardThatWaitedForADayIsAGap: a known shard that waited for its parent for a day has
// lost its first records. TRIM_HORIZON reports no error for it.
func TestShardThatWaitedForADayIsAGap(t *testing.T) {
	inBubble(t, streamstest.Options{Seed: 1, Rollover: -1}, func(w *scenario) {
		c := w.start("a")
		w.write(20, 20*time.Millisecond)
		w.allCounted(20 * time.Second)
		w.fake.SetFaults("GetRecords", 0, 1)
		w.table.Roll(w.table.OpenShards()[0])
		w.await("the child is known", 3*time.Minute, func() bool { return len(w.store.open()) >= 1 && known(w) == 2 })
		c.stop()
		w.fake.SetFaults("GetRecords", 0, 0)
		w.write(10, time.Second)
		pass(25 * time.Hour)
		w.write(10, time.Second)
		w.store.lossy = 300
		c = w.start("b")
		defer c.stop()
		w.await("what is left is counted", 5*time.Minute, func() bool { return w.count() == 30 })
		if gaps := w.gaps(); len(gaps) != 2 || !strings.HasSuffix(gaps[1], w.table.OpenShards()[0]) {
			t.Errorf("gaps in %v, want one in the parent, which is gone, and one in the child", gaps)
		}
	})
}

// TestEmptiedShardIsOneGapATime: an open shard without remaining records has one gap for
// each day without a reader, however often it is claimed.
func TestEmptiedShardIsOneGapATime(t *testing.T) {
	inBubble(t, streamstest.Options{Seed: 1, Rollover: -1}, func(w *scenario) {
		w.fake.Deny("GetRecords")
		c := w.start("a")
		pass(time.Minute)
		w.write(10, time.Second)
		c.stop()
		w.fake.Allow("GetRecords")
		w.store.lossy = 20
		for i := range 3 {
			pass(25 * time.Hour)
			c = w.start("b")
			w.await("the gap is recorded", 5*time.Minute, func() bool { return len(w.gaps()) > i })
			pass(10 * time.Minute)
			c.stop()
			if n := len(w.gaps()); n != i+1 {
				t.Errorf("%d gaps after %d absences", n, i+1)
			}
		}
		if g := w.store.gaps[0]; g.From != "TRIM_HORIZON" || g.Until.Sub(g.Since) < time.Minute {
			t.Errorf("the gap is %+v", g)
		}
	})
}

func known(w *scenario) int {
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	return len(w.store.shards)
}

// TestMissingPermissionsAreNamed: readiness names a missing permission; afterwards all
// records are read.
func TestMissingPermissionsAreNamed(t *testing.T) {
	for _, operation := range []string{"ListStreams", "DescribeStream", "GetShardIterator", "GetRecords"} {
		t.Run(operation, func(t *testing.T) {
			inBubble(t, streamstest.Options{Seed: 1, Shards: 3}, func(w *scenario) {
				w.fake.Deny(operation)
				c := w.start("a")
				defer c.stop()
				w.notReady(c, "allow dynamodb:"+operation, time.Minute)
				if reasons := c.Ready(); len(reasons) > 1 {
					t.Errorf("%d reasons for one fault: %q", len(reasons), reasons)
				}
				w.write(50, 10*time.Millisecond)
				w.fake.Allow(operation)
				w.allCounted(time.Minute)
				w.ready(c, time.Minute)
				w.verify()
			})
		})
	}
}

// TestThrottlesAndErrorsAreWaitedOut fails all kinds of requests for a time.
func TestThrottlesAndErrorsAreWaitedOut(t *testing.T) {
	for _, operation := range []string{"ListStreams", "DescribeStream", "GetShardIterator", "GetRecords"} {
		for _, code := range []string{"ThrottlingException", "LimitExceededException", "InternalServerError", "RequestLimitExceeded"} {
			t.Run(operation+" "+code, func(t *testing.T) {
				inBubble(t, streamstest.Options{Seed: 1}, func(w *scenario) {
					w.fake.Fail(operation, slices.Repeat([]string{code}, 12)...)
					c := w.start("a")
					defer c.stop()
					w.write(50, 10*time.Millisecond)
					w.allCounted(2 * time.Minute)
					w.table.Split(w.table.OpenShards()[0])
					w.write(50, 10*time.Millisecond)
					w.fake.Fail(operation, slices.Repeat([]string{code}, 8)...)
					w.allCounted(2 * time.Minute)
					w.ready(c, 2*time.Minute)
					w.verify()
				})
			})
		}
	}
}

// TestTableThatVanishes: a vanished table makes the source not ready, and does no harm to
// the other table.
func TestTableThatVanishes(t *testing.T) {
	inBubble(t, streamstest.Options{Seed: 1}, func(w *scenario) {
		users := w.fake.CreateTable(model.Schema{Name: "users", Key: model.Key{Partition: []string{"pk"}}})
		w.config.Tables = []string{"orders", "users"}
		c := w.start("a")
		defer c.stop()
		w.notReady(c, "users: it has no enabled stream: enable one with NEW_AND_OLD_IMAGES", time.Minute)
		users.EnableStream(streamstest.NewAndOldImages)
		must.Succeed(t, users.Put(model.Item{"pk": model.S("ann")}))
		w.await("the new stream is read", 2*time.Minute, func() bool { return w.count() == 1 })
		w.ready(c, time.Minute)
		w.fake.DropTable("users")
		w.notReady(c, "users: it has no enabled stream", 2*time.Minute)
		users.VanishStream()
		w.write(50, 10*time.Millisecond)
		w.await("the other table is read", time.Minute, func() bool { return w.count() == 51 })
		w.notReady(c, "users: ", 2*time.Minute)
	})
}

// TestWrongRegionLosesNothing: a collector in the wrong Region finds no stream, and records
// no loss.
func TestWrongRegionLosesNothing(t *testing.T) {
	inBubble(t, streamstest.Options{Seed: 1, Shards: 3}, func(w *scenario) {
		c := w.start("a")
		w.write(50, 10*time.Millisecond)
		c.stop()
		right := w.fake
		w.fake = streamstest.New(streamstest.Options{Region: "us-east-1"})
		c = w.start("b")
		w.notReady(c, "orders: it has no enabled stream", time.Minute)
		w.notReady(c, "check that AWS_REGION and the credentials", time.Minute)
		c.stop()
		w.fake = right
		c = w.start("c")
		defer c.stop()
		w.write(50, 10*time.Millisecond)
		w.allCounted(20 * time.Second)
		w.ready(c, 20*time.Second)
		w.verify()
		if gaps := w.gaps(); len(gaps) > 0 {
			t.Errorf("gaps in %v, want none", gaps)
		}
	})
}

// TestUnknownTableIsLeftAlone: a table whose records cannot be decoded is not read, and its
// position stays.
func TestUnknownTableIsLeftAlone(t *testing.T) {
	inBubble(t, streamstest.Options{Seed: 1}, func(w *scenario) {
		known := make(chan struct{})
		w.config.Known = func(string) error {
			select {
			case <-known:
				return nil
			default:
				return errDown
			}
		}
		c := w.start("a")
		defer c.stop()
		w.write(50, 10*time.Millisecond)
		pass(time.Minute)
		if n := w.count(); n > 0 {
			t.Errorf("%d records were counted before their table was known", n)
		}
		close(known)
		w.allCounted(20 * time.Second)
		w.verify()
	})
}

// TestStopIsBounded: a source stops in bounded time even if its store does not respond.
func TestStopIsBounded(t *testing.T) {
	inBubble(t, streamstest.Options{Seed: 1, Shards: 20}, func(w *scenario) {
		c := w.start("a")
		w.write(50, 10*time.Millisecond)
		begin := time.Now()
		c.kill()
		if d := time.Since(begin); d > 10*time.Second {
			t.Errorf("it took %s", d)
		}
	})
}
