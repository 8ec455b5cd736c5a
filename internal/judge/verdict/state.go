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
	*Watch
	options Options
	// Heat holds the roll-ups, Seen the seconds that were counted whole.
	Heat *fold.Heat
	Seen *fold.Seen

	// late is how late tables' samples come, and complete up to where seconds were complete
	// at the end of the last pass.
	late     fold.Late
	complete int64
	// advanced is when complete changed last, by the clock.
	advanced time.Time
	// Facts are the stored facts of tables.
	Facts detect.FactsByTable
	known known
	draft *draft
	// unresolved are the findings that are not resolved, and open the IDs of the incidents.
	unresolved unresolved
	open       map[string]bool
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

// NewState returns a state that has seen nothing and reads on from the stored
// cursors.
func NewState(o Options, seed uint64, cursors map[string]int64) *State {
	s := &State{
		options: o, late: make(fold.Late),
		Heat: fold.NewHeat(nil), Seen: fold.NewSeen(nil),
		known: newKnown(), draft: newDraft(), unresolved: newUnresolved(), open: make(map[string]bool), cursors: cursors, seed: seed,
		pipeline: pipeline.NewWatch(o.Pipeline), replays: make(map[detect.Target]time.Time), written: make(map[detect.Target]board.Change), phases: maphash.MakeSeed(),
	}
	s.Watch = &Watch{
		Windows: fold.NewWindows(cursors), Views: fold.NewViews(o.Tables, s.policy, s.unresolved.targets),
		board:    board.New(board.Options{Policy: o.Policy, Facts: s.FactsOf, Partitions: s.partitionsOf, Keys: o.Keys, KeyBytes: o.KeyBytes}),
		findings: s.findings, partitions: s.partitionsOf,
	}
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

// Fold takes deltas into memory whose seconds are loaded.
func (s *State) Fold(deltas []fold.Delta, now time.Time) {
	fresh := fold.After(deltas, s.before)
	for of, seconds := range s.late.Observe(fresh, s.complete, now) {
		s.board.SetLate(of, seconds)
	}
	s.Windows.Fold(deltas)
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

// Observe has the board observe everything that is new, as [Watch.Observe] does, and counts
// the closing seconds to the roll-ups.
func (s *State) Observe(closing []fold.Instant, h fold.Horizon, now time.Time) (left []fold.Instant, done bool) {
	s.supposeLate(h, now)
	left, done = s.Watch.Observe(closing, h, now)
	for _, at := range closing[:len(closing)-len(left)] {
		s.Heat.Observe(at, s.Windows.Window(at), h)
		s.Seen.Observe(at)
	}
	if complete := min(h.Complete, now.Unix()); done && complete != s.complete {
		s.complete, s.advanced = complete, now
	}
	return left, done
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
	tables := slices.DeleteFunc(s.Watch.Tables(), func(t detect.Table) bool { return t.View == nil || s.Views.Holds(&t, now) })
	if s.Views.IsSettled() {
		for _, t := range tables {
			s.board.SetView(t.Target, t.View)
		}
	}
	for i := range tables {
		tables[i].CloudWatch = s.cloudWatch.table(tables[i].Target)
		tables[i].LateSeconds = new(s.late.Seconds(tables[i].Target))
	}
	return tables
}
