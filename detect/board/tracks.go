package board

import (
	"cmp"
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/internal/episode"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// DefaultKeys is the number of keys that a board follows if Options.Keys is 0. When it
// has half as many again, it evicts the least hot ones down to this number.
const DefaultKeys = 20_000

const (
	// targetShare is the part of the followed keys that one table or index may have.
	targetShare = 10
	// placedShare is the part of followed keys that keep their load's place among sort
	// keys: about 130 KB for a key hot for two minutes. Other keys have an unknown split
	// verdict.
	placedShare = 10
	// maxGrowing is the most keys of one table that are followed, far from a limit,
	// because their item collections grow under a local secondary index.
	maxGrowing = 16
)

// tracks are the keys that a board follows, and the tables and indexes.
type tracks struct {
	all map[trackID]*episode.Track
	// crowds count the keys of each table or index.
	crowds map[detect.Target]*crowd
	// placed is the number of keys with places at the last eviction.
	placed int
	// regions are the tracks of global tables' keys, by Region.
	regions map[detect.KeyRef]map[string]*episode.Track
	// growing holds the keys followed only for their growth.
	growing map[detect.Target]map[uint64]bool
}

func newTracks() *tracks {
	return &tracks{all: map[trackID]*episode.Track{}, crowds: map[detect.Target]*crowd{}, regions: map[detect.KeyRef]map[string]*episode.Track{}, growing: map[detect.Target]map[uint64]bool{}}
}

// trackID is a key of a table or index; the hash 0 is all of it.
type trackID struct {
	target detect.Target
	hash   uint64
}

// wholeID returns the id of a table or index as a whole.
func wholeID(t detect.Target) trackID { return trackID{target: t} }

func (ts *tracks) add(id trackID, key sample.Key) *episode.Track {
	t := episode.NewTrack(episode.Followed{Target: id.target, Hash: id.hash, Key: key})
	ts.all[id] = t
	if !t.Followed.IsWhole() {
		ts.crowd(id.target).tracked++
	}
	return t
}

// addGrowing adds a growing key if there is room, and reports whether it did.
func (ts *tracks) addGrowing(id trackID) bool {
	all := ts.growing[id.target]
	if len(all) >= maxGrowing {
		return false
	}
	if all == nil {
		all = map[uint64]bool{}
		ts.growing[id.target] = all
	}
	all[id.hash] = true
	return true
}

// drop no longer follows a key, or a table or index.
func (ts *tracks) drop(id trackID) {
	t := ts.all[id]
	delete(ts.all, id)
	if t.Followed.IsWhole() {
		return
	}
	if delete(ts.growing[id.target], id.hash); len(ts.growing[id.target]) == 0 {
		delete(ts.growing, id.target)
	}
	ts.leave(t)
	c := ts.crowds[id.target]
	if c.tracked--; c.tracked == 0 && c.recurring == nil {
		delete(ts.crowds, id.target)
	}
}

// follows reports whether a table or index is followed, or a key of it.
func (ts *tracks) follows(target detect.Target) bool {
	c := ts.crowds[target]
	return c != nil && c.tracked > 0 || ts.all[wholeID(target)] != nil
}

func (ts *tracks) crowd(target detect.Target) *crowd {
	c := ts.crowds[target]
	if c == nil {
		c = &crowd{}
		ts.crowds[target] = c
	}
	return c
}

// Recent returns the load of a finding's key in the seconds up to the newest one that the
// finding counts. It is nil if the finding is about no single key, and if no such second
// was seen. seed is the hash seed of the windows.
func (b *Board) Recent(f *detect.Finding, seed uint64) *detect.Recent {
	if !f.Subject.OfKey() {
		return nil
	}
	t := b.tracks.all[trackID{f.Target, sketch.Hash(f.Target, f.PartitionKey(), seed)}]
	if t == nil {
		return nil
	}
	return t.Recent(f.Subject, f.Through.Unix(), b.timeline)
}

// warmestKeys returns a target's warm keys in one second, the most loaded first.
func (ts *tracks) warmestKeys(target detect.Target, second int64) []sample.Text {
	type warm struct {
		key    sample.Text
		weight sample.Milli
	}
	var all []warm
	for id, t := range ts.all {
		if id.target != target || t.Followed.IsWhole() {
			continue
		}
		if l, seen := t.LoadAt(second); seen {
			all = append(all, warm{sample.Text(t.Followed.Key.Text), detect.Weight(l)})
		}
	}
	slices.SortFunc(all, func(x, y warm) int {
		return cmp.Or(cmp.Compare(y.weight, x.weight), cmp.Compare(x.key, y.key))
	})
	keys := make([]sample.Text, len(all))
	for i, w := range all {
		keys[i] = w.key
	}
	return keys
}
