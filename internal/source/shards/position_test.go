package shards_test

import (
	"math"
	"testing"

	"github.com/keyheat/keyheat/internal/source/shards"
)

// TestSequenceNumbersAreComparedByLength: sequence numbers are longer than any integer
// type, and vary in length.
func TestSequenceNumbersAreComparedByLength(t *testing.T) {
	t.Parallel()
	ordered := []string{"9", "10", "300000000000000000499659", "999999999999999999999999999999999999999",
		"1000000000000000000000000000000000000000", "1000000000000000000000000000000000000001"}
	for i, a := range ordered {
		for j, b := range ordered {
			want := int(math.Copysign(1, float64(i-j)))
			if i == j {
				want = 0
			}
			if got := shards.CompareSequence(a, b); got != want {
				t.Errorf("%s against %s is %d, want %d", a, b, got, want)
			}
		}
	}
	if shards.CompareSequence("007", "7") != 0 {
		t.Error("leading zeros count")
	}
}

func TestPositions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		position, sequence string
		passed             bool
	}{
		{"TRIM_HORIZON", "5", false}, {"ORPHAN", "5", false}, {"AFTER_GAP", "5", false}, {"SHARD_END", "5", true},
		{"10", "9", true}, {"10", "10", true}, {"10", "11", false},
		{"at:10", "9", true}, {"at:10", "10", false}, {"at:10", "100", false},
	} {
		if got := shards.Position(c.position).HasPassed(c.sequence); got != c.passed {
			t.Errorf("record %s at position %s: passed is %v", c.sequence, c.position, got)
		}
	}
}
