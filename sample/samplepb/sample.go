package samplepb

import (
	"math"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/internal/frame"
)

// sample reads one sample and passes it on.
func (d *Decoder) sample(raw []byte, h sample.Handler) {
	r, reason := d.read(raw)
	if reason != "" {
		h.Bad(reason, frame.Excerpt(raw))
		return
	}
	h.Record(r)
}

// read returns the record of a sample. It is valid until the next sample.
func (d *Decoder) read(raw []byte) (*sample.Record, sample.RejectReason) {
	var p plain
	if !p.read(raw) || p.kind >= uint64(len(d.kinds)) || p.pk > uint64(len(d.keys)) || p.sk > uint64(len(d.keys)) {
		return nil, sample.RejectSyntax
	}
	k := &d.kinds[p.kind]
	if k.reason != "" {
		return nil, k.reason
	}
	pk, sk := &noKey, &noKey
	if p.pk > 0 {
		pk = &d.keys[p.pk-1]
	}
	if p.sk > 0 {
		sk = &d.keys[p.sk-1]
	}
	if pk.reason != "" {
		return nil, pk.reason
	}
	if sk.reason != "" {
		return nil, sk.reason
	}
	r := &k.rec
	r.PK, r.SK = pk.key, sk.key
	if !d.setTime(r, p.time) {
		return nil, sample.RejectNoTime
	}
	r.RCU, r.WCU, r.Estimated = p.rcu, p.wcu, false
	r.Bytes, r.N = p.bytes, 1
	if p.n != 0 {
		r.N = p.n
	}
	r.Calls, r.Attempts, r.Waited, r.Failed = 0, 0, 0, false
	if p.rare {
		d.rare = *r
		r = &d.rare
		if reason := d.readRare(raw); reason != "" {
			return nil, reason
		}
	}
	if (!p.hasRCU || !p.hasWCU) && !r.CompleteUnits(p.hasRCU, p.hasWCU) {
		return nil, sample.RejectNoOp
	}
	if k.isSound(pk, sk) {
		return r, r.CheckAmounts()
	}
	reason := r.Check()
	if reason == "" {
		k.checked = true
		if p.pk > 0 {
			pk.checkedPK = true
		}
		if p.sk > 0 {
			sk.checkedSK = true
		}
	}
	return r, reason
}

// setTime sets the time of a sample from its milliseconds, and returns false if neither the
// batch nor its message has a time.
func (d *Decoder) setTime(r *sample.Record, milliseconds int64) bool {
	if d.base != 0 {
		r.Time = d.base + milliseconds
		return true
	}
	r.Time, r.TimeFromMessage = d.at, true
	return d.at > 0
}

// isSound reports whether samples of this kind and these keys pass sample.Record.Check if their
// amounts do.
func (k *kind) isSound(pk, sk *key) bool {
	return k.checked && (pk.checkedPK || pk == &noKey && k.rec.Op == sample.Scan) && sk.checkedSK
}

// noKey is the missing partition key or sort key of a sample.
var noKey = key{checkedSK: true}

// plain has the fields of most samples.
type plain struct {
	kind, pk, sk   uint64
	time           int64
	rcu, wcu       sample.Milli
	hasRCU, hasWCU bool
	bytes, n       int64
	rare           bool // the sample has other fields
}

// read reads a sample's plain fields, and returns false if the sample is broken.
func (p *plain) read(raw []byte) bool {
	for i := 0; i < len(raw); {
		tag := raw[i]
		if tag&7 != byte(protowire.VarintType) || tag < 1<<3 || tag >= (sampleN+1)<<3 {
			number, of, n := protowire.ConsumeTag(raw[i:])
			if n < 0 {
				return false
			}
			if of != protowire.VarintType || number > sampleN {
				value := protowire.ConsumeFieldValue(number, of, raw[i+n:])
				if value < 0 {
					return false
				}
				p.rare = true
				i += n + value
				continue
			}
			tag = byte(number << 3) // the tag is in more bytes than it needs
			i += n - 1
		}
		i++
		var v uint64
		if i < len(raw) && raw[i] < 0x80 {
			v = uint64(raw[i])
			i++
		} else if i+1 < len(raw) && raw[i+1] < 0x80 {
			v = uint64(raw[i]&0x7f) | uint64(raw[i+1])<<7
			i += 2
		} else {
			var n int
			if v, n = protowire.ConsumeVarint(raw[i:]); n < 0 {
				return false
			}
			i += n
		}
		switch tag >> 3 {
		case sampleKind:
			p.kind = v
		case samplePK:
			p.pk = v
		case sampleSK:
			p.sk = v
		case sampleTime:
			p.time = protowire.DecodeZigZag(v)
		case sampleRCU:
			p.rcu, p.hasRCU = sample.Milli(v), true
		case sampleWCU:
			p.wcu, p.hasWCU = sample.Milli(v), true
		case sampleBytes:
			p.bytes = int64(v)
		case sampleN:
			p.n = int64(v)
		}
	}
	return true
}

// readRare reads the rare fields of a sample that is not broken.
func (d *Decoder) readRare(raw []byte) sample.RejectReason {
	r := &d.rare
	d.clearAttrs()
	fields := wire{src: raw, of: &sampleTypes}
	for fields.next() {
		switch fields.number {
		case sampleCalls:
			r.Calls = math.Float64frombits(fields.varint)
		case sampleAttempts:
			r.Attempts = int64(fields.varint)
		case sampleWaited:
			r.Waited = math.Float64frombits(fields.varint)
		case sampleFailed:
			r.Failed = fields.varint != 0
		case sampleCall, sampleID:
			if !utf8.Valid(fields.value) {
				return sample.RejectBadUTF8
			}
			if fields.number == sampleCall {
				r.Call = alias(fields.value)
			} else {
				r.ID = alias(fields.value)
			}
		case sampleAttrs:
			if reason := d.attr(fields.value); reason != "" {
				return reason
			}
			r.Attrs = d.attrs
		}
	}
	return ""
}

func (d *Decoder) attr(raw []byte) sample.RejectReason {
	var name, value []byte
	fields := wire{src: raw, of: &entryTypes}
	for fields.next() {
		switch fields.number {
		case entryKey:
			name = fields.value
		case entryValue:
			value = fields.value
		}
	}
	switch {
	case fields.bad:
		return sample.RejectSyntax
	case !utf8.Valid(name) || !utf8.Valid(value):
		return sample.RejectBadUTF8
	}
	d.attrs[alias(name)] = alias(value)
	return ""
}
