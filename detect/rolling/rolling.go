package rolling

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/wording"
)

// timeFormat is a way of writing a time into a key.
type timeFormat struct {
	layout, period, placeholder string
}

// timeFormats are the ones found in the field, the finer ones first: an hour's name
// holds a day's.
var timeFormats = []timeFormat{
	{"2006-01-02T15", "hour", "<hour>"},
	{"2006-01-02-15", "hour", "<hour>"},
	{"2006-01-02 15", "hour", "<hour>"},
	{"2006-01-02#15", "hour", "<hour>"},
	{"2006010215", "hour", "<hour>"},
	{"2006-01-02", "day", "<date>"},
	{"2006/01/02", "day", "<date>"},
	{"2006.01.02", "day", "<date>"},
	{"20060102", "day", "<date>"},
}

// maxClockShift is how far a writer's clock may be from UTC: a key's date is the one
// where the writer is.
const maxClockShift = 14 * time.Hour

// Of returns the pattern of a key that is named after the time in which it was hot,
// so that its successor will be as hot; nil when it is not.
func Of(key string, at time.Time) *detect.Rolling {
	for _, n := range timeFormats {
		for shift := -maxClockShift; shift <= maxClockShift; shift += time.Hour {
			text := at.Add(shift).Format(n.layout)
			if i := strings.Index(key, text); i >= 0 && !digitAt(key, i-1) && !digitAt(key, i+len(text)) {
				return &detect.Rolling{Period: n.period, Template: key[:i] + n.placeholder + key[i+len(text):], Keys: []string{}}
			}
		}
	}
	return nil
}

func digitAt(s string, i int) bool { return i >= 0 && i < len(s) && s[i] >= '0' && s[i] <= '9' }

// keysKept is how many keys of a pattern are kept, keptSeconds for how many seconds
// after the last of them was hot, and maxPatterns how many patterns.
const (
	keysKept    = 8
	keptSeconds = 8 * 24 * 3600
	maxPatterns = 1000
)

// patternID is a key pattern of a table or index.
type patternID struct {
	target   detect.Target
	template string
}

// hotKeys are the newest hot keys of a pattern, by key.
type hotKeys map[string]detect.Finding

// adding returns the pattern's keys with one more hot key, or with more known of one:
// its worst figures, and open as long as any of its findings is.
func (r hotKeys) adding(f detect.Finding) hotKeys {
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
		f = worse
	}
	all[f.Key] = f
	if len(all) > keysKept {
		oldest := slices.MinFunc(slices.Collect(maps.Values(all)), byPeak)
		delete(all, oldest.Key)
	}
	return all
}

func byPeak(a, b detect.Finding) int {
	return cmp.Or(a.Peak.At.Compare(b.Peak.At), strings.Compare(a.Key, b.Key))
}

// finding returns that of the pattern; false as long as only one of its keys was hot.
func (r hotKeys) finding(template string, p detect.Policy) (detect.Finding, bool) {
	if len(r) < 2 {
		return detect.Finding{}, false
	}
	all := slices.SortedFunc(maps.Values(r), byPeak)
	worst, open := all[0], false
	keys := []string{}
	for _, f := range all {
		if f.Utilization > worst.Utilization {
			worst = f
		}
		open = open || f.State != detect.Resolved
		keys = append(keys, f.Key)
	}
	f := detect.NewRelated(&worst, detect.RollingHotKey, template)
	f.Severity, f.State = p.Cap(worst.Severity), detect.Resolved
	if open {
		f.State = detect.Pending
	}
	f.FirstSeen, f.LastSeen = all[0].FirstSeen, all[len(all)-1].LastSeen
	f.Rolling = &detect.Rolling{Period: worst.Rolling.Period, Template: template, Keys: keys}
	f.Reason, f.Why = detect.RollingKey, fmt.Sprintf("%d keys of the pattern %s were hot, each in its own %s, the last %s: the next %s's key will be hot, too.",
		len(keys), template, worst.Rolling.Period, wording.Quote(keys[len(keys)-1]), worst.Rolling.Period)
	f.Advice = slices.DeleteFunc(slices.Clone(worst.Advice), func(s detect.Step) bool {
		return s.Action != detect.ActionRename && s.Action != detect.ActionShard && s.Action != detect.ActionCapacity
	})
	return f, true
}

// Patterns are the hot keys named after a time, by their pattern.
type Patterns map[patternID]hotKeys

// Observe records the finding about a hot key, if it is named after a time.
func (p Patterns) Observe(f *detect.Finding) {
	if f.Rolling == nil || detect.Rank(f.Severity) < detect.Rank(detect.Warning) {
		return
	}
	id := patternID{f.Target, f.Rolling.Template}
	if len(p) < maxPatterns || p[id] != nil {
		p[id] = p[id].adding(*f)
	}
}

// Findings returns those of patterns, given those of keys.
func (p Patterns) Findings(found []detect.Finding, policy func(detect.Target) detect.Policy) (related []detect.Finding) {
	now := maps.Clone(p)
	for i := range found {
		if f := &found[i]; f.Rolling != nil && detect.Rank(f.Severity) >= detect.Rank(detect.Warning) {
			id := patternID{f.Target, f.Rolling.Template}
			now[id] = now[id].adding(*f)
		}
	}
	for id, keys := range now {
		if f, yes := keys.finding(id.template, policy(id.target)); yes {
			related = append(related, f)
		}
	}
	return related
}

// Evict drops patterns that have been cool for a long time.
func (p Patterns) Evict(settled int64) {
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

// Restore continues a pattern from its finding, with the figures of its worst key.
// Keys that are still hot are restored by themselves, and open the pattern.
func (p Patterns) Restore(f *detect.Finding) {
	if f.Rolling == nil {
		return
	}
	keys := hotKeys{}
	for _, key := range f.Rolling.Keys {
		worst := *f
		worst.Key, worst.State = key, detect.Resolved
		keys[key] = worst
	}
	p[patternID{f.Target, f.Rolling.Template}] = keys
}
