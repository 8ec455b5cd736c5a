package generate

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/keyheat/keyheat/internal/daemon"
	"github.com/keyheat/keyheat/sample"
)

// Sink takes samples. It is used by one goroutine.
type Sink interface {
	// Write takes one sample; it may keep it until Flush.
	Write(ctx context.Context, r *sample.Record) error
	// Flush writes the kept samples.
	Flush(ctx context.Context) error
	// Close ends the sink, after Flush.
	Close() error
}

// tick is how much event time is written at once in real time: short against
// the second that Keyheat judges by, long against a timer's cost.
const tick = 20 * time.Millisecond

// flushBound is how long the writes in flight may take once ctx has ended.
const flushBound = 5 * time.Second

// checkEvery is how many samples are written between two checks of ctx and the
// clock.
const checkEvery = 1024

// Copy writes all records to a sink, flushes it, and returns their number. In real time a
// second of event time takes a second. When ctx ends, it still flushes the records already
// made, and returns ctx's error.
func Copy(ctx context.Context, records iter.Seq[sample.Record], to Sink, realTime bool) (n int64, err error) {
	sending, cancel := daemon.WithGrace(ctx, flushBound)
	defer cancel()
	var p pace
	for r := range records {
		if realTime && p.isAhead(r.Time) {
			if err := to.Flush(sending); err != nil {
				return n, err
			}
			p.wait(ctx, r.Time)
		}
		if (realTime || n%checkEvery == 0) && ctx.Err() != nil {
			return n, errors.Join(fmt.Errorf("stopped after %d samples: %w", n, ctx.Err()), to.Flush(sending))
		}
		if err := to.Write(sending, &r); err != nil {
			return n, err
		}
		n++
	}
	return n, to.Flush(sending)
}

// pace ties event time to the clock at the first sample.
type pace struct {
	ahead time.Duration // of event time before the clock
	until int64         // the event time that may be written already, Unix ms
}

// isAhead reports whether a sample of this event time has to wait.
func (p *pace) isAhead(at int64) bool { return at >= p.until }

// wait returns once a sample of this event time is due, or ctx has ended, and
// lets the next tick of event time pass with it.
func (p *pace) wait(ctx context.Context, at int64) {
	if p.until == 0 {
		p.ahead = time.Until(time.UnixMilli(at))
	}
	p.until = at + tick.Milliseconds()
	daemon.Pause(ctx, time.Until(time.UnixMilli(at).Add(-p.ahead)))
}
