package samplepb

import (
	"cmp"
	"math"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/internal/frame"
)

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
	if !d.fields(raw, &p) || p.kind >= uint64(len(d.kinds)) || p.pk > uint64(len(d.keys)) || p.sk > uint64(len(d.keys)) {
		return nil, sample.RejectSyntax
	}
	k := &d.kinds[p.kind]
	pk, sk := &noKey, &noKey
	if p.pk > 0 {
		pk = &d.keys[p.pk-1]
	}
	if p.sk > 0 {
		sk = &d.keys[p.sk-1]
	}
	d.rare = k.rec
	r, given := &d.rare, &p.given
	hasTime := d.setTime(r, p.time)
	r.PK, r.SK = pk.key, sk.key
	r.RCU, r.WCU, r.Estimated, r.Bytes, r.N = given.RCU, given.WCU, false, given.Bytes, cmp.Or(given.N, 1)
	r.Calls, r.Attempts, r.Waited, r.Failed = given.Calls, given.Attempts, given.Waited, given.Failed
	r.Conflicts, r.ConditionsFailed = given.Conflicts, given.ConditionsFailed
	r.Call, r.ID, r.Attrs = given.Call, given.ID, given.Attrs
	switch reason := cmp.Or(k.reason, pk.reason, sk.reason); {
	case reason != "":
		return nil, reason
	case !hasTime:
		return nil, sample.RejectNoTime
	case p.reason != "":
		return nil, p.reason
	case (!p.hasRCU || !p.hasWCU) && !r.CompleteUnits(p.hasRCU, p.hasWCU):
		return nil, sample.RejectNoOp
	case k.isSound(pk, sk):
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

// plain is a sample before its kind and keys are known.
type plain struct {
	kind, pk, sk   uint64
	time           int64
	hasRCU, hasWCU bool
	given          sample.Record       // its own fields
	reason         sample.RejectReason // reject reason of its texts
}

// fields reads a sample's fields, and returns false if the sample is broken.
func (d *Decoder) fields(raw []byte, p *plain) bool {
	r := &p.given
	d.clearAttrs()
	fields := wire{src: raw, of: &sampleTypes}
	for fields.next() {
		v := fields.varint
		switch fields.number {
		case sampleKind:
			p.kind = v
		case samplePK:
			p.pk = v
		case sampleSK:
			p.sk = v
		case sampleTime:
			p.time = protowire.DecodeZigZag(v)
		case sampleRCU:
			r.RCU, p.hasRCU = sample.Milli(v), true
		case sampleWCU:
			r.WCU, p.hasWCU = sample.Milli(v), true
		case sampleBytes:
			r.Bytes = int64(v)
		case sampleN:
			r.N = int64(v)
		case sampleCalls:
			r.Calls = math.Float64frombits(v)
		case sampleAttempts:
			r.Attempts = int64(v)
		case sampleWaited:
			r.Waited = math.Float64frombits(v)
		case sampleFailed:
			r.Failed = v != 0
		case sampleConflict:
			r.Conflicts = int64(v)
		case sampleConditionFailed:
			r.ConditionsFailed = int64(v)
		case sampleCall:
			r.Call = p.text(fields.value)
		case sampleID:
			r.ID = p.text(fields.value)
		case sampleAttrs:
			p.reason = cmp.Or(p.reason, d.attr(fields.value))
			r.Attrs = d.attrs
		}
	}
	return !fields.bad
}

func (p *plain) text(raw []byte) string {
	if !utf8.Valid(raw) {
		p.reason = cmp.Or(p.reason, sample.RejectBadUTF8)
	}
	return alias(raw)
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
