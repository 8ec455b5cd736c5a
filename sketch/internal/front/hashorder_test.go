package front_test

import (
	"math/rand/v2"
	"testing"

	"github.com/keyheat/keyheat/sketch/internal/front"
)

// TestSorted orders lists of several lengths in one memory, of hashes that are spread
// evenly and of some that begin alike.
func TestSorted(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 5))
	var l front.HashOrder
	for _, n := range []int{0, 1, 2, 7168, 300, 255, 256, 257} {
		for _, draw := range []func(i int) uint64{
			func(int) uint64 { return random.Uint64() },
			func(int) uint64 { return random.Uint64() >> 50 },
			func(int) uint64 { return ^(random.Uint64() >> 50) },
			func(i int) uint64 { return ^uint64(i) },
			func(i int) uint64 { return uint64(i%2) * ^uint64(0) },
		} {
			l.Clear()
			hashes := make([]uint64, n)
			for i := range hashes {
				hashes[i] = draw(i)
				l.Add(hashes[i], uint32(i))
			}
			sorted := l.SortedKeys()
			if len(sorted) != n {
				t.Fatalf("%d keys of %d", len(sorted), n)
			}
			seen := map[uint32]bool{}
			for i, k := range sorted {
				if i > 0 && k.Hash < sorted[i-1].Hash || k.Hash != hashes[k.At] || seen[k.At] {
					t.Fatalf("%d of %d keys is %v", i, n, k)
				}
				seen[k.At] = true
			}
		}
	}
}
