package verdict

import (
	"iter"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/judge/fold"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// Replay is how much event time the board observes again without a checkpoint: as much as it
// keeps second by second.
const Replay = detect.Horizon * time.Second

// RestoreViews continues the previous judge's views of tables.
func (s *State) RestoreViews(rows []store.TargetDocument) {
	for _, t := range s.Views.Restore(rows) {
		s.board.SetView(t.Target, t.View)
	}
}

// Restore continues the findings that are not resolved, after [State.Remember]. It returns the
// tables and indexes whose stored seconds the board has to observe again, with the first of them;
// zero stands for the last Replay.
func (s *State) Restore(findings []detect.Finding) map[detect.Target]time.Time {
	for i := range findings {
		f := &findings[i]
		s.unresolved.record(f)
		switch _, remembered := s.replays[f.Target]; {
		case !f.Subject.OfPipeline() && !remembered:
			s.replays[f.Target] = time.Time{}
		case f.Subject.OfPipeline() && !s.Remembers():
			s.pipeline.Restore(f)
		}
	}
	return s.replays
}

// Remembers reports whether there is a checkpoint. Without one, all stored seconds have to be
// replayed at once.
func (s *State) Remembers() bool { return s.clock != nil }

// Replay lets the board observe stored seconds again, in the order of time.
func (s *State) Replay(windows []store.Window) (err error) {
	all := sketches(windows, &err)
	if s.Remembers() {
		s.board.Replay(all)
		return err
	}
	i := 0
	for w := range all {
		// It is not known whether seconds without a window were quiet or not
		// seen: they resolve nothing.
		s.board.Settle(w.Second-1, false)
		s.board.Observe(w)
		if i++; i == len(windows) || windows[i].Second.After(windows[i-1].Second) {
			s.board.Settle(w.Second, complete(windows[:i]))
		}
	}
	return err
}

// Resume ends the replay.
func (s *State) Resume() {
	if s.Remembers() {
		s.board.Resume(*s.clock)
	}
}

// sketches reads stored windows up to the first that cannot be read.
func sketches(windows []store.Window, err *error) iter.Seq[*sketch.Window] {
	return func(yield func(*sketch.Window) bool) {
		for _, row := range windows {
			w, failed := fold.Sketch(row)
			if failed != nil {
				*err = failed
				return
			}
			if !yield(&w) {
				return
			}
		}
	}
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
