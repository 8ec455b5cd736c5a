package shardkey

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/keyheat/keyheat/sample/position"
)

// pieces are the parts of the key space of which each takes one key shard. first are their
// first positions, in order.
type pieces struct {
	first []position.Position
	// last keeps the numbers of the base that was asked for last.
	last atomic.Pointer[numbered]
}

type numbered struct {
	base    string
	numbers []int
}

// PlaceApart returns the sharding with numbers that place the key shards apart in the key space:
// one in each of equal parts. They are no longer 0, 1, 2; each base has numbers of its own,
// which never change. DynamoDB's partitions are ranges of this space, so that shards of equal
// parts rarely share one.
//
// With cuts each key shard gets a partition of its own, or partitions get equal numbers of
// shards, the widest first. Cuts are the edges between the table's partitions, as the first 16
// bits of positions. Keep the cuts: other cuts give other names.
func (s Sharding) PlaceApart(cuts ...uint16) (Sharding, error) {
	const most = 1000
	switch {
	case s.n == 0 || s.n > most:
		return Sharding{}, fmt.Errorf("shardkey: %d shards cannot be placed apart: give 1 to %d", s.n, most)
	case !slices.IsSorted(cuts) || len(slices.Compact(slices.Clone(cuts))) < len(cuts) || slices.Contains(cuts, 0):
		return Sharding{}, fmt.Errorf("shardkey: the cuts %v do not rise from above 0", cuts)
	}
	s.apart = &pieces{first: divide(s.n, cuts)}
	return s, nil
}

// divide cuts the key space into pieces: the partitions, or equal parts of them if there
// are more shards.
func divide(n int, cuts []uint16) (first []position.Position) {
	const whole = float64(1<<63) * 2
	edges := []float64{0}
	for _, cut := range cuts {
		edges = append(edges, float64(cut)*(1<<48))
	}
	edges = append(edges, whole)
	byWidth := make([]int, len(edges)-1)
	for i := range byWidth {
		byWidth[i] = i
	}
	width := func(i int) float64 { return edges[i+1] - edges[i] }
	slices.SortStableFunc(byWidth, func(a, b int) int { return int(math.Copysign(1, width(b)-width(a))) })
	parts := make([]int, len(byWidth))
	for i, at := range byWidth {
		if parts[at] = max(1, n/len(byWidth)); n > len(byWidth) && i < n%len(byWidth) {
			parts[at]++
		}
	}
	for i, k := range parts {
		for part := range k {
			first = append(first, position.Position(edges[i]+width(i)*float64(part)/float64(k)))
		}
	}
	return first
}

// numbers returns the smallest numbers whose names lie in pieces of their own.
func (s Sharding) numbers(base string) []int {
	if last := s.apart.last.Load(); last != nil && last.base == base {
		return last.numbers
	}
	taken := make([]bool, len(s.apart.first))
	numbers := make([]int, 0, s.n)
	for number := 0; len(numbers) < s.n; number++ {
		piece, exact := slices.BinarySearch(s.apart.first, position.String(s.form.name(base, number)))
		if !exact {
			piece--
		}
		if !taken[piece] {
			taken[piece] = true
			numbers = append(numbers, number)
		}
	}
	s.apart.last.Store(&numbered{base, numbers})
	return numbers
}

// Numbers returns the numbers of a base's key shards, in the order of the shards.
func (s Sharding) Numbers(base string) []int {
	if s.apart != nil {
		return slices.Clone(s.numbers(base))
	}
	all := make([]int, s.n)
	for i := range all {
		all[i] = i
	}
	return all
}
