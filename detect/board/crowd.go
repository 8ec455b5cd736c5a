package board

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/wording"
	"github.com/keyheat/keyheat/sample"
)

const (
	// maxRecurring bounds the keys of a table or index that are remembered after they
	// were evicted.
	maxRecurring = 1 << 16
	// crowdedFor is for how many seconds after the last eviction of a hot key a table
	// or index has too many of them.
	crowdedFor = detect.ResolveSeconds
)

// crowd counts the followed keys of a table or index, and remembers its evicted keys.
type crowd struct {
	tracked int
	// recurring counts the hot seconds that evicted keys had, by hash: a flood of keys
	// that are hot once must not hide the one that is hot all the time, whose load may
	// be less than theirs.
	recurring map[uint64]uint8
	// first and last are the seconds of the first and the last eviction of a hot key
	// of this time, evicted how many there were.
	first, last int64
	evicted     int64
}

// remember records that a key was evicted that had hot seconds.
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
	// seconds are how many were hot, evicted ones too; shown reports whether its
	// finding was returned already.
	seconds int
	shown   bool
	most    sample.Milli
}

// hotter orders keys: the longest hot first, then keys with a sent alert, then the most
// loaded.
func hotter(x, y standing) int {
	return cmp.Or(cmp.Compare(y.seconds, x.seconds), compareBool(y.shown, x.shown), cmp.Compare(y.most, x.most), cmp.Compare(x.id.hash, y.id.hash))
}

func compareBool(x, y bool) int {
	switch {
	case x == y:
		return 0
	case x:
		return 1
	}
	return -1
}

// limit evicts the least hot keys of a table or index when it has too many.
func (b *Board) limit(of detect.Target) {
	most := b.options.Keys
	if !b.options.OneEpisode {
		most = max(1, most/targetShare)
	}
	if c := b.tracks.crowds[of]; c == nil || c.tracked <= most+most/2 {
		return
	}
	b.evictLeastHot(most, func(id trackID) bool { return id.target == of })
}

// limitAll does the same for all together.
func (b *Board) limitAll() {
	if most := b.options.Keys; len(b.tracks.all) > most+most/2 {
		b.evictLeastHot(most, func(trackID) bool { return true })
	}
}

// evictLeastHot follows at most so many of the chosen keys.
func (b *Board) evictLeastHot(most int, chosen func(trackID) bool) {
	all := b.hottestFirst(chosen)
	for _, s := range all[min(most, len(all)):] {
		b.evictKey(s)
	}
}

// shed evicts the least hot keys when all take more than KeyBytes, and some more, so that not
// every second has to. The hottest key of each table or index stays.
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

// followedFrom returns the share of a limit from which a target's further keys are
// followed. While keys are evicted, it is the policy's share: colder keys would be
// evicted next.
func (b *Board) followedFrom(of detect.Target) float64 {
	if b.shedAt == 0 || b.timeline.Settled-b.shedAt > crowdedFor || b.tracks.crowds[of] == nil {
		return detect.TrackShare
	}
	return max(detect.TrackShare, b.options.Policy(of).Warning)
}

// hottestFirst returns the chosen keys, the hottest first.
func (b *Board) hottestFirst(chosen func(trackID) bool) (all []standing) {
	for id, t := range b.tracks.all {
		if t.Subject.IsWhole() || !chosen(id) {
			continue
		}
		warning := b.options.Policy(id.target).Warning
		seconds, highest := t.HotSeconds(detect.ShareOf(detect.PartitionRead, warning))
		before := int(b.tracks.crowds[id.target].recurring[id.hash])
		all = append(all, standing{id, seconds + before, b.shown[id], highest})
	}
	slices.SortFunc(all, hotter)
	return all
}

// evictKey stops following a key and ends its findings: nothing more will be known of it.
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

// Evictions returns how many keys were evicted so far for want of memory.
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
		f := detect.NewFinding(detect.TooManyHotKeys, target, sample.Key{})
		f.Severity, f.State = b.options.Policy(target).Cap(detect.Warning), detect.Firing
		f.Share, f.Shards, f.Reason = 1, 1, detect.Undetermined
		f.FirstSeen, f.LastSeen = time.Unix(c.first, 0).UTC(), time.Unix(c.last, 0).UTC()
		f.Through, f.Seconds, f.Peak.At = f.LastSeen, c.last-c.first+1, f.FirstSeen
		f.Why = fmt.Sprintf("More keys are hot than Keyheat follows: the %s that are hot for longest have findings, and %s hot keys of these %s have none.",
			wording.Count(int64(c.tracked)), wording.Count(c.evicted), wording.Seconds(int(f.Seconds)))
		f.Advice = []detect.Step{
			{Action: detect.ActionPipeline, Effort: detect.EffortCode, Text: "Look whether the samples are right: a producer that states a sampling rate that is far too small, or counts that are too large, makes every key hot."},
			{Action: detect.ActionCapacity, Effort: detect.EffortSetting, Basis: "what the keys that are not followed have is not known", Text: "If they are, many keys share this load evenly, and the table needs capacity, or to be pre-warmed, more than it needs another key."},
		}
		all = append(all, f)
	}
	return all
}

// withEvicted adds the findings of evicted keys, as resolved, for a horizon; not of
// keys that came back.
func (b *Board) withEvicted(found []detect.Finding) []detect.Finding {
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
