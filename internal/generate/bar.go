package generate

import (
	"fmt"
	"io"
	"time"
)

// redraw is how often the count is drawn.
const redraw = 200 * time.Millisecond

// bar is one line on a terminal: the number of samples, their rate, and the event time
// reached. It shows no percentage, because the trace's length is unknown.
type bar struct {
	out          io.Writer
	begun, drawn time.Time
}

// newBar draws on out, or nothing when that is nil.
func newBar(out io.Writer) *bar {
	now := time.Now()
	return &bar{out: out, begun: now, drawn: now}
}

func (b *bar) draw(n, eventTime int64) {
	if b.out == nil || time.Since(b.drawn) < redraw {
		return
	}
	b.drawn = time.Now()
	perSecond := float64(n) / time.Since(b.begun).Seconds()
	fmt.Fprintf(b.out, "\r%d samples, %.0f/s, event time %s ", n, perSecond,
		time.UnixMilli(eventTime).UTC().Format(time.DateTime))
}

// done ends the line, if one was begun.
func (b *bar) finish() {
	if b.drawn != b.begun {
		fmt.Fprintln(b.out)
	}
}
