package gather

import (
	"cmp"
	"slices"
	"strings"

	"github.com/keyheat/keyheat/sample"
)

const (
	// placesGathered is the number of places that one part of a second keeps for a key.
	placesGathered = 32
	// PlacesMerged is the number that a union keeps: of ten seconds of one collector, or of one
	// second of several collectors.
	PlacesMerged = 128
	// placeBytes is how many bytes of a sort key's order are kept behind the prefix that all
	// sort keys of the sample share.
	placeBytes = 64
)

// Place locates a part of a key's load in the order of sort keys. The places of a second are a
// priority sample of its requests (Duffield, Lund and Thorup, 2007). A request of w units has
// the priority w/u, with u uniform in (0,1]. The k highest priorities are kept, and each counts
// as the larger of w and the next highest priority. Sums over places are unbiased for every
// range of sort keys, and exact if no place was dropped.
type Place struct {
	// Priority decides which places a union keeps.
	Priority float32
	// Weight is the load that the place represents: 3·write + read, in thousandths.
	Weight uint64
	// Write is true for a write and false for a read.
	Write bool
	// Order compares bytewise as DynamoDB sorts: see sample.Key.AppendOrder. It ends 64 bytes
	// behind the prefix that all places of one part share.
	Order string
}

// UnionPlaces unites the places of two samples of different requests, and keeps at most n. The
// order of unions does not change the result.
func UnionPlaces(a, b []Place, n int) []Place {
	switch {
	case len(b) == 0 && len(a) <= n:
		return a
	case len(a) == 0 && len(b) <= n:
		return b
	}
	all := slices.Concat(a, b)
	slices.SortFunc(all, comparePlaces)
	return cutPlaces(all, n)
}

// cutPlaces keeps the n highest priorities. Each kept place then weighs at least the next
// priority.
func cutPlaces(sorted []Place, n int) []Place {
	if len(sorted) <= n {
		return sorted
	}
	threshold := uint64(sorted[n].Priority)
	sorted = slices.Clip(sorted[:n])
	for i := range sorted {
		sorted[i].Weight = max(sorted[i].Weight, threshold)
	}
	return sorted
}

// comparePlaces orders places by priority. It compares weights last, because cutPlaces raises
// them and must not change the order.
func comparePlaces(a, b Place) int {
	return cmp.Or(cmp.Compare(b.Priority, a.Priority), strings.Compare(a.Order, b.Order), compareBool(a.Write, b.Write), cmp.Compare(b.Weight, a.Weight))
}

// PlaceSample accumulates the places of one key in one second. It reuses its memory. The zero
// value is ready.
type PlaceSample struct {
	kept []keptPlace
	// least is the index of the lowest priority, once there is one place too many.
	least int
	// prefix is the longest common beginning of all sort keys' orders.
	prefix []byte
	order  []byte // scratch memory for the current sort key
}

type keptPlace struct {
	priority float32
	weight   uint64
	write    bool
	order    []byte
}

// Clear forgets all places and keeps the memory.
func (p *PlaceSample) Clear() { p.kept, p.prefix = p.kept[:0], p.prefix[:0] }

// Add adds a request. draw is uniform over 32 bits.
func (p *PlaceSample) Add(k sample.Key, weight uint64, write bool, draw uint32) {
	if weight == 0 {
		return
	}
	priority := float32(float64(weight) * (1 << 32) / (float64(draw) + 1))
	if len(p.kept) > placesGathered && priority <= p.kept[p.least].priority {
		return
	}
	p.order = k.AppendOrder(p.order[:0])
	common := 0
	if len(p.kept) == 0 {
		p.prefix = append(p.prefix[:0], p.order...)
	}
	for common < min(len(p.prefix), len(p.order)) && p.prefix[common] == p.order[common] {
		common++
	}
	p.prefix = p.prefix[:common]
	at := p.room()
	at.priority, at.weight, at.write = priority, weight, write
	at.order = append(at.order[:0], p.order[:min(len(p.order), common+placeBytes)]...)
	p.least = 0
	for i := range p.kept {
		if p.kept[i].priority < p.kept[p.least].priority {
			p.least = i
		}
	}
}

// room returns a free place, or the place with the lowest priority.
func (p *PlaceSample) room() *keptPlace {
	n := len(p.kept)
	switch {
	case n > placesGathered:
		return &p.kept[p.least]
	case n < cap(p.kept):
		p.kept = p.kept[:n+1]
	default:
		p.kept = append(p.kept, keptPlace{})
	}
	return &p.kept[n]
}

// Seal returns the places in memory of their own.
func (p *PlaceSample) Seal() []Place {
	if len(p.kept) == 0 {
		return nil
	}
	all := make([]Place, len(p.kept))
	for i := range p.kept {
		k := &p.kept[i]
		all[i] = Place{Priority: k.priority, Weight: k.weight, Write: k.write, Order: string(k.order[:min(len(k.order), len(p.prefix)+placeBytes)])}
	}
	slices.SortFunc(all, comparePlaces)
	return cutPlaces(all, placesGathered)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
