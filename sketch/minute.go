package sketch

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/keyheat/keyheat/sketch/internal/tables"
)

// minutesKept is how many (table, minute) pairs stay in memory beyond two for
// each table: late records reopen a minute that had to leave.
const minutesKept = 256

type minuteID struct {
	table uint16
	at    int64 // the minute's start, Unix seconds
}

// distinct is a HyperLogLog with what was last sent of it.
type distinct struct {
	id            minuteID
	counted, sent [registers]uint8
	touched       bool
}

// minutes are a shard's HyperLogLogs.
type minutes struct{ open map[minuteID]*distinct }

func newMinutes() minutes { return minutes{open: map[minuteID]*distinct{}} }

// of returns the HyperLogLog of a table in a second's minute, which stays until
// [minutes.risen].
func (m *minutes) of(table uint16, second int64) *distinct {
	id := minuteID{table, 60 * floorDiv(second, 60)}
	if d := m.open[id]; d != nil {
		return d
	}
	d := &distinct{id: id}
	m.open[id] = d
	return d
}

// insert counts a hash as the library does that estimates; TestInsertsAsTheLibraryDoes
// compares them.
func (d *distinct) insert(hash uint64) {
	at := hash >> (64 - precision)
	rank := uint8(bits.LeadingZeros64(hash<<precision|1<<(precision-1)) + 1)
	if rank > d.counted[at] {
		d.counted[at], d.touched = rank, true
	}
}

// risen appends the registers that rose since they were last sent, then lets
// the oldest minutes go.
func (m *minutes) risen(to []Registers, t *tables.Tables) []Registers {
	for _, d := range m.open {
		if !d.touched {
			continue
		}
		r := Registers{Target: t.Name(d.id.table), Minute: d.id.at}
		r.Set = d.changed()
		d.touched = false
		if len(r.Set) > 0 {
			to = append(to, r)
		}
	}
	slices.SortFunc(to, func(a, b Registers) int {
		return cmp.Or(a.Target.Compare(b.Target), cmp.Compare(a.Minute, b.Minute))
	})
	m.shrink(t.Len())
	return to
}

// spare returns how many bytes the next Seal may let go.
func (m *minutes) spare(tables int) int {
	return max(0, len(m.open)-2*tables-minutesKept) * 2 * registers
}

// changed returns d's registers above what was sent, and marks them sent.
func (d *distinct) changed() []Register {
	var set []Register
	for i, value := range d.counted {
		if value > d.sent[i] {
			set = append(set, Register{uint16(i), value})
			d.sent[i] = value
		}
	}
	return set
}

// shrink drops the oldest minutes when there are more than two for each table
// and some to spare.
func (m *minutes) shrink(tables int) {
	for len(m.open) > 2*tables+minutesKept {
		oldest := int64(1<<63 - 1)
		for id := range m.open {
			oldest = min(oldest, id.at)
		}
		for id := range m.open {
			if id.at == oldest {
				delete(m.open, id)
			}
		}
	}
}

// drop lets the minutes of tables go whose numbers are free.
func (m *minutes) drop(tables map[uint16]bool) {
	if len(tables) == 0 {
		return
	}
	for id := range m.open {
		if tables[id.table] {
			delete(m.open, id)
		}
	}
}

// forget makes every register count as never sent.
func (m *minutes) forget() {
	for _, d := range m.open {
		d.sent = [registers]uint8{}
		d.touched = true
	}
}
