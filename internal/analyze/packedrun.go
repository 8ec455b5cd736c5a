package analyze

import (
	"fmt"
	"iter"

	"github.com/keyheat/keyheat/sketch"
)

// packedRun holds packed seconds in the order of time.
type packedRun struct {
	blocks []packedBlock
	last   instant
}

// packedBlock holds some seconds of a run.
type packedBlock struct {
	data []byte
	last int64 // second
}

// How much a block holds: with more it takes less memory, and more while it is read.
const (
	blockWindows = 512
	blockKeys    = 16 << 10
)

// runAfter returns the number of the run for seconds that begin with one: among the runs
// that end before it the one that ends last, else a new run's.
func (w *packedWindows) runAfter(first instant) int {
	best := len(w.runs)
	for i := range w.runs {
		if w.runs[i].last.compare(first) < 0 && (best == len(w.runs) || w.runs[best].last.compare(w.runs[i].last) < 0) {
			best = i
		}
	}
	return best
}

// add packs seconds, in the order of time, behind a run's.
func (w *packedWindows) add(to int, seconds iter.Seq[*sketch.Window]) error {
	if to == len(w.runs) {
		w.runs = append(w.runs, packedRun{})
	}
	r, keys := &w.runs[to], 0
	d := sketch.Delta{}
	flush := func() error {
		if len(d.Windows) == 0 {
			return nil
		}
		data, err := d.MarshalBinary()
		if err != nil {
			return fmt.Errorf("pack seconds: %w", err)
		}
		r.last = instantOf(&d.Windows[len(d.Windows)-1])
		r.blocks = append(r.blocks, packedBlock{append([]byte(nil), data...), r.last.second}) // of its own size
		w.bytes += int64(len(data))
		d.Windows, keys = d.Windows[:0], 0
		return nil
	}
	for of := range seconds {
		d.Windows = append(d.Windows, *of)
		if keys += len(of.Keys); len(d.Windows) == blockWindows || keys >= blockKeys {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// forget gives up the blocks that end before a second, and returns how many bytes they had.
func (r *packedRun) forget(second int64) (bytes int64) {
	for len(r.blocks) > 0 && r.blocks[0].last < second {
		bytes += int64(len(r.blocks[0].data))
		r.blocks = r.blocks[1:]
	}
	return bytes
}

// runCursor reads a run, or the results of next.
type runCursor struct {
	blocks []packedBlock
	used   bool // blocks are given up when they are read
	next   func() *sketch.Window

	decoded []sketch.Window
	at      *sketch.Window // nil at the end
}

func (c *runCursor) step() {
	switch {
	case c.next != nil:
		c.at = c.next()
		return
	case len(c.decoded) == 0 && len(c.blocks) == 0:
		c.at = nil
		return
	case len(c.decoded) == 0:
		var d sketch.Delta
		if err := d.UnmarshalBinary(c.blocks[0].data); err != nil {
			panic(fmt.Sprintf("packed: what was packed here cannot be read: %v", err))
		}
		if c.used {
			c.blocks[0].data = nil
		}
		c.decoded, c.blocks = d.Windows, c.blocks[1:]
	}
	c.at, c.decoded = &c.decoded[0], c.decoded[1:]
}

// mergeRuns yields the seconds of runs from one second on, and rest's unless it is nil,
// all in the order of time, parts of one second as one. used frees runs as they are read.
func mergeRuns(from int64, runs []packedRun, rest func() *sketch.Window, used bool) iter.Seq[*sketch.Window] {
	return func(yield func(*sketch.Window) bool) {
		var cursors []*runCursor
		for i := range runs {
			cursors = append(cursors, &runCursor{blocks: runs[i].blocks, used: used})
		}
		if rest != nil {
			cursors = append(cursors, &runCursor{next: rest})
		}
		for _, c := range cursors {
			c.step()
		}
		for {
			of := earliest(cursors)
			if of == nil {
				return
			}
			if of.Second >= from && !yield(of) {
				return
			}
		}
	}
}

// earliest takes the first second of all cursors, which are few; nil at the end.
func earliest(cursors []*runCursor) *sketch.Window {
	var least *runCursor
	var at instant
	parts := 0
	for _, c := range cursors {
		if c.at == nil {
			continue
		}
		if order := instantOf(c.at).compare(at); least == nil || order < 0 {
			least, at, parts = c, instantOf(c.at), 1
		} else if order == 0 {
			parts++
		}
	}
	switch {
	case least == nil:
		return nil
	case parts == 1:
		of := least.at
		least.step()
		return of
	}
	sum := &sketch.Window{Target: at.target, Second: at.second}
	for _, c := range cursors {
		if c.at != nil && instantOf(c.at) == at {
			sum.Merge(c.at)
			c.step()
		}
	}
	return sum
}
