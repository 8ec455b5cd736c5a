package judge_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/keyheat/keyheat/internal/judge/fold"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// TestPartsAddUpInAnyGrouping: a second is the same whether the deltas of seven writers,
// some with keys of their own and all with a common one, are read at once or one by one,
// and no delta is added twice.
func TestPartsAddUpInAnyGrouping(t *testing.T) {
	t.Parallel()
	const second = 1_800_000_000
	config := sketch.Config{Seed: 1}
	deltas := func() (all []fold.Delta) {
		for writer := range 7 {
			shard, delta := sketch.NewShard(config), sketch.NewDelta(config)
			for n := range 40 {
				key := "common"
				if n > 0 {
					key = fmt.Sprintf("customer#%d-%d", writer, n)
				}
				must(t, shard.Add(&sample.Record{
					Time: second * 1000, Table: table, PK: sample.KeyString(key), Op: sample.UpdateItem, WCU: 1000, Rate: 1, N: int64(100 + n), Caller: "orders-api",
				}))
			}
			shard.Seal(delta)
			all = append(all, fold.NewDelta(fmt.Sprint("w", writer), 1, delta))
		}
		return all
	}
	row := func(w *fold.Windows) []byte {
		t.Helper()
		r, err := w.Row(fold.Instant{Target: sample.Target{Table: table}, Second: second}, fold.Horizon{})
		must(t, err)
		equal(t, "requests", r.Requests, int64(7*(40*100+39*40/2)))
		equal(t, "keys", w.Keys, 7*39+1)
		return r.Body
	}
	once, each, grouped := fold.NewWindows(map[string]int64{}), fold.NewWindows(map[string]int64{}), fold.NewWindows(map[string]int64{})
	once.Fold(deltas())
	for _, d := range deltas() {
		each.Fold([]fold.Delta{d})
	}
	all := deltas()
	grouped.Fold(all[4:])
	grouped.Fold(all[:4])
	grouped.Fold(deltas()[2:6]) // these are in there
	want := row(each)
	if !bytes.Equal(row(once), want) || !bytes.Equal(row(grouped), want) {
		t.Error("the second depends on which deltas were read together")
	}
}
