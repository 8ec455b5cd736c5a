package front_test

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/keyheat/keyheat/sketch/internal/front"
)

// TestMatch checks that Match finds a key at its place, and never returns a place that does not
// exist. Keys whose bytes differ by one are the hardest.
func TestMatch(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 4))
	for range 200_000 {
		var s front.Set
		keys := 1 + random.IntN(front.Ways)
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
		if at := s.Match(random.Uint64N(4) << 48); at != 0 && (63-bits.LeadingZeros64(at))/8 >= front.Ways {
			t.Fatalf("%x names a place that there is not", at)
		}
		var empty front.Set
		if at := empty.Match(hashes[0]); at != 0 {
			t.Fatalf("%x names a place of an empty set", at)
		}
	}
}

// TestSetIsAMap puts keys into a set, and replaces them, with equal or neighbouring bytes. The
// set finds the same keys as a map.
func TestSetIsAMap(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 6))
	tags := [][]uint64{{0}, {0, 1}, {1}, {0x7f, 0x80, 0x81}, {0xff}, {0, 0xfe, 0xff}, {1, 2}, {0, 1, 2, 3, 0x7f, 0x80, 0xff}}
	for round := range 20_000 {
		of := tags[round%len(tags)]
		draw := func() uint64 { // few, so that they come again
			return of[random.IntN(len(of))]<<48 | random.Uint64N(8)
		}
		var s front.Set
		hashes := [front.Ways]uint64{}
		has := map[uint64]int{}
		for range 40 {
			hash := draw()
			if _, known := has[hash]; !known {
				place := len(has)
				if place == front.Ways {
					place = random.IntN(front.Ways)
					delete(has, hashes[place])
				}
				hashes[place], has[hash] = hash, place
				s.Put(place, hash)
			}
			for range 3 {
				hash := draw()
				found := -1
				for at := s.Match(hash); at != 0; at &= at - 1 {
					place := bits.TrailingZeros64(at) / 8
					if place >= len(has) {
						continue // no key came there: its candidate has the hash of none
					}
					if hashes[place] == hash {
						found = place
					}
				}
				if place, known := has[hash]; known != (found >= 0) || known && place != found {
					t.Fatalf("of %x, %x is found at %d and not at %d, %t", hashes[:len(has)], hash, found, place, known)
				}
			}
		}
	}
}
