package board

import (
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/internal/episode"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// replicated is a key of a global table, in whatever Region.
type replicated struct {
	target detect.Target
	key    sample.Key
}

func replicatedKey(of detect.Target, key sample.Key) replicated {
	of.Region = ""
	return replicated{of, key}
}

// inOther reports whether a key that is written is followed in another Region of its
// table: what it has here loads it there, however little it is.
func (ts *tracks) inOther(regions []string, of detect.Target, k *sketch.KeyLoad) bool {
	return len(regions) > 0 && !k.Cut && len(ts.regions[replicatedKey(of, k.Key)]) > 0
}

// replicate counts a second's writes of a key in all Regions of its table that follow
// it. A Region that begins to follow it takes what the others had so far.
func (ts *tracks) replicate(regions []string, t *episode.Track, w *sketch.Window, k *sketch.KeyLoad, batch sampling.Batch, oldest int64) {
	id := replicatedKey(w.Target, k.Key)
	all := ts.regions[id]
	if all == nil {
		all = map[string]*episode.Track{}
		ts.regions[id] = all
	}
	begins := all[w.Region] != t
	all[w.Region] = t
	for region, other := range all {
		if region == w.Region || !slices.Contains(regions, region) {
			continue
		}
		other.Replicate(w.Region, w, k, batch, oldest)
		if begins {
			t.ReplicateAll(region, other, oldest)
		}
	}
}

// leave no longer follows a key in its Region.
func (ts *tracks) leave(t *episode.Track) {
	id, region := replicatedKey(t.Subject.Target, t.Subject.Key), t.Subject.Target.Region
	if ts.regions[id][region] != t {
		return
	}
	if delete(ts.regions[id], region); len(ts.regions[id]) == 0 {
		delete(ts.regions, id)
	}
}

// ofWrites are the kinds of related findings that are about a load, of writes or reads.
var ofWrites = []detect.Kind{detect.TooFewShards, detect.TooManyShards, detect.UnevenShards, detect.LowCardinalityKey}

// replicates tells of findings about several keys, where their writes are those of a
// global table, which its Regions are.
func (b *Board) replicates(found []detect.Finding) {
	for i := range found {
		f := &found[i]
		writes := f.Peak.WCU.Value/detect.Units(detect.PartitionWrite) >= f.Peak.RCU.Value/detect.Units(detect.PartitionRead)
		if regions := b.options.Facts(f.Target).Regions(f.Region); writes && len(regions) > 0 && slices.Contains(ofWrites, f.Kind) {
			f.Replication = &detect.Replication{Regions: regions}
		}
	}
}
