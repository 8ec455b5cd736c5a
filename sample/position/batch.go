package position

import (
	"encoding/base64"
	"math"
	"math/bits"
	"runtime"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/keyhash"
)

// BatchSize is the most keys of a Batch.
const BatchSize = 24

const (
	blockWords = 16
	// lengthWord is the word of an MD5 block with the number of hashed bits.
	lengthWord  = 14
	prefixWords = len(prefix) / 4
	// longestInBlock is the most bytes of a key in one MD5 block: a byte ends them.
	longestInBlock = 4*(lengthWord-prefixWords) - 1
)

// Batch finds the positions of up to BatchSize keys together. On processors with AVX2 this
// takes a fifth of the time of finding each: an MD5 is one long chain of steps, and a vector
// takes each step for eight keys at once. The zero value is ready.
type Batch struct {
	blocks [blockWords][BatchSize]uint32 // word by word, the MD5 block of each key
	used   [BatchSize]int                // the words of each block up to the end of its key
	// singly has a bit for each key whose position was found by itself.
	singly uint32
	found  [BatchSize]Position
	n      int
}

// sines are the constants of MD5's steps, for the eight blocks of a vector.
var sines = func() (all [64][8]uint32) {
	for i := range all {
		for lane := range all[i] {
			all[i][lane] = uint32(math.Abs(math.Sin(float64(i+1))) * (1 << 32))
		}
	}
	return all
}()

// Len returns the number of keys.
func (b *Batch) Len() int { return b.n }

// Clear forgets all keys.
func (b *Batch) Clear() { b.n, b.singly = 0, 0 }

// Add adds a key, and copies what it needs of it. It returns false for a key without a known
// position: see [Find]. The batch must have fewer than BatchSize keys.
func (b *Batch) Add(k sample.Key) bool {
	known := false
	switch {
	case !vectors || len(k.Text) > longestInBlock:
		b.found[b.n], known = Find(k)
		b.singly |= 1 << b.n
	case k.Type == sample.TypeString:
		if known = keyhash.Find(k.Text) < 0; known {
			put(b, k.Text)
		}
	case k.Type == sample.TypeNumber:
		if number, err := sample.KeyNumber(k.Text); err == nil {
			var room [maxNumberBytes]byte
			put(b, appendNumber(room[:0], number.Text))
			known = true
		}
	case k.Type == sample.TypeBinary:
		var room [longestInBlock]byte
		if n, err := base64.StdEncoding.Decode(room[:], []byte(k.Text)); err == nil {
			put(b, room[:n])
			known = true
		}
	}
	if known {
		b.n++
	} else {
		b.singly &^= 1 << b.n
	}
	return known
}

// put writes the block of a key: the prefix, the key's bytes, a bit that ends them, and the
// number of bits before it.
func put[Bytes string | []byte](b *Batch, key Bytes) {
	lane := b.n
	if b.used[lane] == 0 {
		b.blocks[0][lane], b.blocks[1][lane] = word(prefix[:4]), word(prefix[4:])
	}
	at := prefixWords
	for ; len(key) >= 4; at++ {
		b.blocks[at][lane] = word(key)
		key = key[4:]
	}
	last := uint32(0x80) << (8 * len(key))
	for i := range len(key) {
		last |= uint32(key[i]) << (8 * i)
	}
	b.blocks[at][lane] = last
	b.blocks[lengthWord][lane] = uint32(32*at + 8*len(key)) //nolint:gosec // at most 440
	for unused := at + 1; unused < b.used[lane]; unused++ {
		b.blocks[unused][lane] = 0
	}
	b.used[lane] = at + 1
}

func word[Bytes string | []byte](b Bytes) uint32 {
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

// Find returns the positions of the keys in the order of Add, valid until the next Add, and
// forgets the keys.
func (b *Batch) Find() []Position {
	if vectors && b.n > 0 {
		var sums [2][BatchSize]uint32
		sumBlocks(&b.blocks, &sines, &sums)
		for i := range b.n {
			if b.singly&(1<<i) == 0 {
				b.found[i] = Position(bits.ReverseBytes32(sums[0][i]))<<32 | Position(bits.ReverseBytes32(sums[1][i]))
			}
		}
	}
	n := b.n
	b.Clear()
	return b.found[:n]
}

// FindEach yields the positions of n keys by their indexes, in no order. The position of a hidden
// key lies between the two; for others they are one. key returns a key by its index; wanted is
// false if it does not count. Keys without a known position are left out.
func FindEach(n int, key func(i int) (k sample.Key, place sample.Place, wanted bool), yield func(i int, first, last Position)) {
	var batch Batch
	var keys [BatchSize]sample.Key
	var indexes [BatchSize]int
	waiting := 0
	for i := range n {
		k, place, wanted := key(i)
		if wanted && place == 0 {
			keys[waiting], indexes[waiting] = k, i
			waiting++
		} else if first, last, known := Range(sample.Key{}, place); wanted && known {
			yield(i, first, last)
		}
		if waiting == 0 || waiting < BatchSize && i+1 < n {
			continue
		}
		// The texts lie anywhere in memory. Reading a byte of each at first fetches them together.
		touched := byte(0)
		for _, k := range keys[:waiting] {
			if k.Text != "" {
				touched += k.Text[0]
			}
		}
		runtime.KeepAlive(touched)
		for at := range waiting {
			indexes[batch.Len()] = indexes[at]
			batch.Add(keys[at])
		}
		waiting = 0
		for at, p := range batch.Find() {
			yield(indexes[at], p, p)
		}
	}
}
