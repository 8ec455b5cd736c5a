package board_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// TestMemoryOfASmallTable: a table without a hot key takes what its last quarter of an
// hour needs, second by second.
func TestMemoryOfASmallTable(t *testing.T) {
	const tables, seconds, most = 100, detect.Horizon + 300, 10 << 10
	before := liveBytes()
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
	each := (liveBytes() - before) / tables
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
		b.Observe(&sketch.Window{Target: sample.Target{Table: table}, Second: second, Total: sketch.Total{Requests: 3, Load: sketch.Load{Write: 3000}}})
		b.Settle(second, true)
	}
	observe("once", begin)
	for _, c := range []struct {
		after int64
		known int
	}{{day - 1000, 2}, {day + 1, 1}} {
		observe("always", begin+c.after)
		if n := len(b.Tables()); n != c.known {
			t.Errorf("%d seconds after a table's last request %d tables are known, want %d", c.after, n, c.known)
		}
	}
}

// liveBytes returns what is in use on the heap.
func liveBytes() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
