package board

import (
	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/episode"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// Restore takes up findings that another judge left; seed is the hash seed of
// the windows to come. Seconds that a finding already knows only raise its
// peaks when they are observed again.
func (b *Board) Restore(findings []detect.Finding, seed uint64) {
	for i := range findings {
		f := &findings[i]
		if f.Kind == detect.RollingHotKey {
			b.patterns.Restore(f)
		}
		if !f.Kind.OfKey() && !f.Kind.OfTable() {
			b.related.restore(f)
			continue
		}
		key := sample.Key{Type: f.KeyType, Text: f.Key}
		hash := uint64(0) // of a table as a whole
		if f.Kind.OfKey() {
			hash = sketch.Hash(f.Table, f.Index, key, seed)
		}
		id := trackID{f.Target, hash}
		t := b.tracks[id]
		if t == nil {
			t = episode.NewTrack(episode.Subject{Target: f.Target, Hash: hash, Key: key})
			b.tracks[id] = t
		}
		t.Past[f.Kind] = episode.Restore(f)
	}
}
