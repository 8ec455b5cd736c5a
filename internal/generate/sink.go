package generate

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/keyheat/keyheat/internal/daemon"
	"github.com/keyheat/keyheat/sample"
)

// Sink takes samples.
type Sink interface {
	Write(ctx context.Context, records []sample.Record) error
}

// tick is how much event time is written at once in real time: short against
// the second that Keyheat judges by, long against a timer's cost.
const tick = 20 * time.Millisecond

// flushBound is how long the writes in flight may take once ctx has ended.
const flushBound = 5 * time.Second

const most = 20_000

// Copy writes all records to a sink, and returns their number. In real time a second of event
// time takes a second. When ctx ends, it still writes the records already made, and returns
// ctx's error.
func Copy(ctx context.Context, records iter.Seq[sample.Record], to Sink, realTime bool) (n int64, err error) {
	sending, cancel := daemon.WithGrace(ctx, flushBound)
	defer cancel()
	var made []sample.Record
	write := func() error {
		err := to.Write(sending, made)
		n += int64(len(made))
		made = made[:0]
		return err
	}
	// began is when event time would have begun. Samples before due are written together.
	var began time.Time
	var due int64
	for r := range records {
		if wait := realTime && r.Time >= due; wait || len(made) == most {
			if err := write(); err != nil {
				return n, err
			}
			if due == 0 {
				began = time.Now().Add(-time.Duration(r.Time) * time.Millisecond)
			}
			if wait {
				due = r.Time + tick.Milliseconds()
				daemon.Pause(ctx, time.Until(began.Add(time.Duration(r.Time)*time.Millisecond)))
			}
			if ctx.Err() != nil {
				return n, fmt.Errorf("stopped after %d samples: %w", n, ctx.Err())
			}
		}
		made = append(made, r)
	}
	return n, write()
}
