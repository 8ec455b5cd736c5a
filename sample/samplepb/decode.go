package samplepb

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/internal/frame"
)

// Decoder reads batches. It is for one goroutine. Reuse it: it then allocates nothing for a
// batch of plain samples. The strings of its records alias the message.
type Decoder struct {
	// times of the batch and of its message, 0 if the batch has none
	base, at int64

	kinds []kind
	keys  []key
	rare  sample.Record // of a sample that is not usual
	attrs map[string]string
	rates map[string]float64
}

// NewDecoder returns a Decoder.
func NewDecoder() *Decoder { return &Decoder{attrs: make(map[string]string)} }

// SetRates sets the sampling rates of tables, in (0,1], for kinds without a rate of their own.
// The names are those of [sample.LookupNames]. The default rate is 1.
func (d *Decoder) SetRates(rates map[string]float64) { d.rates = rates }

// Decode reads every sample of one batch. Samples of a batch without base take the message's
// own time, at, in Unix milliseconds.
//
// Bad samples do not affect the good ones beside them. A batch that is broken itself is one bad
// sample.
func (d *Decoder) Decode(message []byte, at int64, h sample.Handler) {
	if len(message) == 0 {
		h.Bad(sample.RejectEmpty, nil)
		return
	}
	d.base, d.at = 0, at
	if samples, ok := d.splitShared(message); ok {
		d.samples(samples, h)
	} else {
		h.Bad(sample.RejectSyntax, frame.Excerpt(message))
	}
	d.letGo()
}

// samples reads a sound batch from its first sample on.
func (d *Decoder) samples(rest []byte, h sample.Handler) {
	for len(rest) > 0 {
		if n := plainSample(rest); n > 0 {
			if r := d.usual(rest, n); r != nil {
				h.Record(r)
			} else {
				d.sample(rest[sampleHead:n], h)
			}
			rest = rest[n:]
			continue
		}
		fields := wire{src: rest, of: &batchTypes}
		if fields.next(); fields.number == batchSamples {
			d.sample(fields.value, h)
		}
		rest = fields.src
	}
}

// letGo drops aliases of the message, because kept texts would keep all of it in memory. It
// also frees the memory of rare giants.
func (d *Decoder) letGo() {
	clear(d.kinds)
	clear(d.keys)
	if d.kinds = d.kinds[:0]; cap(d.kinds) > keptKinds {
		d.kinds = nil
	}
	if d.keys = d.keys[:0]; cap(d.keys) > keptKeys {
		d.keys = nil
	}
	d.clearAttrs()
	d.rare = sample.Record{}
}

// clearAttrs forgets the attributes of the last sample. A map does not shrink, so it replaces a
// large one.
func (d *Decoder) clearAttrs() {
	if len(d.attrs) > keptAttrs {
		d.attrs = make(map[string]string)
	}
	clear(d.attrs)
}

// plainSample returns the length of the first field if it is a sample of less than 128 bytes
// (two bytes and the sample), and 0 otherwise. It is a fast form of [wire] for most samples.
func plainSample(fields []byte) (n int) {
	if len(fields) < 2 || fields[0] != sampleTag || fields[1] >= 0x80 {
		return 0
	}
	if n = sampleHead + int(fields[1]); n > len(fields) {
		return 0
	}
	return n
}

// A plain sample begins with one byte of tag and one byte of length.
const (
	sampleTag  = batchSamples<<3 | byte(protowire.BytesType)
	sampleHead = 2
)

// plainSamples returns the total length of the plain samples at the start of fields.
func plainSamples(fields []byte) (n int) {
	for n+1 < len(fields) && fields[n] == sampleTag && fields[n+1] < 0x80 {
		next := n + sampleHead + int(fields[n+1])
		if next > len(fields) {
			break
		}
		n = next
	}
	return n
}
