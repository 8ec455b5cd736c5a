package samplepb

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/internal/frame"
)

// Decoder reads batches. It is for one goroutine, and to be reused: it then allocates
// nothing for a batch of plain samples. The strings of its records alias the message.
type Decoder struct {
	// the times of the batch and of its message; 0 where the batch has none
	base, at int64

	kinds []kind
	keys  []key
	rare  sample.Record // that of a sample which has more than its kind's record takes
	attrs map[string]string
	rates map[string]float64
}

// NewDecoder returns a ready Decoder.
func NewDecoder() *Decoder { return &Decoder{attrs: make(map[string]string)} }

// SetRates sets the rates, in (0,1], at which tables are sampled, by a name of
// [sample.LookupNames], for kinds without a rate of their own. Without either it is 1.
func (d *Decoder) SetRates(rates map[string]float64) { d.rates = rates }

// Decode reads every sample of one batch. at is the message's own time in Unix
// milliseconds, which the samples of a batch without base take.
//
// A sample that cannot be true is a bad sample, and those beside it count. Where the
// batch itself is broken, all of it is one bad sample.
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

// letGo drops what is in the message, which is the caller's again: texts that are kept would
// keep all of it. What a rare giant needed goes, too.
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

// clearAttrs forgets the attributes of the sample before. A map does not shrink, so that
// one that was large is left.
func (d *Decoder) clearAttrs() {
	if len(d.attrs) > keptAttrs {
		d.attrs = make(map[string]string)
	}
	clear(d.attrs)
}

// plainSample returns the length of the field that fields begin with, where that is a
// sample of less than 128 bytes: two bytes and the sample. It is 0 where it is something
// else. It is what [wire] reads, without what most samples do not need.
func plainSample(fields []byte) (n int) {
	if len(fields) < 2 || fields[0] != sampleTag || fields[1] >= 0x80 {
		return 0
	}
	if n = sampleHead + int(fields[1]); n > len(fields) {
		return 0
	}
	return n
}

// A plain sample begins with its tag and its length, a byte each.
const (
	sampleTag  = batchSamples<<3 | byte(protowire.BytesType)
	sampleHead = 2
)

// plainSamples returns the length of all plain samples that fields begin with.
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
