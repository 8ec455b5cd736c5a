package board

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"reflect"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
)

// ErrUnreadable is returned for bytes that are no whole checkpoint.
var ErrUnreadable = errors.New("the checkpoint cannot be read")

// maxMemory is how much memory the slices of a checkpoint may take: bytes that are wrong may
// claim any length.
const maxMemory = 64 << 20

// MarshalCheckpoint returns the bytes of what v points to, the memory of a judge. It follows the
// types, unexported fields too: what a judge remembers needs no second form to be kept in step.
// A field with the tag `checkpoint:"-"` is left out. Equal values have equal bytes.
//
// The bytes fit the types that wrote them and no others. [CheckpointShape] tells whether types
// have changed, and the caller keeps a version beside the bytes.
func MarshalCheckpoint(v any) []byte {
	var w writer
	w.value(reflect.ValueOf(v).Elem())
	w.endZeros()
	return w.bytes
}

// UnmarshalCheckpoint reads what v points to from bytes that [MarshalCheckpoint] wrote of the same type. Fields that
// are left out stay as they are.
func UnmarshalCheckpoint(from []byte, v any) error {
	r := reader{bytes: from, memory: maxMemory}
	r.value(reflect.ValueOf(v).Elem())
	if len(r.bytes) > 0 || r.zeros > 0 {
		r.failed = true
	}
	if r.failed {
		return ErrUnreadable
	}
	return nil
}

// CheckpointShape returns a digest of the type of what v points to, with all types in it. It panics for a
// type that cannot be written.
func CheckpointShape(v any) string {
	var text bytes.Buffer
	describe(&text, reflect.TypeOf(v).Elem(), make(map[reflect.Type]bool))
	sum := sha256.Sum256(text.Bytes())
	return hex.EncodeToString(sum[:8])
}

var timeType = reflect.TypeFor[time.Time]()

func describe(to *bytes.Buffer, t reflect.Type, known map[reflect.Type]bool) {
	fmt.Fprint(to, t, " ", t.Kind(), ";")
	if known[t] || t == timeType {
		return
	}
	known[t] = true
	switch t.Kind() {
	case reflect.Struct:
		for f := range t.Fields() {
			if isKept(f) {
				fmt.Fprint(to, f.Name, " ")
				describe(to, f.Type, known)
			}
		}
	case reflect.Map:
		describe(to, t.Key(), known)
		describe(to, t.Elem(), known)
	case reflect.Slice, reflect.Array, reflect.Pointer:
		describe(to, t.Elem(), known)
	case reflect.Func, reflect.Interface, reflect.Chan, reflect.UnsafePointer, reflect.Uintptr, reflect.Complex64, reflect.Complex128:
		panic(t.String())
	}
}

func isKept(f reflect.StructField) bool { return f.Tag.Get("checkpoint") != "-" }

// fields calls f for each kept field of a struct that has an address.
func fields(v reflect.Value, f func(reflect.Value)) {
	t := v.Type()
	for i := range t.NumField() {
		if field := t.Field(i); isKept(field) {
			at := v.Field(i)
			f(reflect.NewAt(field.Type, at.Addr().UnsafePointer()).Elem()) // unexported ones, too
		}
	}
}

// writer writes values. Runs of zero bytes, of which a judge's memory is full, are written as a
// zero and their length.
type writer struct {
	bytes []byte
	zeros uint64
}

func (w *writer) put(all ...byte) {
	for _, b := range all {
		if b == 0 {
			w.zeros++
			continue
		}
		w.endZeros()
		w.bytes = append(w.bytes, b)
	}
}

func (w *writer) endZeros() {
	if w.zeros > 0 {
		w.bytes = binary.AppendUvarint(append(w.bytes, 0), w.zeros)
		w.zeros = 0
	}
}

func (w *writer) number(n uint64) {
	var all [binary.MaxVarintLen64]byte
	w.put(all[:binary.PutUvarint(all[:], n)]...)
}

func (w *writer) signed(n int64) { w.number(uint64(n<<1 ^ n>>63)) }

func (w *writer) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		w.put(byte(detect.BoolToInt(v.Bool())))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		w.signed(v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		w.number(v.Uint())
	case reflect.Float32, reflect.Float64: // a round number has its bits at one end
		w.number(bits.Reverse64(math.Float64bits(v.Float())))
	case reflect.String:
		w.number(uint64(v.Len()))
		w.put([]byte(v.String())...)
	case reflect.Pointer:
		w.put(byte(detect.BoolToInt(!v.IsNil())))
		if !v.IsNil() {
			w.value(v.Elem())
		}
	case reflect.Struct:
		if v.Type() == timeType {
			at := v.Interface().(time.Time)
			w.signed(at.Unix())
			w.number(uint64(at.Nanosecond()))
			return
		}
		fields(v, w.value)
	default:
		w.collection(v)
	}
}

// collection writes a slice, an array or a map. One more than its length tells nil from empty.
func (w *writer) collection(v reflect.Value) {
	if v.Kind() != reflect.Array {
		if v.IsNil() {
			w.put(0)
			return
		}
		w.number(uint64(v.Len()) + 1)
	}
	if v.Kind() == reflect.Map {
		w.entries(v)
		return
	}
	for i := range v.Len() {
		w.value(v.Index(i))
	}
}

// entries writes a map's entries in the order of their keys' bytes.
func (w *writer) entries(v reflect.Value) {
	type entry struct {
		bytes      []byte
		key, value reflect.Value
	}
	all := make([]entry, 0, v.Len())
	for i := v.MapRange(); i.Next(); {
		e := entry{key: addressable(i.Key()), value: addressable(i.Value())}
		e.bytes = MarshalCheckpoint(e.key.Addr().Interface())
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b entry) int { return bytes.Compare(a.bytes, b.bytes) })
	for _, e := range all {
		w.value(e.key)
		w.value(e.value)
	}
}

// addressable returns a copy that has an address.
func addressable(v reflect.Value) reflect.Value {
	at := reflect.New(v.Type()).Elem()
	at.Set(v)
	return at
}

// reader reads what a writer wrote. Once it has failed, all that it reads is zero.
type reader struct {
	bytes  []byte
	zeros  uint64
	memory int64 // left
	failed bool
}

// ReadByte returns the next byte.
func (r *reader) ReadByte() (byte, error) {
	if r.zeros > 0 {
		r.zeros--
		return 0, nil
	}
	if len(r.bytes) == 0 {
		r.failed = true
		return 0, ErrUnreadable
	}
	b := r.bytes[0]
	r.bytes = r.bytes[1:]
	if b == 0 {
		zeros, n := binary.Uvarint(r.bytes)
		if n <= 0 || zeros == 0 {
			r.failed, r.bytes = true, nil
			return 0, ErrUnreadable
		}
		r.bytes, r.zeros = r.bytes[n:], zeros-1
	}
	return b, nil
}

func (r *reader) number() uint64 {
	n, err := binary.ReadUvarint(r)
	if err != nil {
		r.failed = true
		return 0
	}
	return n
}

func (r *reader) signed() int64 {
	n := r.number()
	return int64(n>>1) ^ -int64(n&1)
}

// length returns a number of elements that take so many bytes each.
func (r *reader) length(n uint64, size uintptr) int {
	if each := uint64(max(size, 1)); r.failed || n > uint64(r.memory)/each {
		r.failed = true
		return 0
	}
	r.memory -= int64(n) * int64(max(size, 1))
	return int(n)
}

func (r *reader) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(r.number() != 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(r.signed())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(r.number())
	case reflect.Float32, reflect.Float64:
		v.SetFloat(math.Float64frombits(bits.Reverse64(r.number())))
	case reflect.String:
		text := make([]byte, r.length(r.number(), 1))
		for i := range text {
			text[i], _ = r.ReadByte() // a failure is remembered
		}
		v.SetString(string(text))
	case reflect.Pointer:
		if r.number() == 0 {
			v.SetZero()
			return
		}
		r.length(1, v.Type().Elem().Size())
		v.Set(reflect.New(v.Type().Elem()))
		r.value(v.Elem())
	case reflect.Struct:
		if v.Type() == timeType {
			v.Set(reflect.ValueOf(time.Unix(r.signed(), int64(r.number())).UTC()))
			return
		}
		fields(v, r.value)
	default:
		r.collection(v)
	}
}

func (r *reader) collection(v reflect.Value) {
	n := v.Len()
	if v.Kind() != reflect.Array {
		v.SetZero()
		claimed := r.number()
		if claimed == 0 {
			return
		}
		n = r.length(claimed-1, v.Type().Elem().Size())
	}
	switch v.Kind() {
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for ; n > 0 && !r.failed; n-- {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			r.value(key)
			r.value(value)
			v.SetMapIndex(key, value)
		}
		return
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), n, n))
	}
	for i := 0; i < n && !r.failed; i++ {
		r.value(v.Index(i))
	}
}
