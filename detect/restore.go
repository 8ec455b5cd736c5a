package detect

import (
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// Restore takes up findings that another judge left; seed is the hash seed of
// the windows to come. Seconds that a finding already knows only raise its
// peaks when they are observed again.
func (b *Board) Restore(findings []Finding, seed uint64) {
	for i := range findings {
		f := &findings[i]
		if f.Kind == RollingHotKey {
			b.rolled.restore(f)
		}
		if !f.Kind.ofKey() && !f.Kind.ofTable() {
			b.related.restore(f)
			continue
		}
		key := sample.Key{Type: f.KeyType, Text: f.Key}
		hash := uint64(0) // of a table as a whole
		if f.Kind.ofKey() {
			hash = sketch.Hash(f.Table, f.Index, key, seed)
		}
		id := trackID{f.target(), hash}
		t := b.tracks[id]
		if t == nil {
			t = newTrack(subject{f.target(), hash, key})
			b.tracks[id] = t
		}
		t.past[f.Kind] = restored(f)
	}
}
