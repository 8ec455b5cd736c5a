package collect_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// TestCellsOfStreamedTables: unlisted load is placed where the store has positions of a table's
// keys, and nowhere else.
func TestCellsOfStreamedTables(t *testing.T) {
	t.Parallel()
	st := open(t, "sqlite::memory:")
	must(t, st.Commit(t.Context(), store.Commit{Writer: "w", Seq: 1, Keys: []store.ShardKeys{
		{PartitionID: store.PartitionID{Source: "streams", Name: "orders/1"}, Target: sample.Target{Table: "orders"}, Body: []byte("x")},
	}}))
	c := newCollector(t, config(), st)
	stop := running(t, c)
	p := claim(t, c, "samples/0")
	// The collector asks for the tables when it starts, beside the first samples.
	began := time.Now().Truncate(time.Second)
	n := 0
	await.Until(t, "a second of orders is placed", func() bool {
		n++
		must(t, p.Fold(t.Context(), source.Batch{Next: fmt.Sprint(n), Time: began.UnixMilli(), Messages: slices.Values([]source.Message{crowdedMessage(began, int64(n%50))})}))
		rows, err := st.Read(t.Context(), map[string]int64{"w": 1}, store.ReadLimit{Deltas: 10_000, Bytes: 64 << 20})
		must(t, err)
		return isPlaced(t, rows.Deltas)
	})
	must(t, p.Release(t.Context()))
	must(t, stop())
}

// crowdedMessage has a second with more keys of two tables than a small sketch lists.
func crowdedMessage(began time.Time, second int64) source.Message {
	at := began.UnixMilli() + 1000*second - 60_000
	lines := make([]string, 0, 2000)
	for i := range 1000 {
		for _, table := range []string{"orders", "carts"} {
			lines = append(lines, fmt.Sprintf(`{"ts":%d,"table":"%s","pk":"key#%d","op":"PutItem","wcu":1}`, at, table, i))
		}
	}
	return source.Message{Value: []byte(strings.Join(lines, "\n")), Time: began.UnixMilli()}
}

// isPlaced reports whether a second of orders has a place for all of its load. No second of
// carts has cells.
func isPlaced(t *testing.T, deltas []store.Delta) (placed bool) {
	t.Helper()
	for _, row := range deltas {
		var d sketch.Delta
		must(t, d.UnmarshalBinary(row.Body))
		for i := range d.Windows {
			w := &d.Windows[i]
			if w.Table == "carts" && (len(w.Cells) > 0 || w.Remainder().Write == 0) {
				t.Fatalf("carts: %d cells, %v unplaced of %v", len(w.Cells), w.Remainder(), w.Total.Load)
			}
			placed = placed || w.Table == "orders" && len(w.Cells) > 0 && w.Remainder() == (sketch.Load{})
		}
	}
	return placed
}
