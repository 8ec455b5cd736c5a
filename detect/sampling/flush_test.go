package sampling_test

import (
	"testing"

	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/sketch"
)

// TestABurstOnOneKeyIsNoFlush holds that the times of a key's requests are those of a
// flush only where a producer of the key flushed as much: partitions of a topic that is
// written by key see the burst of one key as most of what there is.
func TestABurstOnOneKeyIsNoFlush(t *testing.T) {
	t.Parallel()
	const api, batch = 1, 2
	weigh := func(writes uint64) uint64 { return 3000 * writes } // as detect.Weight does
	callers := func(all ...sketch.Entry) sketch.Top { return sketch.Top{Entries: all} }
	both := callers(sketch.Entry{Hash: api, Weight: weigh(19_000)}, sketch.Entry{Hash: batch, Weight: weigh(1000)})
	for _, c := range []struct {
		name    string
		batch   uint64 // of the table's 20,000 requests
		callers sketch.Top
		of      sketch.Top // the key's
		flushed bool
	}{
		{"a burst on a key of a table without callers", 1000, sketch.Top{}, sketch.Top{}, false},
		{"a table without callers of which a quarter is flushed", 5000, sketch.Top{}, sketch.Top{}, true},
		{"a burst of the caller that makes most of the table's load", 1000, both, callers(sketch.Entry{Hash: api, Weight: weigh(1000)}), false},
		{"a flush of a caller that makes little of it", 1000, both, callers(sketch.Entry{Hash: batch, Weight: weigh(1000)}), true},
		{"a key on which that caller flushes beside another", 1000, both, callers(sketch.Entry{Hash: api, Weight: weigh(500)}, sketch.Entry{Hash: batch, Weight: weigh(500)}), true},
		{"a burst where nobody flushed", 0, both, callers(sketch.Entry{Hash: batch, Weight: weigh(1000)}), false},
	} {
		load := sketch.Load{Write: 1_000_000}
		w := &sketch.Window{
			Total:   sketch.Total{Requests: 20_000, Load: sketch.Load{Write: 20_000_000}},
			Callers: c.callers, Arrivals: sketch.Arrivals{Flushed: c.batch, FlushedAt: 1 << 20},
		}
		k := &sketch.KeyLoad{Requests: 1000, Evidence: &sketch.Evidence{Load: load, Arrivals: sketch.Arrivals{Flushed: weigh(1000), FlushedAt: 1 << 20}, Callers: c.of}}
		var clocks sampling.Clocks
		clocks.Observe(w)
		if got := clocks.Batch(w, k).Part > 0; got != c.flushed {
			t.Errorf("%s: a flush %t, want %t", c.name, got, c.flushed)
		}
	}
}
