package board

import (
	"cmp"
	"slices"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/episode"
	"github.com/keyheat/keyheat/detect/wording"
	"github.com/keyheat/keyheat/sample"
)

// maxTracked is how many keys a board follows at once. The least loaded ones are
// evicted first.
const maxTracked = 20_000

// tracks are the keys that a board follows, and the tables and indexes.
type tracks map[trackID]*episode.Track

// trackID is a key of a table or index; the hash 0 is all of it.
type trackID struct {
	target detect.Target
	hash   uint64
}

// wholeID returns the id of a table or index as a whole.
func wholeID(t detect.Target) trackID { return trackID{target: t} }

func (ts tracks) add(id trackID, key sample.Key) *episode.Track {
	t := episode.NewTrack(episode.Subject{Target: id.target, Hash: id.hash, Key: key})
	ts[id] = t
	return t
}

func (ts tracks) addWhole(id trackID) *episode.Track { return ts.add(id, sample.Key{}) }

// evictLeastLoaded drops the least loaded keys when there are too many.
func (ts tracks) evictLeastLoaded() {
	if len(ts) <= maxTracked {
		return
	}
	type loaded struct {
		id     trackID
		weight sample.Milli
	}
	all := make([]loaded, 0, len(ts))
	for id, t := range ts {
		all = append(all, loaded{id, t.Most()})
	}
	slices.SortFunc(all, func(x, y loaded) int {
		return cmp.Or(cmp.Compare(y.weight, x.weight), cmp.Compare(x.id.hash, y.id.hash))
	})
	for _, l := range all[maxTracked:] {
		delete(ts, l.id)
	}
}

// warmest returns the three keys of a table or index that had most in one second.
func (ts tracks) warmest(of detect.Target, second int64) []string {
	type warm struct {
		key    string
		weight sample.Milli
	}
	var all []warm
	for id, t := range ts {
		if id.target != of || t.Subject.IsWhole() {
			continue
		}
		if l, seen := t.LoadAt(second); seen {
			all = append(all, warm{t.Subject.Key.Text, detect.Weight(l)})
		}
	}
	slices.SortFunc(all, func(x, y warm) int {
		return cmp.Or(cmp.Compare(y.weight, x.weight), strings.Compare(x.key, y.key))
	})
	var keys []string
	for _, w := range all[:min(3, len(all))] {
		keys = append(keys, wording.Quote(w.key))
	}
	return keys
}
