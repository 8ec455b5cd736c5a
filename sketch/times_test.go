package sketch_test

import (
	"fmt"
	"testing"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// TestFlushedByKey has a caller who flushes one key's requests beside keys whose requests have
// their own times, over two collectors. The flushed part of each key's load is known.
func TestFlushedByKey(t *testing.T) {
	t.Parallel()
	shards := []*sketch.Shard{newShard(), newShard()}
	for i := range 400 {
		for key, ms := range map[string]int{"flushed": 417, "honest": i * 5 / 2, "of whole seconds": 0, "a half": i * 5 / 2 * (i % 2)} {
			r := hot(ms, sample.KeyString("item"), "role/a")
			r.PK = sample.KeyString(key)
			if key == "of whole seconds" {
				r.Caller = "role/whole"
			}
			add(t, shards[i/2%2], r)
		}
	}
	merged := map[identity]*sketch.Window{}
	for _, s := range shards {
		fold(merged, overTheWire(sealed(s)))
	}
	for _, w := range merged {
		for _, k := range w.Keys {
			want := map[string]float64{"flushed": 1, "honest": 0, "of whole seconds": 1, "a half": 0.5}[k.Key.Text]
			weight := float64(3*k.Evidence.Load.Write + k.Evidence.Load.Read)
			flushed, in := k.Evidence.Arrivals.Decide()
			if at := map[string]uint64{"flushed": 1 << 21, "of whole seconds": 1, "a half": 1}[k.Key.Text]; in != at {
				t.Errorf("%s: flushed at %b, want %b", k.Key.Text, in, at)
			}
			if got := float64(flushed) / weight; got < want-0.001 || got > want+0.02 {
				t.Errorf("%s: %.3f of the load was flushed, want %g", k.Key.Text, got, want)
			}
		}
	}
}

// TestTimesThatTellNothing checks that folded records and changes do not count as flushed.
// Their writers cut times to whole seconds.
func TestTimesThatTellNothing(t *testing.T) {
	t.Parallel()
	for story, change := range map[string]func(r *sample.Record){
		"folded by the middleware": func(r *sample.Record) { r.Calls = 1 },
		"changes of a stream":      func(r *sample.Record) { r.Change = true },
	} {
		s := newShard()
		for i := range 100 {
			r := hot(0, sample.KeyString(fmt.Sprint(i)), "role/a")
			change(&r)
			add(t, s, r)
		}
		w := sealed(s).Windows[0]
		table, _ := w.Arrivals.Decide()
		key, _ := w.Keys[0].Evidence.Arrivals.Decide()
		if table != 0 || key != 0 {
			t.Errorf("%s: %d of the table's requests, and %d of the key's weight are said to be flushed", story, table, key)
		}
	}
}
