package judge_test

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/zeebo/xxh3"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// older writes a delta as collectors of the versions before did, here without evidence
// and of requests that were not sampled: in version 2 tables have a name only, in
// version 3 nothing is told of retries.
type older struct {
	version byte
	b       []byte
}

func (v *older) fixed(n uint64)      { v.b = binary.LittleEndian.AppendUint64(v.b, n) }
func (v *older) uint(n int64)        { v.b = binary.AppendUvarint(v.b, uint64(n)) }
func (v *older) text(s string)       { v.uint(int64(len(s))); v.b = append(v.b, s...) }
func (v *older) load(l sketch.Load)  { v.uint(int64(l.Read)); v.uint(int64(l.Write)) }
func (v *older) second(second int64) { v.b = binary.AppendVarint(v.b, second) }

func (v *older) target(t sample.Target) {
	v.text(t.Table)
	v.text(t.Index)
	if v.version > 2 {
		v.text(t.Account)
		v.text(t.Region)
	}
}

func (v *older) window(w *sketch.Window) {
	v.target(w.Target)
	v.second(w.Second)
	v.uint(w.Total.Requests)
	v.load(w.Total.Load)
	v.uint(w.Total.ThrottledRequests)
	v.load(w.Total.Throttled)
	v.uint(w.Total.Changes)
	for cause, n := range w.Total.Refused {
		if v.version > 2 || cause < int(sample.OfIndex) {
			v.uint(n)
		}
	}
	v.load(w.Total.Keyless)
	v.fixed(math.Float64bits(w.Total.ReadLargest))
	v.fixed(math.Float64bits(w.Total.WriteLargest))
	if v.version > 2 {
		v.uint(0) // requests with the time of a flush
		v.uint(0) // what the callers miss, and how many there are
		v.uint(0)
	}
	v.load(w.Unseen)
	v.uint(int64(len(w.Keys)))
	var before uint64
	for _, k := range w.Keys {
		v.b = binary.AppendUvarint(v.b, k.Hash-before)
		before = k.Hash
		v.uint(int64(len(k.Key.Type)) << 3)
		v.b = append(v.b, k.Key.Type...)
		v.text(k.Key.Text)
		v.uint(k.Requests)
		v.load(k.Low)
		v.load(k.Err)
		v.load(k.Throttled)
		if v.version > 2 {
			v.uint(0) // estimated requests
		}
	}
}

func marshalOlder(t *testing.T, version byte, d *sketch.Delta) []byte {
	t.Helper()
	v := older{version: version}
	v.fixed(d.Fingerprint)
	v.uint(int64(d.Sets))
	v.uint(int64(d.CounterBytes))
	v.uint(int64(len(d.Windows)))
	for i := range d.Windows {
		v.window(&d.Windows[i])
	}
	v.uint(int64(len(d.Cardinality)))
	for _, r := range d.Cardinality {
		v.target(r.Target)
		v.second(r.Minute)
		v.uint(int64(len(r.Set)))
		for _, register := range r.Set {
			v.uint(int64(register.Index))
			v.b = append(v.b, register.Value)
		}
	}
	e, err := zstd.NewWriter(nil)
	must(t, err)
	defer e.Close()
	out := append([]byte("KHS"), version, 'D')
	out = binary.LittleEndian.AppendUint64(out, uint64(len(v.b)))
	frame := e.EncodeAll(v.b, nil)
	out = binary.LittleEndian.AppendUint64(out, xxh3.HashSeed(frame, uint64(len(v.b))))
	return append(out, frame...)
}
