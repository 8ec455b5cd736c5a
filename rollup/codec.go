package rollup

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/zeebo/xxh3"

	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// ErrCorrupt is returned for bytes that are no roll-up of a known version.
var ErrCorrupt = errors.New("no roll-up, or of an unknown version")

// The binary form is this header, the xxh3 of the rest (8 bytes, little-endian) and a
// zstd frame. In it numbers are varints, and a key's text lacks its common beginning with
// the key before.
const (
	header     = "KHR\x02"
	headerSize = len(header) + 8
	// maxContents bounds the memory that a reader takes.
	maxContents = 64 << 20
	// keyLeast is the fewest bytes of a key, by which a reader bounds its allocations.
	keyLeast = 15
)

var (
	encoder = sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderCRC(false), zstd.WithEncoderConcurrency(1))
		if err != nil {
			panic(err) // only constant options
		}
		return e
	})
	decoder = sync.OnceValue(func() *zstd.Decoder {
		d, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxContents))
		if err != nil {
			panic(err) // only constant options
		}
		return d
	})
)

// MarshalBinary writes the binary form.
func (r *Rollup) MarshalBinary() ([]byte, error) {
	var b []byte
	for _, n := range []int64{r.Seconds, r.Incomplete, int64(r.Unlisted.Write), int64(r.Unlisted.Read)} {
		b = appendNatural(b, n)
	}
	t := &r.Total
	for _, n := range []int64{
		t.Requests, t.ThrottledRequests, int64(t.Load.Write), int64(t.Load.Read), int64(t.Throttled.Write), int64(t.Throttled.Read), int64(len(r.Keys)),
	} {
		b = appendNatural(b, n)
	}
	before := ""
	for i := range r.Keys {
		b = r.Keys[i].append(b, before)
		before = r.Keys[i].Key.Text
	}
	out := encoder().EncodeAll(b, append([]byte(header), make([]byte, 8)...))
	binary.LittleEndian.PutUint64(out[len(header):], xxh3.Hash(out[headerSize:]))
	return out, nil
}

func (k *Key) append(b []byte, before string) []byte {
	shared := 0
	for shared < min(len(before), len(k.Key.Text)) && before[shared] == k.Key.Text[shared] {
		shared++
	}
	flags := uint64(len(k.Key.Type)) << 2
	if k.Cut {
		flags |= 1
	}
	if k.Hash != 0 {
		flags |= 2
	}
	b = binary.AppendUvarint(b, flags)
	b = append(b, k.Key.Type...)
	b = binary.AppendUvarint(b, uint64(shared))
	b = binary.AppendUvarint(b, uint64(len(k.Key.Text)-shared))
	b = append(b, k.Key.Text[shared:]...)
	if k.Hash != 0 {
		b = binary.LittleEndian.AppendUint64(b, k.Hash)
	}
	b = binary.AppendUvarint(b, uint64(k.Seconds))
	b = binary.AppendUvarint(b, uint64(k.Reasons))
	for _, s := range []Side{k.Write, k.Read} {
		for _, n := range []sample.Milli{s.Max.Value, s.Max.Low, s.Max.High, s.Sum, s.Throttled} {
			b = appendNatural(b, int64(n))
		}
	}
	return b
}

// appendNatural appends a number, and the largest one for a sum that overflowed below
// zero: a reader refuses negative numbers.
func appendNatural(b []byte, n int64) []byte {
	if n < 0 {
		n = math.MaxInt64
	}
	return binary.AppendUvarint(b, uint64(n))
}

// UnmarshalBinary reads the binary form. It fails with ErrCorrupt, and leaves r as it
// is, on anything else.
func (r *Rollup) UnmarshalBinary(b []byte) error {
	in, read, n, err := open(b)
	if err != nil {
		return err
	}
	read.Keys = make([]Key, 0, n)
	for range n {
		k := in.key()
		k.Key.Text = string(in.text)
		if in.failed || len(read.Keys) > 0 && byIdentity(read.Keys[len(read.Keys)-1], k) >= 0 {
			return errImpossible
		}
		read.Keys = append(read.Keys, k)
	}
	if in.failed || len(in.rest) > 0 {
		return errImpossible
	}
	*r = read
	return nil
}

// Peek reads a binary form without its keys but for the hottest; without that one, too,
// where none is listed. It fails with ErrCorrupt.
func Peek(b []byte) (r Rollup, err error) {
	in, r, n, err := open(b)
	if err != nil {
		return r, err
	}
	var hottest Key
	var text []byte
	for i := range n {
		k := in.key()
		if i == 0 || k.heat() > hottest.heat() {
			hottest, text = k, append(text[:0], in.text...)
		}
	}
	if in.failed || len(in.rest) > 0 {
		return Rollup{}, errImpossible
	}
	if n > 0 {
		hottest.Key.Text = string(text)
		r.Keys = []Key{hottest}
	}
	return r, nil
}

// errImpossible is the error for contents that no writer writes.
var errImpossible = fmt.Errorf("%w: impossible contents", ErrCorrupt)

// open begins to read a binary form: it returns the roll-up without keys, and how many
// follow.
func open(b []byte) (in *reader, r Rollup, keys int, err error) {
	if len(b) < headerSize || string(b[:len(header)]) != header || xxh3.Hash(b[headerSize:]) != binary.LittleEndian.Uint64(b[len(header):]) {
		return nil, r, 0, ErrCorrupt
	}
	contents, err := decoder().DecodeAll(b[headerSize:], nil)
	if err != nil {
		return nil, r, 0, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	in = &reader{rest: contents}
	r = Rollup{Seconds: in.number(), Incomplete: in.number()}
	r.Unlisted = sketch.Load{Write: in.amount(), Read: in.amount()}
	r.Total = Total{
		Requests: in.number(), ThrottledRequests: in.number(),
		Load: sketch.Load{Write: in.amount(), Read: in.amount()}, Throttled: sketch.Load{Write: in.amount(), Read: in.amount()},
	}
	return in, r, in.length(keyLeast), nil
}

// reader reads the contents. After the first fault it returns zeros.
type reader struct {
	rest   []byte
	failed bool
	// text is the last key's text.
	text []byte
}

func (r *reader) number() int64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 || v > math.MaxInt64 {
		r.failed, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[n:]
	return int64(v)
}

func (r *reader) amount() sample.Milli { return sample.Milli(r.number()) }

// length returns a number of parts, each of at least so many bytes.
func (r *reader) length(least int) int {
	n := r.number()
	if n > int64(len(r.rest)/least) {
		r.failed, r.rest = true, nil
		return 0
	}
	return int(n)
}

func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.rest) {
		r.failed, r.rest = true, nil
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

// key reads a key but for its text.
func (r *reader) key() Key {
	flags := r.number()
	k := Key{Cut: flags&1 != 0}
	k.Key.Type = string(r.take(int(min(flags>>2, math.MaxInt32))))
	shared := r.number()
	if shared > int64(len(r.text)) {
		r.failed, r.rest = true, nil
		return k
	}
	r.text = append(r.text[:shared], r.take(r.length(1))...)
	if flags&2 != 0 {
		if hash := r.take(8); hash != nil {
			k.Hash = binary.LittleEndian.Uint64(hash)
		}
	}
	k.Seconds = r.number()
	k.Reasons = Reasons(r.number())
	for _, s := range []*Side{&k.Write, &k.Read} {
		s.Max = sampling.Interval{Value: r.amount(), Low: r.amount(), High: r.amount()}
		s.Sum, s.Throttled = r.amount(), r.amount()
	}
	return k
}
