package verdict

import (
	"maps"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/internal/judge/fold"
	"github.com/keyheat/keyheat/store"
)

// Pending holds the rows that a pass has to write, and the parts to release once they are
// written.
type Pending struct {
	store.Judgement
	closing []fold.Instant
	views   bool
	rest    *draft
	changes map[detect.Target]board.Change
}

// Pending returns everything that has to be written now. The roll-ups of
// [fold.Heat.MissingRollups] must be loaded before.
func (s *State) Pending(closing []fold.Instant, tables []detect.Table, h fold.Horizon, now time.Time) (p Pending, err error) {
	judgement, rest := s.draft.takeDue()
	p = Pending{
		Judgement: judgement, rest: rest, closing: closing,
		views: s.Views.Due(now, s.options.ViewDelay),
	}
	for _, at := range closing {
		row, err := s.Windows.Row(at, h)
		if err != nil {
			return p, err
		}
		p.Windows = append(p.Windows, row)
	}
	if p.Views, err = s.Views.Rows(tables); err != nil {
		return p, err
	}
	if p.Rollups, err = s.Heat.Rows(); err != nil {
		return p, err
	}
	waiting := make(map[string]int64)
	s.Heat.Waiting(waiting)
	p.Cursors = s.Windows.Cursors(closing, waiting)
	maps.DeleteFunc(p.Cursors, func(writer string, seq int64) bool { return seq <= s.cursors[writer] })
	if s.Seen.Advance(h, s.Gaps, now); !p.Empty() || s.Seen.Due() {
		p.Seen = s.Seen.Rows()
	}
	if !p.Empty() {
		s.checkpoints(&p)
	}
	return p, nil
}

// MarkWritten releases the stored parts.
func (s *State) MarkWritten(p Pending) {
	s.Windows.Close(p.closing)
	if p.views {
		s.Views.MarkWritten()
	}
	s.Heat.MarkWritten()
	if p.Seen != nil {
		s.Seen.MarkWritten()
	}
	s.markWritten(p.rest)
	maps.Copy(s.cursors, p.Cursors)
	maps.Copy(s.written, p.changes)
}

// Empty reports whether there is nothing to write.
func (p *Pending) Empty() bool {
	return len(p.Windows)+len(p.Rollups)+len(p.Seen)+len(p.Judgement.Views)+
		len(p.Findings)+len(p.Transitions)+len(p.Incidents)+len(p.IncidentTransitions)+
		len(p.Notifications)+len(p.Cursors) == 0
}
