package intake

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/keyheat/keyheat/internal/say/wording"
)

// Overlap finds lines that files have in common in a row, as rotated logs and copies have. Single
// lines may be alike by chance.
type Overlap struct {
	blocks map[uint64]int // the first file with a block
	paths  []string
	shared map[[2]int]int // blocks of an earlier and a later file

	row   [blockLines]uint64 // hashes of the last lines
	lines int                // of the file
}

const (
	// A block is blockLines lines in a row, the first with a hash that one in blockEvery has.
	blockLines, blockEvery = 8, 32
	// maxBlocks bounds the memory to some 20 MiB, fewestShared is how many blocks are no chance.
	maxBlocks, fewestShared = 1 << 19, 3
)

// NewOverlap returns one without files.
func NewOverlap() *Overlap { return &Overlap{blocks: map[uint64]int{}, shared: map[[2]int]int{}} }

// Begin begins another file.
func (o *Overlap) Begin(path string) { o.paths, o.lines = append(o.paths, path), 0 }

// Message adds whole lines of the file.
func (o *Overlap) Message(text []byte) {
	for len(text) > 0 {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		text = rest
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		o.row[o.lines%blockLines] = xxh3.Hash(line)
		if o.lines++; o.lines >= blockLines && o.row[o.lines%blockLines]%blockEvery == 0 {
			o.block()
		}
	}
}

// block looks for the block that ends with the last line.
func (o *Overlap) block() {
	hash := uint64(0)
	for i := range blockLines {
		hash = hash*0x9E3779B97F4A7C15 + o.row[(o.lines+i)%blockLines]
	}
	file, known := o.blocks[hash]
	switch now := len(o.paths) - 1; {
	case known && file != now:
		o.shared[[2]int{file, now}]++
	case !known && len(o.blocks) < maxBlocks:
		o.blocks[hash] = now
	}
}

// Notes tell which files repeat lines of others, and about how many.
func (o *Overlap) Notes() (all []string) {
	const most = 5
	for _, pair := range slices.SortedFunc(maps.Keys(o.shared), func(a, b [2]int) int { return slices.Compare(a[:], b[:]) }) {
		if n := o.shared[pair]; n >= fewestShared && len(all) < most {
			all = append(all, fmt.Sprintf("%s repeats %s lines of %s in their order, and they count twice: leave one of the files out, or their common part.",
				wording.Printable(o.paths[pair[1]]), wording.Roughly(float64(n*blockEvery)), wording.Printable(o.paths[pair[0]])))
		}
	}
	return all
}
