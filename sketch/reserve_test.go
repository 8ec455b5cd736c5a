package sketch_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// TestFloodOfAnotherTable has a flood of 100,000 hot keys a second beside a table with a hot
// key at 1,500 write units a second. The hot key stays proven for any other load of its table,
// and any number of flooding tables. All bounds hold.
func TestFloodOfAnotherTable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name              string
		tables, floodFrom int // the flood's tables, and when it begins in the second, in ms
		others            int // keys of the hot key's table that have as much together
		collectors        int
	}{
		{"alone in its table", 1, 0, 0, 1},
		{"over four collectors", 1, 0, 0, 4},
		{"over eight collectors", 1, 0, 0, 8},
		{"over 16 collectors, beside many keys of its table", 1, 0, 10_000, 16},
		{"a flood that begins late", 1, 700, 0, 1},
		{"a flood of 20 tables", 20, 0, 0, 1},
		{"beside few keys of its table", 1, 0, 10, 1},
		{"beside many keys of its table", 1, 0, 10_000, 1},
		{"a flood of 900 tables, nearly as many as a shard keeps apart", 900, 0, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			const second = 1_000
			random := rand.New(rand.NewPCG(seed, 5))
			exact := exactCounts{}
			merged := run(func(yield func(sample.Record) bool) {
				for i := range 100_000 {
					ms := int64(i / 100)
					if ms >= int64(c.floodFrom) {
						r := write(second, fmt.Sprintf("flood-%d", i), 1500+sample.Milli(random.IntN(1000)))
						r.Table, r.Time = fmt.Sprintf("flooded-%d", i%c.tables), r.Time+ms
						yield(r)
					}
					if i%66 == 0 {
						r := write(second, "hot", 1)
						r.Time += ms
						yield(r)
						if c.others > 0 {
							r.PK = sample.KeyString(fmt.Sprintf("other-%d", random.IntN(c.others)))
							yield(r)
						}
					}
				}
			}, c.collectors, exact)
			exact.compare(t, merged)
			w := merged[identity{Target: sample.Target{Table: "orm"}, second: second}]
			k, listed := w.Key(sketch.Hash(w.Target, sample.KeyString("hot"), seed))
			if k.Low.Write <= 1_300_000 {
				t.Errorf("listed %t with %d to %d, unseen %d", listed, k.Low.Write, k.High().Write, w.Unseen.Write)
			}
		})
	}
}
