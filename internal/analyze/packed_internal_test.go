package analyze

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// second is a part of a second of a table with one key's load.
func second(table string, at int64, key string, units sample.Milli) *sketch.Window {
	target := sample.Target{Table: table}
	k := sample.KeyString(key)
	load := sketch.Load{Write: units * 1000}
	return &sketch.Window{
		Target: target, Second: at, Total: sketch.Total{Requests: 1, Load: load},
		Keys: []sketch.KeyLoad{{Hash: sketch.Hash(target, k, seed), Key: k, Requests: 1, Low: load}},
	}
}

type addition struct {
	at    int64
	table string
}

// Whatever the order in which parts come, and however often they are packed, there are the
// same seconds in the order of time, each once and with all that was added to it.
func TestSecondsComeOutAsTheyWereAdded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		story string
		order func(all []addition)
	}{
		{"in the order of time", func([]addition) {}},
		{"the other way round", slices.Reverse[[]addition]},
		{"in any order", func(all []addition) {
			rand.New(rand.NewPCG(1, 2)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		}},
	} {
		t.Run(c.story, func(t *testing.T) {
			t.Parallel()
			var all []addition
			for at := range int64(2500) {
				for table := range 2 {
					all = append(all, addition{at, fmt.Sprint("t", table)})
				}
			}
			c.order(all)
			w, oracle := newPackedWindows(packing{Bytes: 1 << 30}), map[addition]*sketch.Window{}
			for pass := range 3 { // as files of three hosts would
				for i, of := range all {
					key := fmt.Sprint("k", pass, i%5)
					w.Add(second(of.table, of.at, key, sample.Milli(i%7)))
					if oracle[of] == nil {
						oracle[of] = &sketch.Window{Target: sample.Target{Table: of.table}, Second: of.at}
					}
					oracle[of].Merge(second(of.table, of.at, key, sample.Milli(i%7)))
					if i%500 == 0 {
						must(t, w.Pack())
					}
				}
			}
			n, last := 0, addition{}
			for got := range w.All() {
				at := addition{got.Second, got.Table}
				if n++; n > 1 && (at.at < last.at || at.at == last.at && at.table <= last.table) {
					t.Fatalf("%v comes behind %v", at, last)
				}
				if last = at; !reflect.DeepEqual(got, oracle[at]) {
					t.Fatalf("%v is\n%+v\nand not\n%+v", at, got, oracle[at])
				}
			}
			if n != len(oracle) {
				t.Errorf("%d seconds, want %d", n, len(oracle))
			}
		})
	}
}

// Over the bound the keys that no verdict needs go, and when that is not enough it is said.
func TestTheBound(t *testing.T) {
	t.Parallel()
	trims := []trim{{Floor: sketch.Load{Write: 500_000, Read: 500_000}, Most: 8}}
	fill := func(bytes int64, cold int) (*packedWindows, error) {
		w := newPackedWindows(packing{Bytes: bytes, Trims: trims})
		for at := range int64(20_000) {
			w.Add(second("t", at, "hot", 900))
			for key := range cold {
				w.Add(second("t", at, fmt.Sprint("cold", at, key), 1))
			}
			if at%5000 == 4999 {
				if err := w.Pack(); err != nil {
					return w, err
				}
			}
		}
		return w, nil
	}
	w, err := fill(1<<18, 2)
	must(t, err)
	trimmed := 0
	for got := range w.All() {
		if k, is := got.Key(sketch.Hash(sample.Target{Table: "t"}, sample.KeyString("hot"), seed)); !is || k.Low.Write != 900_000 {
			t.Fatalf("second %d has lost its hot key", got.Second)
		}
		if got.Total.Load.Write != 902_000 {
			t.Fatalf("second %d has %+v", got.Second, got.Total.Load)
		}
		if len(got.Keys) == 1 {
			trimmed++
		}
	}
	if trimmed == 0 {
		t.Error("nothing was trimmed")
	}
	if _, err := fill(16<<10, 2); !errors.Is(err, errFull) {
		t.Errorf("seconds that do not fit: %v", err)
	}
}

func TestOldSecondsAreForgotten(t *testing.T) {
	t.Parallel()
	w := newPackedWindows(packing{Bytes: 1 << 30})
	for at := range int64(20_000) {
		w.Add(second("t", at, "k", 1))
		if at%5000 == 4999 {
			must(t, w.Pack())
		}
	}
	w.Forget(12_345)
	n := int64(12_345)
	for got := range w.All() {
		if got.Second != n {
			t.Fatalf("second %d, want %d", got.Second, n)
		}
		n++
	}
	if n != 20_000 {
		t.Errorf("the last second is %d", n-1)
	}
}

func must(t *testing.T, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}
