package analyze

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/internal/judge/fold"
	"github.com/keyheat/keyheat/internal/judge/verdict"
)

// judgement is what the reporter's judge says of seconds, once no more come.
type judgement struct {
	findings []detect.Finding
	doubts   []detect.Doubt
	tables   []detect.Table // the most requested first
}

// judgedKeys is about how many keys the seconds list that are judged together.
const judgedKeys = 1 << 16

// judge has the reporter's judge watch every second, in the order of time. The views count each,
// and must not have counted any before.
func (s *sketches) judge(o board.Options, views *fold.Views) (*judgement, error) {
	s.seal()
	if err := s.windows.PackAll(); err != nil { // the judge trims what it sees
		return nil, err
	}
	j := &judge{watch: verdict.NewWatch(o, views), newest: map[string]detect.Finding{}, doubts: map[side]detect.Doubt{}}
	next, last := map[fold.Instant]*fold.OpenWindow{}, int64(0)
	for w := range s.all() {
		if w.Second > last && j.watch.Windows.Keys > judgedKeys {
			j.observe(last)
		}
		last = w.Second
		clear(next)
		next[fold.Instant{Target: w.Target, Second: w.Second}] = &fold.OpenWindow{Window: *w}
		j.watch.Windows.Reopen(next)
	}
	if last == 0 {
		return &judgement{}, nil
	}
	j.observe(last)
	return j.end(), nil
}

// judge collects what a watch records.
type judge struct {
	watch *verdict.Watch
	// newest are the findings by fingerprint: the newest of each, or an earlier one if that was
	// more severe. doubts are the largest of each key.
	newest map[string]detect.Finding
	doubts map[side]detect.Doubt
}

// side is the writes or reads of a key.
type side struct {
	detect.KeyRef
	unit string
}

// observe judges the open seconds, and lets time pass to the last of them.
func (j *judge) observe(last int64) {
	h, now := fold.Horizon{Complete: last + 1, Over: last + 1}, time.Unix(last+1, 0)
	closing := j.watch.Windows.Oldest()
	for left, done := closing, false; !done; {
		left, done = j.watch.Observe(left, h, now)
		j.take()
	}
	j.watch.Windows.Close(closing)
	for _, d := range j.watch.Doubts() {
		if of := (side{d.KeyRef, d.Unit}); d.Most > j.doubts[of].Most {
			j.doubts[of] = d
		}
	}
}

// take takes over the recorded findings, and returns them.
func (j *judge) take() []detect.Finding {
	all := j.watch.Take()
	for i := range all {
		f := &all[i]
		before := j.newest[f.Fingerprint]
		isNext := before.State == detect.Resolved && f.FirstSeen.After(before.LastSeen)
		if !isNext || detect.Rank(f.Severity) >= detect.Rank(before.Severity) {
			j.newest[f.Fingerprint] = *f
		}
	}
	return all
}

// end judges what is open as it stands.
func (j *judge) end() *judgement {
	r := &judgement{tables: j.watch.End()}
	present := make(map[string]bool)
	for _, f := range j.take() {
		present[f.Fingerprint] = true
	}
	for fingerprint, f := range j.newest {
		if !present[fingerprint] {
			f.State = detect.Resolved
		}
		if f.Severity == detect.Critical || f.SecondsOver() > 0 { // it is proven
			delete(j.doubts, side{f.KeyRef, detect.Side(f.Subject, "wcu", "rcu")})
		}
		r.findings = append(r.findings, f)
	}
	r.doubts = slices.Collect(maps.Values(j.doubts))
	slices.SortFunc(r.findings, board.Compare)
	slices.SortFunc(r.doubts, func(x, y detect.Doubt) int {
		return cmp.Or(cmp.Compare(y.Most, x.Most), x.Target.Compare(y.Target), cmp.Compare(x.Key, y.Key), cmp.Compare(x.Unit, y.Unit))
	})
	slices.SortFunc(r.tables, func(x, y detect.Table) int {
		return cmp.Or(cmp.Compare(y.Requests, x.Requests), strings.Compare(x.Table, y.Table), strings.Compare(x.Index, y.Index), x.Target.Compare(y.Target))
	})
	return r
}
