package split

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"strings"
)

// keyLoad is the load of one sort key, as a share of all.
type keyLoad struct {
	order string
	share float64
}

// shares returns the load of each sort key, in their order.
func shares(requests []request) []keyLoad {
	all := make([]keyLoad, 0, len(requests))
	total := 0.0
	for _, p := range requests {
		all = append(all, keyLoad{p.order, p.weight})
		total += p.weight // whole numbers
	}
	slices.SortFunc(all, func(a, b keyLoad) int { // the order of a sum changes its rounding
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

// splitPoint splits some keys. It returns the index of the first key on the right side,
// between 1 and len(keys)-1, and the least sort key that belongs there.
type splitPoint func(keys []keyLoad) (first int, from string)

// median splits the load most evenly.
func median(keys []keyLoad) (first int, from string) {
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

// lowest and highest split about as evenly as median, as far below or above it as the
// samples allow. In a gap between keys, they choose its lower or upper end, because new
// load may come into it.
func lowest(keys []keyLoad) (first int, from string) {
	first, _ = evenRange(keys)
	return first, keys[first-1].order + "\x00"
}

func highest(keys []keyLoad) (first int, from string) {
	_, first = evenRange(keys)
	return first, keys[first].order
}

// evenRange returns the first and the last split that may be as even as the median, as
// far as samples show. It allows two standard deviations of a share of half, 1/(2√n)
// each.
func evenRange(keys []keyLoad) (lowest, highest int) {
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
func middle(keys []keyLoad) (first int, from string) {
	from = midText(keys[0].order, keys[len(keys)-1].order)
	first, _ = slices.BinarySearchFunc(keys, from, func(k keyLoad, at string) int { return strings.Compare(k.order, at) })
	if first < 1 || first >= len(keys) { // too close for eight bytes
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

// number returns the first eight bytes of a text as a number.
func number(text string) uint64 {
	var first [8]byte
	copy(first[:], text)
	return binary.BigEndian.Uint64(first[:])
}

// cut returns the beginnings of all parts but the first, after splits of each part until
// its load is at most most or it is one key. load is the load of all keys.
func cut(keys []keyLoad, load, most float64, point splitPoint) []string {
	var parts []string
	var split func(keys []keyLoad, level int)
	split = func(keys []keyLoad, level int) {
		part := 0.0
		for _, k := range keys {
			part += k.share * load
		}
		if part <= most || len(keys) < 2 || level == levels {
			return
		}
		first, from := point(keys)
		split(keys[:first], level+1)
		parts = append(parts, from)
		split(keys[first:], level+1)
	}
	split(keys, 0)
	return parts
}

// fullest returns the loads of parts, as shares of all, and the index of the fullest.
func fullest(parts []string, keys []keyLoad) (loads []float64, most int) {
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

// partOf returns the index of a key's part.
func partOf(parts []string, order string) int {
	part, found := slices.BinarySearch(parts, order)
	if found {
		part++
	}
	return part
}
