package demo

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"time"

	"github.com/keyheat/keyheat/internal/generate"
	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/sample"
)

// The demo's only partition. Its positions are event times in Unix
// milliseconds, so that a kept database is read on from where it ended.
const (
	sourceName = "demo"
	partition  = "0"
)

// tick is how often generated traffic is folded.
const tick = 200 * time.Millisecond

// releaseTimeout bounds the last commit.
const releaseTimeout = 5 * time.Second

// day is how much traffic is made with one configuration.
const day = 24 * time.Hour

// traffic is a source of generated samples, in real time.
type traffic struct{ backlog time.Duration }

// Run generates traffic until ctx ends.
func (t *traffic) Run(ctx context.Context, sink source.Sink) error {
	start := time.Now().Add(-t.backlog).Truncate(time.Second)
	for ctx.Err() == nil {
		p, err := sink.Claim(ctx, source.Claim{Partition: partition, First: strconv.FormatInt(start.UnixMilli(), 10)})
		if err != nil {
			return unlessEnded(ctx, err)
		}
		at, err := strconv.ParseInt(p.Position(), 10, 64)
		if err != nil {
			return fmt.Errorf("the database was not written by this demo: position %q: %w", p.Position(), err)
		}
		if stored := time.UnixMilli(at); stored.After(start) {
			start = stored
		}
		err = t.feed(ctx, p, start)
		if ctx.Err() != nil {
			// The collector still runs, and writes what it has.
			ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
			defer cancel()
			return p.Release(ending)
		}
		if !errors.Is(err, source.ErrReclaim) {
			return err
		}
	}
	return nil
}

// unlessEnded returns err, or nil when it is only the end of ctx.
func unlessEnded(ctx context.Context, err error) error {
	if ctx.Err() == nil || !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// feed generates one day after the other.
func (t *traffic) feed(ctx context.Context, p source.Partition, start time.Time) error {
	for ; ; start = start.Add(day) {
		records, err := generate.Records(generate.Default(start, day))
		if err != nil {
			return err
		}
		if err := t.pace(ctx, p, records); err != nil {
			return err
		}
	}
}

// pace folds records when their time has come.
func (t *traffic) pace(ctx context.Context, p source.Partition, records iter.Seq[sample.Record]) error {
	next, stop := iter.Pull(records)
	defer stop()
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	r, more := next()
	for more {
		now := time.Now().UnixMilli()
		var b batch
		for ; more && r.Time <= now && b.bytes < maxBatch; r, more = next() {
			b.add(&r)
		}
		behind := more && r.Time <= now
		if err := p.Fold(ctx, b.folded(p.Position(), !behind)); err != nil {
			return err
		}
		if behind {
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
	return nil
}

// maxBatch is how many bytes are folded at once.
const maxBatch = 1 << 20

// batch is some records as messages.
type batch struct {
	messages []source.Message
	bytes    int
}

func (b *batch) add(r *sample.Record) {
	text := r.AppendJSON(nil)
	b.messages = append(b.messages, source.Message{Value: text, Time: r.Time})
	b.bytes += len(text)
}

// folded returns the batch in the source's form. Records of the same millisecond may
// fall into two batches; a restart then leaves the second out, which does not
// matter in a demo.
func (b *batch) folded(position string, end bool) source.Batch {
	f := source.Batch{Next: position, End: end, Bytes: b.bytes}
	if n := len(b.messages); n > 0 {
		f.Time = b.messages[n-1].Time
		f.Next = strconv.FormatInt(f.Time+1, 10)
		f.Messages = func(yield func(source.Message) bool) {
			for _, m := range b.messages {
				if !yield(m) {
					return
				}
			}
		}
	}
	return f
}
