package samplepb

import (
	"encoding/binary"
	"math"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/keyheat/keyheat/sample"
)

// kind is the record of the fields that samples share. Each plain sample overwrites the keys,
// time, units, bytes, N, calls and retries of the one before.
type kind struct {
	rec     sample.Record
	reason  sample.RejectReason // reject reason of all its samples
	checked bool                // one of its samples passed sample.Record.Check
}

type key struct {
	key    sample.Key
	reason sample.RejectReason
	// passes sample.Record.Check as a partition key, and as a sort key
	checkedPK, checkedSK bool
}

// splitShared reads the shared parts of a batch, at any position. It returns the batch from its
// first sample on, or false if the batch is broken.
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
			k := &d.keys[len(d.keys)-1] // written in place, which takes half as long as a copy
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
				reason = sample.RejectKeyTooLong // rejected once here, because each sample would examine all of it
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

// fail keeps the first reject reason.
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

// plainKey returns the key at the start of fields and the length of its field, if it is a plain
// string: ASCII of less than 126 bytes, which is sound as either key. Otherwise the length is
// 0.
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

// readKey reads a key, or one attribute of a multi-attribute key.
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
