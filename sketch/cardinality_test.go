package sketch_test

import (
	"bytes"
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/axiomhq/hyperloglog"

	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/sketch"
)

// TestInsertsAsTheLibraryDoes: a shard counts a hash by itself, and the library estimates
// from its registers. So an upgrade of the library that counts otherwise fails here.
func TestInsertsAsTheLibraryDoes(t *testing.T) {
	t.Parallel()
	const precision = 12
	check := func(name string, hashes ...uint64) (registers []byte) {
		t.Helper()
		library, err := hyperloglog.NewSketch(precision, false)
		must.Succeed(t, err)
		for _, hash := range hashes {
			library.InsertHash(hash)
		}
		raw, err := library.AppendBinary(nil)
		must.Succeed(t, err)
		registers = sketch.InsertHash(hashes...)
		if !bytes.Equal(registers, raw[len(raw)-len(registers):]) {
			t.Errorf("%s: the library has other registers", name)
		}
		return registers
	}

	random := rand.New(rand.NewPCG(1, 12))
	many := make([]uint64, 100_000)
	for i := range many {
		many[i] = random.Uint64()
	}
	check("random hashes", many...)

	// Each rank by itself, as such hashes are rare: so many zeros after the register's
	// bits, then a one, or none at all, and any bits behind.
	const bits = 64 - precision
	for zeros := range bits + 1 {
		hash := random.Uint64N(1<<precision) << bits
		if zeros < bits {
			one := uint64(1) << (bits - 1 - zeros)
			hash |= one | random.Uint64N(one)
		}
		if registers := check("a rank", hash); registers[hash>>bits] != uint8(zeros+1) {
			t.Errorf("%#x has %d zeros, and rank %d", hash, zeros, registers[hash>>bits])
		}
	}
}

// TestFewRegistersAreAsAll merges registers in any order into a Cardinality that begins
// with few of them, and compares it with all registers.
func TestFewRegistersAreAsAll(t *testing.T) {
	t.Parallel()
	const registers = 1 << 12
	random := rand.New(rand.NewPCG(1, 13))
	for _, keys := range []int{1, 70, 300, 511, 512, 513, 2000, 50_000} {
		var merged, joined, odd, even sketch.Cardinality
		want := make([]byte, registers)
		for left := keys; left > 0; {
			var set []sketch.Register
			for range min(left, 1+random.IntN(40)) {
				r := sketch.Register{Index: uint16(random.IntN(registers)), Value: uint8(random.IntN(20))}
				set, want[r.Index], left = append(set, r), max(want[r.Index], r.Value), left-1
			}
			if random.IntN(2) == 0 { // as a shard sends them
				slices.SortFunc(set, func(a, b sketch.Register) int { return cmp.Compare(a.Index, b.Index) })
			}
			merged.Merge(sketch.Registers{Set: set})
			if left%2 == 0 {
				even.Merge(sketch.Registers{Set: set})
			} else {
				odd.Merge(sketch.Registers{Set: set})
			}
		}
		joined.Join(&odd)
		joined.Join(&even)
		for name, c := range map[string]*sketch.Cardinality{"merged": &merged, "joined": &joined} {
			if !bytes.Equal(c.Bytes(), want) {
				t.Errorf("%d keys, %s: other registers", keys, name)
			}
			if got := c.Estimate(); got != merged.Estimate() {
				t.Errorf("%d keys, %s: an estimate of %d, not of %d", keys, name, got, merged.Estimate())
			}
		}
	}
}
