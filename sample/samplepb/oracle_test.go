package samplepb_test

import (
	"math"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/samplepb"
)

// field is one field of a message: value is a uint64, a float64 or bytes.
type field struct {
	number protowire.Number
	value  any
}

type message []field

// parse reads a message with protobuf's own library. It skips fields of wire types that the
// schema does not use.
func parse(raw []byte) (all message, ok bool) {
	for len(raw) > 0 {
		number, of, n := protowire.ConsumeField(raw)
		if n < 0 {
			return nil, false
		}
		_, _, tag := protowire.ConsumeTag(raw)
		switch value := raw[tag:n]; of {
		case protowire.VarintType:
			v, _ := protowire.ConsumeVarint(value)
			all = append(all, field{number, v})
		case protowire.Fixed64Type:
			v, _ := protowire.ConsumeFixed64(value)
			all = append(all, field{number, math.Float64frombits(v)})
		case protowire.BytesType:
			v, _ := protowire.ConsumeBytes(value)
			all = append(all, field{number, v})
		}
		raw = raw[n:]
	}
	return all, true
}

// every returns all values of a field that are of its type.
func every[T any](m message, number protowire.Number) (all []T) {
	for _, f := range m {
		if v, ok := f.value.(T); ok && f.number == number {
			all = append(all, v)
		}
	}
	return all
}

// last returns the one that counts of a field that is not repeated, zero without any.
func last[T any](m message, number protowire.Number) (v T) {
	for _, v = range every[T](m, number) {
		continue
	}
	return v
}

// text returns a text, and false where one of its values is none.
func text(m message, number protowire.Number) (string, bool) {
	for _, raw := range every[[]byte](m, number) {
		if !utf8.Valid(raw) {
			return "", false
		}
	}
	return string(last[[]byte](m, number)), true
}

// texts reads several.
func texts(m message, into map[protowire.Number]*string) bool {
	for number, to := range into {
		var ok bool
		if *to, ok = text(m, number); !ok {
			return false
		}
	}
	return true
}

// oracle decodes a batch by the schema and keeps no state between samples. It does not give
// reject reasons.
type oracle struct {
	base  int64
	kinds []*sample.Record // nil for one that is bad
	keys  []*sample.Key
}

// oracleDecode returns the records of a batch, and how many bad samples.
func oracleDecode(raw []byte, at int64) (records []sample.Record, bad int) {
	batch, ok := parse(raw)
	if !ok || len(raw) == 0 {
		return nil, 1
	}
	o := oracle{base: int64(last[uint64](batch, 1))}
	for _, raw := range every[[]byte](batch, 2) {
		o.kinds = append(o.kinds, oracleKind(raw))
	}
	for _, raw := range every[[]byte](batch, 3) {
		k := oracleKey(raw, 0)
		if k != nil && k.Size() > sample.MaxKeyBytes {
			k = nil
		}
		o.keys = append(o.keys, k)
	}
	for _, raw := range every[[]byte](batch, 4) {
		if r, ok := o.sample(raw, at); ok && r.Check() == "" {
			records = append(records, r)
		} else {
			bad++
		}
	}
	return records, bad
}

func oracleKind(raw []byte) *sample.Record {
	m, ok := parse(raw)
	r := &sample.Record{N: 1, Rate: 1, Op: sample.Op(min(last[uint64](m, 5), math.MaxUint8)), Read: sample.Consistency(min(last[uint64](m, 6), math.MaxUint8))}
	ok = ok && texts(m, map[protowire.Number]*string{1: &r.Table, 2: &r.Index, 3: &r.Account, 4: &r.Region, 7: &r.Caller, 8: &r.Throttle})
	if !ok || len(raw) > samplepb.MaxKindBytes || r.Op != sample.OpUnknown && r.Op.String() == "" {
		return nil
	}
	if r.Op == sample.TransactGetItems {
		r.Read = sample.Transactional
	}
	if rate := last[float64](m, 9); rate != 0 {
		r.Rate = rate
	}
	return r
}

func oracleKey(raw []byte, depth int) *sample.Key {
	m, ok := parse(raw)
	var k sample.Key
	var parts []sample.Key
	for _, f := range m {
		raw, isBytes := f.value.([]byte)
		if !isBytes {
			continue
		}
		switch f.number {
		case 1:
			k, ok = sample.KeyString(string(raw)), ok && utf8.Valid(raw)
		case 2:
			var err error
			k, err = sample.KeyNumber(string(raw))
			ok = ok && err == nil
		case 3:
			k = sample.KeyBinary(raw)
		case 4:
			part := oracleKey(raw, depth+1)
			if part == nil || depth > 0 || len(parts) == sample.MaxKeyParts {
				return nil
			}
			parts = append(parts, *part)
		}
	}
	if len(parts) > 0 {
		k = sample.JoinKeys(parts...)
	}
	if !ok || k.Text == "" {
		return nil
	}
	return &k
}

func (o *oracle) sample(raw []byte, at int64) (r sample.Record, ok bool) {
	m, ok := parse(raw)
	kind, pk, sk := last[uint64](m, 1), last[uint64](m, 2), last[uint64](m, 3)
	if !ok || kind >= uint64(len(o.kinds)) || o.kinds[kind] == nil {
		return r, false
	}
	r = *o.kinds[kind]
	for _, part := range []struct {
		number uint64
		into   *sample.Key
	}{{pk, &r.PK}, {sk, &r.SK}} {
		if part.number > uint64(len(o.keys)) || part.number > 0 && o.keys[part.number-1] == nil {
			return r, false
		}
		if part.number > 0 {
			*part.into = *o.keys[part.number-1]
		}
	}
	if r.Time = o.base + protowire.DecodeZigZag(last[uint64](m, 4)); o.base == 0 {
		r.Time, r.TimeFromMessage = at, true
	}
	hasRCU, hasWCU := every[uint64](m, 5) != nil, every[uint64](m, 6) != nil
	r.RCU, r.WCU, r.Bytes = sample.Milli(last[uint64](m, 5)), sample.Milli(last[uint64](m, 6)), int64(last[uint64](m, 7))
	if n := int64(last[uint64](m, 8)); n != 0 {
		r.N = n
	}
	r.Calls, r.Attempts = last[float64](m, 9), int64(last[uint64](m, 10))
	r.Waited, r.Failed = last[float64](m, 11), last[uint64](m, 12) != 0
	r.Conflicts, r.ConditionsFailed = int64(last[uint64](m, 16)), int64(last[uint64](m, 17))
	if r.TimeFromMessage && at <= 0 || !texts(m, map[protowire.Number]*string{13: &r.Call, 14: &r.ID}) {
		return r, false
	}
	for _, raw := range every[[]byte](m, 15) {
		entry, ok := parse(raw)
		var name, value string
		if !ok || !texts(entry, map[protowire.Number]*string{1: &name, 2: &value}) {
			return r, false
		}
		if r.Attrs == nil {
			r.Attrs = map[string]string{}
		}
		r.Attrs[name] = value
	}
	return r, hasRCU && hasWCU || r.CompleteUnits(hasRCU, hasWCU)
}
