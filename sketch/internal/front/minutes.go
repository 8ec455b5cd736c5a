package front

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"

	"github.com/keyheat/keyheat/sample"
)

const (
	// kept is how many HyperLogLogs stay in memory beyond two for each table. A late record
	// opens its minute again.
	kept = 256
	// more is how many more may come until the next Seal. Beyond it the oldest leave at once
	// and keep only their risen registers, since each record of an odd time costs 8 KiB.
	more = 256
)

// Precision is the number of bits of a hash that choose its register, and RegisterCount the
// number of registers.
const (
	Precision     = 12
	RegisterCount = 1 << Precision
)

// Registers are the registers of one HyperLogLog (of one table or index and one minute) that
// have risen since they were last sent.
type Registers struct {
	sample.Target
	Minute int64 // the minute's start, Unix seconds
	Set    []Register
}

// Register is one register of a HyperLogLog.
type Register struct {
	Index uint16
	Value uint8
}

type id struct {
	table uint16
	at    int64 // the minute's start, Unix seconds
}

// Minute is the HyperLogLog of one table or index and one minute, with the registers last sent.
type Minute struct {
	id            id
	counted, sent [RegisterCount]uint8
	touched       bool
}

// Minutes are a shard's HyperLogLogs.
type Minutes struct {
	open map[id]*Minute
	// early holds the risen registers of minutes that left before the Seal, and earlyBytes
	// their size.
	early      []Registers
	earlyBytes int
	// full is the number of open minutes at which some leave early.
	full int
}

// NewMinutes returns an empty set.
func NewMinutes() Minutes { return Minutes{open: map[id]*Minute{}} }

// Open returns the HyperLogLog of a table for a second's minute. It stays valid until
// [Minutes.Risen], or until live(start of the minute) is false.
func (m *Minutes) Open(table uint16, second int64, t *Tables, live func(minute int64) bool) *Minute {
	minute := id{table, MinuteStart(second)}
	if d := m.open[minute]; d != nil {
		return d
	}
	if most := 2*t.Len() + kept; len(m.open) >= max(m.full, most+more) {
		m.leave(most, func(d *Minute) bool {
			if live(d.id.at) {
				return false
			}
			before := len(m.early)
			m.early = d.appendRisen(m.early, t)
			for _, r := range m.early[before:] {
				m.earlyBytes += registersBytes + registerBytes*len(r.Set)
			}
			return true
		})
		m.full = len(m.open) + more // if all are live, none has left
	}
	d := &Minute{id: minute}
	m.open[minute] = d
	return d
}

// MinuteStart returns the start of a second's minute.
func MinuteStart(second int64) int64 {
	past := second % 60
	if past < 0 { // before 1970
		past += 60
	}
	return second - past
}

// CountedRegisters returns the registers, one a byte.
func (d *Minute) CountedRegisters() []byte { return d.counted[:] }

// Insert counts a hash exactly as the estimating library does. TestInsertsAsTheLibraryDoes
// compares them.
func (d *Minute) Insert(hash uint64) {
	at := hash >> (64 - Precision)
	rank := uint8(bits.LeadingZeros64(hash<<Precision|1<<(Precision-1)) + 1)
	if rank > d.counted[at] {
		d.counted[at], d.touched = rank, true
	}
}

// Risen appends the registers that rose since they were last sent, and then drops the oldest
// minutes.
func (m *Minutes) Risen(to []Registers, t *Tables) []Registers {
	to = append(to, m.early...)
	m.early, m.earlyBytes, m.full = nil, 0, 0
	for _, d := range m.open {
		to = d.appendRisen(to, t)
	}
	slices.SortFunc(to, func(a, b Registers) int {
		return cmp.Or(a.Target.Compare(b.Target), cmp.Compare(a.Minute, b.Minute))
	})
	m.leave(2*t.Len()+kept, func(*Minute) bool { return true })
	return to
}

// appendRisen appends the minute's registers if some rose since they were last sent.
func (d *Minute) appendRisen(to []Registers, t *Tables) []Registers {
	if !d.touched {
		return to
	}
	d.touched = false
	if set := d.changedRegisters(); len(set) > 0 {
		to = append(to, Registers{Target: t.Name(d.id.table), Minute: d.id.at, Set: set})
	}
	return to
}

// registersBytes and registerBytes are the approximate sizes in memory of a Registers and of
// each register in it.
const registersBytes, registerBytes = 100, 4

// Spare returns the approximate number of bytes that the next Seal frees.
func (m *Minutes) Spare(tables int) int {
	return max(0, len(m.open)-2*tables-kept)*2*RegisterCount + m.earlyBytes
}

// changedRegisters returns the registers that rose since they were last sent, and marks them as
// sent.
func (d *Minute) changedRegisters() []Register {
	var set []Register
	for i, value := range d.counted {
		if value > d.sent[i] {
			set = append(set, Register{uint16(i), value})
			d.sent[i] = value
		}
	}
	return set
}

// leave drops the oldest minutes for which may returns true, until `most` are left.
func (m *Minutes) leave(most int, may func(d *Minute) bool) {
	if len(m.open) <= most {
		return
	}
	all := slices.SortedFunc(maps.Keys(m.open), func(a, b id) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.table, b.table))
	})
	for _, minute := range all[:len(all)-most] {
		if may(m.open[minute]) {
			delete(m.open, minute)
		}
	}
}

// Drop drops the minutes of tables that no longer have a number.
func (m *Minutes) Drop(tables map[uint16]bool) {
	if len(tables) == 0 {
		return
	}
	for minute := range m.open {
		if tables[minute.table] {
			delete(m.open, minute)
		}
	}
}

// Forget marks every register as never sent.
func (m *Minutes) Forget() {
	m.early, m.earlyBytes = nil, 0
	for _, d := range m.open {
		d.sent = [RegisterCount]uint8{}
		d.touched = true
	}
}
