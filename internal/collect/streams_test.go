package collect_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/keyheat/keyheat/detect/partition"
	"github.com/keyheat/keyheat/internal/aws/catalog"
	"github.com/keyheat/keyheat/internal/collect"
	"github.com/keyheat/keyheat/internal/keypolicy"
	"github.com/keyheat/keyheat/internal/source/shards"
	"github.com/keyheat/keyheat/internal/source/shards/streams"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest/model"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// orders is a table with two indexes, one of them sparse and of two attributes.
var orders = model.Schema{
	Name: "orders", Key: model.Key{Partition: []string{"customer"}, Sort: []string{"id"}},
	Indexes: []model.Index{
		{Name: "by-status", Key: model.Key{Partition: []string{"status"}}, Projection: "KEYS_ONLY"},
		{Name: "by-place", Key: model.Key{Partition: []string{"country", "city"}, Sort: []string{"id"}}, Projection: "INCLUDE", Include: []string{"total"}},
	},
}

// scenario is a DynamoDB with a table, and a store that all collectors share, in a
// bubble.
type scenario struct {
	testing.TB
	fake  *streamstest.Fake
	table *streamstest.Table
	store *store.Store
	rng   *rand.Rand
	n     int
	hider func() *keypolicy.Hider // nil hides nothing
}

func newScenario(t testing.TB, o streamstest.Options) *scenario {
	time.Sleep(time.Until(noon)) // a bubble begins in 2000, when there was no DynamoDB
	s := &scenario{TB: t, fake: streamstest.New(o), store: open(t, "sqlite::memory:"), rng: rand.New(rand.NewPCG(o.Seed, 3))}
	s.table = s.fake.CreateTable(orders)
	s.table.EnableStream(streamstest.NewAndOldImages)
	return s
}

// write writes, updates and deletes orders for a while.
func (s *scenario) write(changes int, apart time.Duration) {
	s.Helper()
	for range changes {
		s.n++
		key := model.Item{"customer": model.S(fmt.Sprint("c", s.rng.IntN(40))), "id": model.S(fmt.Sprint(s.rng.IntN(5)))}
		var err error
		switch s.rng.IntN(10) {
		case 0:
			err = s.table.Delete(key)
		case 1:
			err = s.table.Expire(key)
		case 2:
			err = s.table.Update(key, model.Item{"total": model.N(fmt.Sprint(s.n))}, "city")
		default:
			item := maps.Clone(key)
			item["status"] = model.S([]string{"OPEN", "PAID", "SENT"}[s.rng.IntN(3)])
			item["total"] = model.N(fmt.Sprint(s.n))
			item["note"] = model.S(string(make([]byte, s.rng.IntN(3000))))
			if s.rng.IntN(2) == 0 {
				item["country"], item["city"] = model.S("CH"), model.S(fmt.Sprint("city", s.rng.IntN(3)))
			}
			err = s.table.Put(item)
		}
		if err != nil {
			s.Fatal(err)
		}
		time.Sleep(apart)
	}
}

// process is a collector that reads streams, as cmd/collector wires it.
type process struct {
	*shards.Source
	stop func()
	kill func()
}

// errKilled is the store's answer to a killed process.
var errKilled = errors.New("killed")

// killableStore is the store as one process reaches it, until it is killed.
type killableStore struct {
	shards.Registry
	dead atomic.Bool
}

func (c *killableStore) Attend(ctx context.Context, source, member string, ttl time.Duration) ([]string, error) {
	if c.dead.Load() {
		return nil, errKilled
	}
	return c.Registry.Attend(ctx, source, member, ttl)
}

func (c *killableStore) Leave(ctx context.Context, source, member string) error {
	if c.dead.Load() {
		return errKilled
	}
	return c.Registry.Leave(ctx, source, member)
}

func (c *killableStore) FreeShard(ctx context.Context, source, member, name string) error {
	if c.dead.Load() {
		return errKilled
	}
	return c.Registry.FreeShard(ctx, source, member, name)
}

// start runs a collector until it is stopped, or killed.
func (s *scenario) start(name string) *process {
	s.Helper()
	st := newFlaky(s.store, s.rng, 0)
	config := collect.Config{Source: "dynamodb-streams:test", Sketch: small, Shards: 2, StopTimeout: 2 * time.Second, Hider: s.hider}
	settings := s.fake.Config(name)
	tables := catalog.New(dynamodb.NewFromConfig(settings), []string{"orders"}, nil, func(ctx context.Context, of sample.Target, facts []byte) error {
		return s.store.PutTableFacts(ctx, of, facts)
	}, quiet)
	config.Decoder = func(shard string) collect.Decoder { return tables.Decoder(shards.TableOf(shard)) }
	c := newCollector(s, config, st)
	killable := &killableStore{Registry: s.store}
	source, err := streams.New(shards.Config{Name: config.Source, Member: c.Writer(), Tables: []string{"orders"}, Known: tables.Check},
		dynamodbstreams.NewFromConfig(settings), killable, quiet)
	if err != nil {
		s.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	stopCollector := running(s, c)
	done := make(chan struct{}, 2)
	go func() { _ = tables.Run(ctx); done <- struct{}{} }()
	go func() { _ = source.Run(ctx, c); done <- struct{}{} }()
	end := func() error { cancel(); <-done; <-done; return stopCollector() }
	return &process{source, func() {
		if err := end(); err != nil {
			s.Error(err)
		}
	}, func() { st.kill(); killable.dead.Store(true); _ = end() }}
}

// load is the counted or expected load, in thousandths of a unit.
type load map[[2]string]int64 // by index and second

func (s *scenario) wanted() load {
	want := load{}
	for _, w := range s.table.Written() {
		for _, c := range s.table.Schema().Charges(w) {
			want[[2]string{c.Index, fmt.Sprint(w.Time.Unix())}] += int64(c.Units * 1000)
		}
	}
	maps.DeleteFunc(want, func(_ [2]string, units int64) bool { return units == 0 })
	return want
}

func (s *scenario) counted() load {
	s.Helper()
	snap, err := s.store.Read(context.Background(), nil, store.ReadLimit{Deltas: 1 << 30, Bytes: 1 << 30})
	if err != nil {
		s.Fatal(err)
	}
	got := load{}
	for _, row := range snap.Deltas {
		var d sketch.Delta
		if err := d.UnmarshalBinary(row.Body); err != nil {
			s.Fatal(err)
		}
		for _, w := range d.Windows {
			got[[2]string{w.Index, fmt.Sprint(w.Second)}] += int64(w.Total.Write)
		}
	}
	maps.DeleteFunc(got, func(_ [2]string, units int64) bool { return units == 0 })
	return got
}

// allStored waits until every change is in the store, exactly.
func (s *scenario) allStored(most time.Duration) {
	s.Helper()
	want := s.wanted()
	begin := time.Now()
	for time.Since(begin) < most {
		if maps.Equal(s.counted(), want) {
			return
		}
		time.Sleep(time.Second)
	}
	got := s.counted()
	bad, err := s.store.BadSamples(context.Background(), store.BadQuery{})
	s.Logf("bad samples: %+v (%v)", bad, err)
	for at, units := range want {
		if got[at] != units {
			s.Errorf("index %q, second %s: %d thousandths, want %d", at[0], at[1], got[at], units)
		}
	}
	for at, units := range got {
		if want[at] == 0 {
			s.Errorf("index %q, second %s: %d thousandths, want none", at[0], at[1], units)
		}
	}
}

// TestStreamsAreCountedOnceInTheStore: the stored units of the table and both indexes equal
// the charged ones, second by second. Meanwhile collectors are stopped or killed, and
// shards split.
func TestStreamsAreCountedOnceInTheStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScenario(t, streamstest.Options{Seed: 5, Shards: 3, Lag: time.Second, EmptyPages: 0.1, Throttles: 0.05, Errors: 0.01})
		s.write(300, 3*time.Millisecond)
		all, rounds := []*process{s.start("a"), s.start("b"), s.start("c")}, 10
		if testing.Short() {
			rounds = 3
		}
		for i := range rounds {
			s.write(200, 20*time.Millisecond)
			open := s.table.OpenShards()
			s.table.Split(open[s.rng.IntN(len(open))])
			victim := s.rng.IntN(len(all))
			if i%3 == 2 {
				all[victim].stop()
			} else {
				all[victim].kill()
			}
			all[victim] = s.start(fmt.Sprint("successor", i))
		}
		s.allStored(3 * time.Minute)
		for _, p := range all {
			p.stop()
		}
		gaps, err := s.store.Gaps(t.Context(), store.GapQuery{})
		if err != nil || len(gaps) > 0 {
			t.Errorf("gaps %v (%v), want none", gaps, err)
		}
		if most, shard := s.fake.MostReaders(); most > 2 {
			t.Errorf("%d readers of %s", most, shard)
		}
		m := s.partitions()
		wrong := m.Contradictions(time.Now())
		if open := s.table.OpenShards(); len(wrong) > 0 || len(m.Shards()) != len(open) || len(m.Splits()) == 0 {
			t.Errorf("%d shards, %d splits and %d contradictions are stored; %d shards are open", len(m.Shards()), len(m.Splits()), len(wrong), len(open))
		}
	})
}

// partitions returns the map that follows from what collectors stored.
func (s *scenario) partitions() *partition.Map {
	s.Helper()
	rows, err := s.store.StreamShards(context.Background(), time.Time{})
	if err != nil {
		s.Fatal(err)
	}
	var all []partition.Listed
	for i := range rows {
		row := &rows[i]
		listed := partition.Listed{Name: row.PartitionID.Name, Parent: row.After, Stream: row.Stream, Open: row.Ended.IsZero(), Ended: row.Ended, Observed: &partition.Observed{}}
		if err := listed.Observed.UnmarshalBinary(row.Body); err != nil {
			s.Fatal(err)
		}
		if row.Table != "" && row.Target != (sample.Target{Account: row.Account, Region: row.Region, Table: "orders"}) {
			s.Errorf("a shard is of %+v", row.Target)
		}
		all = append(all, listed)
	}
	m := partition.New(true)
	m.Update(all, time.Now())
	m.Dissolve(time.Now().Add(2 * partition.SettleTime))
	return m
}

// TestHiddenKeysHaveNoPosition: where a key policy hides the keys, nothing is stored of
// where they lie, or 16 bits of it if the operator allows that.
func TestHiddenKeysHaveNoPosition(t *testing.T) {
	t.Parallel()
	for _, policy := range []*keypolicy.Policy{nil, {Mode: keypolicy.HMAC}, {Mode: keypolicy.HMAC, Positions: true}} {
		synctest.Test(t, func(t *testing.T) {
			s := newScenario(t, streamstest.Options{Seed: 7, Shards: 2})
			if policy != nil {
				secrets, err := keypolicy.ParseSecrets("MDEyMzQ1Njc4OWFiY2RlZg==")
				must(t, err)
				s.hider = func() *keypolicy.Hider {
					return keypolicy.NewHider(func(sample.Target) keypolicy.Policy { return *policy }, secrets)
				}
			}
			a := s.start("a")
			s.write(100, 20*time.Millisecond)
			s.allStored(time.Minute)
			a.stop()
			rows, err := s.store.StreamShards(t.Context(), time.Time{})
			if err != nil || len(rows) != 2 {
				t.Fatalf("%d shards (%v)", len(rows), err)
			}
			for i := range rows {
				body := rows[i].Body
				if stored := len(body) > 0; stored != (policy == nil || policy.Hashes() && policy.Positions) {
					t.Errorf("%+v: positions stored %v", policy, stored)
				}
				if policy == nil || len(body) == 0 {
					continue
				}
				for _, end := range [][]byte{body[:8], body[8:16]} {
					if !bytes.Equal(end[2:], make([]byte, 6)) {
						t.Errorf("%+v: %x is stored of a position", policy, end)
					}
				}
			}
		})
	}
}

// TestStreamsThroughAStop: after a backlog of hours the waiting shards still hold their
// seconds open. After a stop the positions are unchanged.
func TestStreamsThroughAStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScenario(t, streamstest.Options{Seed: 6, Shards: 2})
		a := s.start("a")
		s.write(100, 20*time.Millisecond)
		s.allStored(time.Minute)
		a.stop()
		s.fake.Deny("GetRecords")
		s.table.Split(s.table.OpenShards()[0])
		b := s.start("b")
		for range 16 {
			s.write(10, 6*time.Second)
		}
		wait := 2 * time.Hour
		if testing.Short() {
			wait /= 10
		}
		time.Sleep(wait) // as the children do
		marks, err := s.store.Watermarks(t.Context())
		must(t, err)
		for _, m := range marks {
			if age := time.Since(m.Seen); m.Time.Before(store.Infinity) && age > 2*time.Minute {
				t.Errorf("nobody has spoken for %s for %s", m.Name, age)
			}
		}
		if len(b.Ready()) == 0 {
			t.Error("ready while nothing can be read")
		}
		s.fake.Allow("GetRecords")
		s.allStored(5 * time.Minute)
		time.Sleep(30 * time.Second)
		if why := b.Ready(); len(why) > 0 {
			t.Errorf("not ready: %q", why)
		}
		b.stop()
		facts, err := s.store.TableFacts(t.Context())
		if err != nil || len(facts) != 1 || facts[0].Table != "orders" {
			t.Errorf("facts %v (%v)", facts, err)
		}
	})
}
