package pipeline

import (
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
)

// Table is the samples of a table with its indexes. The table without a name stands for all
// tables together.
type Table struct {
	detect.Target
	// Last is the newest second with a sample.
	Last time.Time
	// Pause is the longest time without a sample in the hour before Last, in which every
	// minute had one. It is zero if some minute had none: then no silence is unusual.
	Pause time.Duration
	// QuietUntil is the end of the newest time in which the operator lets the table be
	// quiet; zero for none.
	QuietUntil time.Time
}

const (
	// usualPauses times a table's longest pause is no unusual silence.
	usualPauses = 3
	// freshFor is the age of the newest sample up to which samples arrive at present.
	freshFor = 30 * time.Second
)

// silence returns how long a table has had no sample in counted time, without the time in
// which it may have none.
func (s *Status) silence(t *Table) time.Duration {
	since := laterTime(t.Last, t.QuietUntil)
	for _, g := range s.Gaps { // samples of this time may be lost
		if g.Since.Before(s.Counted) && g.Until.After(since) {
			since = g.Until
		}
	}
	return s.Counted.Sub(since)
}

// seesSamples reports whether a missing sample would be seen: a collector can read, and what
// it read is counted.
func (s *Status) seesSamples() bool {
	return s.Silent.IsZero() && !s.Counted.IsZero() && slices.ContainsFunc(s.Collectors, detect.Collector.Counts)
}

// lookForSamples opens a finding for each table whose samples have stopped, or one for all
// tables together, and ends it once samples have come again for holdTime.
func (w *Watch) lookForSamples(s *Status) {
	if !s.seesSamples() || w.isOpen(casebook.CollectionStopped) {
		return // there is a finding about that
	}
	var all *Table
	known := make(map[detect.Target]bool, len(s.Tables))
	for i := range s.Tables {
		t := &s.Tables[i]
		if known[t.Target] = true; t.Table == "" {
			all = t
		}
	}
	allStopped := all != nil && w.hasStopped(s, all)
	// Tables that stop together are told together.
	someArrive := all != nil && s.Counted.Sub(all.Last) < freshFor
	for i := range s.Tables {
		t := &s.Tables[i]
		stopped := t == all && allStopped || t != all && someArrive && w.hasStopped(s, t)
		w.followSamples(s, t, stopped)
	}
	for of, f := range w.found { // what is no longer stored is no evidence
		if of.Case == casebook.SamplesStopped && !known[of.Target] && f.State != detect.Resolved {
			w.endSamples(s, of)
		}
	}
}

func (w *Watch) hasStopped(s *Status, t *Table) bool {
	return t.Pause > 0 && s.silence(t) >= max(w.thresholds.NoSamples, usualPauses*t.Pause)
}

// followSamples opens or ends the finding about a table's samples.
func (w *Watch) followSamples(s *Status, t *Table, stopped bool) {
	of := subject{casebook.SamplesStopped, t.Target}
	if stopped {
		f := findingOf(t.Target, casebook.SamplesStopped, detect.Warning, detect.Blind{}, detect.FixCheckProducers)
		w.set(s, f, true, laterTime(t.Last, t.QuietUntil).Add(time.Second), s.Now)
	}
	f, has := w.found[of]
	if !has || f.State == detect.Resolved {
		return
	}
	silent := s.silence(t)
	back, comes := w.back[of.Target]
	switch {
	case t.QuietUntil.After(s.Counted):
		w.endSamples(s, of)
	case silent >= w.thresholds.NoSamples:
		delete(w.back, of.Target)
	case !comes:
		w.back[of.Target] = t.Last
	case t.Last.Sub(back) >= holdTime:
		w.endSamples(s, of)
	}
}

func (w *Watch) endSamples(s *Status, of subject) {
	delete(w.back, of.Target)
	f := w.found[of]
	w.set(s, f, false, s.Now, s.Now)
}
