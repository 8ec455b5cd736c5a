package sketch

import (
	"fmt"

	"github.com/axiomhq/hyperloglog"
)

// CardinalityError is the standard error of a Cardinality's estimate, as a share
// of the truth: 1.04/√4096 (Flajolet, Fusy, Gandouet and Meunier 2007).
const CardinalityError = 0.0163

// Cardinality counts the distinct keys of one table or index in one minute,
// merged from the registers that shards have sent.
type Cardinality struct {
	registers [registers]uint8
}

// Merge takes registers in. Doing so twice changes nothing.
func (c *Cardinality) Merge(r Registers) {
	for _, reg := range r.Set {
		i := reg.Index % registers
		c.registers[i] = max(c.registers[i], reg.Value)
	}
}

// Join takes another minute's, or another part's, registers in.
func (c *Cardinality) Join(o *Cardinality) {
	for i, value := range o.registers {
		c.registers[i] = max(c.registers[i], value)
	}
}

// Bytes are the registers, one a byte, as the store keeps them.
func (c *Cardinality) Bytes() []byte { return append([]byte(nil), c.registers[:]...) }

// CardinalityFromBytes reads what Bytes wrote, or answers ErrCorrupt.
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

// Estimate is about how many distinct keys were seen.
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
