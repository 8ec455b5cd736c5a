package sketch

import (
	"errors"
	"fmt"
	"sync"

	"github.com/axiomhq/hyperloglog"

	"github.com/keyheat/keyheat/sketch/internal/minutes"
)

const (
	precision = minutes.Precision
	registers = minutes.Count
	// headerBytes precede the registers in the library's dense binary form:
	// version, precision, base, sparse flag and the length. See checkDense.
	headerBytes = 8
)

// Registers are the registers of one table's or index's HyperLogLog of one
// minute that have risen since they were last sent.
type Registers = minutes.Registers

// Register is one register of a HyperLogLog.
type Register = minutes.Register

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
// merged from the registers that shards have sent.
type Cardinality struct {
	registers [registers]uint8
}

// Merge adds registers. Doing so twice changes nothing.
func (c *Cardinality) Merge(r Registers) {
	for _, reg := range r.Set {
		i := reg.Index % registers
		c.registers[i] = max(c.registers[i], reg.Value)
	}
}

// Join adds the registers of another minute or another part.
func (c *Cardinality) Join(o *Cardinality) {
	for i, value := range o.registers {
		c.registers[i] = max(c.registers[i], value)
	}
}

// Bytes returns the registers, one a byte, as the store keeps them.
func (c *Cardinality) Bytes() []byte { return append([]byte(nil), c.registers[:]...) }

// CardinalityFromBytes reads what Bytes wrote, or returns [ErrCorrupt].
func CardinalityFromBytes(b []byte) (*Cardinality, error) {
	c := &Cardinality{}
	if len(b) != registers {
		return nil, fmt.Errorf("%w: %d registers instead of %d", ErrCorrupt, len(b), registers)
	}
	for i, value := range b {
		if value > 64-precision+1 {
			return nil, fmt.Errorf("%w: register %d holds %d", ErrCorrupt, i, value)
		}
		c.registers[i] = value
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
	copy(raw[headerBytes:], c.registers[:])
	if err := empty.UnmarshalBinary(raw); err != nil {
		return 0
	}
	return empty.Estimate()
}
