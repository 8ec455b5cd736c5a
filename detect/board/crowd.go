package board

import (
	"cmp"
	"math"
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/sample"
)

const (
	// maxRecurring is the most evicted keys that a table or index remembers.
	maxRecurring = 1 << 16
	// A table or index counts as crowded for crowdedFor seconds after the last eviction
	// of a hot key.
	crowdedFor = detect.ResolveSeconds
)

// crowd counts the followed keys of a table or index, and remembers its evicted keys.
type crowd struct {
	tracked int `checkpoint:"-"`
	// recurring counts the hot seconds of evicted keys, by hash. Without it, many keys
	// that are hot once would hide a key that is hot all the time, with less load.
	recurring map[uint64]uint8 `checkpoint:"-"`
	// first and last are the seconds of the first and the last eviction of a hot key
	// while crowded, evicted counts these evictions.
	first, last int64
	evicted     int64
}

// remember records the eviction of a key with hot seconds.
func (c *crowd) remember(hash uint64, seconds int, newest int64) {
	if c.recurring == nil {
		c.recurring = map[uint64]uint8{}
	}
	if len(c.recurring) >= maxRecurring {
		once := len(c.recurring)
		for h, n := range c.recurring {
			if n <= 1 {
				delete(c.recurring, h)
			}
		}
		if len(c.recurring) > once/2 {
			clear(c.recurring)
		}
	}
	c.recurring[hash] = uint8(min(int(c.recurring[hash])+seconds, math.MaxUint8))
	if newest-c.last > crowdedFor {
		c.first, c.evicted = newest, 0
	}
	c.last, c.evicted = max(c.last, newest), c.evicted+1
}

// standing holds the figures that decide which keys are followed.
type standing struct {
	id trackID
	// seconds counts the hot seconds, evicted ones too; shown reports that a finding of
	// the key was returned.
	seconds int
	shown   bool
	most    sample.Milli
}

// compareHeat orders keys: the longest hot first, then keys with a sent alert, then the most
// loaded.
func compareHeat(x, y standing) int {
	return cmp.Or(cmp.Compare(y.seconds, x.seconds), cmp.Compare(detect.BoolToInt(y.shown), detect.BoolToInt(x.shown)), cmp.Compare(y.most, x.most), cmp.Compare(x.id.hash, y.id.hash))
}

// limitKeys evicts the least hot keys of a table or index with too many keys.
func (b *Board) limitKeys(target detect.Target) {
	most := max(1, b.options.Keys/targetShare)
	if c := b.tracks.crowds[target]; c == nil || c.tracked <= most+most/2 {
		return
	}
	b.evictLeastHot(most, func(id trackID) bool { return id.target == target })
}

// limitAll evicts the least hot keys if all tables and indexes together have too many.
func (b *Board) limitAll() {
	if most := b.options.Keys; len(b.tracks.all) > most+most/2 {
		b.evictLeastHot(most, func(trackID) bool { return true })
	}
}

// evictLeastHot evicts the chosen keys beyond the given number, the least hot ones.
func (b *Board) evictLeastHot(most int, chosen func(trackID) bool) {
	all := b.hottestFirst(chosen)
	for _, s := range all[min(most, len(all)):] {
		b.evictKey(s)
	}
}

// shed evicts the least hot keys if all keys take more than KeyBytes. It evicts some
// more, so that the next second need not. The hottest key of each table or index stays.
func (b *Board) shed(taken int64) {
	most := b.options.KeyBytes
	if most == 0 || taken <= most {
		return
	}
	b.shedAt = b.timeline.Settled
	hottest := map[detect.Target]bool{}
	others := slices.DeleteFunc(b.hottestFirst(func(trackID) bool { return true }), func(s standing) bool {
		first := !hottest[s.id.target]
		hottest[s.id.target] = true
		return first
	})
	for _, s := range slices.Backward(others) {
		if taken <= most-most/8 {
			return
		}
		taken -= b.tracks.all[s.id].Bytes()
		b.evictKey(s)
	}
}

// followShare returns the share of a limit from which a target's further keys are
// followed. While keys are evicted, it is the policy's share: colder keys would be
// evicted next.
func (b *Board) followShare(target detect.Target) float64 {
	if b.shedAt == 0 || b.timeline.Settled-b.shedAt > crowdedFor || b.tracks.crowds[target] == nil {
		return detect.TrackShare
	}
	return max(detect.TrackShare, b.options.Policy(target).Warning)
}

// hottestFirst returns the chosen keys, the hottest first.
func (b *Board) hottestFirst(chosen func(trackID) bool) (all []standing) {
	for id, t := range b.tracks.all {
		if t.Followed.IsWhole() || !chosen(id) {
			continue
		}
		warning := b.options.Policy(id.target).Warning
		seconds, highest := t.HotSeconds(detect.ShareOf(detect.PartitionRead, warning))
		before := int(b.tracks.crowds[id.target].recurring[id.hash])
		all = append(all, standing{id, seconds + before, b.shown[id], highest})
	}
	slices.SortFunc(all, compareHeat)
	return all
}

// evictKey stops following a key and ends its findings, because its further load will be
// unknown.
func (b *Board) evictKey(s standing) {
	t, c := b.tracks.all[s.id], b.tracks.crowds[s.id.target]
	if s.shown {
		found := b.judge(t)
		b.advise(found, nil, nil)
		for _, f := range found {
			f.State = detect.Resolved
			b.evicted[f.Fingerprint] = relatedFinding{Finding: f, resolvedAt: max(b.timeline.Settled, 1)}
		}
	}
	if s.seconds > 0 {
		c.remember(s.id.hash, s.seconds-int(c.recurring[s.id.hash]), b.newest)
	}
	b.evictions++
	b.tracks.drop(s.id)
}

// Evictions returns the number of keys evicted so far for lack of memory.
func (b *Board) Evictions() int64 { return b.evictions }

// forgetCrowds forgets keys evicted long ago.
func (b *Board) forgetCrowds() {
	for target, c := range b.tracks.crowds {
		if c.recurring == nil || b.timeline.Settled-c.last <= detect.Horizon {
			continue
		}
		if c.recurring = nil; c.tracked == 0 {
			delete(b.tracks.crowds, target)
		}
	}
}

// crowdFindings returns the findings about tables and indexes with more hot keys than are
// followed.
func (b *Board) crowdFindings() (all []detect.Finding) {
	for target, c := range b.tracks.crowds {
		if c.evicted == 0 || b.timeline.Settled-c.last > crowdedFor {
			continue
		}
		f := b.blindFinding(casebook.TooManyHotKeys, target, c.first, c.last, detect.FixCapacityOfManyKeys)
		f.Seconds, f.Peak.At = c.last-c.first+1, f.FirstSeen
		f.Members = detect.NewMembers(c.evicted, nil)
		all = append(all, f)
	}
	return all
}

// addEvicted adds the findings of evicted keys, as resolved, for a horizon. It leaves
// out keys that came back.
func (b *Board) addEvicted(found []detect.Finding) []detect.Finding {
	for i := range found {
		delete(b.evicted, found[i].Fingerprint)
	}
	for fingerprint, e := range b.evicted {
		if e.resolvedAt+detect.Horizon < b.timeline.Settled {
			delete(b.evicted, fingerprint)
			continue
		}
		found = append(found, e.Finding)
	}
	return found
}
