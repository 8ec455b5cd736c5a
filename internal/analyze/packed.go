package analyze

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// errFull is the error of [packedWindows.Pack] when the seconds do not fit, trimmed as they are.
var errFull = errors.New("the seconds take more memory than they may")

// trim chooses the keys of a second that stay.
type trim struct {
	// Floor is the load from which a key stays.
	Floor sketch.Load
	// Most is how many keys of a second stay at most, the most loaded ones.
	Most int
	// Place keeps the positions of the other keys.
	Place bool
}

// packing bounds the memory.
type packing struct {
	// Bytes is the bound of packed seconds.
	Bytes int64
	// Trims are tried beyond it, one after the other.
	Trims []trim
}

// The bounds of unpacked seconds, to which samples may be added soon.
const (
	maxOpen     = 32 << 10 // seconds
	maxOpenKeys = 1 << 19
)

// packSpan is how many seconds are packed together. More take less memory, and more while they
// are read.
const packSpan = 32

// packedWindows are the seconds of many tables and indexes in little memory, for a reader that
// has to read all of a time before it is judged, in any order. They are for one goroutine.
//
// Seconds without recent additions are encoded and compressed, some together: a second of one
// key takes about 15 bytes instead of 1,700. A late addition waits beside its packed second
// until both are packed again. Over their bound, seconds are trimmed to the keys that a verdict
// needs; proven loads stay true.
type packedWindows struct {
	options packing
	blocks  map[int64]*packedBlock // by their seconds, divided by packSpan
	open    int                    // seconds that are not packed
	keys    int                    // of open seconds
	bytes   int64                  // of packed seconds
	turn    int64                  // counts the calls of Pack
	from    int64                  // the first second that counts
}

// packedBlock holds the seconds of a span.
type packedBlock struct {
	packed  []byte                     // a sketch.Delta; nil for none
	open    map[instant]*sketch.Window // additions since it was packed
	touched int64                      // the turn of the last addition
}

// instant is one second of a table or index.
type instant struct {
	second int64
	target sample.Target
}

func instantOf(w *sketch.Window) instant { return instant{w.Second, w.Target} }

// newPackedWindows returns no seconds yet.
func newPackedWindows(o packing) *packedWindows {
	return &packedWindows{options: o, blocks: make(map[int64]*packedBlock)}
}

// Add adds a part of a second, and keeps it.
func (w *packedWindows) Add(part *sketch.Window) {
	b := w.blocks[part.Second/packSpan]
	if b == nil {
		b = &packedBlock{open: make(map[instant]*sketch.Window)}
		w.blocks[part.Second/packSpan] = b
	}
	of := b.open[instantOf(part)]
	if of == nil {
		of = &sketch.Window{Target: part.Target, Second: part.Second}
		b.open[instantOf(part)] = of
		w.open++
	}
	w.keys -= len(of.Keys)
	of.Merge(part)
	w.keys += len(of.Keys)
	b.touched = w.turn
}

// Pack packs the blocks without additions since the call before: all, when open seconds are
// many. Its error is [errFull].
func (w *packedWindows) Pack() error {
	all := w.open > maxOpen || w.keys > maxOpenKeys
	for _, b := range w.blocks {
		if len(b.open) > 0 && (all || b.touched < w.turn) {
			if err := w.pack(b, nil); err != nil {
				return err
			}
		}
	}
	w.turn++
	if w.bytes <= w.options.Bytes {
		return nil
	}
	for i := range w.options.Trims {
		for _, b := range w.blocks {
			if err := w.pack(b, &w.options.Trims[i]); err != nil {
				return err
			}
		}
		if w.bytes <= w.options.Bytes/4*3 { // the next seconds need not be trimmed at once
			return nil
		}
	}
	return errFull
}

// PackAll packs all blocks, so that [packedWindows.All] returns the caller's own seconds.
func (w *packedWindows) PackAll() error {
	for _, b := range w.blocks {
		if len(b.open) > 0 {
			if err := w.pack(b, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// pack packs a block, trimmed if t is set.
func (w *packedWindows) pack(b *packedBlock, t *trim) error {
	w.giveUp(b)
	var d sketch.Delta
	for _, of := range b.windows() {
		if t != nil {
			of.Trim(t.Floor, t.Most, t.Place)
		}
		d.Windows = append(d.Windows, *of)
	}
	data, err := d.MarshalBinary()
	if err != nil {
		return fmt.Errorf("pack seconds: %w", err)
	}
	clear(b.open)
	b.packed = slices.Clip(slices.Clone(data)) // of its own size
	w.bytes += int64(len(b.packed))
	return nil
}

// giveUp subtracts a block from the sums.
func (w *packedWindows) giveUp(b *packedBlock) {
	w.bytes -= int64(len(b.packed))
	w.open -= len(b.open)
	for _, of := range b.open {
		w.keys -= len(of.Keys)
	}
}

// windows returns the block's seconds in the order of time, each once.
func (b *packedBlock) windows() (all []*sketch.Window) {
	open := maps.Clone(b.open)
	if b.packed != nil {
		var d sketch.Delta
		if err := d.UnmarshalBinary(b.packed); err != nil {
			panic(fmt.Sprintf("packed: what was packed here cannot be read: %v", err))
		}
		for i := range d.Windows {
			of := &d.Windows[i]
			if more := open[instantOf(of)]; more != nil {
				of.Merge(more)
				delete(open, instantOf(of))
			}
			all = append(all, of)
		}
	}
	all = slices.AppendSeq(all, maps.Values(open))
	slices.SortFunc(all, func(a, b *sketch.Window) int {
		return cmp.Or(cmp.Compare(a.Second, b.Second), compareTargets(a.Target, b.Target))
	})
	return all
}

// All returns the seconds in the order of time, each once. The caller must not add any meanwhile,
// nor change those that are not packed.
func (w *packedWindows) All() iter.Seq[*sketch.Window] {
	return func(yield func(*sketch.Window) bool) {
		for _, span := range slices.Sorted(maps.Keys(w.blocks)) {
			for _, of := range w.blocks[span].windows() {
				if of.Second >= w.from && !yield(of) {
					return
				}
			}
		}
	}
}

// Forget leaves out the seconds before one.
func (w *packedWindows) Forget(second int64) {
	w.from = max(w.from, second)
	maps.DeleteFunc(w.blocks, func(span int64, b *packedBlock) bool {
		if (span+1)*packSpan > second {
			return false
		}
		w.giveUp(b)
		return true
	})
}
