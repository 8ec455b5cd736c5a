package board

import (
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/detect/internal/episode"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// replicatedKey identifies a key of a global table, in whatever Region.
func replicatedKey(target detect.Target, key sample.Key) detect.KeyRef {
	target.Region = ""
	return detect.KeyRef{Target: target, Key: sample.Text(key.Text), KeyType: key.Type}
}

// isWrittenElsewhere reports whether another Region of the table follows this written
// key. Replicated writes load the key there, however few they are.
func (ts *tracks) isWrittenElsewhere(regions []string, target detect.Target, k *sketch.KeyLoad) bool {
	return len(regions) > 0 && !k.Cut && len(ts.regions[replicatedKey(target, k.Key)]) > 0
}

// replicate counts a second's writes of a key in every Region of its table that follows
// it. A Region that begins to follow the key takes over the other Regions' writes so far.
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
	id, region := replicatedKey(t.Followed.Target, t.Followed.Key), t.Followed.Target.Region
	if ts.regions[id][region] != t {
		return
	}
	if delete(ts.regions[id], region); len(ts.regions[id]) == 0 {
		delete(ts.regions, id)
	}
}

// patternCases are the cases of related findings about a load of several keys, of writes
// or reads.
var patternCases = []detect.Case{casebook.TooFewShards, casebook.TooManyShards, casebook.UnevenShards, casebook.FewValues}

// addReplication adds replication to findings about several keys of a global table: each
// Region writes the other Regions' writes too.
func (b *Board) addReplication(found []detect.Finding) {
	for i := range found {
		f := &found[i]
		writes := f.Peak.WCU.Value/detect.Units(detect.PartitionWrite) >= f.Peak.RCU.Value/detect.Units(detect.PartitionRead)
		if regions := b.options.Facts(f.Target).Regions(f.Region); writes && len(regions) > 0 && slices.Contains(patternCases, f.Case) {
			f.Replication = &detect.Replication{Regions: regions}
		}
	}
}

// nameWriters gives the findings about a key whose writes mostly come from other Regions the
// Region that writes most, and its callers: nobody in the own Region can write less.
func nameWriters(found []detect.Finding) {
	own := func(f *detect.Finding) float64 { return f.OwnShare() * f.Peak.WCU.Value }
	for i := range found {
		f := &found[i]
		if f.Subject != detect.KeyWrites || !f.WrittenElsewhere() {
			continue
		}
		written := replicatedKey(f.Target, sample.Key{Text: string(f.Key), Type: f.KeyType})
		var writer *detect.Finding
		for j := range found {
			other := &found[j]
			if other.Subject == f.Subject && replicatedKey(other.Target, sample.Key{Text: string(other.Key), Type: other.KeyType}) == written && other.Region != f.Region &&
				slices.Contains(f.Replication.Regions, other.Region) && (writer == nil || own(other) > own(writer)) {
				writer = other
			}
		}
		if writer != nil && writer.Evidence != nil {
			f.Replication.Writer, f.Replication.Callers = writer.Region, writer.Evidence.Callers
		}
	}
}
