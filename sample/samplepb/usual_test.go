package samplepb_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/samplepb"
)

// TestUsualSamplesAreReadAsAllAre decodes usual samples and nearly usual ones: numbers of every
// length, at bounds and beyond, and fields that are missing, repeated, in another order,
// unknown or cut off. Beside others, each gives the oracle's record, and the same reject reason
// as alone.
func TestUsualSamplesAreReadAsAllAre(t *testing.T) {
	t.Parallel()
	w := writer{rand.New(rand.NewPCG(4, 13))}
	const at = 1_763_692_033_000
	good, flaws := 0, map[sample.RejectReason]int{}
	for range 4000 {
		head := w.shared()
		batch, alone := head, new(recorder)
		for range 1 + w.IntN(12) {
			one := protowire.AppendBytes(protowire.AppendTag(nil, 4, protowire.BytesType), w.sample())
			batch = append(slices.Clip(batch), one...)
			samplepb.NewDecoder().Decode(append(slices.Clip(head), one...), at, alone)
		}
		got := decode(batch, at)
		records, bad := oracleDecode(batch, at)
		if !reflect.DeepEqual(got.records, records) || len(got.bad) != bad {
			t.Fatalf("%x is %+v\nthe oracle says %+v, and %d bad", batch, got, records, bad)
		}
		if !reflect.DeepEqual(got, alone) {
			t.Fatalf("the samples of %x are %+v\none by one %+v", batch, got, alone)
		}
		good += len(got.records)
		for _, reason := range got.bad {
			flaws[reason]++
		}
	}
	if good < 10_000 || len(flaws) < 7 {
		t.Errorf("only %d samples were good, and the others had few flaws: %v", good, flaws)
	}
}

// writer writes batches by chance.
type writer struct{ *rand.Rand }

func (w writer) seldom() bool { return w.IntN(40) == 0 }

// shared writes the shared parts of samples.
func (w writer) shared() (b []byte) {
	if !w.seldom() {
		b = append(b, "\x08\xd9\xba\xcd\xcc\xaa\x33"...)
	}
	for _, kind := range []string{
		"\x0a\x03log\x28\x07",         // UpdateItem on log
		"\x0a\x03log\x28\x01\x30\x01", // GetItem, strongly consistent
		"\x0a\x03job",                 // of no operation
		"\x0a\x03job\x28\x04",         // Scan
		"\x0a\x03job\x28\x07\x49\x11\xea\x2d\x81\x99\x97\x71\x3d", // at a rate of 1e-12
	} {
		b = protowire.AppendString(append(b, 2<<3|2), kind)
	}
	for _, key := range []string{
		"\x0a\x01a", "\x0a\x01b", "\x12\x02-7", "\x0a\x02\xc3\xa9", "", // the last is none
	} {
		b = protowire.AppendString(append(b, 3<<3|2), key)
	}
	return b
}

// sample writes one sample.
func (w writer) sample() (b []byte) {
	fields := [][]byte{
		w.number(1, 0, 0, 0, 0, 0, 1, 1, 2, 3, 4, 5), w.number(2, 1, 1, 1, 2, 3, 4, 5, 6, 0), w.number(3, 0, 0, 0, 1, 4, 5, 6),
		w.number(4, 0, 5, 900, 20_000, 3_000_000, math.MaxUint64), w.number(5, 0, 500, 1000, 1_000_000_000, 1_000_000_001, math.MaxUint64),
		w.number(6, 0, 500, 2000, 30_000, 1_000_000_000, 1_000_000_001, math.MaxUint64), w.number(7, 0, 100, 9000, 409_600, 409_601, 1<<20, math.MaxUint64),
		w.number(8, 0, 1, 25, 5000, 1_000_000_001, math.MaxUint64), w.float(9, 0, 1, 25, 1e-9, math.NaN()), w.number(10, 0, 1, 3, 1001),
		w.float(11, 0, 12.5, -1, math.Inf(1)), w.number(12, 0, 1, 7),
	}
	for i := range fields {
		if missing := w.IntN(3) == 0; missing || i > 6 && w.IntN(4) > 0 {
			fields[i] = nil
		}
	}
	if w.seldom() {
		fields = append(fields, []byte("\x6a\x01c")) // the call
	}
	if w.seldom() {
		fields = append(fields, w.number(16, 1, 300)) // one of a later schema
	}
	if w.seldom() {
		fields = append(fields, fields[w.IntN(len(fields))])
	}
	if w.seldom() {
		w.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	}
	b = slices.Concat(fields...)
	if w.seldom() && len(b) > 0 {
		b = b[:w.IntN(len(b))]
	}
	return b
}

// number writes one of these values, mostly one of the first two thirds, seldom in more bytes than it needs.
func (w writer) number(field protowire.Number, of ...uint64) []byte {
	v := of[w.IntN(len(of))]
	if !w.seldom() {
		v = of[w.IntN((len(of)+2)/2)]
	}
	b := protowire.AppendVarint(protowire.AppendTag(nil, field, protowire.VarintType), v)
	for w.seldom() {
		b[len(b)-1] |= 0x80
		b = append(b, 0)
	}
	return b
}

func (w writer) float(field protowire.Number, of ...float64) []byte {
	v := of[w.IntN(2)]
	if w.seldom() {
		v = of[w.IntN(len(of))]
	}
	return protowire.AppendFixed64(protowire.AppendTag(nil, field, protowire.Fixed64Type), math.Float64bits(v))
}
