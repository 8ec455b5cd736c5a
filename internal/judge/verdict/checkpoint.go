package verdict

import (
	"hash/maphash"
	"maps"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/detect/pipeline"
	"github.com/keyheat/keyheat/internal/judge/fold"
	"github.com/keyheat/keyheat/store"
)

// CheckpointVersion is the version of what checkpoints hold. Raise it whenever the shape of the
// state or the meaning of a field changes: the next judge then replays stored seconds instead.
const CheckpointVersion = 4

// checkpointEvery is how many seconds of event time pass between two checkpoints of a table or
// index, each with a second of its own: that is how much more the next judge replays.
const checkpointEvery = 60

// progress is how far the judge has come, apart from any table.
type progress struct {
	board                     board.Clock
	settled, complete, newest int64
	advanced                  time.Time
	late                      fold.Late
	pipeline                  pipeline.Watch
	// read are the folded deltas of each writer.
	read map[string]int64
}

// checkpoints adds what the next judge needs, as far as it is due.
func (s *State) checkpoints(p *Pending) {
	known := 0
	p.changes = make(map[detect.Target]board.Change)
	memories := s.board.Memories(func(c board.Change) bool {
		known++
		due := s.isDue(c)
		if due {
			p.changes[c.Target] = c
		}
		return due
	})
	if len(s.written) > 2*known { // most are forgotten
		clear(s.written)
	}
	add := func(of detect.Target, body []byte) {
		p.Checkpoints = append(p.Checkpoints, store.Checkpoint{Target: of, Version: CheckpointVersion, Body: body})
	}
	for _, m := range memories {
		add(m.Target(), board.MarshalCheckpoint(m))
	}
	add(detect.Target{}, board.MarshalCheckpoint(&progress{
		board: s.board.Clock(), settled: s.settled, complete: s.complete, newest: s.Newest, advanced: s.advanced,
		late: s.late, pipeline: *s.pipeline, read: s.Windows.Read,
	}))
}

// isDue reports whether a table or index needs a new checkpoint. It cannot wait when keys begin to
// be followed, or none is any more, and while load walks.
func (s *State) isDue(now board.Change) bool {
	before, written := s.written[now.Target]
	if !written || now.Follows != before.Follows || now.Walks {
		return true
	}
	phase := int64(maphash.Comparable(s.phases, now.Target) % checkpointEvery)
	return (now.Newest+phase)/checkpointEvery > (before.Newest+phase)/checkpointEvery
}

// Remember continues what the judge before wrote. What another version wrote, or cannot be read,
// is dropped.
func (s *State) Remember(rows []store.Checkpoint) {
	p := progress{pipeline: *s.pipeline}
	remembers, memories := false, make(map[detect.Target]*board.Memory)
	for _, row := range rows {
		m := new(board.Memory)
		switch {
		case row.Version != CheckpointVersion:
		case row.Target == detect.Target{}:
			remembers = board.UnmarshalCheckpoint(row.Body, &p) == nil
		case board.UnmarshalCheckpoint(row.Body, m) == nil:
			memories[row.Target] = m
		}
	}
	if !remembers {
		return
	}
	s.settled, s.complete, s.Newest, s.advanced, s.late, s.pipeline = p.settled, p.complete, p.newest, p.advanced, p.late, &p.pipeline
	s.before, s.clock = p.read, &p.board
	for of := range s.late {
		s.board.SetLate(of, s.late.Seconds(of))
	}
	for of, m := range memories {
		s.replays[of] = time.Unix(m.From(), 0)
	}
	s.board.Restore(maps.Values(memories))
}
