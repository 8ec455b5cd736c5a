package gather

import (
	"cmp"
	"slices"
	"strings"

	"github.com/keyheat/keyheat/sample"
)

const (
	// Gathered is how many places of the sort-key space one part of a second keeps of a key.
	placesGathered = 32
	// Merged is how many a union keeps: of ten seconds of one collector, or of one second of
	// several.
	PlacesMerged = 128
	// placeBytes is how much of a sort key's order is kept behind what all sort keys
	// of the sample have in common.
	placeBytes = 64
)

// Place is where in the order of sort keys a part of a key's load is. The places of a
// second are a priority sample of its requests (Duffield, Lund and Thorup, 2007): a
// request of w units has the priority w/u, u uniform in (0,1], the k highest are kept,
// and each counts as the larger of w and the next highest priority. Sums over places
// are unbiased for every range of sort keys, and exact where nothing was dropped.
type Place struct {
	// Priority decides what a union keeps.
	Priority float32
	// Weight is what the place stands for: 3·write + read, in thousandths.
	Weight uint64
	// Write tells writes from reads.
	Write bool
	// Order are bytes that compare as DynamoDB sorts: see sample.Key.AppendOrder. They end
	// 64 bytes behind what all places of one part have in common.
	Order string
}

// UnionPlaces returns the places of two samples of different requests as one of at
// most n: in whatever order samples are united, the result is the same.
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

// cutPlaces keeps the n of the highest priorities: the next one is what the others
// then count as at least.
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

// comparePlaces orders places. The weight comes last: it is raised when others are left
// out, and places of one priority must not change places by that.
func comparePlaces(a, b Place) int {
	return cmp.Or(cmp.Compare(b.Priority, a.Priority), strings.Compare(a.Order, b.Order), compareBool(a.Write, b.Write), cmp.Compare(b.Weight, a.Weight))
}

// PlaceSample is the sample while it is gathered. Its memory is kept from second to second.
// The zero value is ready.
type PlaceSample struct {
	kept []keptPlace
	// least is the place with the lowest priority, once there is one too many.
	least int
	// prefix is the first sort key's order, as far as all others have it.
	prefix []byte
	order  []byte // of the sort key at hand
}

type keptPlace struct {
	priority float32
	weight   uint64
	write    bool
	order    []byte
}

// Clear forgets all places.
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

// room returns a free place, or the one with the lowest priority.
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

// Seal returns the sample, in memory of its own.
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
