package samplepb

import (
	"encoding/base64"
	"maps"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/keyheat/keyheat/sample"
)

// Encoder writes batches. It is for one goroutine. Reuse it: it then allocates little.
type Encoder struct {
	kinds   map[common]uint64
	keys    map[sample.Key]uint64
	samples []byte
	one     []byte
	part    []byte
}

// common has the fields that samples of one kind share.
type common struct {
	table, index, account, region string
	op                            sample.Op
	read                          sample.Consistency
	caller, throttle              string
	rate                          float64
}

// NewEncoder returns an Encoder.
func NewEncoder() *Encoder {
	return &Encoder{kinds: make(map[common]uint64), keys: make(map[sample.Key]uint64)}
}

// Append appends one batch of the records to a message. A record that passes
// [sample.Record.Check] decodes to itself, with the exception that [sample.Record.AppendJSON]
// names, and without Change and Edit. Either all records have the time of their message or none
// has.
func (e *Encoder) Append(dst []byte, records []sample.Record) []byte {
	clear(e.kinds)
	clear(e.keys)
	e.samples = e.samples[:0]
	if len(records) == 0 {
		return dst
	}
	var base int64
	if !records[0].TimeFromMessage {
		base = records[0].Time
		dst = appendVarint(dst, batchBase, uint64(base))
	}
	for i := range records {
		r := &records[i]
		var kind, pk, sk uint64
		dst, kind = e.kind(dst, r)
		dst, pk = e.key(dst, r.PK)
		dst, sk = e.key(dst, r.SK)
		e.one = appendSample(e.one[:0], r, kind, pk, sk, base)
		e.samples = appendBytes(e.samples, batchSamples, e.one)
	}
	return append(dst, e.samples...)
}

// kind returns the number of a record's kind, and appends a new kind.
func (e *Encoder) kind(dst []byte, r *sample.Record) (appended []byte, number uint64) {
	c := common{r.Table, r.Index, r.Account, r.Region, r.Op, r.Read, r.Caller, r.Throttle, r.Rate}
	number, known := e.kinds[c]
	if known {
		return dst, number
	}
	number = uint64(len(e.kinds))
	e.kinds[c] = number
	b := e.part[:0]
	for _, text := range []struct {
		field protowire.Number
		text  string
	}{
		{kindTable, r.Table}, {kindIndex, r.Index}, {kindAccount, r.Account}, {kindRegion, r.Region},
		{kindCaller, r.Caller}, {kindThrottle, r.Throttle},
	} {
		b = appendText(b, text.field, text.text)
	}
	b = appendVarint(b, kindOp, uint64(r.Op))
	b = appendVarint(b, kindRead, uint64(r.Read))
	b = appendFloat(b, kindRate, r.Rate)
	e.part = b
	return appendBytes(dst, batchKinds, b), number
}

// key returns the number of a key, and appends a new key; 0 stands for no key.
func (e *Encoder) key(dst []byte, k sample.Key) (appended []byte, number uint64) {
	if k.IsZero() {
		return dst, 0
	}
	number, known := e.keys[k]
	if known {
		return dst, number
	}
	number = uint64(len(e.keys) + 1)
	e.keys[k] = number
	e.part = appendKey(e.part[:0], k)
	return appendBytes(dst, batchKeys, e.part), number
}

func appendKey(b []byte, k sample.Key) []byte {
	switch k.Type {
	case sample.TypeString:
		return appendText(b, keyString, k.Text)
	case sample.TypeNumber:
		return appendText(b, keyNumber, k.Text)
	case sample.TypeBinary:
		raw, _ := base64.StdEncoding.DecodeString(k.Text) // Check has verified the base64
		return appendBytes(b, keyBinary, raw)
	}
	for _, part := range k.Parts() {
		b = appendBytes(b, keyParts, appendKey(nil, part))
	}
	return b
}

func appendSample(b []byte, r *sample.Record, kind, pk, sk uint64, base int64) []byte {
	b = appendVarint(b, sampleKind, kind)
	b = appendVarint(b, samplePK, pk)
	b = appendVarint(b, sampleSK, sk)
	if base != 0 {
		b = appendVarint(b, sampleTime, protowire.EncodeZigZag(r.Time-base))
	}
	rcu, wcu := r.StatedUnits()
	if rcu {
		b = protowire.AppendVarint(protowire.AppendTag(b, sampleRCU, protowire.VarintType), uint64(r.RCU))
	}
	if wcu {
		b = protowire.AppendVarint(protowire.AppendTag(b, sampleWCU, protowire.VarintType), uint64(r.WCU))
	}
	b = appendVarint(b, sampleBytes, uint64(r.Bytes))
	if r.N != 1 {
		b = appendVarint(b, sampleN, uint64(r.N))
	}
	b = appendFloat(b, sampleCalls, r.Calls)
	b = appendVarint(b, sampleAttempts, uint64(r.Attempts))
	b = appendFloat(b, sampleWaited, r.Waited)
	if r.Failed {
		b = appendVarint(b, sampleFailed, 1)
	}
	b = appendVarint(b, sampleConflict, uint64(r.Conflicts))
	b = appendVarint(b, sampleConditionFailed, uint64(r.ConditionsFailed))
	b = appendText(b, sampleCall, r.Call)
	b = appendText(b, sampleID, r.ID)
	for _, name := range slices.Sorted(maps.Keys(r.Attrs)) {
		b = appendBytes(b, sampleAttrs, appendText(appendText(nil, entryKey, name), entryValue, r.Attrs[name]))
	}
	return b
}

// The appending functions omit default values, as protobuf does.

func appendVarint(b []byte, field protowire.Number, v uint64) []byte {
	if v == 0 {
		return b
	}
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
}

func appendFloat(b []byte, field protowire.Number, v float64) []byte {
	if v == 0 {
		return b
	}
	return protowire.AppendFixed64(protowire.AppendTag(b, field, protowire.Fixed64Type), math.Float64bits(v))
}

func appendText(b []byte, field protowire.Number, text string) []byte {
	if text == "" {
		return b
	}
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), text)
}

func appendBytes(b []byte, field protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), v)
}
