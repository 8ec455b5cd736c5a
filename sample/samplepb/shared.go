package samplepb

import (
	"encoding/binary"
	"math"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/keyheat/keyheat/sample"
)

// kind is what samples have in common, as the record of one. Each plain sample of the kind
// writes its keys, time, units, bytes, N, calls and retries over those of the one before.
type kind struct {
	rec     sample.Record
	reason  sample.RejectReason // why none of its samples counts
	checked bool                // a sample of it passed sample.Record.Check
}

type key struct {
	key    sample.Key
	reason sample.RejectReason
	// as a partition key, or a sort key, it passes sample.Record.Check
	checkedPK, checkedSK bool
}

// splitShared reads what samples share, wherever in the batch it is. It returns the batch from
// its first sample on, and false where the batch is broken.
func (d *Decoder) splitShared(message []byte) (samples []byte, ok bool) {
	for rest := message; len(rest) > 0; {
		if n := plainSamples(rest); n > 0 {
			if samples == nil {
				samples = rest
			}
			rest = rest[n:]
			continue
		}
		if text, n := plainKey(rest); n > 0 && len(d.keys) < MaxKeys {
			d.keys = append(d.keys, key{})
			k := &d.keys[len(d.keys)-1] // written where it stays, which takes half as long as a copy
			k.key, k.checkedPK, k.checkedSK = sample.KeyString(text), true, true
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
				reason = sample.RejectKeyTooLong // said once, since samples would look at all of it
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
		k.fail(sample.RejectBadText)
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
		k.fail(sample.RejectSyntax)
	case r.Op != sample.OpUnknown && r.Op.String() == "":
		k.fail(sample.RejectBadOp)
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
func (k *kind) fail(reason sample.RejectReason) {
	if k.reason == "" {
		k.reason = reason
	}
}

func (k *kind) text(raw []byte) string {
	if !utf8.Valid(raw) {
		k.fail(sample.RejectBadUTF8)
	}
	return alias(raw)
}

// plainKey returns the key that fields begin with, and the field's length, where that is
// a plain string key: ASCII of less than 126 bytes, which is sound as either key. The length
// is 0 where it is something else.
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

// readKey reads a key, or one attribute of a key that has several.
func readKey(raw []byte, depth int) (k sample.Key, reason sample.RejectReason) {
	var parts []sample.Key
	fields := wire{src: raw, of: &keyTypes}
	for fields.next() {
		switch fields.number {
		case keyString:
			if k = sample.KeyString(alias(fields.value)); !utf8.Valid(fields.value) {
				reason = sample.RejectBadUTF8
			}
		case keyNumber:
			var err error
			if k, err = sample.KeyNumber(string(fields.value)); err != nil {
				reason = sample.RejectBadKey
			}
		case keyBinary:
			k = sample.KeyBinary(fields.value)
		case keyParts:
			if depth > 0 || len(parts) == sample.MaxKeyParts {
				return k, sample.RejectBadKey
			}
			part, r := readKey(fields.value, depth+1)
			if r == "" && part.Text == "" {
				r = sample.RejectBadKey
			}
			if r != "" {
				return k, r
			}
			parts = append(parts, part)
		}
	}
	switch {
	case fields.bad:
		return k, sample.RejectSyntax
	case reason != "":
		return k, reason
	case len(parts) > 0:
		return sample.JoinKeys(parts...), ""
	case k.Text == "":
		return k, sample.RejectBadKey // DynamoDB forbids empty keys
	}
	return k, ""
}
