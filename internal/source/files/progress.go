package files

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"

	"github.com/keyheat/keyheat/internal/cli/terminal"
)

// maxBars is the most files with a bar of their own.
const maxBars = 10

// bars show the read part of each file, by its bytes on disk; with many files, one bar
// shows all.
type bars struct {
	files       []*bar
	done, drawn chan struct{}
}

// bar shows the read part of one file.
type bar struct {
	size int64
	file atomic.Pointer[file] // nil until it is read
}

// follow shows the progress of a file.
func (b *bar) follow(f *file) {
	if b != nil {
		b.file.Store(f)
	}
}

func (b *bar) value() int64 {
	f := b.file.Load()
	if f == nil {
		return 0
	}
	return min(f.raw.n.Load(), b.size)
}

// drawBars starts drawing; without a writer it returns nil. A stream of unknown
// size has no bar.
func drawBars(out io.Writer, paths []string, sizes []int64) *bars {
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
	b := &bars{done: make(chan struct{}), drawn: make(chan struct{})}
	trackers := make(map[*progress.Tracker][]*bar)
	var all *progress.Tracker
	if len(paths) > maxBars {
		all = &progress.Tracker{Message: fmt.Sprintf("%d files", len(paths)), Units: progress.UnitsBytes}
	}
	for i, path := range paths {
		b.files = append(b.files, &bar{size: sizes[i]})
		switch {
		case sizes[i] == 0:
		case all != nil:
			all.Total += sizes[i]
			trackers[all] = append(trackers[all], b.files[i])
		default:
			tracker := &progress.Tracker{Message: path, Total: sizes[i], Units: progress.UnitsBytes}
			trackers[tracker] = []*bar{b.files[i]}
			w.AppendTracker(tracker)
		}
	}
	if all != nil && all.Total > 0 {
		w.AppendTracker(all)
	}
	rendered := make(chan struct{})
	go func() { defer close(rendered); w.Render() }()
	go func() {
		defer close(b.drawn)
		follow(trackers, b.done)
		// A stop before the rendering has begun has no effect, as with a small file: repeat
		// it.
		for again := time.NewTicker(10 * time.Millisecond); ; {
			w.Stop()
			select {
			case <-rendered:
				again.Stop()
				return
			case <-again.C:
			}
		}
	}()
	return b
}

// bar returns the bar of a file; nil without any.
func (b *bars) bar(i int) *bar {
	if b == nil {
		return nil
	}
	return b.files[i]
}

// follow updates the trackers until done is closed, and once more then.
func follow(trackers map[*progress.Tracker][]*bar, done <-chan struct{}) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for open := true; open; {
		select {
		case <-tick.C:
		case <-done:
			open = false
		}
		for tracker, files := range trackers {
			sum := int64(0)
			for _, b := range files {
				sum += b.value()
			}
			tracker.SetValue(sum)
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
