package sketch

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch/internal/front"
)

// The smallest encoded sizes of parts, in bytes. A reader allocates for a number of parts only
// if the remaining bytes can hold as many.
const (
	windowLeast    = 3 + 9 + 16 + 4 + 1
	keyLeast       = 1 + 3 + 7
	registersLeast = 4
	registerLeast  = 2
	callersLeast   = 4 + 2 + 2
)

// placedBit marks a key with a place. The number of a type's letters is below it.
const placedBit = 7

// writer appends the contents of a summary. Numbers are varints.
type writer struct {
	bytes []byte
	// version is the oldest version with room for all parts of the windows. Windows have cells from
	// version 2 on, the places of hidden keys from version 3 on, and contention from version 4 on.
	version byte
}

func (w *writer) writeFixed(v uint64) { w.bytes = binary.LittleEndian.AppendUint64(w.bytes, v) }
func (w *writer) uint(v uint64)       { w.bytes = binary.AppendUvarint(w.bytes, v) }
func (w *writer) int(v int64)         { w.bytes = binary.AppendVarint(w.bytes, v) }
func (w *writer) count(v int)         { w.uint(uint64(v)) }

// natural writes a number of at least zero. A negative sum has overflowed and is written as the
// largest number, because the reader refuses larger ones.
func (w *writer) natural(v int64) {
	if v < 0 {
		v = math.MaxInt64
	}
	w.uint(uint64(v))
}

func (w *writer) amount(v sample.Milli) { w.natural(int64(v)) }
func (w *writer) text(s string)         { w.count(len(s)); w.bytes = append(w.bytes, s...) }
func (w *writer) load(l Load)           { w.amount(l.Read); w.amount(l.Write) }

func (w *writer) target(t sample.Target) {
	w.text(t.Table)
	w.text(t.Index)
	w.text(t.Account)
	w.text(t.Region)
}

func (w *writer) window(v *Window) {
	w.target(v.Target)
	w.int(v.Second)
	w.natural(v.Total.Requests)
	w.load(v.Total.Load)
	w.natural(v.Total.ThrottledRequests)
	w.load(v.Total.Throttled)
	w.natural(v.Total.Changes)
	w.writeRefused(v.Total.Refused)
	w.load(v.Total.Keyless)
	w.writeFixed(math.Float64bits(v.Total.ReadLargest))
	w.writeFixed(math.Float64bits(v.Total.WriteLargest))
	w.arrivals(v.Arrivals)
	w.top(v.Callers)
	w.top(v.Scanners)
	w.load(v.Unseen)
	w.count(len(v.Keys))
	before := uint64(0)
	for i := range v.Keys {
		w.key(&v.Keys[i], before)
		before = v.Keys[i].Hash
	}
	if w.version >= 2 {
		w.bytes = appendCells(w.bytes, v.Cells)
	}
	if w.version >= 5 {
		w.load(v.Trimmed.Low)
		w.sampling(v.Trimmed.ReadSpread, v.Trimmed.WriteSpread, v.Trimmed.Draws)
		w.natural(v.Trimmed.Draws.Estimated)
	}
}

func (w *writer) key(k *KeyLoad, before uint64) {
	w.uint(k.Hash - before) // keys are in order of their hashes, and the difference is shorter
	sampled := k.ReadSpread != (Spread{}) || k.WriteSpread != (Spread{}) || k.Draws.RateLow != 0 || k.Draws.Assumed != 0
	w.uint(flag(k.Place > 0)<<placedBit | uint64(len(k.Key.Type))<<4 | flag(k.Retries != nil)<<3 | flag(k.Evidence != nil)<<2 | flag(sampled)<<1 | flag(k.Cut))
	w.bytes = append(w.bytes, k.Key.Type...)
	w.text(k.Key.Text)
	if k.Place > 0 {
		w.bytes = binary.LittleEndian.AppendUint16(w.bytes, uint16(k.Place-1))
	}
	w.natural(k.Requests)
	w.load(k.Low)
	w.load(k.Err)
	w.load(k.Throttled)
	if sampled {
		w.sampling(k.ReadSpread, k.WriteSpread, k.Draws)
	}
	w.natural(k.Draws.Estimated)
	if k.Evidence != nil {
		w.evidence(k.Evidence)
	}
	w.retries(k.Retries)
}

func (w *writer) sampling(read, write Spread, d Draws) {
	w.writeSpread(read)
	w.writeSpread(write)
	w.natural(d.Assumed)
	w.writeFixed(math.Float64bits(d.RateLow))
	w.writeFixed(math.Float64bits(d.RateHigh))
}

func (w *writer) writeSpread(s Spread) {
	w.writeFixed(math.Float64bits(s.Variance))
	w.writeFixed(math.Float64bits(s.Largest))
}

func (w *writer) registers(r *Registers) {
	w.target(r.Target)
	w.int(r.Minute)
	w.count(len(r.Set))
	for _, reg := range r.Set {
		w.uint(uint64(reg.Index))
		w.bytes = append(w.bytes, reg.Value)
	}
}

func (w *writer) callers(c *CallerLoad) {
	w.target(c.Target)
	w.top(c.Writers)
	w.top(c.Readers)
}

// reader reads a writer's output. After the first fault it returns zeros, and end returns the
// error.
type reader struct {
	rest   []byte
	failed bool

	version byte // as in writer
}

func (r *reader) ok() bool { return !r.failed }

func (r *reader) fail() uint64 {
	r.failed, r.rest = true, nil
	return 0
}

// end returns an error after a fault, or if bytes are left.
func (r *reader) end() error {
	if r.failed || len(r.rest) > 0 {
		return fmt.Errorf("%w: impossible contents", ErrCorrupt)
	}
	return nil
}

func (r *reader) readFixed() uint64 {
	if len(r.rest) < 8 {
		return r.fail()
	}
	v := binary.LittleEndian.Uint64(r.rest)
	r.rest = r.rest[8:]
	return v
}

func (r *reader) uint() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		return r.fail()
	}
	r.rest = r.rest[n:]
	return v
}

func (r *reader) int() int64 {
	v, n := binary.Varint(r.rest)
	if n <= 0 {
		return int64(r.fail())
	}
	r.rest = r.rest[n:]
	return v
}

// natural reads a number that fits an int64.
func (r *reader) natural() int64 {
	v := r.uint()
	if v > math.MaxInt64 {
		return int64(r.fail())
	}
	return int64(v)
}

func (r *reader) count() int { return int(r.natural()) }

// length reads a number of parts, each of at least `least` bytes.
func (r *reader) length(least int) int {
	n := r.natural()
	if n > int64(len(r.rest)/least) {
		return int(r.fail())
	}
	return int(n)
}

func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.rest) {
		r.fail()
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) text() string { return string(r.take(r.length(1))) }

func (r *reader) load() Load {
	return Load{Read: sample.Milli(r.natural()), Write: sample.Milli(r.natural())}
}

func (r *reader) target() sample.Target {
	return sample.Target{Table: r.text(), Index: r.text(), Account: r.text(), Region: r.text()}
}

func (r *reader) window() Window {
	w := Window{Target: r.target(), Second: r.int()}
	w.Total.Requests = r.natural()
	w.Total.Load = r.load()
	w.Total.ThrottledRequests = r.natural()
	w.Total.Throttled = r.load()
	w.Total.Changes = r.natural()
	w.Total.Refused = r.readRefused()
	w.Total.Keyless = r.load()
	w.Total.ReadLargest, w.Total.WriteLargest = r.positive(), r.positive()
	w.Arrivals = r.arrivals()
	w.Callers, w.Scanners = r.top(), r.top()
	w.Unseen = r.load()
	n := r.length(keyLeast)
	if n > 0 {
		w.Keys = make([]KeyLoad, 0, n)
	}
	before := uint64(0)
	for ; n > 0 && r.ok(); n-- {
		k := r.key(before)
		if k.Hash <= before { // out of order: merging would go wrong
			r.fail()
		}
		before = k.Hash
		w.Keys = append(w.Keys, k)
	}
	if r.version >= 2 && r.ok() {
		read, rest, ok := readCells(r.rest)
		if w.Cells, r.rest = read, rest; !ok {
			r.fail()
		}
	}
	if t := &w.Trimmed; r.version >= 5 {
		t.Low = r.load()
		r.sampling(&t.ReadSpread, &t.WriteSpread, &t.Draws)
		t.Draws.Estimated = r.natural()
	}
	return w
}

func (r *reader) key(before uint64) KeyLoad {
	k := KeyLoad{Hash: before + r.uint()}
	head := r.natural()
	k.Cut = head&1 == 1
	placed := r.version >= 3 && head>>placedBit&1 == 1
	k.Key.Type = front.KeyType(r.take(int((head &^ int64(flag(placed)<<placedBit)) >> 4)))
	k.Key.Text = r.text()
	if b := r.take(2 * int(flag(placed))); len(b) > 0 {
		k.Place = 1 + sample.Place(binary.LittleEndian.Uint16(b))
	}
	k.Requests = r.natural()
	k.Low, k.Err, k.Throttled = r.load(), r.load(), r.load()
	if head&2 != 0 {
		r.sampling(&k.ReadSpread, &k.WriteSpread, &k.Draws)
	}
	k.Draws.Estimated = r.natural()
	if head&4 != 0 {
		k.Evidence = r.evidence()
	}
	if head&8 != 0 {
		k.Retries = r.retries()
	}
	return k
}

func (r *reader) sampling(read, write *Spread, d *Draws) {
	*read, *write = r.readSpread(), r.readSpread()
	d.Assumed, d.RateLow, d.RateHigh = r.natural(), r.positive(), r.positive()
}

func (r *reader) readSpread() Spread { return Spread{Variance: r.positive(), Largest: r.positive()} }

// positive reads a finite number of at least zero.
func (r *reader) positive() float64 {
	v := math.Float64frombits(r.readFixed())
	if !(v >= 0) || math.IsInf(v, 0) {
		r.fail()
		return 0
	}
	return v
}

func (r *reader) registers() Registers {
	v := Registers{Target: r.target(), Minute: r.int()}
	for n := r.length(registerLeast); n > 0 && r.ok(); n-- {
		index, value := r.natural(), r.take(1)
		if index >= front.RegisterCount || len(value) == 0 || value[0] > front.MaxRegister {
			r.fail()
			break
		}
		v.Set = append(v.Set, Register{Index: uint16(index), Value: value[0]})
	}
	return v
}
