package storetest

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

var streams = []obligation{
	{"a registered shard holds every second open until it is read", registerHolds},
	{"registering again changes nothing", registerAgain},
	{"a child's watermark begins where its parent's is", childMark},
	{"a stream's last listing is found by its prefix", lastListed},
	{"a child is ready when its parent has ended, and when that was forgotten", childReady},
	{"a shard is taken by one of many", takeRace},
	{"a shard of the dead is taken, and one of the living is not", takeDead},
	{"an ended shard cannot be taken", takeEnded},
	{"a freed shard keeps its position", freeKeeps},
	{"who leaves owns nothing", leaveFrees},
	{"a listing does not write again what was seen just now", listingSpeaks},
	{"ended shards are forgotten whole, open ones never", shardRetention},
	{"what a shard delivered is replaced, read once it is news, and goes with the shard", shardKeysKept},
	{"a table's map of partitions is replaced, and goes when it is old", mapsReplaced},
}

const streamSource = "dynamodb-streams:keyheat"

// child is a shard of the stream "t/1" that has to wait for another.
func child(name, after string) store.NewShard {
	return store.NewShard{Name: name, First: "TRIM_HORIZON", After: after}
}

func register(t *testing.T, s *store.Store, all ...store.NewShard) {
	t.Helper()
	must(t, s.RegisterShards(t.Context(), streamSource, "t/1", all, true))
}

func openShards(t *testing.T, s *store.Store) []store.Shard {
	t.Helper()
	return value[[]store.Shard](t)(s.OpenShards(t.Context(), streamSource))
}

func attend(t *testing.T, s *store.Store, member string, ttl time.Duration) []string {
	t.Helper()
	return value[[]string](t)(s.Attend(t.Context(), streamSource, member, ttl))
}

func take(t *testing.T, s *store.Store, member string, names ...string) []string {
	t.Helper()
	return value[[]string](t)(s.TakeShards(t.Context(), streamSource, member, names))
}

// finish counts a shard to its end.
func finish(t *testing.T, s *store.Store, writer, name string) {
	t.Helper()
	p := value[store.Position](t)(s.Claim(t.Context(), writer, store.Claim{PartitionID: store.PartitionID{Source: streamSource, Name: name}, First: "elsewhere"}))
	must(t, s.Commit(t.Context(), store.Commit{Writer: writer, Seq: p.Epoch + time.Now().UnixNano(),
		Moves: []store.Move{{PartitionID: p.PartitionID, Epoch: p.Epoch, From: p.Next, To: "9", Ended: true}},
		Watermarks: []store.Watermark{
			{PartitionID: p.PartitionID, Epoch: p.Epoch, Time: store.Infinity},
		}}))
}

func registerHolds(t *testing.T, s *store.Store) {
	since := noon.Add(time.Hour)
	orphan := child("t/1/b", "")
	orphan.UnseenSince = since
	register(t, s, child("t/1/a", ""), orphan)
	open := openShards(t, s)
	for i := range open {
		near(t, "found", open[i].Found)
		open[i].Found = time.Time{}
	}
	equal(t, "shards", open, []store.Shard{
		{Name: "t/1/a", Stream: "t/1", Ready: true, Watermark: store.Beginning, UnseenSince: time.Time{}.UTC()},
		{Name: "t/1/b", Stream: "t/1", Ready: true, Watermark: store.Beginning, UnseenSince: since},
	})
	l := value[store.Stream](t)(s.Lineage(t.Context(), streamSource, "t/1"))
	equal(t, "names", l.Names, []string{"t/1/a", "t/1/b"})
	near(t, "listed", l.Listed)
	for _, m := range read(t, s, nil).Watermarks {
		if !m.Time.Equal(store.Beginning) {
			t.Errorf("the watermark of %s is %s before it was read", m.Name, m.Time)
		}
	}
	p := value[store.Position](t)(s.Claim(t.Context(), "w", store.Claim{PartitionID: store.PartitionID{Source: streamSource, Name: "t/1/a"}, First: "elsewhere"}))
	equal(t, "the claimed position", p.Next, "TRIM_HORIZON")
}

func registerAgain(t *testing.T, s *store.Store) {
	register(t, s, child("t/1/a", ""), child("t/1/b", "t/1/a"))
	finish(t, s, "w", "t/1/a")
	register(t, s, child("t/1/b", ""), child("t/1/a", "t/1/b"))
	equal(t, "left", openShards(t, s)[0].Name, "t/1/b")
	equal(t, "shards", len(openShards(t, s)), 1)
	before := value[store.Stream](t)(s.Lineage(t.Context(), streamSource, "t/1"))
	must(t, s.RegisterShards(t.Context(), streamSource, "t/1", nil, false))
	equal(t, "a look at some shards", value[store.Stream](t)(s.Lineage(t.Context(), streamSource, "t/1")), before)
	equal(t, "another stream", value[store.Stream](t)(s.Lineage(t.Context(), streamSource, "t/2")), store.Stream{})
}

func childReady(t *testing.T, s *store.Store) {
	register(t, s, child("t/1/a", ""), child("t/1/b", "t/1/a"), child("t/1/c", "t/1/forgotten"))
	ready := func() (names []string) {
		for _, h := range openShards(t, s) {
			if h.Ready {
				names = append(names, h.Name)
			}
		}
		return names
	}
	equal(t, "ready", ready(), []string{"t/1/a", "t/1/c"})
	finish(t, s, "w", "t/1/a")
	equal(t, "ready after the parent's end", ready(), []string{"t/1/b", "t/1/c"})
}

func childMark(t *testing.T, s *store.Store) {
	register(t, s, child("t/1/a", ""), child("t/1/z", ""))
	id := store.PartitionID{Source: streamSource, Name: "t/1/a"}
	p := value[store.Position](t)(s.Claim(t.Context(), "w", store.Claim{PartitionID: id, First: ""}))
	must(t, s.Commit(t.Context(), store.Commit{Writer: "w", Seq: 1, Watermarks: []store.Watermark{{PartitionID: id, Epoch: p.Epoch, Time: noon}}}))
	finish(t, s, "w", "t/1/z")
	register(t, s, child("t/1/b", "t/1/a"), child("t/1/d", "t/1/z"), child("t/1/e", ""))
	want := map[string]time.Time{"t/1/a": noon, "t/1/b": noon, "t/1/d": store.Beginning, "t/1/e": store.Beginning}
	for _, h := range openShards(t, s) {
		equal(t, "watermark of "+h.Name, h.Watermark, want[h.Name])
	}
}

func lastListed(t *testing.T, s *store.Store) {
	for _, stream := range []string{"x:table/a_b/stream/1", "x:table/a_b/stream/2", "x:table/acb/stream/3"} {
		must(t, s.RegisterShards(t.Context(), streamSource, stream, nil, true))
	}
	second := value[store.Stream](t)(s.Lineage(t.Context(), streamSource, "x:table/a_b/stream/2")).Listed
	equal(t, "last", value[time.Time](t)(s.LastListed(t.Context(), streamSource, "x:table/a_b/stream/")), second)
	equal(t, "none", value[time.Time](t)(s.LastListed(t.Context(), streamSource, "x:table/none/stream/")), time.Time{})
}

func takeRace(t *testing.T, s *store.Store) {
	names := []string{"t/1/a", "t/1/b", "t/1/c", "t/1/d"}
	for _, name := range names {
		register(t, s, child(name, ""))
	}
	members := []string{"k", "l", "m", "n"}
	for _, m := range members {
		attend(t, s, m, time.Minute)
	}
	got := make([][]string, len(members))
	var all sync.WaitGroup
	for i, m := range members {
		all.Go(func() {
			var err error
			if got[i], err = s.TakeShards(t.Context(), streamSource, m, names); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	sum := slices.Concat(got...)
	slices.Sort(sum)
	equal(t, "taken by all together", sum, names)
	for i, m := range members {
		equal(t, "taken again by its owner", take(t, s, m, got[i]...), got[i])
	}
}

func takeDead(t *testing.T, s *store.Store) {
	register(t, s, child("t/1/a", ""), child("t/1/b", ""))
	attend(t, s, "dead", time.Minute)
	attend(t, s, "alive", time.Minute)
	equal(t, "of the dead to be", take(t, s, "dead", "t/1/a"), []string{"t/1/a"})
	equal(t, "of the living", take(t, s, "alive", "t/1/b"), []string{"t/1/b"})
	equal(t, "members", attend(t, s, "heir", time.Minute), []string{"alive", "dead", "heir"})
	equal(t, "owner", openShards(t, s)[0].Owner, "dead")
	attend(t, s, "dead", soon) // for the last time
	time.Sleep(2 * soon)
	equal(t, "owner after its end", openShards(t, s)[0].Owner, "")
	equal(t, "members", attend(t, s, "heir", time.Minute), []string{"alive", "heir"})
	equal(t, "taken over", take(t, s, "heir", "t/1/a", "t/1/b"), []string{"t/1/a"})
	attend(t, s, "dead", time.Minute)
	equal(t, "owner when the dead wakes", openShards(t, s)[0].Owner, "heir")
	must(t, s.FreeShard(t.Context(), streamSource, "dead", "t/1/a"))
	equal(t, "owner when the dead frees it", openShards(t, s)[0].Owner, "heir")
}

func takeEnded(t *testing.T, s *store.Store) {
	register(t, s, child("t/1/a", ""))
	finish(t, s, "w", "t/1/a")
	attend(t, s, "m", time.Minute)
	equal(t, "taken", take(t, s, "m", "t/1/a", "t/1/unknown"), nil)
}

func freeKeeps(t *testing.T, s *store.Store) {
	register(t, s, child("t/1/a", ""))
	attend(t, s, "m", time.Minute)
	attend(t, s, "n", time.Minute)
	take(t, s, "m", "t/1/a")
	id := store.PartitionID{Source: streamSource, Name: "t/1/a"}
	p := value[store.Position](t)(s.Claim(t.Context(), "m", store.Claim{PartitionID: id, First: ""}))
	must(t, s.Commit(t.Context(), store.Commit{Writer: "m", Seq: 1, Moves: []store.Move{move(p, "17")}}))
	must(t, s.FreeShard(t.Context(), streamSource, "m", "t/1/a"))
	equal(t, "taken by the next", take(t, s, "n", "t/1/a"), []string{"t/1/a"})
	equal(t, "position", value[store.Position](t)(s.Claim(t.Context(), "n", store.Claim{PartitionID: id, First: ""})).Next, "17")
}

func leaveFrees(t *testing.T, s *store.Store) {
	register(t, s, child("t/1/a", ""), child("t/1/b", ""))
	attend(t, s, "m", time.Minute)
	attend(t, s, "n", time.Minute)
	take(t, s, "m", "t/1/a")
	take(t, s, "n", "t/1/b")
	must(t, s.Leave(t.Context(), streamSource, "m"))
	equal(t, "owner", openShards(t, s)[0].Owner, "")
	equal(t, "the other's", openShards(t, s)[1].Owner, "n")
	equal(t, "members", attend(t, s, "n", time.Minute), []string{"n"})
}

// listingSpeaks has no minute to wait for: it looks that what was seen just now
// is not written again, and that nothing is made up.
func listingSpeaks(t *testing.T, s *store.Store) {
	register(t, s, child("t/1/a", ""))
	before := read(t, s, nil).Watermarks
	register(t, s)
	equal(t, "watermarks", read(t, s, nil).Watermarks, before)
}

func shardRetention(t *testing.T, s *store.Store) {
	register(t, s, child("t/1/a", ""), child("t/1/b", "t/1/a"))
	finish(t, s, "w", "t/1/a")
	claim(t, s, "w", 1)
	time.Sleep(5 * soon)
	equal(t, "pruned while young", value[store.Pruned](t)(s.Prune(t.Context(), store.Retention{})), store.Pruned{})
	equal(t, "pruned", prune(t, s, store.Retention{Shards: soon}), store.Pruned{"positions": 1, "shards": 1, "watermarks": 1})
	equal(t, "names", value[store.Stream](t)(s.Lineage(t.Context(), streamSource, "t/1")).Names, []string{"t/1/b"})
	equal(t, "positions", len(value[[]store.Position](t)(s.Positions(t.Context(), ""))), 2)
	equal(t, "watermarks", len(read(t, s, nil).Watermarks), 2)
	equal(t, "the child is ready", openShards(t, s)[0].Ready, true)
}

var tableFacts = []obligation{
	{"a table's facts are replaced, and go when they are old", factsReplaced},
}

func factsReplaced(t *testing.T, s *store.Store) {
	must(t, s.PutTableFacts(t.Context(), sample.Target{Table: "b"}, []byte(`{"wcu":1}`)))
	must(t, s.PutTableFacts(t.Context(), sample.Target{Table: "a"}, []byte(`{"wcu":2}`)))
	must(t, s.PutTableFacts(t.Context(), sample.Target{Table: "b"}, []byte(`{"wcu":3}`)))
	all := value[[]store.TargetDocument](t)(s.TableFacts(t.Context()))
	equal(t, "tables", len(all), 2)
	near(t, "updated", all[0].Updated)
	equal(t, "facts", all[0].Table+string(all[0].Document)+all[1].Table+string(all[1].Document), `a{"wcu":2}b{"wcu":3}`)
	equal(t, "pruned", prune(t, s, store.Retention{Facts: soon}), store.Pruned{"table_facts": 2})
}

func shardKeysKept(t *testing.T, s *store.Store) {
	register(t, s, child("t/1/a", ""), child("t/1/b", "t/1/a"))
	orders := sample.Target{Account: "1", Region: "r", Table: "orders"}
	for seq, body := range []string{"first", "second"} {
		must(t, s.Commit(t.Context(), store.Commit{Writer: "w", Seq: int64(seq + 1), Keys: []store.ShardKeys{
			{PartitionID: store.PartitionID{Source: streamSource, Name: "t/1/a"}, Target: orders, Body: []byte(body)},
		}}))
	}
	all := value[[]store.StreamShard](t)(s.StreamShards(t.Context(), time.Time{}))
	equal(t, "shards", len(all), 2)
	equal(t, "delivered", string(all[0].Body), "second")
	equal(t, "of", all[0].Target, orders)
	equal(t, "tables", value[[]sample.Target](t)(s.StreamedTables(t.Context())), []sample.Target{orders})
	near(t, "updated", all[0].Updated)
	equal(t, "an open shard ended", all[0].Ended, time.Time{})
	equal(t, "the child", []string{all[1].Stream, all[1].After, string(all[1].Body), all[1].Table}, []string{"t/1", "t/1/a", "", ""})
	equal(t, "old news", string(value[[]store.StreamShard](t)(s.StreamShards(t.Context(), all[0].Updated.Add(time.Minute)))[0].Body), "")
	finish(t, s, "v", "t/1/a")
	near(t, "ended", value[[]store.StreamShard](t)(s.StreamShards(t.Context(), time.Time{}))[0].Ended)
	time.Sleep(5 * soon)
	equal(t, "pruned", prune(t, s, store.Retention{Shards: soon}), store.Pruned{"positions": 1, "shards": 1, "shard_keys": 1, "watermarks": 1})
	left := value[[]store.StreamShard](t)(s.StreamShards(t.Context(), time.Time{}))
	equal(t, "shards that are left", len(left), 1)
	equal(t, "what they delivered", len(left[0].Body), 0)
	equal(t, "tables of old shards", len(value[[]sample.Target](t)(s.StreamedTables(t.Context()))), 0)
}

func mapsReplaced(t *testing.T, s *store.Store) {
	for _, document := range []string{`{"a":1}`, `{"a":2}`} {
		judge(t, s, store.Judgement{Maps: []store.TargetDocument{{Target: sample.Target{Table: "orders"}, Document: []byte(document)}}})
	}
	all := value[[]store.TargetDocument](t)(s.PartitionMaps(t.Context()))
	equal(t, "maps", len(all), 1)
	equal(t, "map", all[0].Table+string(all[0].Document), `orders{"a":2}`)
	near(t, "updated", all[0].Updated)
	time.Sleep(5 * soon)
	prune(t, s, store.Retention{Views: soon})
	equal(t, "old maps", len(value[[]store.TargetDocument](t)(s.PartitionMaps(t.Context()))), 0)
}
