package fold

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/keydesign"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

const (
	// viewSettled is how many seconds of an hour must be seen before its view
	// takes the place of the one of the hour before.
	viewSettled = 600
)

// Views describe tables' keys in each hour of event time, or in all of it.
type Views struct {
	span    int64 // seconds of an hour, or of all time
	most    int   // tables and indexes of an hour; 0 for no bound
	policy  func(detect.Target) detect.Policy
	open    iter.Seq[sample.Target] // with findings that are not resolved
	hours   map[int64]*hourView     // by the hour's beginning
	newest  int64                   // second
	dirty   time.Time               // the database's time at the first second not written
	written bool
	// kept are the times of the previous judge's stored views: a new judge does not
	// overwrite an hour with its first minutes.
	kept map[sample.Target]span
	// shown are the verdicts of the stored views.
	shown map[sample.Target]shownDesign
	// again is when a view was last held back, to be looked at again; zero for none.
	again time.Time
}

// shownDesign is the verdict of a stored view. changed is the database's time at which the
// evidence first gave another one; zero while it does not.
type shownDesign struct {
	detect.DesignVerdict
	detect.DesignRule
	changed time.Time
}

// span are seconds, to exclusive.
type span struct{ from, to int64 }

// hourView is the count of an hour. When the next one begins its views replace its
// census; they take a tenth of the memory.
type hourView struct {
	census *keydesign.Census // nil once the hour is over
	views  map[sample.Target]*detect.View
	totals map[sample.Target]*total
	first  int64 // second that was observed
	full   bool  // there was no room for some table or index
	// known keep their places, at most as many as there are. new is the number of others.
	known map[sample.Target]bool
	new   int
}

// NewViews returns no views, with room for so many tables and indexes, 0 for any number,
// whose keys are judged by a policy. The open ones keep their places when they are many.
func NewViews(most int, policy func(detect.Target) detect.Policy, open iter.Seq[sample.Target]) *Views {
	return &Views{
		span: 3600, most: most, policy: policy, open: open,
		hours: make(map[int64]*hourView), kept: make(map[sample.Target]span), shown: make(map[sample.Target]shownDesign),
	}
}

// NewViewsOfAll returns no views, of all time together.
func NewViewsOfAll(policy func(detect.Target) detect.Policy) *Views {
	v := NewViews(0, policy, nil)
	v.span = math.MaxInt64
	return v
}

// hourOf returns the beginning of a second's hour.
func (v *Views) hourOf(second int64) int64 { return second - second%v.span }

// hour returns the hour of a second; nil when it is past.
func (v *Views) hour(second int64) *hourView {
	hour := v.hourOf(second)
	h := v.hours[hour]
	if h == nil {
		if hour < v.hourOf(v.newest) {
			return nil
		}
		h = &hourView{census: keydesign.NewCensus(), totals: make(map[sample.Target]*total), first: math.MaxInt64, known: v.chooseKnown(hour)}
		v.hours[hour] = h
	}
	return h
}

// Observe counts a second that closes, before it is trimmed. One that closes
// again, for late samples or after a write that failed, is counted already. One that closes
// first when its hour is over is in findings and roll-ups, and not in the hour's view nor
// the view's totals.
func (v *Views) Observe(at Instant, o *OpenWindow, now time.Time) {
	h := v.hour(at.Second)
	if h == nil || h.census == nil || o.reopened || o.viewed {
		return
	}
	o.viewed = true
	v.advance(at.Second)
	if !v.hasRoom(h, at.Target) {
		h.full = true
		return
	}
	h.census.Observe(&o.Window)
	h.add(at.Target, &o.Window)
	h.first = min(h.first, at.Second)
	if v.dirty.IsZero() {
		v.dirty = now
	}
	for hour, old := range v.hours {
		if old != v.shownHour() && hour < v.hourOf(v.newest) {
			delete(v.hours, hour)
		}
	}
}

// advance takes a second for the newest, and ends the hours before it.
func (v *Views) advance(second int64) {
	if second <= v.newest {
		return
	}
	v.newest = second
	for hour, h := range v.hours {
		if hour < v.hourOf(second) && h.census != nil {
			h.views = make(map[sample.Target]*detect.View, len(h.totals))
			for of := range h.totals {
				h.views[of] = h.census.View(of, v.policy(of))
			}
			h.census = nil
		}
	}
}

// view returns the view of a target's keys, as the caller's own.
func (v *Views) view(h *hourView, of sample.Target) *detect.View {
	if h.census != nil {
		return h.census.View(of, v.policy(of))
	}
	if ended := h.views[of]; ended != nil {
		return new(*ended)
	}
	return nil
}

// chooseKnown returns the tables and indexes that keep their places in an hour that begins: those with
// findings, then those of the hour before, then those with stored views, the newest first.
func (v *Views) chooseKnown(hour int64) map[sample.Target]bool {
	if v.most == 0 {
		return nil
	}
	all := slices.Collect(v.open)
	if before := v.hours[hour-v.span]; before != nil {
		all = slices.AppendSeq(all, maps.Keys(before.totals))
	}
	all = append(all, slices.SortedFunc(maps.Keys(v.kept), func(a, b sample.Target) int {
		return cmp.Or(cmp.Compare(v.kept[b].to, v.kept[a].to), a.Compare(b))
	})...)
	known := make(map[sample.Target]bool)
	for _, of := range all {
		if len(known) < v.most {
			known[of] = true
		}
	}
	return known
}

// hasRoom reports whether an hour has, or can take, a table or index.
func (v *Views) hasRoom(h *hourView, of sample.Target) bool {
	return v.most == 0 || h.totals[of] != nil || h.known[of] || h.new < v.most-len(h.known)
}

// Full reports whether the newest hour had no room for some table or index, whose keys
// then have no view.
func (v *Views) Full() bool {
	h := v.hours[v.hourOf(v.newest)]
	return h != nil && h.full
}

// add counts a second to its target's totals.
func (h *hourView) add(at sample.Target, w *sketch.Window) {
	t := h.totals[at]
	if t == nil {
		t = &total{}
		if h.totals[at] = t; !h.known[at] {
			h.new++
		}
	}
	t.resolution = max(t.resolution, w.Span, 1)
	t.seconds += max(w.Span, 1)
	t.requests, t.refused = t.requests+w.Total.Requests, t.refused+w.Total.ThrottledRequests
	t.load, t.throttled = t.load.Plus(detect.PartOf(w.Total.Load, float64(max(w.Span, 1)))), t.throttled.Plus(detect.PartOf(w.Total.Throttled, float64(max(w.Span, 1))))
	t.unseen = detect.MaxLoad(t.unseen, w.Unseen)
}

// total is the load of a table or index in an hour, and the most of an unlisted key.
type total struct {
	seconds, requests, refused int64
	resolution                 int64 // in seconds
	load, throttled, unseen    sketch.Load
}

func (t *total) table(of sample.Target) detect.Table {
	served := detect.Sub(t.load, t.throttled)
	return detect.Table{
		Target: of, Seconds: t.seconds, Resolution: t.resolution, Requests: t.requests - t.refused, WCU: detect.Units(served.Write), RCU: detect.Units(served.Read),
		Throttled: detect.Throttled{Requests: t.refused, WCU: detect.Units(t.throttled.Write), RCU: detect.Units(t.throttled.Read)},
		Unseen:    detect.Unseen{WCU: detect.Units(t.unseen.Write), RCU: detect.Units(t.unseen.Read)},
	}
}

// Count adds registers of distinct keys.
func (v *Views) Count(r sketch.Registers) {
	if h := v.hour(r.Minute); h != nil && h.census != nil && v.hasRoom(h, r.Target) {
		h.census.Count(r)
	}
}

// Restore records the stored views and returns them. Keys of a view that is not settled may
// be merely the first of many: it is returned without it.
func (v *Views) Restore(rows []store.TargetDocument) (all []detect.Table) {
	for _, row := range rows {
		var stored detect.Table
		if err := json.Unmarshal(row.Document, &stored); err == nil && stored.View != nil {
			v.kept[row.Target] = span{stored.View.From.Unix(), stored.View.To.Unix()}
			v.show(row.Target, stored.View.Design)
			stored.Target = row.Target
			if stored.View.To.Sub(stored.View.From) < viewSettled*time.Second {
				stored.View = nil
			}
			all = append(all, stored)
		} // one that cannot be read is written anew
	}
	return all
}

// keeps reports whether the stored view of a target is better than h's: it is recent, and
// covers more time.
func (v *Views) keeps(at sample.Target, h *hourView) bool {
	stored, any := v.kept[at]
	seen := v.newest - h.first + 1
	return any && seen < min(viewSettled, stored.to-stored.from) && v.newest-stored.to < 3600
}

// Due reports whether it is time to write: at once when nothing was written yet,
// then after a while.
func (v *Views) Due(now time.Time, delay time.Duration) bool {
	return !v.dirty.IsZero() && (!v.written || now.Sub(v.dirty) >= delay.Truncate(time.Microsecond))
}

// MarkWritten records that the due views are stored. Views that were held back are due again.
func (v *Views) MarkWritten() {
	v.dirty, v.written = v.again, true
	v.again = time.Time{}
}

// shownHour returns the hour whose view is written: the newest, or for its first minutes
// the one before.
func (v *Views) shownHour() *hourView {
	hour := v.hourOf(v.newest)
	now, before := v.hours[hour], v.hours[hour-v.span]
	if before != nil && (now == nil || v.newest-now.first < viewSettled) {
		return before
	}
	return now
}

// Tables returns the due views of each target's keys, ordered by target; nil ones of targets
// without a request of a known key.
func (v *Views) Tables() []detect.Table {
	h := v.shownHour()
	if h == nil {
		return nil
	}
	var all []detect.Table
	for at, total := range h.totals {
		if v.keeps(at, h) {
			continue
		}
		table := total.table(at)
		table.View = v.view(h, at)
		all = append(all, table)
	}
	slices.SortFunc(all, func(a, b detect.Table) int {
		return a.Target.Compare(b.Target)
	})
	return all
}

// designDelay is how long the evidence must give another verdict on a key design before the
// stored view is replaced. A verdict and its figures always come from one view.
const designDelay = time.Minute

// Holds reports whether the stored view of a table stays for now, because the evidence of a
// new one changes the verdict on the key design for less than [designDelay].
func (v *Views) Holds(t *detect.Table, now time.Time) bool {
	design := &t.View.Design
	if design.Verdict != detect.DesignUnjudged && t.View.To.Sub(t.View.From) < detect.CeilingSeconds*time.Second {
		*design = detect.Design{Verdict: detect.DesignUnjudged, Rule: detect.RuleYoung}
	}
	shown, known := v.shown[t.Target]
	same := shown.DesignVerdict == design.Verdict && shown.DesignRule == design.Rule
	if !known || same || shown.DesignVerdict == detect.DesignUnjudged || !shown.changed.IsZero() && now.Sub(shown.changed) >= designDelay {
		v.show(t.Target, *design)
		return false
	}
	if shown.changed.IsZero() {
		shown.changed = now
		v.shown[t.Target] = shown
	}
	v.again = now
	return true
}

// show records the verdict of a view that is stored.
func (v *Views) show(of sample.Target, d detect.Design) {
	if len(v.shown) > maxTargets {
		clear(v.shown)
	}
	v.shown[of] = shownDesign{DesignVerdict: d.Verdict, DesignRule: d.Rule}
}

// IsSettled reports whether the hour that is shown was seen for so long that its
// keys are not merely the first of many.
func (v *Views) IsSettled() bool {
	h := v.shownHour()
	return h != nil && v.newest-h.first >= viewSettled
}

// Rows returns tables in the store's form.
func (v *Views) Rows(tables []detect.Table) ([]store.TargetDocument, error) {
	rows := make([]store.TargetDocument, len(tables))
	for i, t := range tables {
		document, err := json.Marshal(t)
		if err != nil {
			return nil, fmt.Errorf("write the view of %s: %w", t.Name(), err)
		}
		rows[i] = store.TargetDocument{Target: t.Target, Document: document}
	}
	return rows, nil
}
