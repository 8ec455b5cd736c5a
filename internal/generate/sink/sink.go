// Package sink brings generated traffic to where samples are read from: a file
// or a Kafka topic, as fast as that takes it or at the pace of its own event
// time.
package sink

import (
	"context"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/keyheat/keyheat/sample"
)

// Sink takes samples. It is used by one goroutine.
type Sink interface {
	// Write takes one sample; it may keep it until Flush.
	Write(ctx context.Context, r *sample.Record) error
	// Flush brings what was kept to where it belongs.
	Flush(ctx context.Context) error
	// Close ends the sink, after Flush.
	Close() error
}

// Options say how Copy goes about it. The zero value is as fast as possible,
// in silence.
type Options struct {
	// RealTime lets a second of event time take a second.
	RealTime bool
	// Progress, when set, is a terminal on which the count is drawn.
	Progress io.Writer
}

// tick is how much event time is written at once in real time: short against
// the second that Keyheat judges by, long against a timer's cost.
const tick = 20 * time.Millisecond

// flushBound is how long the last samples may take once ctx has ended.
const flushBound = 5 * time.Second

// look is how many samples pass between two looks at ctx and the clock.
const look = 1024

// Copy writes all records to a sink, flushes it, and answers how many it wrote.
// When ctx ends, what is already made is still flushed, and the error is
// ctx's.
func Copy(ctx context.Context, records iter.Seq2[sample.Record, error], to Sink, o Options) (n int64, err error) {
	bar := newBar(o.Progress)
	defer bar.done()
	var p pace
	for r, err := range records {
		if err != nil {
			return n, err
		}
		if o.RealTime {
			err = p.wait(ctx, r.Time, to)
		} else if n%look == 0 {
			err = ctx.Err()
		}
		if err != nil {
			return n, stopped(ctx, n, err, to)
		}
		if err := to.Write(ctx, &r); err != nil {
			return n, err
		}
		n++
		if n%look == 0 {
			bar.draw(n, r.Time)
		}
	}
	return n, to.Flush(ctx)
}

// stopped brings away what is already made when ctx ended; any other error
// stays as it is.
func stopped(ctx context.Context, n int64, err error, to Sink) error {
	if ctx.Err() == nil {
		return err
	}
	bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushBound)
	defer cancel()
	if flushed := to.Flush(bound); flushed != nil {
		return flushed
	}
	return fmt.Errorf("stopped after %d samples: %w", n, err)
}

// pace ties event time to the clock at the first sample.
type pace struct {
	ahead time.Duration // of event time before the clock
	until int64         // the event time that may be written already, Unix ms
}

// wait returns once a sample of this event time is due, having flushed all
// before it.
func (p *pace) wait(ctx context.Context, at int64, to Sink) error {
	if p.until == 0 {
		p.ahead = time.Until(time.UnixMilli(at))
	} else if at < p.until {
		return nil
	}
	p.until = at + tick.Milliseconds()
	if err := to.Flush(ctx); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Until(time.UnixMilli(at).Add(-p.ahead))):
		return nil
	}
}
