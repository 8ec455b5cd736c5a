package front_test

import (
	"math/rand/v2"
	"testing"

	"github.com/keyheat/keyheat/sketch/internal/front"
)

// TestClear counts in many lines and in few, and finds all counters at zero afterwards.
func TestClear(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	s := front.NewCountMin(8192)
	for _, keys := range []int{0, 1, 7, 100, 5000} {
		hashes := make([]uint64, keys)
		for i := range hashes {
			hashes[i] = random.Uint64()
			s.Line(hashes[i]).Raise(hashes[i], uint64(i+1))
		}
		for i, hash := range hashes {
			if got := s.Line(hash).Estimate(hash); got < uint64(i+1) {
				t.Fatalf("%d keys: %d is estimated of %d", keys, got, i+1)
			}
		}
		if keys%2 == 0 {
			s.Clear()
		} else {
			s.Release()
		}
		for line := range uint64(8192 / 64) {
			for at := range uint64(256) {
				if left := s.Line(line).Estimate(at << 56); left != 0 {
					t.Fatalf("%d keys: %d is left in line %d", keys, left, line)
				}
			}
		}
	}
}
