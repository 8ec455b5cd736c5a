package samplepb

import (
	"encoding/binary"
	"math"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/internal/frame"
)

// Decoder reads batches. It is for one goroutine, and to be reused: it then allocates
// nothing for a batch of plain samples. The strings of its records alias the message.
type Decoder struct {
	base  int64
	kinds []kind
	keys  []key
	rec   sample.Record
	// recKind is the index in kinds of the kind that rec was made of; -1 where rec is
	// empty, or has what only few samples have.
	recKind int
	attrs   map[string]string
	rates   map[string]float64
}

// kind is what samples have in common, as the record of one that has nothing else.
type kind struct {
	rec     sample.Record
	reason  sample.Reason // why none of its samples counts
	checked bool          // a sample of it passed sample.Record.Check
}

type key struct {
	key    sample.Key
	reason sample.Reason
	// a sample with it as its partition key, or its sort key, passed sample.Record.Check
	checkedPK, checkedSK bool
}

// NewDecoder returns a ready Decoder.
func NewDecoder() *Decoder { return &Decoder{recKind: -1, attrs: make(map[string]string)} }

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
		h.Bad(sample.ReasonEmpty, nil)
		return
	}
	d.base = 0
	if samples, ok := d.shared(message); ok {
		d.samples(samples, at, h)
	} else {
		h.Bad(sample.ReasonSyntax, frame.Excerpt(message))
	}
	d.letGo()
}

// samples reads a sound batch from its first sample on.
func (d *Decoder) samples(rest []byte, at int64, h sample.Handler) {
	for len(rest) > 0 {
		if n := plainSample(rest); n > 0 {
			d.sample(rest[2:n], at, h)
			rest = rest[n:]
			continue
		}
		fields := wire{src: rest, of: &batchTypes}
		if fields.next(); fields.number == batchSamples {
			d.sample(fields.value, at, h)
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
	d.rec, d.recKind = sample.Record{}, -1
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
	if n = 2 + int(fields[1]); n > len(fields) {
		return 0
	}
	return n
}

const sampleTag = batchSamples<<3 | byte(protowire.BytesType)

// plainSamples returns the length of all plain samples that fields begin with.
func plainSamples(fields []byte) (n int) {
	for n+1 < len(fields) && fields[n] == sampleTag && fields[n+1] < 0x80 {
		next := n + 2 + int(fields[n+1])
		if next > len(fields) {
			break
		}
		n = next
	}
	return n
}

// plainKey returns the key that fields begin with, and the field's length, where that is
// a plain string key: ASCII of less than 126 bytes. The length is 0 where it is something
// else.
func plainKey(fields []byte) (text string, n int) {
	const tag, inner = batchKeys<<3 | byte(protowire.BytesType), keyString<<3 | byte(protowire.BytesType)
	if len(fields) < 5 || fields[0] != tag || fields[2] != inner {
		return "", 0
	}
	n = 4 + int(fields[3])
	if fields[1] >= 0x80 || n != 2+int(fields[1]) || n > len(fields) || n == 4 || !isASCII(fields[4:n]) {
		return "", 0
	}
	return alias(fields[4:n]), n
}

// isASCII reports whether text has ASCII only.
func isASCII(text []byte) bool {
	var all uint64
	for ; len(text) >= 8; text = text[8:] {
		all |= binary.LittleEndian.Uint64(text)
	}
	for _, c := range text {
		all |= uint64(c)
	}
	return all&0x8080808080808080 == 0
}

// shared reads what samples share, wherever in the batch it is. It returns the batch from
// its first sample on, and false where the batch is broken.
func (d *Decoder) shared(message []byte) (samples []byte, ok bool) {
	for rest := message; len(rest) > 0; {
		if n := plainSamples(rest); n > 0 {
			if samples == nil {
				samples = rest
			}
			rest = rest[n:]
			continue
		}
		if text, n := plainKey(rest); n > 0 && len(d.keys) < MaxKeys {
			d.keys = append(d.keys, key{key: sample.KeyString(text)})
			rest = rest[n:]
			continue
		}
		fields := wire{src: rest, of: &batchTypes}
		if !fields.next() || len(d.kinds) > MaxKinds || len(d.keys) > MaxKeys {
			return nil, false
		}
		switch fields.number {
		case batchBase:
			d.base = int64(fields.varint)
		case batchKinds:
			d.kinds = append(d.kinds, d.kind(fields.value))
		case batchKeys:
			k, reason := readKey(fields.value, 0)
			if reason == "" && k.Size() > sample.MaxKeyBytes {
				reason = sample.ReasonKeyTooLong // said once, since samples would look at all of it
			}
			d.keys = append(d.keys, key{key: k, reason: reason})
		case batchSamples:
			if samples == nil {
				samples = rest
			}
		}
		rest = fields.src
	}
	return samples, len(d.kinds) <= MaxKinds && len(d.keys) <= MaxKeys
}

func (d *Decoder) kind(raw []byte) (k kind) {
	r := &k.rec
	r.N = 1
	if len(raw) > MaxKindBytes {
		k.fail(sample.ReasonBadText)
		return k
	}
	fields := wire{src: raw, of: &kindTypes}
	for fields.next() {
		switch fields.number {
		case kindTable:
			r.Table = k.text(fields.value)
		case kindIndex:
			r.Index = k.text(fields.value)
		case kindAccount:
			r.Account = k.text(fields.value)
		case kindRegion:
			r.Region = k.text(fields.value)
		case kindCaller:
			r.Caller = k.text(fields.value)
		case kindThrottle:
			r.Throttle = k.text(fields.value)
		case kindOp:
			r.Op = sample.Op(min(fields.varint, math.MaxUint8))
		case kindRead:
			r.Read = sample.Consistency(min(fields.varint, math.MaxUint8))
		case kindRate:
			r.Rate = math.Float64frombits(fields.varint)
		}
	}
	switch {
	case fields.bad:
		k.fail(sample.ReasonSyntax)
	case r.Op != sample.OpUnknown && r.Op.String() == "":
		k.fail(sample.ReasonBadOp)
	}
	if r.Op == sample.TransactGetItems {
		r.Read = sample.Transactional
	}
	if r.Rate == 0 {
		r.Rate = 1
		if rate, known := sample.Lookup(d.rates, r.Target()); known {
			r.Rate = rate
		}
	}
	return k
}

// fail keeps the first reason.
func (k *kind) fail(reason sample.Reason) {
	if k.reason == "" {
		k.reason = reason
	}
}

func (k *kind) text(raw []byte) string {
	if !utf8.Valid(raw) {
		k.fail(sample.ReasonBadUTF8)
	}
	return alias(raw)
}

// readKey reads a key, or one attribute of a key that has several.
func readKey(raw []byte, depth int) (k sample.Key, reason sample.Reason) {
	var parts []sample.Key
	fields := wire{src: raw, of: &keyTypes}
	for fields.next() {
		switch fields.number {
		case keyString:
			if k = sample.KeyString(alias(fields.value)); !utf8.Valid(fields.value) {
				reason = sample.ReasonBadUTF8
			}
		case keyNumber:
			var err error
			if k, err = sample.KeyNumber(string(fields.value)); err != nil {
				reason = sample.ReasonBadKey
			}
		case keyBinary:
			k = sample.KeyBinary(fields.value)
		case keyParts:
			if depth > 0 || len(parts) == sample.MaxKeyParts {
				return k, sample.ReasonBadKey
			}
			part, r := readKey(fields.value, depth+1)
			if r == "" && part.Text == "" {
				r = sample.ReasonBadKey
			}
			if r != "" {
				return k, r
			}
			parts = append(parts, part)
		}
	}
	switch {
	case fields.bad:
		return k, sample.ReasonSyntax
	case reason != "":
		return k, reason
	case len(parts) > 0:
		return sample.JoinKeys(parts...), ""
	case k.Text == "":
		return k, sample.ReasonBadKey // DynamoDB forbids empty keys
	}
	return k, ""
}

// sample reads one sample and hands it out.
func (d *Decoder) sample(raw []byte, at int64, h sample.Handler) {
	if reason := d.read(raw, at); reason != "" {
		h.Bad(reason, frame.Excerpt(raw))
		return
	}
	h.Record(&d.rec)
}

func (d *Decoder) read(raw []byte, at int64) sample.Reason {
	var p plain
	if !p.read(raw) || p.kind >= uint64(len(d.kinds)) || p.pk > uint64(len(d.keys)) || p.sk > uint64(len(d.keys)) {
		return sample.ReasonSyntax
	}
	k := &d.kinds[p.kind]
	if k.reason != "" {
		return k.reason
	}
	r := &d.rec
	// Of the fields of a record, the kind's are those of the sample before; PK, SK, Time,
	// RCU, WCU and Bytes are written below for every sample; N, Estimated (by CompleteUnits)
	// and TimeFromMessage only for some, and so are reset; all others are written by rare,
	// after which the record is made anew.
	if d.recKind == int(p.kind) {
		r.N, r.Estimated, r.TimeFromMessage = k.rec.N, false, false
	} else {
		*r, d.recKind = k.rec, int(p.kind)
	}
	pk, sk := &noKey, &noKey
	if p.pk > 0 {
		pk = &d.keys[p.pk-1]
	}
	if p.sk > 0 {
		sk = &d.keys[p.sk-1]
	}
	if pk.reason != "" {
		return pk.reason
	}
	if sk.reason != "" {
		return sk.reason
	}
	r.PK, r.SK = pk.key, sk.key
	if r.Time = d.base + p.time; d.base == 0 {
		if r.Time, r.TimeFromMessage = at, true; at <= 0 {
			return sample.ReasonNoTime
		}
	}
	r.RCU, r.WCU, r.Bytes = p.rcu, p.wcu, p.bytes
	if p.n != 0 {
		r.N = p.n
	}
	if p.rare {
		d.recKind = -1
		if reason := d.rare(raw); reason != "" {
			return reason
		}
	}
	if (!p.hasRCU || !p.hasWCU) && !r.CompleteUnits(p.hasRCU, p.hasWCU) {
		return sample.ReasonNoOp
	}
	if k.checked && pk.checkedPK && sk.checkedSK && !p.rare {
		return r.CheckAmounts()
	}
	reason := r.Check()
	if reason == "" && p.pk > 0 {
		k.checked, pk.checkedPK = true, true
		if p.sk > 0 {
			sk.checkedSK = true
		}
	}
	return reason
}

// noKey is the sort key of samples without one.
var noKey = key{checkedSK: true}

// plain are the fields that most samples have.
type plain struct {
	kind, pk, sk   uint64
	time           int64
	rcu, wcu       sample.Milli
	hasRCU, hasWCU bool
	bytes, n       int64
	rare           bool // there are others
}

// read reads a sample's plain fields, and returns false where its fields are broken.
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
			tag = byte(number << 3) // in more bytes than it needs
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

// rare reads what few samples have, of fields that are not broken.
func (d *Decoder) rare(raw []byte) sample.Reason {
	r := &d.rec
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
				return sample.ReasonBadUTF8
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

func (d *Decoder) attr(raw []byte) sample.Reason {
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
		return sample.ReasonSyntax
	case !utf8.Valid(name) || !utf8.Valid(value):
		return sample.ReasonBadUTF8
	}
	d.attrs[alias(name)] = alias(value)
	return ""
}
