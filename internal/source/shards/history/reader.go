package history

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/keyheat/keyheat/internal/daemon/retry"
	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/internal/source/shards"
	"github.com/keyheat/keyheat/sample"
)

// state is the progress of a shard's reading.
type state int

const (
	reads    state = iota
	ended          // its children continue
	caughtUp       // read up to the second in which the reading began
	vanished       // not to its end: the log has dropped it
)

// reader reads one shard.
type reader struct {
	source             *Source
	stream, id, parent string
	name               string // table/label/shard; parent has the same form

	// guarded by the source's lock
	state       state
	open        bool      // when it was listed last
	first, last time.Time // of the records that were read
	begun       time.Time // when the first record arrived

	// for the reader's goroutine only
	at       shards.Position
	iterator string
	idle     shards.Idleness
	failing  time.Time // since when requests fail
}

// run reads the shard as far as needed, or until ctx ends.
func (r *reader) run(ctx context.Context, sink source.Sink) {
	handle, err := sink.Claim(ctx, source.Claim{Partition: r.name, First: string(shards.TrimHorizon)})
	if err != nil {
		r.source.fail(fmt.Errorf("claim: %w", err))
		return
	}
	if err := r.read(ctx, handle); err != nil && ctx.Err() == nil {
		r.source.fail(err)
	}
	if err := handle.Release(context.WithoutCancel(ctx)); err != nil {
		r.source.fail(fmt.Errorf("release: %w", err))
	}
}

// read reads page after page, with a pause after each.
func (r *reader) read(ctx context.Context, handle source.Partition) error {
	pauses := retry.NewBackOff(time.Second, 30*time.Second)
	for ctx.Err() == nil {
		next := time.Now().Add(r.source.config.PageEvery)
		reached, err := r.step(ctx, handle)
		switch {
		case err == nil && reached != reads:
			r.source.settle(r, reached)
			return nil
		case err == nil:
			r.failing = time.Time{}
			pauses.Reset()
			retry.Pause(ctx, time.Until(next))
		case source.IsFromSink(err), final(err), r.failsTooLong(err):
			return err
		default:
			retry.Pause(ctx, max(time.Until(next), pauses.NextBackOff()))
		}
	}
	return nil
}

// failsTooLong reports whether requests have failed for Patience. A throttled request is no
// failure.
func (r *reader) failsTooLong(err error) bool {
	if errors.Is(err, shards.ErrThrottled) {
		r.failing = time.Time{}
		return false
	}
	if r.failing.IsZero() {
		r.failing = time.Now()
	}
	return time.Since(r.failing) > r.source.config.Patience
}

// step reads one page, and returns the shard's new state.
func (r *reader) step(ctx context.Context, handle source.Partition) (state, error) {
	var buffer []byte
	select {
	case buffer = <-r.source.buffers:
	case <-ctx.Done():
		return reads, ctx.Err()
	}
	defer func() { r.source.buffers <- buffer }()
	if r.iterator == "" {
		err := r.source.ask(ctx, func(ctx context.Context) (err error) {
			r.iterator, err = r.source.log.Open(ctx, r.stream, r.id, r.at)
			return err
		})
		if err != nil {
			return r.recover(ctx, handle, err)
		}
	}
	asked := time.Now()
	page, err := r.source.page(ctx, r.stream, r.iterator, buffer[:0])
	if err != nil {
		return r.recover(ctx, handle, err)
	}
	buffer = page.Buffer
	if buffer == nil { // the log used no buffer
		buffer = []byte{}
	}
	r.idle.Add(asked, len(page.Records))
	return r.fold(ctx, handle, page)
}

// page requests a page; DynamoDB charges the request.
func (s *Source) page(ctx context.Context, stream, iterator string, buffer []byte) (shards.Page, error) {
	ctx, cancel := context.WithTimeout(ctx, s.config.RequestTimeout)
	defer cancel()
	page, err := s.log.Read(ctx, stream, iterator, s.traits.MaxRecords, buffer)
	s.note(func(c *counts) {
		c.requests++
		if errors.Is(err, shards.ErrThrottled) {
			c.throttled++
		}
	})
	return page, err
}

// recover handles a failed request. It records a gap and moves the position, or returns the
// error of a request to repeat.
func (r *reader) recover(ctx context.Context, handle source.Partition, err error) (state, error) {
	sequence, _ := r.at.Sequence()
	unread := sequence == ""
	switch {
	case errors.Is(err, shards.ErrThrottled): // the iterator stays valid
		return reads, err
	case errors.Is(err, shards.ErrTrimmed) && !unread:
		if err := r.gap(ctx, handle, shards.TrimHorizon, "records were trimmed before they were read"); err != nil {
			return reads, err
		}
	case errors.Is(err, shards.ErrGone):
		if !unread {
			return vanished, r.gap(ctx, handle, r.at, "the shard was gone before its end was read")
		}
		return vanished, nil // it was listed in its last minutes
	}
	r.iterator = ""
	return reads, err
}

// gap records the records after the position as unread.
func (r *reader) gap(ctx context.Context, handle source.Partition, to shards.Position, reason string) error {
	g := sample.Gap{From: string(r.at), To: string(to), Since: r.last, Until: time.Now().Add(-r.source.traits.Retention), Reason: reason}
	if err := handle.Gap(context.WithoutCancel(ctx), g); err != nil {
		return source.FromSink(fmt.Errorf("record a gap: %w", err))
	}
	r.at = to
	return nil
}

// fold hands the wanted records of a page to the Sink: all of them, or none if ctx ends.
func (r *reader) fold(ctx context.Context, handle source.Partition, page shards.Page) (state, error) {
	wanted, later := page.Records[:0], false
	bytes := 0
	for _, record := range page.Records {
		if r.at.HasPassed(record.Sequence) {
			continue // DynamoDB begins after the number, but a stand-in may begin at it
		}
		r.at = shards.Position(record.Sequence)
		switch at := time.UnixMilli(record.Time); {
		case !r.source.until.IsZero() && !at.Before(r.source.until):
			later = true
		case !at.Before(r.source.config.Since):
			wanted = append(wanted, record)
			bytes += len(record.Value)
		}
		r.source.recordTime(r, time.UnixMilli(record.Time))
	}
	r.iterator = page.Next
	b := source.Batch{Next: string(r.at), Bytes: bytes}
	if len(wanted) > 0 {
		b.Messages, b.Time = messages(wanted), wanted[len(wanted)-1].Time
	}
	if err := handle.Fold(context.WithoutCancel(ctx), b); err != nil {
		return reads, source.FromSink(fmt.Errorf("fold: %w", err))
	}
	r.source.note(func(c *counts) { c.add(wanted, bytes) })
	idle, read := r.idle.End()
	switch {
	case page.Next == "":
		return ended, nil
	case r.source.until.IsZero():
		return reads, nil
	case later, idle && !read.Before(r.source.until):
		return caughtUp, nil
	}
	return reads, nil
}

func messages(records []shards.Record) iter.Seq[source.Message] {
	return func(yield func(source.Message) bool) {
		for _, r := range records {
			if !yield(source.Message{Value: r.Value, Time: r.Time}) {
				return
			}
		}
	}
}

// recordTime records when a record was written that the shard's reader has read.
func (s *Source) recordTime(r *reader, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.first.IsZero() {
		r.first, r.begun = at, time.Now()
	}
	r.last = at
}

// settle sets the final state of a shard.
func (s *Source) settle(r *reader, reached state) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.state = reached
}
