package board

import (
	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sketch"
)

// Restore continues the findings that another judge left. seed is the hash seed of
// the windows to come. Seconds that a finding already counts only raise its peaks
// when they are observed again.
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
		id, key := wholeID(f.Target), f.PartitionKey()
		if f.Kind.OfKey() {
			id.hash = sketch.Hash(f.Target, key, seed)
		}
		t := b.tracks.all[id]
		if t == nil {
			t = b.tracks.add(id, key)
		}
		t.Restore(f)
	}
}
