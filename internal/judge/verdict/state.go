// Package verdict is the pure part of the judge. A State folds deltas, shows the closed
// seconds to detect's board, compares the board's findings with the stored ones, and
// returns all results as one value to write. It calls no store and reads no clock: the
// caller loads the rows that it asks for and passes the time.
//
// One pass is: Fold, Closing, Observe, then, with the rows of Unknown
// loaded, Compare, Tables, Pending, and MarkWritten once it is stored.
package verdict

import (
	"hash/maphash"
	"math"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/detect/partition"
	"github.com/keyheat/keyheat/detect/pipeline"
	"github.com/keyheat/keyheat/internal/incident/silence"
	"github.com/keyheat/keyheat/internal/judge/fold"
	"github.com/keyheat/keyheat/store"
)

// Options are how a State judges.
type Options struct {
	// Policy returns the policy of a table or index; detect's default for all
	// when nil.
	Policy func(detect.Target) detect.Policy
	// Facts returns an operator's facts about a table, nil for none. They take precedence
	// over stored facts. Nil for none at all.
	Facts func(detect.Target) *detect.TableFacts
	// Receivers returns the receivers of an incident. Without it nobody gets any, and only
	// the history shows them.
	Receivers func(i *detect.Incident) []string
	// Pipeline holds the thresholds from which Keyheat's own faults become findings; the
	// zero value makes none.
	Pipeline pipeline.Thresholds
	// PageWithin is the greatest age, by event time, of a finding's newest second at
	// which it is notified. Older findings are only recorded in the history.
	PageWithin time.Duration
	// ViewDelay is how long a view may stay unwritten.
	ViewDelay time.Duration
	// MaxKeys bounds the keys that all open seconds list.
	MaxKeys int
	// Keys bounds the keys that the board follows, Tables the tables and indexes whose
	// keys have a view; 0 for the board's default, and for no bound.
	Keys, Tables int
	// KeyBytes is about how many bytes the followed keys may take, 0 for no bound.
	KeyBytes int64
}

// State is the judge's memory between two passes, and everything that decides. It may be
// dropped at any time: its content is stored, or follows from deltas beyond the cursors.
type State struct {
	options Options
	// Windows and Minutes are the open ones, Views the tables' views.
	Windows *fold.Windows
	Minutes fold.Minutes
	Views   *fold.Views
	// Heat holds the roll-ups, Seen the seconds that were counted whole.
	Heat *fold.Heat
	Seen *fold.Seen
	// Newest is the newest second that was closed.
	Newest int64

	// late is how late tables' samples come, and complete up to where seconds were complete
	// at the end of the last pass.
	late     fold.Late
	complete int64
	// advanced is when complete changed last, by the clock.
	advanced time.Time
	board    *board.Board
	// Facts are the stored facts of tables.
	Facts detect.FactsByTable
	known known
	draft *draft
	// unresolved are the findings that are not resolved, and open the IDs of the incidents.
	unresolved unresolved
	open       map[string]bool
	// settled is the newest second up to which all load is known.
	settled int64
	// observations are the board's findings that are not in the draft yet.
	observations []observation
	// Gaps are the newest ones, the newest first.
	Gaps []store.Gap
	// Partitions are the maps of tables' partitions whose ranges are claimed without a doubt.
	Partitions map[detect.Target]*partition.Map
	// Silences are the active silences.
	Silences silence.Set
	// cloudWatch is CloudWatch's view; nil if it is not read.
	cloudWatch *cloudWatch
	// pipeline is Keyheat's own health.
	pipeline *pipeline.Watch
	// cursors are the stored ones.
	cursors map[string]int64
	// seed is the installation's hash seed.
	seed uint64
	// before are the deltas that the judge before has folded, and clock is how far its board had
	// come, nil if there is no checkpoint. replays has the second from which each table and index
	// is observed again.
	before  map[string]int64
	clock   *board.Clock
	replays map[detect.Target]time.Time
	// written is the stored checkpoint of each table and index, and phases spreads their times.
	written map[detect.Target]board.Change
	phases  maphash.Seed
}

// observation is a finding of the board at one moment: when newest was the newest
// second that was closed.
type observation struct {
	finding detect.Finding
	newest  int64
	// last reports that it is the last one of its moment.
	last bool
}

// NewState returns a state that has seen nothing and reads on from the stored
// cursors.
func NewState(o Options, seed uint64, cursors map[string]int64) *State {
	s := &State{
		options: o, Windows: fold.NewWindows(cursors), Minutes: make(fold.Minutes), late: make(fold.Late),
		Heat: fold.NewHeat(nil), Seen: fold.NewSeen(nil),
		known: newKnown(), draft: newDraft(), unresolved: newUnresolved(), open: make(map[string]bool), cursors: cursors, seed: seed,
		pipeline: pipeline.NewWatch(o.Pipeline), replays: make(map[detect.Target]time.Time), written: make(map[detect.Target]board.Change), phases: maphash.MakeSeed(),
	}
	s.Views = fold.NewViews(o.Tables, s.policy, s.unresolved.targets)
	s.board = board.New(board.Options{Policy: o.Policy, Facts: s.FactsOf, Partitions: s.partitionsOf, Keys: o.Keys, KeyBytes: o.KeyBytes})
	return s
}

// FactsOf returns the facts of a table: an operator's over the stored ones.
func (s *State) FactsOf(of detect.Target) *detect.TableFacts {
	stored := s.Facts.Find(of)
	if s.options.Facts != nil {
		return s.options.Facts(of).Merge(stored)
	}
	return stored
}

func (s *State) partitionsOf(t detect.Target) *partition.Map { return s.Partitions[t] }

// MaxGaps bounds the gaps that are loaded, the newest of them: a log that loses
// records again and again makes one each time.
const MaxGaps = 256

// LookAtPipeline gives the state the present health of the collectors and of their
// sources.
func (s *State) LookAtPipeline(now pipeline.Status) {
	now.Gaps = make([]pipeline.Gap, len(s.Gaps))
	for i, g := range s.Gaps {
		now.Gaps[i] = pipeline.Gap{Gap: g.Gap, Since: g.Since, Until: g.Until, Noticed: g.Noticed}
	}
	s.pipeline.Look(now)
}

// QuietUntil returns the end of the newest time in which a table may have no samples, by its
// policy; zero for none.
func (s *State) QuietUntil(of detect.Target, now time.Time) time.Time {
	return s.policy(of).Quiet.NewestEnd(now)
}

func (s *State) policy(of detect.Target) detect.Policy {
	if s.options.Policy == nil {
		return detect.DefaultPolicy()
	}
	return s.options.Policy(of)
}

// Fold takes deltas into memory whose seconds and minutes are loaded.
func (s *State) Fold(deltas []fold.Delta, now time.Time) {
	fresh := fold.After(deltas, s.before)
	for of, seconds := range s.late.Observe(fresh, s.complete, now) {
		s.board.SetLate(of, seconds)
	}
	s.Windows.Fold(deltas)
	s.Minutes.Fold(deltas, now)
	for i := range deltas {
		for _, r := range deltas[i].Cardinality {
			s.Views.Count(r)
		}
	}
	for i := range fresh {
		for _, c := range fresh[i].Callers {
			s.board.ObserveCallers(c)
		}
	}
}

// Evictions returns how many keys the board has evicted for want of memory.
func (s *State) Evictions() int64 { return s.board.Evictions() }

// IsCrowded reports whether the open seconds list more than half of the keys that they may.
func (s *State) IsCrowded() bool { return s.Windows.Keys > s.options.MaxKeys/2 }

// Closing returns the seconds to write now: the seconds that are over, and beyond the
// bound of memory the oldest of the others, but none before its time has come.
func (s *State) Closing(h fold.Horizon, now time.Time) []fold.Instant {
	var closing []fold.Instant
	keys := s.Windows.Keys
	for _, at := range s.Windows.Oldest() {
		over, _ := h.IsOver(at.Second)
		if !over && (keys <= s.options.MaxKeys || at.Second >= now.Unix()) {
			break
		}
		keys -= s.Windows.Window(at).Size()
		closing = append(closing, at)
	}
	return closing
}

const (
	// stride is how much event time passes between two readings of the findings:
	// less than a finding takes to resolve, so that a long reading does not step
	// over its beginning.
	stride = detect.ResolveSeconds / 2
	// maxObservations bounds the observations of one call, some KB each: a long
	// reading is many strides.
	maxObservations = 4096
)

// Observe has the board observe everything that is new, lets event time pass, and
// records the board's findings on the way. When these are many it returns the
// seconds that are left, for another call; done reports that none is left.
func (s *State) Observe(closing []fold.Instant, h fold.Horizon, now time.Time) (left []fold.Instant, done bool) {
	s.supposeLate(h, now)
	for len(closing) > 0 {
		if len(s.observations) >= maxObservations {
			return closing, false
		}
		// Seconds that lie close together are one step; the quiet time before
		// them passes first.
		s.settle(closing[0].Second-1, h, now)
		s.record()
		end := closing[0].Second + stride
		for len(closing) > 0 && closing[0].Second <= end {
			o := s.Windows.Window(closing[0])
			s.Views.Observe(closing[0], o, now)
			s.observe(o, s.partitionsOf(closing[0].Target))
			o.Unjudged = false
			s.Heat.Observe(closing[0], o, h)
			s.Seen.Observe(closing[0])
			s.Newest = max(s.Newest, closing[0].Second)
			closing = closing[1:]
		}
		// Before the quiet time after them passes: a finding that it resolves would be
		// over without ever having fired.
		s.record()
	}
	for _, at := range s.Windows.Oldest() {
		if at.Second > now.Unix() {
			break // a clock is ahead; what the board has seen of the future would count now
		}
		if o := s.Windows.Window(at); o.Unjudged {
			s.board.Observe(&o.Window)
			o.Unjudged = false
		}
	}
	s.settle(math.MaxInt64, h, now)
	s.record()
	if complete := min(h.Complete, now.Unix()); complete != s.complete {
		s.complete, s.advanced = complete, now
	}
	return nil, true
}

// outage is how long event time stands still, by the clock, before its next step is taken for
// the end of an outage.
const outage = 45 * time.Second

// supposeLate expects samples of an outage to come as late as it lasted: producers over HTTP
// send them again once a collector is back, and its clock is ahead of them. Samples that came
// with it are not awaited.
func (s *State) supposeLate(h fold.Horizon, now time.Time) {
	step := min(h.Complete, now.Unix()) - s.complete
	if s.complete <= 0 || step < int64(outage/time.Second) || now.Sub(s.advanced) < outage {
		return
	}
	came := make(map[detect.Target]bool) // with the step
	for _, at := range s.Windows.Oldest() {
		if at.Second >= s.complete && at.Second < s.complete+step/2 {
			came[at.Target] = true
		}
	}
	for _, f := range s.unresolved.findings {
		if seconds := min(step, detect.Horizon); !came[f.Target] && seconds > s.late.Seconds(f.Target) {
			s.late.Suppose(f.Target, seconds, now)
			s.board.SetLate(f.Target, seconds)
		}
	}
}

// observe shows a second that closes to the board, without its cold keys. The search for a walk
// needs their positions, which are cheaper to have from the cells than from the keys.
func (s *State) observe(o *fold.OpenWindow, m *partition.Map) {
	place := o.KeepsPositions(m)
	if !place {
		s.board.ObserveWalk(&o.Window)
	}
	s.Windows.Trim(o, place)
	if place {
		s.board.ObserveWalk(&o.Window)
	}
	s.board.Observe(&o.Window)
}

// settle lets event time pass up to a second, as far as the horizon allows. Without any
// watermark it passes with the clock; while watermarks are missing, only with the counted
// seconds.
func (s *State) settle(second int64, h fold.Horizon, now time.Time) {
	if complete := min(second, h.Complete-1, now.Unix()); complete > 0 {
		s.board.Settle(complete, true)
		s.settled = max(s.settled, complete)
	}
	if over := min(second, h.Over-1, s.Newest); over > 0 && h.Over > h.Complete {
		s.board.Settle(over, false)
	}
}

// record keeps the board's present findings.
func (s *State) record() {
	found := s.findings()
	for i, f := range found {
		s.observations = append(s.observations, observation{f, s.Newest, i == len(found)-1})
	}
}

// findings returns the board's, CloudWatch's and the pipeline's, and the ends of those that
// are lost.
func (s *State) findings() []detect.Finding {
	found := s.cloudWatch.add(s.board.Findings())
	for _, f := range s.pipeline.Findings() {
		f.Severity = s.policy(f.Target).Cap(f.Severity)
		found = append(found, f)
	}
	return append(found, s.unresolved.lost(found, s.settled)...)
}

// Tables returns the views that are due. The board takes the tables' key designs from them.
func (s *State) Tables(now time.Time) []detect.Table {
	if !s.Views.Due(now, s.options.ViewDelay) {
		return nil
	}
	tables := slices.DeleteFunc(s.Views.Tables(), func(t detect.Table) bool { return s.Views.Holds(&t, now) })
	if s.Views.IsSettled() {
		for _, t := range tables {
			s.board.SetView(t.Target, t.View)
		}
	}
	for i := range tables {
		tables[i].RefusedKeys = s.board.RefusedKeys(tables[i].Target)
		tables[i].Walk = s.board.Walk(tables[i].Target)
		tables[i].CloudWatch = s.cloudWatch.table(tables[i].Target)
		tables[i].LateSeconds = new(s.late.Seconds(tables[i].Target))
	}
	return tables
}
