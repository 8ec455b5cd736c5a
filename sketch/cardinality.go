package sketch

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/axiomhq/hyperloglog"

	"github.com/keyheat/keyheat/sketch/internal/distinct"
)

const (
	precision = distinct.Precision
	registers = distinct.RegisterCount
	// headerBytes precede the registers in the library's dense binary form:
	// version, precision, base, sparse flag and the length. See checkDense.
	headerBytes = 8
)

// Registers are the registers of one table's or index's HyperLogLog of one
// minute that have risen since they were last sent.
type Registers = distinct.Registers

// Register is one register of a HyperLogLog.
type Register = distinct.Register

// checkDense reports an error unless the library's dense binary form is the one
// that this package reads registers from and writes them to. It is tried once,
// when a configuration is validated, so that an upgrade of the library that
// changes the form stops a program at its start.
var checkDense = sync.OnceValue(func() error {
	unknown := errors.New("sketch: this version of github.com/axiomhq/hyperloglog has another binary form: build with the version of go.mod")
	sketch, err := hyperloglog.NewSketch(precision, false)
	if err != nil {
		return unknown
	}
	const at, value = registers - 1, 2 // of a hash with this register's bits and one zero behind them
	sketch.InsertHash(at<<(64-precision) | 1<<(64-precision-value))
	raw, err := sketch.AppendBinary(nil)
	if err != nil || len(raw) != headerBytes+registers || raw[headerBytes+at] != value {
		return unknown
	}
	read, err := hyperloglog.NewSketch(precision, false)
	if err != nil || read.UnmarshalBinary(raw) != nil || read.Estimate() != 1 {
		return unknown
	}
	return nil
})

// CardinalityError is the standard error of a Cardinality's estimate, as a share
// of the truth: 1.04/√4096 (Flajolet, Fusy, Gandouet and Meunier 2007).
const CardinalityError = 0.0163

// Cardinality counts the distinct keys of one table or index in one minute,
// merged from the registers that shards have sent. The zero value is ready.
//
// A table with few keys has few registers above zero, and it takes about five bytes for
// each of these; with more than some 500 it takes a byte for each register.
type Cardinality struct {
	few []Register        // those above zero, by index, until they are many
	all *[registers]uint8 // nil until then
}

// fewRegisters is how many registers above zero are kept one by one.
const fewRegisters = registers / 8

// Merge adds registers. Doing so twice changes nothing.
func (c *Cardinality) Merge(r Registers) {
	at, before := 0, uint16(0) // they come in order: only what is behind the last one is searched
	for _, reg := range r.Set {
		if reg.Index %= registers; reg.Index < before {
			at = 0
		}
		at, before = c.raise(reg, at), reg.Index
	}
}

// Join adds the registers of another minute or another part.
func (c *Cardinality) Join(o *Cardinality) {
	at := 0
	o.each(func(r Register) { at = c.raise(r, at) })
}

// raise raises a register to a value, and returns its place among the few, which is not
// before from.
func (c *Cardinality) raise(r Register, from int) int {
	if c.all != nil {
		c.all[r.Index] = max(c.all[r.Index], r.Value)
		return 0
	}
	n, found := slices.BinarySearchFunc(c.few[from:], r.Index, func(of Register, index uint16) int { return cmp.Compare(of.Index, index) })
	at := from + n
	switch {
	case found:
		c.few[at].Value = max(c.few[at].Value, r.Value)
	case r.Value == 0:
	case len(c.few) == fewRegisters:
		c.all = c.registers()
		c.few, c.all[r.Index] = nil, r.Value
		return 0
	default:
		if len(c.few) == cap(c.few) { // by a quarter: append would double it
			c.few = append(make([]Register, 0, len(c.few)+max(16, len(c.few)/4)), c.few...)
		}
		c.few = slices.Insert(c.few, at, r)
	}
	return at
}

// each calls f with the registers above zero, by index.
func (c *Cardinality) each(f func(Register)) {
	for _, r := range c.few {
		f(r)
	}
	if c.all == nil {
		return
	}
	for i, value := range c.all {
		if value > 0 {
			f(Register{Index: uint16(i), Value: value})
		}
	}
}

// registers returns all registers.
func (c *Cardinality) registers() *[registers]uint8 {
	all := new([registers]uint8)
	c.each(func(r Register) { all[r.Index] = r.Value })
	return all
}

// Bytes returns the registers, one a byte, as the store keeps them.
func (c *Cardinality) Bytes() []byte { return c.registers()[:] }

// CardinalityFromBytes reads what Bytes wrote, or returns [ErrCorrupt].
func CardinalityFromBytes(b []byte) (*Cardinality, error) {
	c, at := &Cardinality{}, 0
	if len(b) != registers {
		return nil, fmt.Errorf("%w: %d registers instead of %d", ErrCorrupt, len(b), registers)
	}
	for i, value := range b {
		if value > 64-precision+1 {
			return nil, fmt.Errorf("%w: register %d holds %d", ErrCorrupt, i, value)
		}
		at = c.raise(Register{Index: uint16(i), Value: value}, at)
	}
	return c, nil
}

// Estimate returns about how many distinct keys were seen.
func (c *Cardinality) Estimate() uint64 {
	empty, err := hyperloglog.NewSketch(precision, false)
	if err != nil {
		return 0
	}
	raw, err := empty.AppendBinary(nil)
	if err != nil || len(raw) != headerBytes+registers {
		return 0
	}
	copy(raw[headerBytes:], c.registers()[:])
	if err := empty.UnmarshalBinary(raw); err != nil {
		return 0
	}
	return empty.Estimate()
}
