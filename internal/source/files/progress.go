package files

import (
	"io"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"

	"github.com/keyheat/keyheat/internal/terminal"
)

// bars show how much of each file is read, by its bytes on disk.
type bars struct {
	done, drawn chan struct{}
}

// drawBars starts drawing; without a writer it returns nil. A stream of unknown
// size has no bar.
func drawBars(out io.Writer, files []*file) *bars {
	if out == nil {
		return nil
	}
	w := progress.NewWriter()
	w.SetOutputWriter(out)
	w.SetUpdateFrequency(100 * time.Millisecond)
	w.SetTrackerPosition(progress.PositionRight)
	w.Style().Visibility.TrackerOverall = false
	if terminal.Colours() {
		w.Style().Colors = progress.StyleColorsExample
	}
	trackers := make(map[*file]*progress.Tracker)
	for _, f := range files {
		if f.size > 0 {
			trackers[f] = &progress.Tracker{Message: f.path, Total: f.size, Units: progress.UnitsBytes}
			w.AppendTracker(trackers[f])
		}
	}
	b := &bars{done: make(chan struct{}), drawn: make(chan struct{})}
	rendered := make(chan struct{})
	go func() { defer close(rendered); w.Render() }()
	go func() {
		defer close(b.drawn)
		follow(trackers, b.done)
		w.Stop()
		<-rendered
	}()
	return b
}

// follow updates the trackers until done is closed, and once more then.
func follow(trackers map[*file]*progress.Tracker, done <-chan struct{}) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for open := true; open; {
		select {
		case <-tick.C:
		case <-done:
			open = false
		}
		for f, tracker := range trackers {
			tracker.SetValue(min(f.raw.n.Load(), f.size))
		}
	}
}

// stop draws the last state and waits until it is drawn.
func (b *bars) stop() {
	if b == nil {
		return
	}
	close(b.done)
	<-b.drawn
}
