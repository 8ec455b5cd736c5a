package board_test

import (
	"fmt"
	"reflect"
	"runtime"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/internal/testsupport/heap"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// TestMemoryOfASmallTable: a table without a hot key takes what its last quarter of an
// hour needs, second by second.
func TestMemoryOfASmallTable(t *testing.T) {
	const tables, seconds, most = 100, detect.Horizon + 300, 28 << 10
	before := heap.Live()
	b := board.New(board.Options{})
	for second := range int64(seconds) {
		for n := range tables {
			b.Observe(&sketch.Window{
				Target: sample.Target{Table: fmt.Sprint("table-", n)}, Second: 1_800_000_000 + second,
				Total:   sketch.Total{Requests: 3, Load: sketch.Load{Write: 3000}},
				Callers: sketch.Top{Entries: []sketch.Entry{{Hash: 7, Text: "orders-api", Weight: 9000}}},
				Keys:    []sketch.KeyLoad{{Hash: uint64(second % 7), Key: sample.KeyString("k"), Requests: 3, Low: sketch.Load{Write: 3000}}},
			})
		}
		b.Settle(1_800_000_000+second-1, true)
	}
	each := (heap.Live() - before) / tables
	runtime.KeepAlive(b)
	t.Logf("%.1f KiB a table", float64(each)/(1<<10))
	if each > most {
		t.Errorf("a table takes %d KiB, more than %d", each>>10, most>>10)
	}
}

// TestIdleTablesAreForgotten: names may be made by the hour.
func TestIdleTablesAreForgotten(t *testing.T) {
	t.Parallel()
	const begin, day = 1_800_000_000, 24 * 3600
	b := board.New(board.Options{})
	observe := func(table string, second int64) {
		b.Observe(&sketch.Window{Target: sample.Target{Table: table}, Second: second, Total: sketch.Total{Requests: 3, Load: sketch.Load{Write: 3000}, WriteLargest: 100}})
		b.Settle(second, true)
	}
	observe("once", begin)
	for _, c := range []struct {
		after int64
		known bool
	}{{day - 1000, true}, {day + 1, false}} {
		observe("always", begin+c.after)
		if known := b.Provable(sample.Target{Table: "once"}).WCU > 0; known != c.known {
			t.Errorf("%d seconds after a table's last request it is known: %t", c.after, known)
		}
	}
}

// TestFollowedKeysFitTheirBytes: of more keys than memory the least hot are evicted, which is
// counted. Hot keys, and the hottest key of each table, are judged as with plenty of memory.
func TestFollowedKeysFitTheirBytes(t *testing.T) {
	const tables, keys, seconds, begin, most = 3, 80, 400, 1_800_000_000, 3 << 20
	type result struct {
		hot       []detect.Finding
		recent    []*detect.Recent
		evictions int64
		taken     int64
	}
	play := func(o board.Options) (r result) {
		before := heap.Live()
		b := board.New(o)
		for second := range int64(seconds) {
			for n := range tables {
				of := sample.Target{Table: fmt.Sprint("table-", n)}
				w := &sketch.Window{Target: of, Second: begin + second}
				for i := range keys {
					key := sample.KeyString(fmt.Sprint("customer#", i))
					k := sketch.KeyLoad{Hash: sketch.Hash(of, key, 1), Key: key, Requests: 200, Low: sketch.Load{Write: sample.Milli(200_000 + 1000*i)}}
					if i == 0 && n > 0 {
						k.Low.Write, k.Requests = 1_200_000, 1200
						k.Evidence = &sketch.Evidence{Seen: 1200, Load: k.Low, Records: 256, Ops: []sketch.OpLoad{{Op: sample.UpdateItem, Requests: 1200, Load: k.Low}}}
					}
					w.Keys = append(w.Keys, k)
					w.Total.Load, w.Total.Requests = w.Total.Plus(k.Low), w.Total.Requests+k.Requests
				}
				b.Observe(w)
			}
			b.Settle(begin+second-3, true)
		}
		for _, f := range b.Findings() {
			if f.Subject == detect.KeyWrites {
				r.hot = append(r.hot, f)
			}
		}
		hottest := detect.NewFinding(detect.KeyWrites, sample.Target{Table: "table-0"}, sample.KeyString(fmt.Sprint("customer#", keys-1)))
		hottest.Through = detect.TimeOf(begin + seconds - 4)
		r.recent = append(r.recent, b.Recent(&hottest, 1))
		r.taken, r.evictions = heap.Live()-before, b.Evictions()
		runtime.KeepAlive(b)
		return r
	}
	plenty, little := play(board.Options{}), play(board.Options{KeyBytes: most})
	t.Logf("%d KiB without a bound, %d KiB of %d with one, after %d evictions", plenty.taken>>10, little.taken>>10, most>>10, little.evictions)
	if plenty.evictions != 0 || little.evictions == 0 {
		t.Errorf("%d keys evicted without a bound and %d with one", plenty.evictions, little.evictions)
	}
	if plenty.taken <= most || little.taken > most {
		t.Errorf("%d KiB without a bound and %d with one, of %d", plenty.taken>>10, little.taken>>10, most>>10)
	}
	if len(little.hot) != tables-1 || !reflect.DeepEqual(little.hot, plenty.hot) {
		t.Errorf("findings of hot keys:\n%+v\nwant\n%+v", little.hot, plenty.hot)
	}
	if little.recent[0] == nil || !reflect.DeepEqual(little.recent, plenty.recent) {
		t.Errorf("the hottest key of a table without a hot one has %+v, want %+v", little.recent[0], plenty.recent[0])
	}
}
