package front

import (
	"cmp"
	"errors"
	"slices"
	"sync"

	"github.com/axiomhq/hyperloglog"
)

const (
	// headerBytes is the size of the header of the library's dense binary form: version,
	// Precision, base, sparse flag and length. See CheckDense.
	headerBytes = 8
	// MaxRegister is the largest value of a register.
	MaxRegister = 64 - Precision + 1
)

// CheckDense returns an error unless the library still has the dense binary form that this
// package reads and writes. sketch.Config.Validate runs it once, so a changed library stops a
// program at its start.
var CheckDense = sync.OnceValue(func() error {
	unknown := errors.New("sketch: this version of github.com/axiomhq/hyperloglog has another binary form: build with the version of go.mod")
	sketch, err := hyperloglog.NewSketch(Precision, false)
	if err != nil {
		return unknown
	}
	const at, value = RegisterCount - 1, 2 // the hash has this register's bits, followed by one zero
	sketch.InsertHash(at<<(64-Precision) | 1<<(64-Precision-value))
	raw, err := sketch.AppendBinary(nil)
	if err != nil || len(raw) != headerBytes+RegisterCount || raw[headerBytes+at] != value {
		return unknown
	}
	read, err := hyperloglog.NewSketch(Precision, false)
	if err != nil || read.UnmarshalBinary(raw) != nil || read.Estimate() != 1 {
		return unknown
	}
	return nil
})

// Cardinality counts the distinct keys of one table or index in one minute, merged from the
// registers of all shards. The zero value is ready.
//
// It takes about five bytes for each register above zero, until there are some 500 of them.
// From then on it takes one byte for each of the 4,096 registers.
type Cardinality struct {
	few []Register            // registers above zero, by index, while they are few
	all *[RegisterCount]uint8 // nil while they are few
}

// fewRegisters is the most registers that are kept one by one.
const fewRegisters = RegisterCount / 8

// Merge adds registers. Adding the same registers twice changes nothing.
func (c *Cardinality) Merge(r Registers) {
	at, before := 0, uint16(0) // registers arrive in order, so each search starts behind the one before
	for _, reg := range r.Set {
		if reg.Index %= RegisterCount; reg.Index < before {
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

// raise raises a register to a value and returns its place in few. The place is not before
// from.
func (c *Cardinality) raise(r Register, from int) int {
	if c.all != nil {
		c.all[r.Index] = max(c.all[r.Index], r.Value)
		return 0
	}
	n, found := slices.BinarySearchFunc(c.few[from:], r.Index, func(r Register, index uint16) int { return cmp.Compare(r.Index, index) })
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
		if len(c.few) == cap(c.few) { // grow by a quarter, where append would double
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

func (c *Cardinality) registers() *[RegisterCount]uint8 {
	all := new([RegisterCount]uint8)
	c.each(func(r Register) { all[r.Index] = r.Value })
	return all
}

// Bytes returns the registers, one byte each.
func (c *Cardinality) Bytes() []byte { return c.registers()[:] }

// Estimate returns the approximate number of distinct keys.
func (c *Cardinality) Estimate() uint64 {
	empty, err := hyperloglog.NewSketch(Precision, false)
	if err != nil {
		return 0
	}
	raw, err := empty.AppendBinary(nil)
	if err != nil || len(raw) != headerBytes+RegisterCount {
		return 0
	}
	copy(raw[headerBytes:], c.registers()[:])
	if err := empty.UnmarshalBinary(raw); err != nil {
		return 0
	}
	return empty.Estimate()
}
