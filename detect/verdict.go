package detect

import (
	"slices"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// judge is the verdict on each of a track's kinds.
func (b *Board) judge(t *track) (found []Finding) {
	c := b.conditions(t)
	for i, e := range t.episodes(c) {
		r := c.rules(t.subject.kinds()[i])
		switch {
		case e.severity() == "" || r.excludes(t.subject.key.Text):
		case t.subject.whole():
			found = append(found, b.strained(t, &e, r))
		default:
			found = append(found, b.hotKey(t, &e, r))
		}
	}
	return found
}

// hotKey words a key's episode.
func (b *Board) hotKey(t *track, e *episode, r rules) Finding {
	f := e.keyFinding(t.subject, r)
	f.Evidence = t.evidence(e)
	f.Rolling = rolling(f.Key, f.Peak.At)
	because := heal(&f, b.options.Facts(f.Table))
	f.Reason, f.Why = because.reason, because.why+caveat(f.Seen)
	f.Advice = b.adviser.advice(&f, figureOf(r.kind, e).value, r.Policy)
	return f
}

// strained words an episode of a table as a whole.
func (b *Board) strained(t *track, e *episode, r rules) Finding {
	f := e.figures(t.subject, r)
	f.Share, f.Shards = 1, 1
	switch r.kind {
	case HotPartition:
		f.Utilization = 1 // it refused: it was full
		f.Reason, f.Why = whyHot(&e.strain, e.over, b.warmest(t.subject.target, e.at))
	case TableStarvation:
		f.Utilization = max(1, e.strain.over)
		f.Reason, f.Why = Starved, whyStarved(&e.strain, e.over, b.options.Facts(t.subject.target.Table), t.subject.target.Index)
	}
	if f.Evidence = e.strain.evidence(e.seconds); f.Evidence == nil {
		f.Evidence = e.toldEvidence
	}
	f.Advice = strainAdvice(&f, &e.strain, sketch.Load{Read: e.read.value, Write: e.write.value})
	return f
}

// warmest are the keys of a table or index that had most in one second.
func (b *Board) warmest(of Target, second int64) []string {
	type warm struct {
		key    string
		weight sample.Milli
	}
	var all []warm
	for id, t := range b.tracks {
		if id.target != of || t.subject.whole() {
			continue
		}
		if l, seen := t.at(second); seen {
			all = append(all, warm{t.subject.key.Text, weight(l)})
		}
	}
	slices.SortFunc(all, func(x, y warm) int {
		if x.weight != y.weight {
			return int(min(1, max(-1, y.weight-x.weight)))
		}
		if x.key < y.key {
			return -1
		}
		return 1
	})
	var keys []string
	for _, w := range all[:min(3, len(all))] {
		keys = append(keys, quoted(w.key))
	}
	return keys
}
