package split

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"strings"
)

// weighed is the load of one sort key, as a share of all.
type weighed struct {
	order string
	share float64
}

// shares returns the load of each sort key, in their order.
func shares(places []timed) []weighed {
	all := make([]weighed, 0, len(places))
	total := 0.0
	for _, p := range places {
		all = append(all, weighed{p.order, p.weight})
		total += p.weight // whole numbers
	}
	slices.SortFunc(all, func(a, b weighed) int { // sums of floats have an order
		return cmp.Or(strings.Compare(a.order, b.order), cmp.Compare(a.share, b.share))
	})
	kept := all[:0]
	for _, w := range all {
		if n := len(kept); n > 0 && kept[n-1].order == w.order {
			kept[n-1].share += w.share
			continue
		}
		kept = append(kept, w)
	}
	for i := range kept {
		kept[i].share /= total
	}
	return kept
}

// splitPoint returns where keys are split: the first of the right side, between 1 and
// len(keys)-1, and the least sort key that is on it.
type splitPoint func(keys []weighed) (first int, from string)

// median splits the load most evenly.
func median(keys []weighed) (first int, from string) {
	total := 0.0
	for _, k := range keys {
		total += k.share
	}
	left, best := 0.0, -1.0
	for i := range keys[1:] {
		left += keys[i].share
		if uneven := max(left, total-left); best < 0 || uneven < best {
			first, best = i+1, uneven
		}
	}
	return first, keys[first].order
}

// lowest and highest split about as evenly as median does, as far below or above as the
// samples leave open: where nothing is between both sides, at either end of that gap. It makes
// a difference once load comes into it.
func lowest(keys []weighed) (first int, from string) {
	first, _ = evenly(keys)
	return first, keys[first-1].order + "\x00"
}

func highest(keys []weighed) (first int, from string) {
	_, first = evenly(keys)
	return first, keys[first].order
}

// evenly returns the first and the last split of which the samples do not tell that it is
// less even than the median: the deviation of a share of half is 1/(2√n), and two of these
// are taken.
func evenly(keys []weighed) (lowest, highest int) {
	total, best := 0.0, math.Inf(1)
	for _, k := range keys {
		total += k.share
	}
	uneven := make([]float64, len(keys))
	left := 0.0
	for i := range keys[1:] {
		left += keys[i].share
		uneven[i+1] = max(left, total-left) / total
		best = min(best, uneven[i+1])
	}
	least := best + 1/math.Sqrt(float64(len(keys)))
	for i := 1; i < len(keys); i++ {
		if uneven[i] > least {
			continue
		}
		if lowest == 0 {
			lowest = i
		}
		highest = i
	}
	return lowest, highest
}

// middle splits half-way between the first key and the last.
func middle(keys []weighed) (first int, from string) {
	from = midText(keys[0].order, keys[len(keys)-1].order)
	first, _ = slices.BinarySearchFunc(keys, from, func(k weighed, at string) int { return strings.Compare(k.order, at) })
	if first < 1 || first >= len(keys) { // so close that bytes do not tell
		first = len(keys) - 1
		from = keys[first].order
	}
	return first, from
}

// midText returns bytes half-way from a to b.
func midText(a, b string) string {
	common := 0
	for common < min(len(a), len(b)) && a[common] == b[common] {
		common++
	}
	x, y := number(a[common:]), number(b[common:])
	var half [8]byte
	binary.BigEndian.PutUint64(half[:], x+(y-x)/2+1)
	return a[:common] + string(half[:])
}

// number returns the first eight bytes of a text.
func number(text string) uint64 {
	var first [8]byte
	copy(first[:], text)
	return binary.BigEndian.Uint64(first[:])
}

// cut returns where the parts begin, but the first, that splits leave when each part
// is split until its load is at most `most` or it is one key. load is that of all.
func cut(keys []weighed, load, most float64, at splitPoint) []string {
	var parts []string
	var split func(keys []weighed, level int)
	split = func(keys []weighed, level int) {
		part := 0.0
		for _, k := range keys {
			part += k.share * load
		}
		if part <= most || len(keys) < 2 || level == levels {
			return
		}
		first, from := at(keys)
		split(keys[:first], level+1)
		parts = append(parts, from)
		split(keys[first:], level+1)
	}
	split(keys, 0)
	return parts
}

// fullest returns the loads of parts, as shares of all, and which has most.
func fullest(parts []string, keys []weighed) (loads []float64, most int) {
	loads = make([]float64, len(parts)+1)
	for _, k := range keys {
		loads[partOf(parts, k.order)] += k.share
	}
	for i := range loads {
		if loads[i] > loads[most] {
			most = i
		}
	}
	return loads, most
}

// partOf returns which part has a key.
func partOf(parts []string, order string) int {
	part, found := slices.BinarySearch(parts, order)
	if found {
		part++
	}
	return part
}
