package judge_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/judge"
	"github.com/keyheat/keyheat/internal/judge/fold"
	"github.com/keyheat/keyheat/internal/judge/verdict"
	"github.com/keyheat/keyheat/internal/testsupport/heap"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// TestMemoryOfManyTables has 1,000 small tables over the turn of an hour, when the judge
// has two censuses of each: 10 requests a second of a table, for 300 keys.
func TestMemoryOfManyTables(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	const tables, seconds, requests, keys = 1000, 20, 10, 300
	// Bytes a table. In use, the board's last quarter of an hour comes on top of the 40
	// seconds here, some 26 KiB: see TestMemoryOfASmallTable in detect/board.
	const most = 38 << 10
	config := sketch.Config{Seed: 1}
	hour := time.Now().Truncate(time.Hour)
	random := rand.New(rand.NewPCG(1, 2))
	// What collectors need to make deltas is not the judge's, and so these are made first.
	var bodies [][]byte
	for second := range int64(2 * seconds) {
		shard, delta := sketch.NewShard(config), sketch.NewDelta(config)
		for n := range tables * requests {
			must(t, shard.Add(&sample.Record{
				Time: (hour.Unix()-seconds+second)*1000 + int64(n%1000), Table: fmt.Sprintf("table-%04d", n%tables), PK: sample.KeyString(fmt.Sprintf("customer#%08d", random.IntN(keys))),
				Op: sample.UpdateItem, WCU: 1000, Rate: 1, N: 1, Caller: "orders-api",
			}))
		}
		shard.Seal(delta)
		body, err := delta.MarshalBinary()
		must(t, err)
		bodies = append(bodies, body)
	}
	before := heap.Live()
	s := newState(verdict.Options{MaxKeys: 2 << 20})
	var peak int64
	for n, body := range bodies {
		var read sketch.Delta
		must(t, read.UnmarshalBinary(body))
		judgeDelta(t, s, fold.NewDelta("w", int64(n)+1, &read), hour.Unix()-seconds+int64(n))
		if n == seconds-1 || n == seconds || n == len(bodies)-1 {
			peak = max(peak, heap.Live()-before)
		}
	}
	if path := os.Getenv("KEYHEAT_TEST_HEAP_PROFILE"); path != "" {
		f, err := os.Create(path)
		must(t, err)
		must(t, pprof.Lookup("heap").WriteTo(f, 0))
		must(t, f.Close())
	}
	runtime.KeepAlive(s)
	runtime.KeepAlive(bodies)
	t.Logf("%d tables: %.1f MiB, %.1f KiB each", tables, float64(peak)/(1<<20), float64(peak)/tables/(1<<10))
	if peak > tables*most {
		t.Errorf("more than %d KiB a table", most>>10)
	}
}

// TestMemoryOfABacklog: a judge that may not close seconds yet, because some collector is
// behind, keeps each with its keys.
func TestMemoryOfABacklog(t *testing.T) {
	const tables, requests, keys, before, seconds, most = 700, 10, 300, 10, 30, 2800
	config, begins := sketch.Config{Seed: 1}, time.Now().Truncate(time.Hour).Unix()
	s := newState(verdict.Options{MaxKeys: 2 << 20})
	var live int64
	for second := range int64(before + seconds) {
		if second == before {
			live = heap.Live()
		}
		shard, delta := sketch.NewShard(config), sketch.NewDelta(config)
		for n := range tables * requests {
			must(t, shard.Add(&sample.Record{
				Time: (begins+second)*1000 + int64(n%1000), Table: fmt.Sprintf("table-%04d", n%tables), PK: sample.KeyString(fmt.Sprintf("customer#%08d", (n/tables*37+n+int(second)*31)%keys)),
				Op: sample.UpdateItem, WCU: 1000, Rate: 1, N: 1, Caller: "orders-api",
			}))
		}
		shard.Seal(delta)
		body, err := delta.MarshalBinary()
		must(t, err)
		var read sketch.Delta
		must(t, read.UnmarshalBinary(body))
		deltas := []fold.Delta{fold.NewDelta("w", second+1, &read)}
		s.Fold(deltas, time.Unix(begins+second, 0))
	}
	each := (heap.Live() - live) / (tables * seconds)
	t.Logf("%d bytes for each of %d seconds of a table, with %.1f keys", each, s.Windows.Len()/tables, float64(s.Windows.Keys)/float64(s.Windows.Len()))
	if each > most {
		t.Errorf("more than %d bytes", most)
	}
}

// TestMoreTablesThanMemory: of tables beyond the bound it is not kept what their keys look
// like. Their seconds are judged and written all the same.
func TestMoreTablesThanMemory(t *testing.T) {
	t.Parallel()
	config := sketch.Config{Seed: 1}
	s := newState(verdict.Options{MaxKeys: 1000, Tables: 2})
	second := time.Now().Truncate(time.Hour).Unix()
	shard, delta := sketch.NewShard(config), sketch.NewDelta(config)
	for n := range 3 {
		must(t, shard.Add(&sample.Record{
			Time: second * 1000, Table: fmt.Sprint("table-", n), PK: sample.KeyString("k"), Op: sample.UpdateItem, WCU: 2_000_000, Rate: 1, N: 1,
		}))
	}
	shard.Seal(delta)
	judgeDelta(t, s, fold.NewDelta("w", 1, delta), second)
	if !s.Views.Full() || len(s.Views.Tables()) != 2 {
		t.Error("more tables than there is room for are looked at, or it is not said")
	}
	if l := judge.LimitsOf(1 << 30); l.Tables != 16384 || l.Keys != 20_000 || l.OpenKeys != 2<<20 {
		t.Errorf("1 GiB is for %+v, not for what docs/CONFIGURATION.md says", l)
	}
}

// TestAFloodOfTablesDisplacesNoView: in the second hour a flood of new tables comes before the
// tables of the first. These keep their views, and so does a table with an open finding, though it
// had no samples in the first hour.
func TestAFloodOfTablesDisplacesNoView(t *testing.T) {
	t.Parallel()
	s := newState(verdict.Options{MaxKeys: 1000, Tables: 4})
	hour := time.Now().Truncate(time.Hour).Unix()
	s.Restore([]detect.Finding{{
		Subject: detect.KeyWrites, Fingerprint: "f", State: detect.Firing, KeyRef: detect.KeyRef{Target: sample.Target{Table: "harmed"}, KeyType: "S", Key: "k"},
		FirstSeen: time.Unix(hour, 0), LastSeen: time.Unix(hour, 0),
	}})
	seq := int64(0)
	count := func(second int64, names ...string) {
		shard, delta := sketch.NewShard(sketch.Config{Seed: 1}), sketch.NewDelta(sketch.Config{Seed: 1})
		for _, name := range names {
			must(t, shard.Add(&sample.Record{Time: second * 1000, Table: name, PK: sample.KeyString("k"), Op: sample.UpdateItem, WCU: 1000, Rate: 1, N: 1}))
		}
		shard.Seal(delta)
		seq++
		judgeDelta(t, s, fold.NewDelta("w", seq, delta), second)
	}
	count(hour, "orders", "users")
	for i := range int64(20) {
		count(hour+3600+i, fmt.Sprint("flood-", i), fmt.Sprint("other-flood-", i))
	}
	count(hour+3620, "orders", "users", "harmed")
	count(hour+3600+700, "orders", "users", "harmed")
	var names []string
	for _, v := range s.Views.Tables() {
		names = append(names, v.Table)
	}
	if len(names) != 4 || !slices.Contains(names, "orders") || !slices.Contains(names, "users") || !slices.Contains(names, "harmed") || !s.Views.Full() {
		t.Errorf("the tables with a view are %q, want orders, users, harmed and one of the flood", names)
	}
}

// TestAnHourKeepsItsView: in the first minutes of an hour the view of the one before is
// shown as it was, though what it was made of is gone; what comes for it then does not
// change it, and each caller has it for its own.
func TestAnHourKeepsItsView(t *testing.T) {
	t.Parallel()
	config := sketch.Config{Seed: 1}
	s := newState(verdict.Options{MaxKeys: 1000})
	hour, seq := time.Now().Truncate(time.Hour).Unix(), int64(0)
	judge := func(second int64, name string) {
		t.Helper()
		seq++
		shard, delta := sketch.NewShard(config), sketch.NewDelta(config)
		for n := range 5 {
			must(t, shard.Add(&sample.Record{
				Time: second * 1000, Table: name, PK: sample.KeyString(fmt.Sprint("customer#", n*int(second%3))), Op: sample.UpdateItem, WCU: 2000, Rate: 1, N: 3,
			}))
		}
		shard.Seal(delta)
		judgeDelta(t, s, fold.NewDelta("w", seq, delta), second)
	}
	for second := range int64(20) {
		judge(hour-20+second, table)
	}
	before := s.Views.Tables()
	judge(hour, table)
	judge(hour-5, "late")
	after := s.Views.Tables()
	equal(t, "the views", after, before)
	if len(after) != 1 || after[0].View == nil {
		t.Fatalf("%d tables, want one with a view", len(after))
	}
	after[0].View.Design.Verdict = "changed"
	equal(t, "the views, once one was changed", s.Views.Tables(), before)
}

// newState returns a judge's state at its beginning, with the delays of the default
// configuration.
func newState(o verdict.Options) *verdict.State {
	o.ViewDelay, o.PageWithin = time.Minute, 15*time.Minute
	return verdict.NewState(o, 1, map[string]int64{})
}

// judgeDelta does what a pass does with a delta that completes a second, without a store.
func judgeDelta(t *testing.T, s *verdict.State, d fold.Delta, second int64) {
	t.Helper()
	judgeDeltas(t, s, []fold.Delta{d}, fold.Horizon{Complete: second + 1, Over: second + 1}, time.Unix(second+2, 0))
}

// judgeDeltas does what a pass does, without a store, and returns what it would write.
func judgeDeltas(t testing.TB, s *verdict.State, deltas []fold.Delta, h fold.Horizon, now time.Time) verdict.Pending {
	t.Helper()
	for at := range s.Windows.Missing(deltas) {
		if _, known := s.Windows.Newest(at); !known {
			s.Windows.SetNewest(at, fold.NothingStored)
		}
	}
	s.Windows.Reopen(nil)
	s.Fold(deltas, now)
	closing := s.Closing(h, now)
	for _, b := range s.Heat.Missing(closing, s.Windows.Newest) {
		must(t, s.Heat.Reopen(b, nil))
	}
	for left, done := closing, false; !done; {
		left, done = s.Observe(left, h, now)
		must(t, s.Compare(now))
	}
	tables := s.Tables(now)
	s.Heat.MissingRollups(h)
	s.Heat.SetStored(nil)
	p, err := s.Pending(closing, tables, h, now)
	must(t, err)
	s.MarkWritten(p)
	return p
}
