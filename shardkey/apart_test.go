package shardkey_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/keyheat/keyheat/sample/position"
	"github.com/keyheat/keyheat/shardkey"
)

func apart(t *testing.T, n int, cuts ...uint16) shardkey.Sharding {
	t.Helper()
	s, err := shardkey.New(n, shardkey.HashShardUnderscore())
	if err == nil {
		s, err = s.PlaceApart(cuts...)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// perPartition counts the key shards of each partition.
func perPartition(t *testing.T, s shardkey.Sharding, base string, cuts []uint16) []int {
	t.Helper()
	names, err := s.All(base)
	if err != nil {
		t.Fatal(err)
	}
	counts := make([]int, len(cuts)+1)
	for _, name := range names {
		cell := uint16(position.String(name).Cell(16)) //nolint:gosec // it has 16 bits
		i, exact := slices.BinarySearch(cuts, cell)
		if exact {
			i++
		}
		counts[i]++
	}
	return counts
}

// TestPlaceApart: key shards lie in equal parts of the key space or, with cuts, each partition has
// its share of them, the widest first.
func TestPlaceApart(t *testing.T) {
	t.Parallel()
	equal := []uint16{0x2000, 0x4000, 0x6000, 0x8000, 0xa000, 0xc000, 0xe000}
	uneven := []uint16{0x1000, 0x1800, 0x8000}
	for i := range 50 {
		base := fmt.Sprint("user#", i)
		if counts := perPartition(t, apart(t, 8), base, equal); slices.Max(counts) != 1 {
			t.Errorf("%s: equal parts have %v", base, counts)
		}
		if counts := perPartition(t, apart(t, 3, uneven...), base, uneven); slices.Max(counts) != 1 {
			t.Errorf("%s: three of four partitions have %v", base, counts)
		}
		if counts := perPartition(t, apart(t, 10, uneven...), base, uneven); !slices.Equal(counts, []int{2, 2, 3, 3}) {
			t.Errorf("%s: partitions have %v of ten", base, counts)
		}
	}
}

// TestApartNames: names never change, and come back through the other methods.
func TestApartNames(t *testing.T) {
	t.Parallel()
	s := apart(t, 4)
	numbers, names := s.Numbers("user#42"), []string{}
	for _, n := range numbers {
		names = append(names, fmt.Sprint("user#42#SHARD_", n))
	}
	if !slices.Equal(numbers, []int{0, 1, 3, 12}) {
		t.Errorf("user#42 has %v", numbers)
	}
	if all, err := s.All("user#42"); err != nil || !slices.Equal(all, names) {
		t.Errorf("all are %v, %v", all, err)
	}
	if name, err := s.Pick("user#42", "order-1"); err != nil || !slices.Contains(names, name) {
		t.Errorf("picked %s, %v", name, err)
	}
	counts := map[string]int64{names[3]: 7, names[0]: 1}
	if d, err := s.Distribution("user#42", counts); err != nil || d.Hottest != 3 || d.Counts[0] != 1 {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := s.Distribution("user#42", map[string]int64{"user#42#SHARD_2": 1}); err == nil {
		t.Error("a number of no shard is counted")
	}
	plain, err := shardkey.New(4, shardkey.HashShardUnderscore())
	if err != nil {
		t.Fatal(err)
	}
	for _, to := range []shardkey.Sharding{apart(t, 8), apart(t, 8, 0x8000)} {
		for _, from := range []shardkey.Sharding{s, plain} {
			g, err := shardkey.Grow(from, to)
			if err != nil {
				t.Fatal(err)
			}
			all, err := g.All("user#42")
			before, _ := from.All("user#42")
			for _, name := range before {
				if err != nil || !slices.Contains(all, name) {
					t.Errorf("%s is not among %v, %v", name, all, err)
				}
			}
		}
	}
	for _, wrong := range [][]uint16{{0}, {2, 1}, {1, 1}} {
		if _, err := s.PlaceApart(wrong...); err == nil {
			t.Errorf("%v are cuts", wrong)
		}
	}
	many, err := shardkey.New(1001, shardkey.HashNumber())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := many.PlaceApart(); err == nil {
		t.Error("1,001 shards are placed apart")
	}
}
