package verdict

import (
	"math"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/detect/partition"
	"github.com/keyheat/keyheat/internal/judge/fold"
)

// Watch shows seconds to detect's board in the order of time, and records the board's findings
// on the way. It is the part of a [State] that a file of samples is judged with too, because
// nothing of it is stored.
type Watch struct {
	// Windows are the open seconds, Views the tables' views.
	Windows *fold.Windows
	Views   *fold.Views
	// Newest is the newest second that was closed.
	Newest int64

	board *board.Board
	// settled is the newest second up to which all load is known.
	settled int64
	// findings returns the present findings, and partitions the map of a table's partitions.
	findings   func() []detect.Finding
	partitions func(detect.Target) *partition.Map
	// observations are the findings that were not taken yet.
	observations []observation
}

// NewWatch returns a watch over a stream that has an end, such as files.
func NewWatch(o board.Options, views *fold.Views) *Watch {
	b := board.New(o)
	return &Watch{Windows: fold.NewWindows(nil), Views: views, board: b, findings: b.Findings, partitions: o.Partitions}
}

// observation is a finding of the board at one moment: when newest was the newest
// second that was closed.
type observation struct {
	finding detect.Finding
	newest  int64
	// last reports that it is the last one of its moment.
	last bool
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
func (w *Watch) Observe(closing []fold.Instant, h fold.Horizon, now time.Time) (left []fold.Instant, done bool) {
	for len(closing) > 0 {
		if len(w.observations) >= maxObservations {
			return closing, false
		}
		// Seconds that lie close together are one step; the quiet time before
		// them passes first.
		w.settle(closing[0].Second-1, h, now)
		w.record()
		end := closing[0].Second + stride
		for len(closing) > 0 && closing[0].Second <= end {
			o := w.Windows.Window(closing[0])
			w.Views.Observe(closing[0], o, now)
			w.observe(o, w.partitions(closing[0].Target))
			o.Unjudged = false
			w.Newest = max(w.Newest, closing[0].Second)
			closing = closing[1:]
		}
		// Before the quiet time after them passes: a finding that it resolves would be
		// over without ever having fired.
		w.record()
	}
	for _, at := range w.Windows.Oldest() {
		if at.Second > now.Unix() {
			break // a clock is ahead; what the board has seen of the future would count now
		}
		if o := w.Windows.Window(at); o.Unjudged {
			w.board.Observe(&o.Window)
			o.Unjudged = false
		}
	}
	w.settle(math.MaxInt64, h, now)
	w.record()
	return nil, true
}

// observe shows a second that closes to the board, and drops its cold keys. Which of them were
// refused shows who marks refusals, and how they spread. The search for a walk needs positions,
// which are cheaper to have from the cells than from the keys.
func (w *Watch) observe(o *fold.OpenWindow, m *partition.Map) {
	place := o.KeepsPositions(m)
	if place {
		w.Windows.Trim(o, place)
	}
	w.board.ObserveWalk(&o.Window)
	w.board.Observe(&o.Window)
	if !place {
		w.Windows.Trim(o, place)
	}
}

// settle lets event time pass up to a second, as far as the horizon allows. Without any
// watermark it passes with the clock; while watermarks are missing, only with the counted
// seconds.
func (w *Watch) settle(second int64, h fold.Horizon, now time.Time) {
	if complete := min(second, h.Complete-1, now.Unix()); complete > 0 {
		w.board.Settle(complete, true)
		w.settled = max(w.settled, complete)
	}
	if over := min(second, h.Over-1, w.Newest); over > 0 && h.Over > h.Complete {
		w.board.Settle(over, false)
	}
}

// record keeps the board's present findings.
func (w *Watch) record() {
	found := w.findings()
	for i, f := range found {
		w.observations = append(w.observations, observation{f, w.Newest, i == len(found)-1})
	}
}

// Take returns the findings that were recorded since the last call, those of earlier moments
// first. Of a finding that is recorded again, the newest is what holds.
func (w *Watch) Take() []detect.Finding {
	all := make([]detect.Finding, len(w.observations))
	for i := range w.observations {
		all[i] = w.observations[i].finding
	}
	w.observations = nil
	return all
}

// Doubts returns the board's doubts.
func (w *Watch) Doubts() []detect.Doubt { return w.board.Doubts() }

// Tables returns the newest views of tables and indexes, with what else the board knows of them.
func (w *Watch) Tables() []detect.Table {
	tables := w.Views.Tables()
	for i := range tables {
		t := &tables[i]
		t.RefusedKeys, t.Walk, t.Provable = w.board.RefusedKeys(t.Target), w.board.Walk(t.Target), w.board.Provable(t.Target)
	}
	return tables
}

// End records what is open as it stands, because nothing comes after it, and returns the tables
// with their views.
func (w *Watch) End() []detect.Table {
	tables := w.Tables()
	w.board.End()
	for i := range tables {
		w.board.SetView(tables[i].Target, tables[i].View)
	}
	w.record()
	return tables
}
