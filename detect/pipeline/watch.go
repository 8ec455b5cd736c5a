package pipeline

import (
	"cmp"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/sample"
)

// Watch follows the pipeline from look to look, and keeps its findings.
type Watch struct {
	thresholds Thresholds `checkpoint:"-"`
	// since is the start of looks without a break, last the last look.
	since, last time.Time
	// changed holds, by case, the condition of a finding and the time of its last change.
	changed map[detect.Case]change
	// unread holds, by name, since when looks agree that something is not read.
	unread map[string]time.Time
	found  map[subject]detect.Finding
	// back holds, by table, the newest sample when samples were first seen to come again.
	back map[detect.Target]time.Time
}

// subject is what a finding is about. Only SamplesStopped has a table.
type subject struct {
	detect.Case
	detect.Target
}

func subjectOf(f *detect.Finding) subject { return subject{f.Case, f.Target} }

// change is the time since when a condition holds, or does not.
type change struct {
	holds bool
	since time.Time
}

// NewWatch returns a watch without findings.
func NewWatch(t Thresholds) *Watch {
	return &Watch{thresholds: t, changed: make(map[detect.Case]change), found: make(map[subject]detect.Finding), back: make(map[detect.Target]time.Time)}
}

// Restore continues a finding of a watch that is not remembered. It stays open until it is known
// to be over.
func (w *Watch) Restore(f *detect.Finding) { w.found[subjectOf(f)] = *f }

// Findings returns the open findings, and the recently resolved ones.
func (w *Watch) Findings() (all []detect.Finding) {
	for _, f := range w.found {
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b detect.Finding) int {
		return cmp.Or(cmp.Compare(slices.Index(casebook.Codes(), a.Case), slices.Index(casebook.Codes(), b.Case)), a.Target.Compare(b.Target))
	})
	return all
}

// isOpen reports whether a finding of a case about no table is open.
func (w *Watch) isOpen(k detect.Case) bool {
	f, has := w.found[subject{Case: k}]
	return has && f.State != detect.Resolved
}

// Look updates the findings by the pipeline's present status.
func (w *Watch) Look(s Status) {
	s.Now = s.Now.UTC().Truncate(time.Second)
	if w.last.IsZero() || s.Now.Sub(w.last) > blindAfter {
		w.since = s.Now
		clear(w.changed)
		w.unread = nil
		clear(w.back)
	}
	w.last = s.Now
	t := w.thresholds
	wanted := map[detect.Case]bool{
		casebook.CollectionStopped: t.Stopped > 0, casebook.CollectionLags: t.Lag > 0, casebook.BadSamples: t.BadShare > 0,
		casebook.TablesRefused: t.RefusedTables > 0, casebook.SamplesLost: t.Lost > 0,
		casebook.SamplesStopped: t.NoSamples > 0,
	}
	if wanted[casebook.CollectionStopped] {
		w.lookForCollectors(&s)
	}
	if wanted[casebook.CollectionLags] {
		w.lookForLag(&s)
	}
	if wanted[casebook.BadSamples] {
		most, known := s.badShare()
		w.weigh(&s, badSamplesFinding(&s, most), most >= t.BadShare, known)
	}
	if wanted[casebook.TablesRefused] {
		most, known := s.refusedTables()
		w.weigh(&s, refusedFinding(&s, most), most >= t.RefusedTables, known)
	}
	if wanted[casebook.SamplesLost] {
		gaps, first, last := s.lostGaps(t.Lost)
		w.set(&s, newFinding(casebook.SamplesLost, detect.Warning, detect.Blind{}, detect.FixCompareRetention), len(gaps) > 0, first, last)
	}
	if wanted[casebook.SamplesStopped] {
		w.lookForSamples(&s)
	}
	for of, f := range w.found {
		if !wanted[of.Case] && f.State != detect.Resolved {
			f.State = detect.Resolved
			w.found[of] = f
		}
		if f.State == detect.Resolved && s.Now.Sub(f.Through) > forgetAfter {
			delete(w.found, of)
		}
	}
}

// lookForCollectors checks whether a collector attends, one can read, and event time
// moves. The time before the watch began to look does not count.
func (w *Watch) lookForCollectors(s *Status) {
	t := w.thresholds
	if !s.Silent.IsZero() {
		began := laterTime(s.Silent, w.since)
		if s.Now.Sub(began) >= t.Stopped {
			w.set(s, newFinding(casebook.CollectionStopped, detect.Critical, detect.Blind{}, detect.FixStartCollector), true, s.Silent, s.Now)
		}
		return
	}
	if s.allFail() {
		failing := w.changed[casebook.CollectionStopped]
		if !failing.holds {
			failing = change{true, s.Now}
			w.changed[casebook.CollectionStopped] = failing
		}
		began := failing.since
		if !s.LastRead.IsZero() && s.Now.Sub(began) >= confirmTime {
			began = laterTime(s.LastRead, w.since)
		}
		if s.Now.Sub(began) >= t.Stopped {
			w.set(s, newFinding(casebook.CollectionStopped, detect.Critical, detect.Blind{}, detect.FixRestartCollectors), true, began, s.Now)
		}
		return
	}
	delete(w.changed, casebook.CollectionStopped)
	if since, stands := s.standstill(); stands && t.Standing > 0 && s.Now.Sub(since) >= t.Standing {
		if s.Now.Sub(laterTime(since, w.since)) >= t.Standing {
			w.set(s, newFinding(casebook.CollectionStopped, detect.Critical, detect.Blind{}, detect.FixRestartCollectors), true, since, s.Now)
		}
		return
	}
	if slices.ContainsFunc(s.Collectors, detect.Collector.Counts) { // else the state is unknown
		w.set(s, detect.Finding{Case: casebook.CollectionStopped}, false, s.Now, s.Now)
	}
}

// lookForLag checks whether each partition is read, and how far counting is behind. While
// nothing is read at all, collection has stopped, and its lag is unknown.
func (w *Watch) lookForLag(s *Status) {
	names, longest := w.findUnread(s)
	if s.allFail() || !s.Silent.IsZero() || len(s.Collectors) == 0 {
		w.weigh(s, detect.Finding{Case: casebook.CollectionLags}, false, false)
		return
	}
	if len(names) > 0 {
		w.changed[casebook.CollectionLags] = change{true, s.Now}
		w.set(s, lagFinding(s, longest, names), true, s.Now.Add(-longest), s.Now)
		return
	}
	behind := s.lag()
	w.weigh(s, lagFinding(s, behind, nil), behind >= w.thresholds.Lag, true)
}

// findUnread returns what has not been read for too long, and for how long at most.
func (w *Watch) findUnread(s *Status) (names []string, longest time.Duration) {
	agreed := make(map[string]time.Time)
	for _, u := range s.Unread {
		since, known := w.unread[u.Name]
		if !known {
			since = s.Now
		}
		agreed[u.Name] = since
		unread := s.Now.Sub(laterTime(u.Since, w.since))
		if w.thresholds.Stopped <= 0 || unread < w.thresholds.Stopped || s.Now.Sub(since) < confirmTime {
			continue
		}
		longest = max(longest, unread)
		if !slices.Contains(names, u.Name) {
			names = append(names, u.Name)
		}
	}
	w.unread = agreed
	return names, longest
}

// weigh opens or ends a finding once its condition has held, or not held, for holdTime.
func (w *Watch) weigh(s *Status, f detect.Finding, holds, known bool) {
	if !known {
		delete(w.changed, f.Case)
		return
	}
	c, seen := w.changed[f.Case]
	if !seen || c.holds != holds {
		c = change{holds, s.Now}
		w.changed[f.Case] = c
	}
	if s.Now.Sub(c.since) >= holdTime {
		w.set(s, f, holds, c.since, s.Now)
	}
}

// set opens or ends a finding at once; first is the start of its present condition. It
// renews an open finding every refreshInterval.
func (w *Watch) set(s *Status, f detect.Finding, holds bool, first, last time.Time) {
	first, last = first.UTC().Truncate(time.Second), last.UTC().Truncate(time.Second)
	of := subjectOf(&f)
	open, has := w.found[of]
	has = has && open.State != detect.Resolved
	switch {
	case !holds && has:
		// It was last written up to a refreshInterval ago, and held until now.
		open.State, open.LastSeen, open.Through = detect.Resolved, laterTime(open.LastSeen, first), s.Now
		w.found[of] = open
	case holds && has && last.Sub(open.LastSeen) < refreshInterval:
	case holds:
		if has {
			first = open.FirstSeen
		} else if over, ended := w.found[of]; ended && !first.After(over.LastSeen) {
			first = over.LastSeen.Add(time.Second) // another episode, though its condition began earlier
		}
		f.FirstSeen, f.LastSeen, f.Through = first, laterTime(first, last), laterTime(first, last)
		w.found[of] = f
	}
}

func laterTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// newFinding returns a finding about Keyheat itself.
func newFinding(k detect.Case, severity detect.Severity, b detect.Blind, fix detect.Fix) detect.Finding {
	return findingOf(detect.Target{}, k, severity, b, fix)
}

// findingOf returns a finding about what Keyheat sees of a table.
func findingOf(of detect.Target, k detect.Case, severity detect.Severity, b detect.Blind, fix detect.Fix) detect.Finding {
	f := casebook.NewFinding(k, of, sample.Key{})
	b.Names = append([]string{}, b.Names...)
	f.Severity, f.State, f.Blind, f.Advice = severity, detect.Firing, &b, []detect.Step{detect.NewStep(fix)}
	f.Shards = 1 // the report's least number
	return f
}
