package judge_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/partition"
	"github.com/keyheat/keyheat/internal/judge/fold"
	"github.com/keyheat/keyheat/internal/judge/verdict"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/position"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// TestPartitionsOutliveTheJudge: what two shards delivered becomes a map, which the next
// judge continues though the shards' rows have nothing new.
func TestPartitionsOutliveTheJudge(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *store.Store) {
		const source = "dynamodb-streams:test"
		must(t, s.RegisterShards(t.Context(), source, "orders/1", []store.NewShard{{Name: "orders/1/low"}, {Name: "orders/1/high"}}, true))
		low, high := &partition.Observed{}, &partition.Observed{}
		for i := range 200 {
			if p := position.String(fmt.Sprint("key#", i)); p.Cell(1) == 0 {
				low.Add(p)
			} else {
				high.Add(p)
			}
		}
		orders := sample.Target{Account: "1", Region: "eu-west-1", Table: "orders"}
		rows := make([]store.ShardKeys, 0, 2)
		for name, o := range map[string]*partition.Observed{"orders/1/low": low, "orders/1/high": high} {
			body, err := o.MarshalBinary()
			must(t, err)
			rows = append(rows, store.ShardKeys{PartitionID: store.PartitionID{Source: source, Name: name}, Target: orders, Body: body})
		}
		// What cannot be read keeps nobody from judging.
		must(t, s.RegisterShards(t.Context(), source, "carts/1", []store.NewShard{{Name: "carts/1/wrong"}}, true))
		carts := sample.Target{Account: "1", Region: "eu-west-1", Table: "carts"}
		rows = append(rows, store.ShardKeys{PartitionID: store.PartitionID{Source: source, Name: "carts/1/wrong"}, Target: carts, Body: []byte("wrong")})
		must(t, s.Commit(t.Context(), store.Commit{Writer: "w", Seq: 1, Keys: rows}))
		judgeOnce(t, s, store.Judgement{Maps: []store.TargetDocument{{Target: carts, Document: []byte(`{"seen":1}`)}}})
		for range 2 {
			j := run(t, quick(), &probe{Store: s})
			var m partition.Map
			await(t, func() bool {
				stored, err := s.PartitionMaps(t.Context())
				must(t, err)
				if len(stored) == 2 && stored[1].Target == orders && !strings.Contains(string(stored[0].Document), `"seen":1`) {
					must(t, json.Unmarshal(stored[1].Document, &m))
					return true
				}
				return false
			})
			j.quiet(t)
			j.stop()
			if state, open := m.State(time.Now()), m.Shards(); state != partition.Inferred || len(open) != 2 || open[0].ID != "orders/1/low" {
				t.Errorf("the map is %s, of %d shards", state, len(open))
			}
		}
	})
}

// judgeOnce stores a judgement as another judge that has left.
func judgeOnce(t testing.TB, s *store.Store, j store.Judgement) {
	t.Helper()
	l, ok, err := s.AcquireLease(t.Context(), store.JudgeLease, "before", time.Minute)
	if err != nil || !ok {
		t.Fatalf("lease: %t, %v", ok, err)
	}
	must(t, s.Judge(t.Context(), l, j))
	l.Writes++
	must(t, s.ReleaseLease(t.Context(), l))
}

// TestPositionsOfColdKeysAreStored: of a table with a map, a stored second has the cells of the
// keys that it drops. Of a table without one, or with little load, it has none.
func TestPositionsOfColdKeysAreStored(t *testing.T) {
	t.Parallel()
	const second = 1_800_000_000
	shard, delta := sketch.NewShard(sketch.Config{Seed: 1}), sketch.NewDelta(sketch.Config{Seed: 1})
	claimed := map[detect.Target]*partition.Map{{Table: "mapped"}: eightPartitions(), {Table: "idle"}: eightPartitions()}
	for name, units := range map[string]int64{"mapped": 9, "idle": 1, "unmapped": 9} {
		for i := range 300 {
			must(t, shard.Add(&sample.Record{
				Time: second * 1000, Table: name, PK: sample.KeyString(fmt.Sprint("key#", i)), Op: sample.UpdateItem, WCU: 1000, Rate: 1, N: units,
			}))
		}
	}
	shard.Seal(delta)
	s := newState(verdict.Options{MaxKeys: 2 << 20})
	s.Partitions = claimed
	p := judgeDeltas(t, s, []fold.Delta{fold.NewDelta("w", 1, delta)}, fold.Horizon{Complete: second + 1, Over: second + 1}, time.Unix(second+2, 0))
	if len(p.Windows) != 3 {
		t.Fatalf("%d seconds are stored", len(p.Windows))
	}
	for _, row := range p.Windows {
		w, err := fold.Sketch(row)
		must(t, err)
		mapped := w.Table == "mapped"
		if len(w.Keys) > 0 || (len(w.Cells) > 0) != mapped || (w.Remainder() == (sketch.Load{})) != mapped {
			t.Errorf("%s: %d keys, %d cells, %v unplaced of %v", w.Table, len(w.Keys), len(w.Cells), w.Remainder(), w.Total.Load)
		}
	}
}
