package board

import (
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/advice"
	"github.com/keyheat/keyheat/detect/episode"
	"github.com/keyheat/keyheat/detect/rolling"
	"github.com/keyheat/keyheat/detect/wording"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// judge is the verdict on each of a track's kinds.
func (b *Board) judge(t *episode.Track) (found []detect.Finding) {
	c := b.conditions(t)
	for i, e := range t.Episodes(c) {
		r := c.Rules(t.Subject.Kinds()[i])
		switch {
		case e.Severity() == "" || r.Excludes(t.Subject.Key.Text):
		case t.Subject.IsWhole():
			found = append(found, b.tableFinding(t, &e, r))
		default:
			found = append(found, b.keyFinding(t, &e, r))
		}
	}
	return found
}

// hotKey words a key's episode.
func (b *Board) keyFinding(t *episode.Track, e *episode.Episode, r episode.Rules) detect.Finding {
	f := e.KeyFinding(t.Subject, r)
	f.Evidence = t.Evidence(e)
	f.Rolling = rolling.Of(f.Key, f.Peak.At)
	because := advice.Diagnose(&f, b.options.Facts(f.Table))
	f.Reason, f.Why = because.Reason, because.Why
	if limits := f.Quality.Sentence(); limits != "" {
		f.Why += " " + limits
	}
	f.Advice = b.adviser.Steps(&f, episode.FigureOf(r.Kind, e).Value, r.Policy)
	return f
}

// strained words an episode of a table as a whole.
func (b *Board) tableFinding(t *episode.Track, e *episode.Episode, rules episode.Rules) detect.Finding {
	f := e.Finding(t.Subject, rules)
	f.Share, f.Shards = 1, 1
	switch rules.Kind {
	case detect.HotPartition:
		f.Utilization = 1 // it refused: it was full
		f.Reason, f.Why = advice.WhyHotPartition(&e.Pressure, e.Over, b.warmest(t.Subject.Target, e.At))
	case detect.TableStarvation:
		f.Utilization = max(1, e.Pressure.Demand)
		f.Reason, f.Why = detect.Starved, advice.WhyStarved(&e.Pressure, e.Over, b.options.Facts(t.Subject.Target.Table), t.Subject.Target.Index)
	}
	if f.Evidence = e.Pressure.Evidence(e.Seconds); f.Evidence == nil {
		f.Evidence = e.RestoredEvidence
	}
	f.Advice = advice.ForTable(&f, &e.Pressure, sketch.Load{Read: e.Read.Value, Write: e.Write.Value})
	return f
}

// warmest are the keys of a table or index that had most in one second.
func (b *Board) warmest(of detect.Target, second int64) []string {
	type warm struct {
		key    string
		weight sample.Milli
	}
	var all []warm
	for id, t := range b.tracks {
		if id.target != of || t.Subject.IsWhole() {
			continue
		}
		if l, seen := t.LoadAt(second); seen {
			all = append(all, warm{t.Subject.Key.Text, detect.Weight(l)})
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
		keys = append(keys, wording.Quote(w.key))
	}
	return keys
}
