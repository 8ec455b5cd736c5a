package sketch

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/zeebo/xxh3"

	"github.com/keyheat/keyheat/sample"
)

// Version is the newest version of the binary form. All earlier ones are read. A summary is
// written in the oldest version that has room for it: cells need version 2, places of hidden keys
// version 3, contention version 4, and the sampling of trimmed keys version 5.
const Version = 5

// Errors of the binary form.
var (
	// ErrCorrupt is returned for bytes that are damaged, cut off, or not a summary. Nothing of
	// them is read.
	ErrCorrupt = errors.New("corrupt summary")
	// ErrVersion is returned for a summary of another version. The bytes are sound: upgrade the
	// reader.
	ErrVersion = errors.New("unknown summary version")
	// ErrSeed is returned when summaries cannot be merged because their hash seeds differ.
	ErrSeed = errors.New("summary made with another hash seed")
)

// Delta holds the summaries that one or more shards made between two commits.
type Delta struct {
	// Fingerprint identifies the hash seed without revealing it.
	Fingerprint uint64
	// Sets and CounterBytes are the geometry that the bounds result from.
	Sets, CounterBytes int
	// Windows are parts of seconds. The same second of one table may occur once for each shard,
	// and once for each time a shard sealed it.
	Windows []Window
	// Cardinality holds the registers that rose.
	Cardinality []Registers
	// Callers holds the callers that requests without a key named, once for each shard.
	Callers []CallerLoad
}

// CallerLoad holds the callers of a table or index that requests without a key named. Their load
// is in no window, so it counts nowhere twice.
type CallerLoad struct {
	sample.Target
	// Writers and Readers are the weights of the callers' writes and reads.
	Writers, Readers Top
}

// Plus adds another part's callers of the same table or index, at most 64 of each kind.
func (c CallerLoad) Plus(o CallerLoad) CallerLoad {
	return CallerLoad{Target: c.Target, Writers: c.Writers.Plus(o.Writers), Readers: c.Readers.Plus(o.Readers)}
}

// NewDelta makes an empty delta for shards of this configuration.
func NewDelta(c Config) *Delta {
	c = c.withDefaults()
	return &Delta{Fingerprint: Fingerprint(c.Seed), Sets: c.Sets, CounterBytes: c.CounterBytes}
}

// First returns the earliest second of the windows, or 0 without windows.
func (d *Delta) First() int64 {
	if len(d.Windows) == 0 {
		return 0
	}
	return slices.MinFunc(d.Windows, func(a, b Window) int { return cmp.Compare(a.Second, b.Second) }).Second
}

// Fingerprint identifies a seed without revealing it.
func Fingerprint(seed uint64) uint64 {
	return xxh3.HashStringSeed("keyheat seed fingerprint", seed)
}

// Empty reports whether the delta has nothing.
func (d *Delta) Empty() bool { return len(d.Windows)+len(d.Cardinality)+len(d.Callers) == 0 }

// The binary form is a header in clear, followed by a zstd frame:
//
//	"KHS" version kind  length of the contents (8)  xxh3 of the frame (8)  frame
//
// Fixed-size numbers are little-endian.
const (
	magic      = "KHS"
	headerSize = len(magic) + 2 + 8 + 8
	kindDelta  = 'D'
	kindWindow = 'W'
	// maxContents bounds the memory, in bytes, that a reader allocates for a summary.
	maxContents = 1 << 30
)

var (
	encoder = sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false))
		if err != nil {
			panic(err) // all options are constant
		}
		return e
	})
	decoder = sync.OnceValue(func() *zstd.Decoder {
		d, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxContents))
		if err != nil {
			panic(err) // all options are constant
		}
		return d
	})
)

// MarshalBinary returns the delta's binary form.
func (d *Delta) MarshalBinary() ([]byte, error) {
	w := writer{version: versionOf(d.Windows)}
	w.writeFixed(d.Fingerprint)
	w.count(d.Sets)
	w.count(d.CounterBytes)
	w.count(len(d.Windows))
	for i := range d.Windows {
		w.window(&d.Windows[i])
	}
	w.count(len(d.Cardinality))
	for i := range d.Cardinality {
		w.registers(&d.Cardinality[i])
	}
	w.count(len(d.Callers))
	for i := range d.Callers {
		w.callers(&d.Callers[i])
	}
	return w.frame(kindDelta)
}

// UnmarshalBinary reads the binary form. Its errors are ErrCorrupt and ErrVersion, and leave d
// unchanged.
func (d *Delta) UnmarshalBinary(b []byte) error {
	r, err := unframe(kindDelta, b)
	if err != nil {
		return err
	}
	read := Delta{Fingerprint: r.readFixed(), Sets: r.count(), CounterBytes: r.count()}
	for n := r.length(windowLeast); n > 0 && r.ok(); n-- {
		read.Windows = append(read.Windows, r.window())
	}
	for n := r.length(registersLeast); n > 0 && r.ok(); n-- {
		read.Cardinality = append(read.Cardinality, r.registers())
	}
	for n := r.length(callersLeast); n > 0 && r.ok(); n-- {
		read.Callers = append(read.Callers, CallerLoad{Target: r.target(), Writers: r.top(), Readers: r.top()})
	}
	if err := r.end(); err != nil {
		return err
	}
	*d = read
	return nil
}

// versionOf returns the oldest version with room for all parts of some windows.
func versionOf(windows []Window) byte {
	version := byte(1)
	for i := range windows {
		switch {
		case windows[i].Trimmed != (Sampling{}):
			return Version
		case len(windows[i].Cells) > 0:
			version = max(version, 2)
		}
		for j := range windows[i].Keys {
			switch k := &windows[i].Keys[j]; { //nolint:gosec // j is one of its keys
			case k.IsContended():
				version = max(version, 4)
			case k.Place > 0:
				version = max(version, 3)
			}
		}
	}
	return version
}

// MarshalBinary returns the window's binary form.
func (w *Window) MarshalBinary() ([]byte, error) {
	out := writer{version: versionOf([]Window{*w})}
	out.window(w)
	return out.frame(kindWindow)
}

// UnmarshalBinary reads the binary form. Its errors are ErrCorrupt and ErrVersion, and leave w
// unchanged.
func (w *Window) UnmarshalBinary(b []byte) error {
	r, err := unframe(kindWindow, b)
	if err != nil {
		return err
	}
	read := r.window()
	if err := r.end(); err != nil {
		return err
	}
	*w = read
	return nil
}

func (w *writer) frame(kind byte) ([]byte, error) {
	contents := w.bytes
	if len(contents) > maxContents {
		return nil, fmt.Errorf("sketch: a summary of %d bytes is over the limit of %d: seal more often", len(contents), maxContents)
	}
	out := make([]byte, headerSize, headerSize+len(contents)/2)
	copy(out, magic)
	out[3], out[4] = w.version, kind
	binary.LittleEndian.PutUint64(out[5:], uint64(len(contents)))
	out = encoder().EncodeAll(contents, out)
	binary.LittleEndian.PutUint64(out[13:], xxh3.HashSeed(out[headerSize:], uint64(len(contents))))
	return out, nil
}

func unframe(kind byte, b []byte) (*reader, error) {
	if len(b) < headerSize || string(b[:3]) != magic {
		return nil, fmt.Errorf("%w: no header", ErrCorrupt)
	}
	if b[3] < 1 || b[3] > Version {
		return nil, fmt.Errorf("%w %d: this build reads versions up to %d", ErrVersion, b[3], Version)
	}
	if b[4] != kind {
		return nil, fmt.Errorf("%w: another kind of summary", ErrCorrupt)
	}
	length := binary.LittleEndian.Uint64(b[5:])
	if length > maxContents {
		return nil, fmt.Errorf("%w: impossible length", ErrCorrupt)
	}
	if xxh3.HashSeed(b[headerSize:], length) != binary.LittleEndian.Uint64(b[13:]) {
		return nil, fmt.Errorf("%w: wrong checksum", ErrCorrupt)
	}
	contents, err := decoder().DecodeAll(b[headerSize:], nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if uint64(len(contents)) != length {
		return nil, fmt.Errorf("%w: %d bytes instead of %d", ErrCorrupt, len(contents), length)
	}
	return &reader{rest: contents, version: b[3]}, nil
}
