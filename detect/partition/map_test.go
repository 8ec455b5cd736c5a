package partition_test

import (
	"bytes"
	"crypto/md5"  //nolint:gosec // a wrong hash
	"crypto/sha1" //nolint:gosec // a wrong hash
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/partition"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/position"
)

var seeds = flag.Int("partition.seeds", 200, "simulated tables of each kind")

// brief returns a smaller number of simulated tables with -short.
func brief(usual, short int) int {
	if testing.Short() {
		return min(usual, short)
	}
	return usual
}

func same(p position.Position) position.Position { return p }

// TestRightHash: over tables that split by either rule, roll, split collections, and deliver
// late, the map never contradicts itself, its certain answers are right, and the truth is
// always among its candidates.
func TestRightHash(t *testing.T) {
	t.Parallel()
	for _, world := range []struct {
		name       string
		partitions int
		sortKeys   bool
		hidden     bool // by a key policy, from some time on
	}{
		{name: "one partition at first", partitions: 1},
		{name: "one partition with sort keys", partitions: 1, sortKeys: true},
		{name: "four", partitions: 4},
		{name: "four with sort keys", partitions: 4, sortKeys: true},
		{name: "ten", partitions: 10},
		{name: "ten with sort keys", partitions: 10, sortKeys: true},
		{name: "ten with hidden keys", partitions: 10, hidden: true},
	} {
		t.Run(world.name, func(t *testing.T) {
			t.Parallel()
			asked, certain := 0, 0
			for seed := range brief(*seeds, 60) {
				w := newTable(uint64(seed), world.partitions, 600, world.sortKeys)
				r := newReader(w, same)
				for round := range 60 {
					if world.hidden && round == 10 {
						r.hash = position.Position.Coarse
						o, i := partition.Observed{}, w.item()
						o.Add(r.hash(i.at))
						r.m.Observe(w.holder(i).shard.id, &o, r.now)
					}
					for range 50 {
						w.write(w.item())
					}
					busy := w.partitions[w.random.IntN(len(w.partitions))]
					switch w.random.IntN(8) {
					case 0:
						w.split(busy, w.random.IntN(2) == 0)
					case 1:
						w.roll(busy)
					}
					r.read(w.random.Float64())
					if w.random.IntN(60) == 0 { // another judge takes over
						r.m = restored(t, r.m)
					}
					known, right := check(t, r)
					asked, certain = asked+known, certain+right
				}
				r.read(1)
				r.read(1)
				check(t, r)
				if r.wrong > 0 {
					t.Fatalf("seed %d: %d contradictions", seed, r.wrong)
				}
				if world.partitions > 1 && r.m.State(r.now) != partition.Inferred {
					t.Errorf("seed %d: the map is %s with evidence %.1f", seed, r.m.State(r.now), r.m.Evidence())
				}
			}
			if float64(certain) < 0.6*float64(asked) {
				t.Errorf("%d of %d answers are certain", certain, asked)
			}
		})
	}
}

// check asks where some items lie.
func check(t *testing.T, r *reader) (asked, certain int) {
	t.Helper()
	for range 20 {
		i := r.table.item()
		truth := r.table.holder(i).shard.id
		candidates := r.m.Locate(r.hash(i.at))
		found := false
		for _, s := range candidates {
			found = found || s.ID == truth
		}
		if !found {
			t.Fatalf("an item at %v lies in %s, which is none of its %d candidates", i.at, truth, len(candidates))
		}
		asked++
		if len(candidates) == 1 {
			certain++
		}
	}
	return asked, certain
}

// TestWrongHash: a map of a table that places keys by another hash claims nothing, and is
// withdrawn within 40 keys in 99 of 100 tables.
func TestWrongHash(t *testing.T) {
	t.Parallel()
	for name, hash := range map[string]func([]byte) uint64{
		"MD5":    func(b []byte) uint64 { s := md5.Sum(b); return binary.BigEndian.Uint64(s[:]) },  //nolint:gosec // a wrong hash
		"SHA-1":  func(b []byte) uint64 { s := sha1.Sum(b); return binary.BigEndian.Uint64(s[:]) }, //nolint:gosec // a wrong hash
		"FNV-1":  func(b []byte) uint64 { h := fnv.New64(); h.Write(b); return h.Sum64() },
		"FNV-1a": func(b []byte) uint64 { h := fnv.New64a(); h.Write(b); return h.Sum64() },
		"little endian": func(b []byte) uint64 {
			s := md5.Sum(append([]byte("Outliers"), b...)) //nolint:gosec // the right hash, read in the wrong order
			return binary.LittleEndian.Uint64(s[:])
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			late := 0
			for seed := range brief(*seeds, 60) {
				w := newTable(uint64(seed), []int{2, 4, 10, 32}[seed%4], 600, false)
				r := newReader(w, func(p position.Position) position.Position {
					return position.Position(hash(binary.BigEndian.AppendUint64(nil, uint64(p))))
				})
				keys := map[position.Position]bool{}
				withdrawn := false
				for !withdrawn && len(keys) < 200 {
					i := w.items[w.random.IntN(len(w.items))]
					keys[i.at] = true
					w.write(i)
					r.read(1)
					switch state := r.m.State(r.now); state {
					case partition.Inferred, partition.Doubtful:
						t.Fatalf("seed %d: %s after %d keys", seed, state, len(keys))
					}
					withdrawn = r.m.Withdrawals() > 0
				}
				if len(keys) > 40 {
					late++
				}
			}
			if late > *seeds/100 {
				t.Errorf("%d of %d tables were withdrawn after more than 40 keys", late, *seeds)
			}
		})
	}
}

// TestSecondWithdrawal: a map learns anew once, and then claims nothing for a day.
func TestSecondWithdrawal(t *testing.T) {
	t.Parallel()
	w := newTable(1, 4, 600, false)
	r := newReader(w, func(p position.Position) position.Position { return p * 0x9e3779b97f4a7c15 })
	for range 200 {
		w.write(w.items[w.random.IntN(len(w.items))])
		r.read(1)
		r.m.State(r.now)
	}
	if state := r.m.State(r.now); state != partition.Withdrawn || r.m.Withdrawals() < 2 {
		t.Errorf("it is %s after %d withdrawals", state, r.m.Withdrawals())
	}
	for _, m := range []*partition.Map{r.m, restored(t, r.m)} {
		if v := m.View(detect.Target{}, r.now); len(v.Contradictions) < 3 {
			t.Errorf("the withdrawn map shows %d contradictions", len(v.Contradictions))
		}
	}
}

// TestFinishedStream: the map of a stream that was read to its end is withdrawn if the keys refute
// the hash, and shows what contradicts.
func TestFinishedStream(t *testing.T) {
	t.Parallel()
	delivered, shards := map[string]*partition.Delivered{}, []partition.Listed{}
	for _, id := range []string{"a", "b", "c", "d"} {
		delivered[id] = &partition.Delivered{}
		shards = append(shards, partition.Listed{Name: id, Open: true})
	}
	for i := range 200 {
		r := sample.Record{Table: "orders", PK: sample.KeyString(fmt.Sprint(i)), Time: 1_700_000_000_000, WCU: 1000, N: 1, Rate: 1}
		delivered[shards[i%len(shards)].Name].Add(&r)
	}
	now := time.Unix(1_700_000_100, 0)
	m, target := partition.Infer(shards, delivered, func(detect.Target) *detect.TableFacts { return nil }, now)
	if v := m.View(target, now); v.State != partition.Withdrawn || len(v.Contradictions) < 3 {
		t.Errorf("it is %s, with %d contradictions", v.State, len(v.Contradictions))
	}
}

// TestLostLineage: while nobody reads, each partition is split twice, and the records expire. The
// listing then shows the shards of before, that of a grandparent nobody read, and the open ones.
// The map forgets its ranges once, holds no shard that ended, and is right again with new keys,
// also if another judge takes over.
func TestLostLineage(t *testing.T) {
	t.Parallel()
	for seed := range uint64(min(*seeds, 50)) {
		w := newTable(seed, 4, 600, seed%2 == 1)
		rows, now := newListing(w), time.Unix(1_700_000_000, 0)
		m := partition.New(w.sortKeys)
		read := func(keys int) {
			for range keys {
				w.write(w.item())
			}
			m.Update(rows.read(now), now)
			now = now.Add(time.Minute)
			m = restored(t, m)
		}
		read(400)
		if state := m.State(now); state != partition.Inferred {
			t.Fatalf("seed %d: it is %s", seed, state)
		}
		for range 2 {
			for _, p := range append([]*tablePartition(nil), w.partitions...) {
				w.split(p, false)
			}
		}
		rows.expire()
		read(0)
		if state := m.State(now); state != partition.Learning {
			t.Errorf("seed %d: after the gap it is %s", seed, state)
		}
		for range 5 {
			read(500)
		}
		if state := m.State(now); state != partition.Inferred || len(m.Shards()) != len(w.partitions) || len(m.Contradictions(now)) > 0 {
			t.Fatalf("seed %d: it is %s, with %d shards for %d partitions, and %d contradictions", seed, state, len(m.Shards()), len(w.partitions), len(m.Contradictions(now)))
		}
		check(t, &reader{table: w, m: m, now: now, hash: same})
	}
}

// TestContradictedEvidence: after a contradiction nothing more counts as evidence.
func TestContradictedEvidence(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	m := partition.New(false)
	for n, id := range []string{"a", "b", "c"} {
		m.Open(id, "", now)
		m.Add(id, position.Position(n)<<62, now)
	}
	if m.Add("a", 5<<61, now) {
		t.Fatal("a key beyond another shard's keys is no contradiction")
	}
	for n, id := range []string{"a", "b", "c"} {
		for i := range 100 {
			m.Add(id, position.Position(n)<<62+position.Position(i)<<50, now)
		}
	}
	if state := m.State(now); state != partition.Learning {
		t.Errorf("it is %s with evidence %.1f", state, m.Evidence())
	}
}

// TestSplitCollection: two shards that share a position prove a collection that is split by
// its sort key, and both are candidates.
func TestSplitCollection(t *testing.T) {
	t.Parallel()
	m := partition.New(true)
	now := newReader(newTable(1, 1, 1, true), same).now
	m.Open("left", "", now)
	m.Open("right", "", now)
	for _, at := range []position.Position{10, 20, 30} {
		m.Add("left", at, now)
	}
	for _, at := range []position.Position{30, 40} {
		if !m.Add("right", at, now) {
			t.Fatalf("%d contradicts", at)
		}
	}
	for at, want := range map[position.Position]int{15: 1, 30: 2, 35: 1, 25: 1} {
		if found := m.Locate(at); len(found) != want {
			t.Errorf("%d has %d candidates, want %d", at, len(found), want)
		}
	}
}

// TestSplit: the children of a shard that was split keep its outermost keys, once both have
// keys of their own and a minute has passed.
func TestSplit(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	m := partition.New(true)
	m.Open("a", "", now)
	for _, at := range []position.Position{10, 50, 90} {
		m.Add("a", at, now)
	}
	m.Open("b", "", now)
	m.Add("b", 200, now)
	m.Open("right", "a", now)
	m.Open("left", "a", now)
	m.End("a", now)
	m.Add("left", 50, now)
	m.Add("right", 50, now)
	settled := now.Add(partition.SettleTime)
	m.Dissolve(settled)
	if found := m.Locate(12); len(found) != 2 {
		t.Errorf("the order of two halves of one collection is known: %d candidates", len(found))
	}
	if all := m.Splits(); len(all) != 1 || all[0].Shard != "a" || all[0].CutLow != 50 || all[0].CutHigh != 50 {
		t.Errorf("the split within one collection is not known before its order: %+v", all)
	}
	m.Add("right", 60, now)
	m.Dissolve(settled)
	for at, want := range map[position.Position]string{12: "left", 80: "right", 250: "b"} {
		if found := m.Locate(at); len(found) != 1 || found[0].ID != want {
			t.Errorf("%d has %d candidates, want %s alone", at, len(found), want)
		}
	}
	if all := m.Splits(); len(all) != 1 || !reflect.DeepEqual(all[0], detect.PartitionSplit{At: now, Shard: "a", Left: "left", Right: "right", Low: 10, High: 90, CutLow: 50, CutHigh: 50, Forecast: []detect.PartitionCut{}}) {
		t.Errorf("splits: %+v", all)
	}
	want := []detect.PartitionRange{
		{Shard: "left", Keys: true, Low: 10, High: 50, To: 50},
		{Shard: "right", Keys: true, From: 50, Low: 50, High: 90, To: 200},
		{Shard: "b", Keys: true, From: 90, Low: 200, High: 200, To: ^position.Position(0)},
	}
	if got := m.Ranges(); !slices.Equal(got, want) {
		t.Errorf("ranges: %v, want %v", got, want)
	}
	m.Open("a", "", settled) // listings show ended shards for a day
	if n := len(m.Shards()); n != 3 {
		t.Errorf("%d open shards after another listing", n)
	}
	m.Update([]partition.Listed{{Name: "late", Parent: "a", Open: true}}, settled)
	if found := m.Locate(12); len(found) != 4 {
		t.Errorf("a third child makes no gap: %d candidates", len(found))
	}
}

// TestLateChild: a shard with one listed child is no roll before a minute has passed.
func TestLateChild(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	m := partition.New(false)
	m.Open("a", "", now)
	m.Add("a", 10, now)
	m.Add("a", 90, now)
	m.Open("b", "", now)
	m.Add("b", 200, now)
	m.Open("right", "a", now)
	m.End("a", now)
	m.Dissolve(now.Add(partition.SettleTime / 2))
	m.Open("left", "a", now.Add(partition.SettleTime/2))
	m.Add("left", 20, now)
	m.Add("right", 60, now)
	m.Dissolve(now.Add(2 * partition.SettleTime))
	for at, want := range map[position.Position]string{12: "left", 80: "right", 250: "b"} {
		if found := m.Locate(at); len(found) != 1 || found[0].ID != want {
			t.Errorf("%d has %d candidates, want %s alone", at, len(found), want)
		}
	}
}

// TestEvidence: only cells of open shards count, and a roll keeps them.
func TestEvidence(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	fill := func(m *partition.Map, shard string, from int) {
		for i := range 10 {
			m.Add(shard, position.Position(from+i)<<48, now)
		}
	}
	plain, rolled, split := partition.New(false), partition.New(false), partition.New(false)
	for _, m := range []*partition.Map{plain, rolled, split} {
		m.Open("a", "", now)
		fill(m, "a", 0)
	}
	for _, m := range []*partition.Map{plain, rolled} {
		m.Open("b", "", now)
		fill(m, "b", 100)
	}
	rolled.Open("a2", "a", now)
	rolled.End("a", now)
	rolled.Dissolve(now.Add(partition.SettleTime))
	fill(rolled, "a2", 20)
	fill(plain, "a", 20)
	// 30! / (2! · 20! · 10!), the orders of 30 cells in two contiguous ranges.
	const want = 7.1767
	for name, m := range map[string]*partition.Map{"no roll": plain, "a roll": rolled} {
		if got := m.Evidence(); math.Abs(got-want) > 0.001 {
			t.Errorf("%s: evidence %.4f, want %.4f", name, got, want)
		}
	}
	split.Open("left", "a", now)
	split.Open("right", "a", now)
	split.End("a", now)
	split.Add("left", 1<<48, now)
	split.Add("right", 50<<48, now)
	if got := split.Evidence(); got > 0.001 {
		t.Errorf("the cells of a split shard count: evidence %.2f", got)
	}
}

// TestObserved: what a shard delivered, summed up, makes the same ranges as its records do,
// and finds a wrong hash.
func TestObserved(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		w := newTable(seed, 4, 3000, false)
		byRecord, summed, wrong := newReader(w, same), partition.New(false), partition.New(false)
		byRecord.list()
		seen, mixed := map[string]*partition.Observed{}, map[string]*partition.Observed{}
		for _, s := range w.streams {
			summed.Open(s.id, "", byRecord.now)
			wrong.Open(s.id, "", byRecord.now)
			seen[s.id], mixed[s.id] = &partition.Observed{}, &partition.Observed{}
		}
		for range 2000 {
			i := w.item()
			id := w.holder(i).shard.id
			for range 2 { // twice is once
				seen[id].Add(i.at)
				mixed[id].Add(i.at * 0x9e3779b97f4a7c15)
			}
			byRecord.m.Add(id, i.at, byRecord.now)
		}
		for _, s := range w.streams {
			summed.Observe(s.id, stored(t, seen[s.id]), byRecord.now)
			wrong.Observe(s.id, stored(t, mixed[s.id]), byRecord.now)
			summed.Observe(s.id, seen[s.id], byRecord.now)
		}
		summed, wrong = restored(t, summed), restored(t, wrong)
		if got, want := summed.Ranges(), byRecord.m.Ranges(); !slices.Equal(got, want) {
			t.Errorf("seed %d: %v, want %v", seed, got, want)
		}
		if math.Abs(summed.Evidence()-byRecord.m.Evidence()) > 1e-6 || summed.State(byRecord.now) != partition.Inferred {
			t.Errorf("seed %d: %s with evidence %.1f, by records %.1f", seed, summed.State(byRecord.now), summed.Evidence(), byRecord.m.Evidence())
		}
		if state := wrong.State(byRecord.now); state != partition.Learning || wrong.Withdrawals() != 1 {
			t.Errorf("seed %d: a wrong hash is %s after %d withdrawals", seed, state, wrong.Withdrawals())
		}
	}
}

// stored returns what a shard delivered as the store gives it back.
func stored(t *testing.T, o *partition.Observed) *partition.Observed {
	t.Helper()
	body, err := o.MarshalBinary()
	again := &partition.Observed{}
	if err != nil || again.UnmarshalBinary(body) != nil || *again != *o {
		t.Fatalf("%d bytes are read back as something else: %v", len(body), err)
	}
	return again
}

// restored returns a map as another judge reads it.
func restored(t *testing.T, m *partition.Map) *partition.Map {
	t.Helper()
	body, err := json.Marshal(m)
	again := &partition.Map{}
	if err != nil || json.Unmarshal(body, again) != nil {
		t.Fatal(err)
	}
	second, err := json.Marshal(again)
	if err != nil || !slices.Equal(again.Ranges(), m.Ranges()) || !bytes.Equal(second, body) {
		t.Fatal("a map is read back as another one")
	}
	return again
}

// TestStoredForm: few cells and many, and bytes that nobody wrote.
func TestStoredForm(t *testing.T) {
	t.Parallel()
	stored(t, &partition.Observed{})
	for _, keys := range []int{1, 100, 4095, 4096, 20_000} {
		o := &partition.Observed{}
		for i := range keys {
			o.Add(position.Position(i+1) * 0x9e3779b97f4a7c15)
		}
		stored(t, o)
	}
	for _, wrong := range [][]byte{{1}, make([]byte, 15), make([]byte, 17), make([]byte, 9000)} {
		if err := new(partition.Observed).UnmarshalBinary(wrong); err == nil {
			t.Errorf("%d bytes are read", len(wrong))
		}
	}
	if json.Unmarshal([]byte(`{"seen":1}`), &partition.Map{}) == nil {
		t.Error("a wrong map is read")
	}
}

// TestSplitOfAnIdleShard: a shard without a record makes no split at a time that nobody knows.
func TestSplitOfAnIdleShard(t *testing.T) {
	t.Parallel()
	delivered := map[string]*partition.Delivered{"left": {}, "right": {}}
	for i := range 100 {
		for id, d := range delivered {
			r := sample.Record{Table: "orders", PK: sample.KeyString(fmt.Sprint(id, i)), Time: 1_700_000_000_000, WCU: 1000, N: 1, Rate: 1}
			if p, _ := position.Find(r.PK); p < 1<<63 == (id == "left") {
				d.Add(&r)
			}
		}
	}
	shards := []partition.Listed{{Name: "left", Parent: "idle", Open: true}, {Name: "right", Parent: "idle", Open: true}, {Name: "idle"}}
	now := time.Unix(1_700_000_100, 0)
	m, target := partition.Infer(shards, delivered, func(detect.Target) *detect.TableFacts {
		return &detect.TableFacts{KeySchema: sample.Keys("pk")}
	}, now)
	v := m.View(target, now)
	if v.State != partition.Inferred || len(v.Partitions) != 2 || len(v.Splits) != 0 {
		t.Errorf("%+v", v)
	}
}

// TestShardLoads: while the map learns, each open shard shows its highest second. A late record
// widens the upper bound only.
func TestShardLoads(t *testing.T) {
	t.Parallel()
	delivered := map[string]*partition.Delivered{"a": {}, "b": {}, "old": {}}
	for _, r := range []struct {
		shard  string
		second int64
		units  sample.Milli
	}{{"a", 100, 300_000}, {"a", 100, 200_000}, {"a", 101, 450_000}, {"a", 100, 20_000}, {"b", 100, 10_000}, {"old", 90, 900_000}} {
		delivered[r.shard].Add(&sample.Record{Table: "orders", PK: sample.KeyString("k" + r.shard), Time: r.second * 1000, WCU: r.units, N: 1, Rate: 1})
	}
	shards := []partition.Listed{{Name: "a", Parent: "old", Open: true}, {Name: "b", Parent: "old", Open: true}, {Name: "old"}, {Name: "quiet", Open: true}}
	now := time.Unix(200, 0)
	m, target := partition.Infer(shards, delivered, func(detect.Target) *detect.TableFacts { return nil }, now)
	v := m.View(target, now)
	v.AddShardLoads(delivered)
	got := map[string]detect.Figure{}
	for _, p := range v.Partitions {
		got[p.Shard] = p.WCU
		if p.Shard == "a" && p.WritePeak.Unix() != 100 {
			t.Errorf("the peak of a is at %s", p.WritePeak)
		}
	}
	want := map[string]detect.Figure{"a": {Value: 500, Low: 500, High: 520}, "b": {Value: 10, Low: 10, High: 10}, "quiet": {}}
	if v.State != partition.Learning || !maps.Equal(got, want) {
		t.Errorf("%s: %v, want %v", v.State, got, want)
	}
}

// TestRevision: the revision rises with each change of the edges, also through the stored form
// and a new stream.
func TestRevision(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_900_000_000, 0)
	delivered := func(positions ...position.Position) *partition.Observed {
		o := &partition.Observed{}
		for _, p := range positions {
			o.Add(p << 48)
		}
		return o
	}
	m := partition.New(false)
	for _, step := range []struct {
		name     string
		stream   string
		low, top *partition.Observed
		revision int64
		cuts     []uint16
	}{
		{"no key", "1", nil, nil, 0, []uint16{}},
		{"keys", "1", delivered(0x1000), delivered(0x9000), 1, []uint16{0x5000}},
		{"nothing new", "1", delivered(0x0800), delivered(0xa000), 1, []uint16{0x5000}},
		{"a nearer key", "1", delivered(0x3000), nil, 2, []uint16{0x6000}},
		{"another stream", "2", nil, nil, 3, []uint16{}},
	} {
		m.Update([]partition.Listed{
			{Name: step.stream + "/low", Stream: step.stream, Open: true, Observed: step.low},
			{Name: step.stream + "/top", Stream: step.stream, Open: true, Observed: step.top},
		}, now)
		document, err := json.Marshal(m)
		must.Succeed(t, err)
		m = &partition.Map{}
		must.Succeed(t, json.Unmarshal(document, m))
		if v := m.View(detect.Target{}, now); v.Revision != step.revision || !slices.Equal(v.Cuts, step.cuts) {
			t.Errorf("%s: revision %d with %x, want %d with %x", step.name, v.Revision, v.Cuts, step.revision, step.cuts)
		}
	}
}
