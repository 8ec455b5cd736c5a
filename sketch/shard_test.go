package sketch_test

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/internal/testsupport/heap"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

func newShard() *sketch.Shard { return sketch.NewShard(sketch.Config{Seed: seed}) }

func add(t *testing.T, s *sketch.Shard, records ...sample.Record) {
	t.Helper()
	for i := range records {
		must.Succeed(t, s.Add(&records[i]))
	}
}

func sealed(s *sketch.Shard) *sketch.Delta {
	d := sketch.NewDelta(sketch.Config{Seed: seed})
	s.Seal(d)
	return d
}

// TestLateSecondsOpenAgain sends seconds in the worst order: each is counted
// whole, however often it is sealed.
func TestLateSecondsOpenAgain(t *testing.T) {
	t.Parallel()
	s := newShard()
	for round := range 3 {
		for second := range int64(20) {
			at := start + (second*7+int64(round))%20
			add(t, s, write(at, "k", 1))
		}
	}
	merged := map[identity]*sketch.Window{}
	fold(merged, sealed(s))
	if len(merged) != 20 {
		t.Fatalf("%d seconds, want 20", len(merged))
	}
	for id, w := range merged {
		if w.Total.Write != 3000 || len(w.Keys) != 1 || w.Keys[0].Low.Write != 3000 {
			t.Errorf("second %d: %+v", id.second, w)
		}
	}
}

// TestIdentity keeps keys apart that differ only in account, Region, table, index, type or
// order.
func TestIdentity(t *testing.T) {
	t.Parallel()
	s := newShard()
	base := write(start, "42", 1)
	number := base
	number.PK.Type = "N"
	index := base
	index.Index = "orm"
	otherTable := base
	otherTable.Table = "or"
	otherTable.Index = "m"
	production, staging, region := base, base, base
	production.Account, production.Region = "123456789012", "eu-west-1"
	staging.Account, staging.Region = "210987654321", "eu-west-1"
	region.Region = "eu-west-1"
	all := []sample.Record{base, number, index, otherTable, production, staging, region}
	add(t, s, all...)
	hashes := map[uint64]bool{}
	d := sealed(s)
	if len(d.Cardinality) != 6 {
		t.Errorf("distinct keys of %d targets, want 6", len(d.Cardinality))
	}
	targets := map[sample.Target]bool{}
	for _, w := range d.Windows {
		targets[w.Target] = true
		for _, k := range w.Keys {
			hashes[k.Hash] = true
		}
	}
	if len(hashes) != 7 || len(targets) != 6 {
		t.Fatalf("%d keys of %d targets, want 7 of 6", len(hashes), len(targets))
	}
	for i := range all {
		if r := &all[i]; !hashes[sketch.Hash(r.Target(), r.PK, seed)] {
			t.Errorf("the key of %s has another hash", r.Target().Name())
		}
	}
}

func TestThrottledIsDemand(t *testing.T) {
	t.Parallel()
	s := newShard()
	refused := write(start, "k", 3)
	refused.Throttle = "TableWriteKeyRangeThroughputExceeded"
	refused.N = 2
	add(t, s, write(start, "k", 1), refused)
	w := sealed(s).Windows[0]
	if w.Total.Write != 7000 || w.Total.Throttled.Write != 6000 || w.Total.ThrottledRequests != 2 || w.Total.Requests != 3 {
		t.Errorf("total %+v", w.Total)
	}
	if k := w.Keys[0]; k.Low.Write != 7000 || k.Throttled.Write != 6000 || k.Requests != 3 {
		t.Errorf("key %+v", k)
	}
}

// TestScanHasNoKey counts a Scan to its table, and leaves the bounds of keys
// alone.
func TestScanHasNoKey(t *testing.T) {
	t.Parallel()
	s := newShard()
	scan := sample.Record{Time: start * 1000, Table: "orm", Op: sample.Scan, RCU: 128_000, Rate: 1, N: 1}
	add(t, s, scan, write(start, "k", 1))
	w := sealed(s).Windows[0]
	if w.Total.Read != 128_000 || w.Total.Keyless.Read != 128_000 {
		t.Errorf("total %+v", w.Total)
	}
	if len(w.Keys) != 1 || w.Keys[0].Err != (sketch.Load{}) || w.Unseen != (sketch.Load{}) {
		t.Errorf("window %+v", w)
	}
}

func TestTablesAreBounded(t *testing.T) {
	t.Parallel()
	s := sketch.NewShard(sketch.Config{Tables: 3})
	for i := range 5 {
		r := write(start, "k", 1)
		r.Table = fmt.Sprint("table", i)
		if err := s.Add(&r); (i >= 3) != errors.Is(err, sketch.ErrTooManyTables) {
			t.Errorf("table %d: %v", i, err)
		}
	}
	if n := len(sealed(s).Windows); n != 3 {
		t.Errorf("%d tables, want 3", n)
	}
}

// tableRound adds one record of each table of senders to a shard, in turn, and returns how many of
// each sender were refused. Then it seals.
func tableRound(s *sketch.Shard, senders map[string][]string) (refused map[string]int) {
	refused = map[string]int{}
	for _, sender := range slices.Sorted(maps.Keys(senders)) {
		s.SetSender(sender)
		for _, name := range senders[sender] {
			r := write(start, "k", 1)
			r.Table = name
			if s.Add(&r) != nil {
				refused[sender]++
			}
		}
	}
	sealed(s)
	return refused
}

func tableNames(prefix string, n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprint(prefix, i))
	}
	return all
}

// TestKnownTablesKeepTheirPlace: a sender names many more tables than there is room for, in every
// round other ones. Known tables that come last of all are counted, from the first round on.
func TestKnownTablesKeepTheirPlace(t *testing.T) {
	t.Parallel()
	s := sketch.NewShard(sketch.Config{Tables: 40})
	known := map[sample.Target]bool{}
	for _, name := range tableNames("known", 20) {
		known[sample.Target{Table: name}] = true
	}
	s.Know(known)
	for round := range 10 {
		refused := tableRound(s, map[string][]string{"a noisy one": tableNames(fmt.Sprint("new", round, "-"), 200), "others": tableNames("known", 20)})
		if refused["others"] != 0 || refused["a noisy one"] < 180 {
			t.Errorf("round %d: refused %v, want at least 180 of the noisy one's 200", round, refused)
		}
	}
}

// TestManyKnownTablesLeaveRoom: a quarter of the room is for new tables, however many are known.
func TestManyKnownTablesLeaveRoom(t *testing.T) {
	t.Parallel()
	s := sketch.NewShard(sketch.Config{Tables: 40})
	known := map[sample.Target]bool{}
	for _, name := range tableNames("known", 400) {
		known[sample.Target{Table: name}] = true
	}
	s.Know(known)
	if refused := tableRound(s, map[string][]string{"a": tableNames("new", 40)}); refused["a"] != 30 {
		t.Errorf("%d of 40 new tables are refused, want 30", refused["a"])
	}
}

// TestNewTablesAreFairBySender: new tables share the room by sender. Who asks for less than an
// equal part loses nothing after the first round, also while it is silent in every other round.
func TestNewTablesAreFairBySender(t *testing.T) {
	t.Parallel()
	s := sketch.NewShard(sketch.Config{Tables: 30})
	for round := range 20 {
		senders := map[string][]string{"a noisy one": tableNames(fmt.Sprint("new", round, "-"), 200)}
		if round%2 == 1 {
			senders["b"], senders["c"] = tableNames("small", 4), tableNames("large", 100)
		}
		refused := tableRound(s, senders)
		if round < 2 {
			continue // room is taken until the noisy one's part is known
		}
		if refused["b"] != 0 || refused["a noisy one"] < 187 || refused["c"] > 90 {
			t.Errorf("round %d: refused %v, want at least 187 of the noisy one's, none of b's and at most 90 of c's", round, refused)
		}
	}
	for range 200 { // the others are gone
		tableRound(s, map[string][]string{"a noisy one": tableNames("new", 200)})
	}
	if refused := tableRound(s, map[string][]string{"a noisy one": tableNames("new", 200)}); refused["a noisy one"] != 170 {
		t.Errorf("alone it is refused %v, want 170", refused)
	}
}

// TestNamesAreForgotten has a job create three tables between two Seals for ever, beside a
// table that stays. No record is refused, each table's sums are complete, and the distinct keys
// of the staying or returning table are the same as without the job.
func TestNamesAreForgotten(t *testing.T) {
	t.Parallel()
	s, alone := sketch.NewShard(sketch.Config{Tables: 12}), sketch.NewShard(sketch.Config{})
	merged := map[identity]*sketch.Window{}
	distinct := map[string]*sketch.Cardinality{}
	for _, name := range []string{"orders", "returns", "orders alone", "returns alone"} {
		distinct[name] = &sketch.Cardinality{}
	}
	exact := exactCounts{}
	count := func(s *sketch.Shard, table string, round int) {
		r := write(start+int64(round), fmt.Sprint("key", round%17), 1000)
		r.Table = table
		if s != alone {
			exact.add(&r)
		}
		add(t, s, r)
	}
	for round := range 100 {
		for i := range 3 {
			count(s, "orders", round)
			count(s, fmt.Sprintf("job-%d-%d", round, i), round)
		}
		count(alone, "orders", round)
		if round%10 == 0 { // often enough to be forgotten between
			count(s, "returns", round)
			count(alone, "returns", round)
		}
		if round%3 == 0 {
			count(s, "orders", round)
		}
		for suffix, d := range map[string]*sketch.Delta{"": sealed(s), " alone": sealed(alone)} {
			if suffix == "" {
				fold(merged, d)
			}
			for _, r := range d.Cardinality {
				if c := distinct[r.Table+suffix]; c != nil {
					c.Merge(r)
				}
			}
		}
	}
	exact.compare(t, merged)
	for _, name := range []string{"orders", "returns"} {
		if got, want := distinct[name].Estimate(), distinct[name+" alone"].Estimate(); got != want || got == 0 {
			t.Errorf("%s has %d distinct keys, want %d", name, got, want)
		}
	}
}

// TestCounterOverflow fills counters beyond their range. The table's remainder then bounds the
// unknown load, never a wrapped number.
func TestCounterOverflow(t *testing.T) {
	t.Parallel()
	s := sketch.NewShard(sketch.Config{Sets: 1, CounterBytes: 4096})
	exact := exactCounts{}
	for round := range 3 {
		for i := range 40 {
			r := write(start, fmt.Sprint("key", i), sample.Milli(2_000_000+i*1000+round))
			exact.add(&r)
			add(t, s, r)
		}
	}
	merged := map[identity]*sketch.Window{}
	fold(merged, sealed(s))
	exact.compare(t, merged)
}

// TestLongColdKeys leave as their beginning, hot ones whole.
func TestLongColdKeys(t *testing.T) {
	t.Parallel()
	s := newShard()
	long := strings.Repeat("x", 200)
	add(t, s, write(start, long+"cold", 1), write(start, long+"hot", 900))
	for _, k := range sealed(s).Windows[0].Keys {
		if hot := k.Low.Write > 1000; k.Cut == hot || len(k.Key.Text) > 32 != hot {
			t.Errorf("cut %v, %d bytes of a key with %v", k.Cut, len(k.Key.Text), k.Low)
		}
	}
}

// TestSealAndDiscard: sealed windows come once, discarded ones never, and registers come again
// after Discard.
func TestSealAndDiscard(t *testing.T) {
	t.Parallel()
	s := newShard()
	add(t, s, write(start, "a", 1))
	first := sealed(s)
	if len(first.Windows) != 1 || len(first.Cardinality) != 1 {
		t.Fatalf("first seal: %+v", first)
	}
	if again := sealed(s); !again.Empty() {
		t.Fatalf("sealed twice: %+v", again)
	}
	add(t, s, write(start, "a", 1))
	if second := sealed(s); len(second.Windows) != 1 || len(second.Cardinality) != 0 {
		t.Fatalf("a key seen before sends registers: %+v", second)
	}
	add(t, s, write(start, "b", 1))
	s.Discard()
	third := sealed(s)
	if len(third.Windows) != 0 || len(third.Cardinality) != 1 || len(third.Cardinality[0].Set) != 2 {
		t.Fatalf("after Discard: %+v", third)
	}
}

// TestIdleSecondsGiveMemoryBack fills the live seconds of some shards and lets them idle. Their
// memory is free after a few Seals, and they count as before.
func TestIdleSecondsGiveMemoryBack(t *testing.T) {
	before := heap.Live()
	shards := make([]*sketch.Shard, 8)
	for i := range shards {
		shards[i] = newShard()
		for second := range int64(sketch.SecondsInRing) {
			for key := range 20_000 {
				add(t, shards[i], write(start+second, fmt.Sprint("key", key), 1))
			}
		}
		sealed(shards[i])
	}
	full := heap.Live() - before
	for _, s := range shards {
		for range 20 {
			sealed(s)
		}
	}
	idle := heap.Live() - before
	if full < int64(len(shards))*4<<20 || idle > full/10 {
		t.Errorf("%d shards hold %d bytes, and %d when they are idle", len(shards), full, idle)
	}
	for _, s := range shards {
		add(t, s, write(start, "again", 7))
		if d := sealed(s); len(d.Windows) != 1 || len(d.Windows[0].Keys) != 1 || d.Windows[0].Keys[0].Low.Write != 7000 {
			t.Fatalf("after it: %+v", d.Windows)
		}
	}
}

func TestDistinctKeys(t *testing.T) {
	t.Parallel()
	s := newShard()
	merged := sketch.Cardinality{}
	for i := range 50_000 {
		add(t, s, write(start+int64(i%60), fmt.Sprint("key", i), 1))
		if i%10_000 == 0 {
			for _, r := range sealed(s).Cardinality {
				merged.Merge(r)
			}
		}
	}
	for _, r := range sealed(s).Cardinality {
		merged.Merge(r)
	}
	// Five standard errors of 1.6%.
	if n := merged.Estimate(); n < 46_000 || n > 54_000 {
		t.Errorf("%d distinct keys, want about 50,000", n)
	}
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	for _, c := range []sketch.Config{{Sets: 3}, {Sets: -1}, {CounterBytes: 5000}, {CounterBytes: 1024}, {Tables: -1}, {Tables: 70_000}} {
		if c.Validate() == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
	if err := (sketch.Config{}).Validate(); err != nil {
		t.Errorf("the defaults are refused: %v", err)
	}
}

// TestOver compares the keys over the limit with the added load.
func TestOver(t *testing.T) {
	t.Parallel()
	limit := sketch.Load{Read: 3_000_000, Write: 1_000_000}
	k := func(change func(r *sample.Record)) sample.Record {
		r := write(start, "k", 600)
		change(&r)
		return r
	}
	same := k(func(*sample.Record) {})
	reads := k(func(r *sample.Record) { r.Op, r.WCU, r.RCU = sample.GetItem, 0, 1_600_000 })
	for _, c := range []struct {
		story   string
		limit   sketch.Load
		records []sample.Record
		want    int
	}{
		{"writes", limit, []sample.Record{same, same}, 1},
		{"once a second", limit, []sample.Record{same, same, same, same}, 1},
		{"reads", limit, []sample.Record{reads, reads}, 1},
		{"reads below their limit", limit, []sample.Record{reads}, 0},
		{"half and half", limit, []sample.Record{same, reads}, 0},
		{"two seconds", limit, []sample.Record{same, k(func(r *sample.Record) { r.Time += 1000 })}, 0},
		{"two keys", limit, []sample.Record{same, k(func(r *sample.Record) { r.PK.Text = "l" })}, 0},
		{"exactly at it", limit, []sample.Record{k(func(r *sample.Record) { r.WCU = 1_000_000 })}, 0},
		{"no limit", sketch.Load{}, []sample.Record{same, same}, 0},
		{"samples that prove it", limit, []sample.Record{k(func(r *sample.Record) { r.WCU, r.N, r.Rate, r.Calls = 1000, 500, 0.25, 500 })}, 1},
		{"samples that do not", limit, []sample.Record{k(func(r *sample.Record) { r.WCU, r.N, r.Rate, r.Calls = 1000, 280, 0.25, 280 })}, 0},
	} {
		t.Run(c.story, func(t *testing.T) {
			t.Parallel()
			s := sketch.NewShard(sketch.Config{Seed: seed, Limit: c.limit})
			add(t, s, c.records...)
			over := s.OverLimit()
			if len(over) != c.want {
				t.Fatalf("%d keys over the limit, want %d", len(over), c.want)
			}
			hash := sketch.Hash(same.Target(), same.PK, seed)
			if c.want > 0 && over[0] != (sketch.Over{Hash: hash, Second: start}) {
				t.Errorf("%+v is over the limit, want key %d in second %d", over[0], hash, start)
			}
			if again := s.OverLimit(); again != nil {
				t.Errorf("returned again: %+v", again)
			}
		})
	}
}

// TestAbsurdRecordsAreReadBack: records that pass sample.Record.Check make a readable summary,
// at any size and after any number of merges. An unreadable one would hold back its collector's
// other summaries.
func TestAbsurdRecordsAreReadBack(t *testing.T) {
	t.Parallel()
	huge := write(start, "k", 1)
	huge.RCU, huge.WCU, huge.N, huge.Caller = sample.MaxUnits, sample.MaxUnits, 999, "c"
	empty := huge // requests without units
	empty.RCU, empty.WCU, empty.N, empty.Rate = 0, 0, sample.MaxN, sample.MinRate
	sent := huge
	sent.RCU, sent.WCU, sent.N, sent.Rate, sent.Attempts, sent.Waited, sent.Failed = 0, 0, sample.MaxN, 1e-6, sample.MaxAttempts, sample.MaxWaited, true
	for story, c := range map[string]struct {
		of    sample.Record
		times int
	}{"huge": {huge, 2_400_000}, "empty": {empty, 20}, "sent": {sent, 20}} {
		if reason := c.of.Check(); reason != "" {
			t.Fatalf("%s: %s", story, reason)
		}
		s := newShard()
		add(t, s, huge)
		for range c.times {
			add(t, s, c.of)
		}
		d := sealed(s)
		body, err := d.MarshalBinary()
		must.Succeed(t, err)
		var read sketch.Delta
		if err := read.UnmarshalBinary(body); err != nil {
			t.Errorf("%s: a delta cannot be read: %v", story, err)
			continue
		}
		for range 5 { // many times as much
			w := read.Windows[0]
			read.Windows[0].Merge(&w)
			body, err := read.Windows[0].MarshalBinary()
			must.Succeed(t, err)
			if err := w.UnmarshalBinary(body); err != nil {
				t.Fatalf("%s: a merged window cannot be read: %v", story, err)
			}
			if k := w.Keys[0]; w.Total.Write < 1e12-1e9 || k.Low.Write < 1e12-1e9 || k.Evidence.Ops[0].Requests < 999 {
				t.Errorf("%s: merged it is %+v with %+v", story, w, k.Evidence)
			}
		}
	}
}

// TestRecordsOfManyMinutesTakeLittle: the distinct keys of each minute are counted in full,
// although most minutes leave long before the Seal, and come again.
func TestRecordsOfManyMinutesTakeLittle(t *testing.T) { // not parallel: it looks at the heap
	const minutes, tables = 8_000, 3
	s := newShard()
	before := heap.Live()
	for round := range 2 {
		for i := range minutes {
			for table := range tables {
				r := write(start+60*int64(i), fmt.Sprint("key ", round), 1)
				r.Table = fmt.Sprint("table ", table)
				add(t, s, r)
			}
		}
	}
	if grown := heap.Live() - before; grown > 60<<20 || s.Pending() < 8<<20 { // of 48,000 windows, and 24,000 registers of 8 KiB each
		t.Errorf("they take %d MiB, of which %d are said to be pending", grown>>20, s.Pending()>>20)
	}
	d := sealed(s)
	type id struct {
		table  string
		minute int64
	}
	found := map[id]*sketch.Cardinality{}
	for _, r := range d.Cardinality {
		in := id{r.Table, r.Minute}
		if found[in] == nil {
			found[in] = &sketch.Cardinality{}
		}
		found[in].Merge(r)
	}
	if len(found) != minutes*tables {
		t.Errorf("%d minutes of tables", len(found))
	}
	for in, c := range found {
		if c.Estimate() != 2 {
			t.Fatalf("%v: %d keys, want 2", in, c.Estimate())
		}
	}
	if s.Pending() > 4<<20 {
		t.Errorf("%d bytes are pending behind the Seal", s.Pending())
	}
	runtime.KeepAlive(s)
}
