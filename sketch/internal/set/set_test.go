package set_test

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/keyheat/keyheat/sketch/internal/set"
)

// TestMatch holds that a key is found where it was put, and that no place is named that
// there is not, whatever the bytes of keys are: two that differ by one are the hardest.
func TestMatch(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 4))
	for range 200_000 {
		var s set.Set
		keys := 1 + random.IntN(set.Ways)
		hashes := make([]uint64, keys)
		for i := range hashes {
			hashes[i] = random.Uint64N(4) << 48
			s.Put(i, random.Uint64())
			s.Put(i, hashes[i])
		}
		for i, hash := range hashes {
			if s.Match(hash)>>(8*i)&0x80 == 0 {
				t.Fatalf("the key of place %d is not there: %x", i, s.Match(hash))
			}
		}
		if at := s.Match(random.Uint64N(4) << 48); at != 0 && (63-bits.LeadingZeros64(at))/8 >= set.Ways {
			t.Fatalf("%x names a place that there is not", at)
		}
		var empty set.Set
		if at := empty.Match(hashes[0]); at != 0 {
			t.Fatalf("%x names a place of an empty set", at)
		}
	}
}
