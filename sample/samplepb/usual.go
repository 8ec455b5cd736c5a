package samplepb

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/keyheat/keyheat/sample"
)

// Most samples have their fields in the order of the schema, as every library writes them, with
// short numbers and without texts of their own; their kind and keys have been checked before.
// Only the numbers of such a sample must be read, and they stay in registers until they are in
// the record. Decoder.read reads all other samples.

// usual returns the record of the sample at the start of rest, which ends at `end`, or nil if
// the sample is unusual or impossible. The record is valid until the next sample.
func (d *Decoder) usual(rest []byte, end int) *sample.Record {
	kind, i := number(rest, sampleHead, sampleKind<<3)
	pk, i := number(rest, i, samplePK<<3)
	sk, i := number(rest, i, sampleSK<<3)
	time, i := number(rest, i, sampleTime<<3)
	rcu, afterRCU := number(rest, i, sampleRCU<<3)
	wcu, afterWCU := number(rest, afterRCU, sampleWCU<<3)
	hasRCU, hasWCU := afterRCU > i, afterWCU > afterRCU
	bytes, i := number(rest, afterWCU, sampleBytes<<3)
	n, i := number(rest, i, sampleN<<3)
	calls, i := float(rest, i, sampleCalls<<3|1)
	attempts, i := number(rest, i, sampleAttempts<<3)
	waited, i := float(rest, i, sampleWaited<<3|1)
	failed, i := number(rest, i, sampleFailed<<3)

	if i != end || kind >= uint64(len(d.kinds)) || pk > uint64(len(d.keys)) || sk > uint64(len(d.keys)) {
		return nil
	}
	k, p, s := &d.kinds[kind], &noKey, &noKey
	if pk > 0 {
		p = &d.keys[pk-1]
	}
	if sk > 0 {
		s = &d.keys[sk-1]
	}
	r := &k.rec
	if !k.isSound(p, s) || !d.setTime(r, protowire.DecodeZigZag(time)) {
		return nil
	}
	r.PK, r.SK = p.key, s.key
	r.RCU, r.WCU, r.Estimated = sample.Milli(rcu), sample.Milli(wcu), false
	r.Bytes, r.N = int64(bytes), int64(max(n, 1))
	r.Calls, r.Attempts, r.Waited, r.Failed = calls, int64(attempts), waited, failed != 0
	// An operation that only reads has no write units, and the reverse.
	given := hasRCU && r.Op.IsRead() || hasWCU && r.Op.IsWrite()
	if !given && !r.CompleteUnits(hasRCU, hasWCU) || r.CheckAmounts() != "" {
		return nil
	}
	return r
}

// number returns the number at i and the position of the next field. The field at i must have
// the one-byte tag and a number of up to three bytes. Otherwise it returns i. It needs three bytes
// behind the tag, so it finds no number at the end of a batch.
func number(rest []byte, i int, tag byte) (v uint64, next int) {
	if i+4 > len(rest) || rest[i] != tag {
		return 0, i
	}
	// The highest bit of a byte marks that another byte follows, and must be removed.
	if v = uint64(rest[i+1]); v < 1<<7 {
		return v, i + 2
	}
	if v += (uint64(rest[i+2]) - 1) << 7; v < 1<<14 {
		return v, i + 3
	}
	if v += (uint64(rest[i+3]) - 1) << 14; v < 1<<21 {
		return v, i + 4
	}
	return 0, i
}

// float is like number, for a field of eight bytes.
func float(rest []byte, i int, tag byte) (v float64, next int) {
	if i+9 > len(rest) || rest[i] != tag {
		return 0, i
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(rest[i+1:])), i + 9
}
