package detect

import (
	"math"

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
			b.restoreRolled(f)
		}
		if !f.Kind.ofKey() && !f.Kind.ofTable() {
			b.said[f.Fingerprint] = told{Finding: *f}
			continue
		}
		key := sample.Key{Type: f.KeyType, Text: f.Key}
		hash := uint64(0) // of a table as a whole
		if f.Kind.ofKey() {
			hash = sketch.Hash(f.Table, f.Index, key, seed)
		}
		id := trackID{f.Table, f.Index, hash}
		t := b.tracks[id]
		if t == nil {
			t = &track{target: target{f.Table, f.Index, hash, key}, past: map[Kind]*episode{}}
			b.tracks[id] = t
		}
		t.past[f.Kind] = restored(f)
	}
}

// restored is the episode that made the finding.
func restored(f *Finding) *episode {
	e := &episode{
		state: f.State, seconds: f.Seconds, through: f.Through.Unix(),
		write: figureFrom(f.Peak.WCU), read: figureFrom(f.Peak.RCU), at: f.Peak.At.Unix(),
		consumed: sketch.Load{Read: milli(f.Consumed.RCU), Write: milli(f.Consumed.WCU)},
		sum:      f.sum(Figure.value), sumLow: f.sum(Figure.low), sumHigh: f.sum(Figure.high),
		over: f.OverSeconds, possible: f.PossibleSeconds, saturated: f.SaturatedSeconds,
		isSaturated: f.Severity == Critical && f.OverSeconds == 0,
		warned:      rank(f.Severity) >= rank(Warning), combined: f.Combined, toldEvidence: f.Evidence,
		first: f.FirstSeen.Unix(), last: f.LastSeen.Unix(),
	}
	e.hot[0] = e.last
	switch f.Seen {
	case SeenChanges:
		e.asked, e.changes = 1, 1
	case SeenBoth:
		e.asked, e.changes = 2, 1
	}
	if f.Share > 0 {
		e.sumTable = sketch.Load{
			Read:  sample.Milli(float64(e.sum.Read) / f.Share),
			Write: sample.Milli(float64(e.sum.Write) / f.Share),
		}
	}
	return e
}

// restoreRolled takes up what is known of a pattern's keys: the worst of them.
// Those that are still hot are restored by themselves, and open the pattern.
func (b *Board) restoreRolled(f *Finding) {
	if f.Rolling == nil {
		return
	}
	keys := rolled{}
	for _, key := range f.Rolling.Keys {
		worst := *f
		worst.Key, worst.State = key, Resolved
		keys[key] = worst
	}
	b.rolled[rolledID{f.Table, f.Index, f.Rolling.Template}] = keys
}

// sum is the mean times the seconds it was taken over.
func (f *Finding) sum(part func(Figure) float64) sketch.Load {
	n := float64(f.Seconds)
	return sketch.Load{Read: milli(part(f.Mean.RCU) * n), Write: milli(part(f.Mean.WCU) * n)}
}

func (f Figure) value() float64 { return f.Value }
func (f Figure) low() float64   { return f.Low }
func (f Figure) high() float64  { return f.High }

func figureFrom(f Figure) figure {
	return figure{milli(f.Value), milli(f.Low), milli(f.High)}
}

// milli is the inverse of units.
func milli(u float64) sample.Milli { return sample.Milli(math.Round(u * 1000)) }
