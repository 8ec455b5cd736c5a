package terminal

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/keyheat/keyheat/internal/daemon"
)

// Width is the length of a line that fits a terminal of 80 columns.
const Width = 79

// Progress is a person's view of the work: a terminal whose last line changes, or a log
// of lines. Its methods may be called from any goroutine.
type Progress struct {
	Out io.Writer

	mu    sync.Mutex
	shown bool // the last line is to be replaced
}

// The intervals between two states on a terminal, and elsewhere.
const (
	drawEvery = time.Second
	// TellEvery is the time between two lines of a log.
	TellEvery = 30 * time.Second
)

// Draw shows the text of line again and again until the returned function is called: on a
// terminal every second, elsewhere at that interval.
func (p *Progress) Draw(ctx context.Context, elsewhere time.Duration, line func() string) (stop func()) {
	every := elsewhere
	if Is(p.Out) {
		every = drawEvery
	}
	drawing, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var drawn sync.WaitGroup
	drawn.Go(func() {
		for daemon.Pause(drawing, every); drawing.Err() == nil; daemon.Pause(drawing, every) {
			p.show(line())
		}
		p.clear()
	})
	return func() { cancel(); drawn.Wait() }
}

// show shows a line in the place of the one that it showed before.
func (p *Progress) show(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !Is(p.Out) {
		fmt.Fprintln(p.Out, line)
		return
	}
	p.erase()
	fmt.Fprint(p.Out, line)
	p.shown = true
}

// Paragraph writes sentences that stay.
func (p *Progress) Paragraph(sentences string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
	fmt.Fprintln(p.Out, Wrap(sentences, Width))
}

func (p *Progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
}

// erase empties the last line, if it is to be replaced. The lock is held.
func (p *Progress) erase() {
	if p.shown {
		fmt.Fprint(p.Out, "\r\x1b[K")
		p.shown = false
	}
}
