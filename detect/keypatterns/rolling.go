package keypatterns

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/sample"
)

// A pattern keeps keysKept keys, until keptSeconds after the last of them was hot. At
// most maxPatterns patterns are kept.
const (
	keysKept    = 8
	keptSeconds = 8 * 24 * 3600
	maxPatterns = 1000
	maxSpans    = 10_000 // of a pattern's seconds over a limit
)

type patternID struct {
	target   detect.Target
	template sample.Text
}

// hotKeys are the newest hot keys of a pattern, by key.
type hotKeys map[sample.Text]detect.Finding

// addKey returns the pattern's keys with one more hot key. Two findings about one key
// become one, with the worse figures, open as long as either of them is.
func (r hotKeys) addKey(f detect.Finding) hotKeys {
	all := make(hotKeys, len(r)+1)
	maps.Copy(all, r)
	if known, seen := all[f.Key]; seen {
		worse, other := f, known
		if known.Utilization > f.Utilization {
			worse, other = known, f
		}
		if worse.State == detect.Resolved {
			worse.State = other.State
		}
		if worse.LastSeen.Before(other.LastSeen) {
			worse.LastSeen = other.LastSeen
		}
		worse.FirstSeen = earlierTime(known.FirstSeen, f.FirstSeen)
		worse.OverSeconds, worse.OverIn = detect.AnyOver([]*detect.Finding{&known, &f})
		f = worse
	}
	all[f.Key] = f
	if len(all) > keysKept {
		inOrder := slices.SortedFunc(maps.Values(all), comparePeaks)
		delete(all, inOrder[0].Key)
		all[inOrder[1].Key] = continueFrom(inOrder[1], inOrder[0])
	}
	return all
}

// continueFrom returns the finding about the oldest key that is kept. It takes over the
// earliest hot time and the seconds over a limit of the dropped key.
func continueFrom(f, before detect.Finding) detect.Finding {
	f.FirstSeen = earlierTime(f.FirstSeen, before.FirstSeen)
	if f.OverSeconds, f.OverIn = detect.AnyOver([]*detect.Finding{&before, &f}); len(f.OverIn) > maxSpans {
		f.OverSeconds, f.OverIn = nil, nil // unknown
	}
	return f
}

func earlierTime(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func comparePeaks(a, b detect.Finding) int {
	return cmp.Or(a.Peak.At.Compare(b.Peak.At), cmp.Compare(a.Key, b.Key))
}

// finding returns the pattern's finding. It reports false as long as only one key was
// hot.
func (r hotKeys) finding(template sample.Text, p detect.Policy) (detect.Finding, bool) {
	if len(r) < 2 {
		return detect.Finding{}, false
	}
	all := slices.SortedFunc(maps.Values(r), comparePeaks)
	worst, open, firing := all[0], false, false
	period := worst.Rolling.Period
	keys, members := []sample.Text{}, []*detect.Finding{}
	for i, f := range all {
		members = append(members, &all[i])
		if i > 0 && f.FirstSeen.Sub(all[i-1].LastSeen) < detect.FireOf*time.Second {
			firing = true // each key may be hot too briefly to fire
		}
		period = finerPeriod(period, f.Rolling.Period)
		if f.Utilization > worst.Utilization || f.Utilization == worst.Utilization && f.Seconds > worst.Seconds {
			worst = f // of equal keys, the one known for longest
		}
		open = open || f.State != detect.Resolved
		keys = append(keys, f.Key)
	}
	f := casebook.NewRelated(&worst, casebook.TimeKey, template)
	f.Severity, f.State = p.Cap(worst.Severity), detect.Resolved
	if open {
		f.State = detect.Pending
		if firing && f.Severity != detect.Info {
			f.State = detect.Firing
		}
	}
	f.OverSeconds, f.OverIn = detect.AnyOver(members)
	f.Throttling = detect.JoinThrottling(members)
	f.FirstSeen, f.LastSeen = all[0].FirstSeen, all[len(all)-1].LastSeen
	f.Rolling = &detect.Rolling{Period: period, Template: template, Keys: keys}
	f.Ground = detect.GroundPeriod
	f.Advice = slices.DeleteFunc(slices.Clone(worst.Advice), func(s detect.Step) bool {
		return s.Action != detect.ActionRename && s.Action != detect.ActionShard && s.Action != detect.ActionMigrate && s.Action != detect.ActionCapacity && !shrinksItems(s)
	})
	return f, true
}

// shrinksItems reports whether a step makes items smaller and leaves the keys as they
// are.
func shrinksItems(s detect.Step) bool {
	return s.Action == detect.ActionVertical || s.Action == detect.ActionCompress || s.Action == detect.ActionObject
}

// Rolling keeps the hot keys named after a time, by pattern.
type Rolling map[patternID]hotKeys

// Observe records the finding about a hot key, if it is named after a time.
func (p Rolling) Observe(f *detect.Finding) {
	if f.Rolling == nil || detect.Rank(f.Severity) < detect.Rank(detect.Warning) {
		return
	}
	id := patternID{f.Target, f.Rolling.Template}
	if len(p) < maxPatterns || p[id] != nil {
		p[id] = p[id].addKey(*f)
	}
}

// Findings returns the findings about patterns, given the findings about keys.
func (p Rolling) Findings(found []detect.Finding, policy func(detect.Target) detect.Policy) (related []detect.Finding) {
	now := maps.Clone(p)
	for i := range found {
		now.Observe(&found[i])
	}
	for id, keys := range now {
		if f, ok := keys.finding(id.template, policy(id.target)); ok {
			related = append(related, f)
		}
	}
	return related
}

// Evict drops the patterns that were last hot keptSeconds before settled, a Unix time, or
// earlier.
func (p Rolling) Evict(settled int64) {
	for id, keys := range p {
		newest := int64(0)
		for _, f := range keys {
			newest = max(newest, f.LastSeen.Unix())
		}
		if newest+keptSeconds < settled {
			delete(p, id)
		}
	}
}

// Select returns the patterns of a table or index.
func (p Rolling) Select(target detect.Target) Rolling {
	own := Rolling{}
	for id, keys := range p {
		if id.target == target {
			own[id] = keys
		}
	}
	return own
}
