package verdict

import (
	"maps"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/judge/fold"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// Replay is how much event time the board observes again after a restart: as much
// as it keeps second by second.
const Replay = detect.Horizon * time.Second

// RestoreViews continues the previous judge's views of tables, the walks of load in them, and
// how late their samples come.
func (s *State) RestoreViews(rows []store.TargetDocument) {
	for _, t := range s.Views.Restore(rows) {
		s.board.SetView(t.Target, t.View)
		if t.LateSeconds != nil && *t.LateSeconds > 0 {
			s.late.Restore(t.Target, *t.LateSeconds)
			s.board.SetLate(t.Target, *t.LateSeconds)
		}
		if t.Walk != nil {
			s.board.RestoreWalk(t.Target, t.Walk)
		}
	}
}

// Restore lets the board observe the previous judge's stored windows of targets with
// unresolved findings. A finding that began within the replayed time follows from the
// windows alone, exactly as before; the board takes over older ones as stored.
func (s *State) Restore(findings []detect.Finding, windows []store.Window) error {
	for i := range findings {
		s.unresolved.record(&findings[i])
	}
	ofTables := findings[:0:0]
	for i := range findings {
		f := &findings[i]
		if f.Ground == detect.GroundPositions { // stored seconds may lack the keys that show it
			s.board.RestoreWalk(f.Target, &detect.Walk{From: f.FirstSeen, Through: f.LastSeen})
		}
		if f.Subject.OfPipeline() {
			s.pipeline.Restore(f)
		} else {
			ofTables = append(ofTables, *f)
		}
	}
	s.restoreOld(ofTables, windows)
	for i, row := range windows {
		w, err := fold.Sketch(row)
		if err != nil {
			return err
		}
		// It is not known whether seconds without a window were quiet or not
		// seen: they resolve nothing.
		s.board.Settle(w.Second-1, false)
		s.board.Observe(&w)
		if i+1 == len(windows) || windows[i+1].Second.After(row.Second) {
			s.board.Settle(w.Second, complete(windows[:i+1]))
		}
	}
	return nil
}

// complete reports whether the last second of these windows is complete for every
// target that has one.
func complete(windows []store.Window) bool {
	last := windows[len(windows)-1].Second
	for _, w := range slices.Backward(windows) {
		if !w.Second.Equal(last) {
			break
		}
		if !w.Complete {
			return false
		}
	}
	return true
}

// Targets returns the targets of findings, each once, in order.
func Targets(findings []detect.Finding) []sample.Target {
	targets := make(map[sample.Target]bool)
	for _, f := range findings {
		targets[f.Target] = true
	}
	return slices.SortedFunc(maps.Keys(targets), sample.Target.Compare)
}

// restoreOld restores the findings that began before the windows do.
func (s *State) restoreOld(findings []detect.Finding, windows []store.Window) {
	begin := make(map[sample.Target]time.Time)
	for _, w := range slices.Backward(windows) {
		begin[w.Target] = w.Second
	}
	var old []detect.Finding
	for _, f := range findings {
		first, any := begin[f.Target]
		if any && !first.After(f.FirstSeen) {
			continue
		}
		old = append(old, f)
	}
	s.board.Restore(old, s.seed)
}
