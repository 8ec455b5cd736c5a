package gather_test

import (
	"testing"

	"github.com/keyheat/keyheat/sketch/internal/gather"
)

// TestKeysHaveTheirTurn asks for more keys than there are places for: none is left out for
// ever, and no second has too many.
func TestKeysHaveTheirTurn(t *testing.T) {
	t.Parallel()
	const keys = 300
	seen := map[uint64]int{}
	for second := range int64(600) {
		var places gather.Turns
		taken := 0
		for key := range uint64(keys) {
			if places.Take(gather.Mix(key+1), second) {
				seen[key]++
				taken++
			}
		}
		if taken > 16 {
			t.Fatalf("%d keys in one second", taken)
		}
	}
	for key := range uint64(8) {
		if seen[key] != 600 {
			t.Errorf("the key %d, one of the first, was looked at in %d seconds", key, seen[key])
		}
	}
	late := 0
	for key := uint64(8); key < keys; key++ {
		if seen[key] > 0 {
			late++
		}
	}
	if late < keys/3 {
		t.Errorf("%d of the others had a turn", late)
	}
}
