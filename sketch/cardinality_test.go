package sketch_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/axiomhq/hyperloglog"

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
		if err != nil {
			t.Fatal(err)
		}
		for _, hash := range hashes {
			library.InsertHash(hash)
		}
		raw, err := library.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
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
