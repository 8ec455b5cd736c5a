package judge_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect/partition"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/position"
	"github.com/keyheat/keyheat/store"
	"github.com/keyheat/keyheat/store/lineage"
)

// TestPartitionsOutliveTheJudge: what two shards delivered becomes a map, which the next
// judge continues though the shards' rows have nothing new.
func TestPartitionsOutliveTheJudge(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *store.Store) {
		const source = "dynamodb-streams:test"
		must(t, s.RegisterShards(t.Context(), source, "orders/1", []lineage.NewShard{{Name: "orders/1/low"}, {Name: "orders/1/high"}}, true))
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
		must(t, s.Commit(t.Context(), store.Commit{Writer: "w", Seq: 1, Keys: rows}))
		for range 2 {
			j := run(t, quick(), &probe{Store: s})
			var m partition.Map
			for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
				stored, err := s.PartitionMaps(t.Context())
				must(t, err)
				if len(stored) == 1 && stored[0].Target == orders {
					must(t, json.Unmarshal(stored[0].Document, &m))
					break
				}
				if time.Since(began) > 30*time.Second {
					t.Fatalf("stored are %d maps", len(stored))
				}
			}
			j.quiet(t)
			j.stop()
			if state, open := m.State(time.Now()), m.Shards(); state != partition.Inferred || len(open) != 2 || open[0].ID != "orders/1/low" {
				t.Errorf("the map is %s, of %d shards", state, len(open))
			}
		}
	})
}
