package split

import (
	"cmp"
	"slices"
	"unsafe"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sketch"
)

// Ring keeps the load of a key by sort key, for its last hot seconds. The zero value is
// ready.
type Ring struct {
	slots []slot // by number, at most `slots`
	// verdicts are the verdicts since the last Add: findings are read more often than a
	// key is hot.
	verdicts map[question]*detect.Split
}

// question identifies a verdict of [Ring.Judge].
type question struct {
	side detect.Subject
	from int64
}

// slot is ten seconds of a key.
type slot struct {
	number int64
	// places have priorities above the threshold, the highest priority that was left out.
	// Each place weighs at least the threshold.
	places    []place
	threshold float32
	seconds   [slotSeconds]second
}

// place is a place in one second of the slot.
type place struct {
	sketch.Place
	second int8
}

// second is a second's load in units.
type second struct {
	hot                         bool
	write, read                 float64
	writeVariance, readVariance float64
	items                       [itemsKept]item
}

// item is a sort key with its proven weight in thousandths.
type item struct {
	hash, weight uint64
}

// Empty reports whether the ring keeps no second.
func (r *Ring) Empty() bool { return len(r.slots) == 0 }

// Add records a second, in place of an earlier record of it. It leaves out seconds far
// from a limit.
func (r *Ring) Add(at int64, k *sketch.KeyLoad) {
	if k.Evidence == nil || detect.Weight(k.Low) < detect.ShareOf(detect.WritesInReads*detect.PartitionWrite, detect.EvidenceShare) {
		return
	}
	s := r.slot(floorDiv(at, slotSeconds))
	if s == nil {
		return
	}
	clear(r.verdicts)
	in := at - s.number*slotSeconds
	s.seconds[in] = second{
		hot: true, write: detect.Units(k.Low.Write), read: detect.Units(k.Low.Read),
		writeVariance: k.WriteSpread.Variance, readVariance: k.ReadSpread.Variance,
		items: heaviest(k.Evidence.Items),
	}
	s.put(int8(in), k.Evidence.Places)
}

// slot returns the slot of a number, and drops the slots that are too old beside it. It
// is nil if the number itself is too old.
func (r *Ring) slot(number int64) *slot {
	i, found := slices.BinarySearchFunc(r.slots, number, func(s slot, n int64) int { return cmp.Compare(s.number, n) })
	if found {
		return &r.slots[i]
	}
	if n := len(r.slots); n > 0 && number <= r.slots[n-1].number-slots {
		return nil
	}
	r.slots = slices.Insert(r.slots, i, slot{number: number})
	oldest := r.slots[len(r.slots)-1].number - slots + 1
	dropped := 0
	for r.slots[dropped].number < oldest {
		dropped++
	}
	r.slots = slices.Delete(r.slots, 0, dropped)
	return &r.slots[i-dropped]
}

// put replaces the places of one second. The places are complete, so a second that is
// observed again, with more in it, leaves the same sample as if observed once.
func (s *slot) put(in int8, places []sketch.Place) {
	s.places = slices.DeleteFunc(s.places, func(p place) bool { return p.second == in })
	for _, p := range places {
		if p.Priority > s.threshold {
			s.places = append(s.places, place{p, in})
		}
	}
	if len(s.places) <= slotPlaces {
		return
	}
	slices.SortFunc(s.places, func(a, b place) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.second, b.second), cmp.Compare(a.Order, b.Order))
	})
	s.threshold = max(s.threshold, s.places[slotPlaces].Priority)
	clear(s.places[slotPlaces:])
	s.places = slices.Clip(s.places[:slotPlaces])
}

// heaviest returns the entries with the most weight, the heaviest first.
func heaviest(t sketch.Top) (all [itemsKept]item) {
	for _, e := range t.Entries {
		i := item{e.Hash, e.Weight}
		for n := range all {
			if i.weight > all[n].weight || i.weight == all[n].weight && i.hash < all[n].hash {
				i, all[n] = all[n], i
			}
		}
	}
	return all
}

// floorDiv rounds towards the past, even before 1970.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// Bytes returns about how many bytes the ring takes.
func (r *Ring) Bytes() (n int64) {
	n = int64(cap(r.slots)) * int64(unsafe.Sizeof(slot{}))
	for i := range r.slots {
		n += int64(cap(r.slots[i].places)) * int64(unsafe.Sizeof(place{}))
	}
	return n
}
