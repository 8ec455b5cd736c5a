package awssdk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/keyheat/keyheat/sample"
)

// Sink takes records. One goroutine calls Write, about once a second. Write may take its time,
// because pending records are bounded, and it may keep the records. After an error all of them
// count as dropped. When ctx ends, Write should return soon.
type Sink interface {
	Write(ctx context.Context, records []sample.Record) error
}

// LossSink is a Sink that tells the collectors of records that were dropped before they came to
// it, so that they know which seconds they have not seen whole.
type LossSink interface {
	Sink
	// Lose counts n dropped records of requests between two times. The goroutine that calls
	// Write calls it.
	Lose(n int64, since, until time.Time)
}

// SinkFunc is a function as a Sink.
type SinkFunc func(ctx context.Context, records []sample.Record) error

// Write calls the function.
func (f SinkFunc) Write(ctx context.Context, records []sample.Record) error { return f(ctx, records) }

// WriterSink returns a sink that writes Keyheat JSON, one record a line, with one Write for
// each batch.
func WriterSink(w io.Writer) Sink {
	var line []byte
	return SinkFunc(func(_ context.Context, records []sample.Record) error {
		line = line[:0]
		for i := range records {
			line = append(records[i].AppendJSON(line), '\n')
		}
		if _, err := w.Write(line); err != nil {
			return fmt.Errorf("write samples: %w", err)
		}
		return nil
	})
}

// worker sends folded records to the sink at the end of every second.
type worker struct {
	sink  Sink
	fold  *fold
	count *counters

	ctx    context.Context // for the sink and for DescribeTable
	cancel context.CancelFunc
	stop   chan struct{}
	ended  chan struct{}
	// asked has requests to flush; each is closed once all records before it went to the sink.
	asked chan chan struct{}

	mu      sync.Mutex // orders the last runBeside before close
	closing bool
	tasks   sync.WaitGroup
}

func startWorker(sink Sink, fold *fold, count *counters) *worker {
	w := &worker{sink: sink, fold: fold, count: count, stop: make(chan struct{}), ended: make(chan struct{}), asked: make(chan chan struct{})}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	go w.run()
	return w
}

func (w *worker) run() {
	defer close(w.ended)
	for {
		now := time.Now()
		timer := time.NewTimer(time.Until(now.Truncate(time.Second).Add(time.Second)))
		select {
		case <-timer.C:
			w.send()
		case flushed := <-w.asked:
			timer.Stop()
			w.send()
			close(flushed)
		case <-w.stop:
			timer.Stop()
			w.send()
			return
		}
	}
}

// send sends the folded records to the sink. A sink that panics has taken none.
func (w *worker) send() {
	records, lost := w.fold.take()
	if sink, tells := w.sink.(LossSink); tells && lost.n > 0 {
		sink.Lose(lost.n, time.UnixMilli(lost.since), time.UnixMilli(lost.until))
	}
	if len(records) == 0 {
		return
	}
	var n int64
	for i := range records {
		n += records[i].N
	}
	if err := w.write(records); err != nil {
		w.count.sinkErrors.Add(1)
		w.count.dropped.Add(n)
		return
	}
	w.count.sent.Add(n)
}

func (w *worker) write(records []sample.Record) (err error) {
	defer func() {
		if p := recover(); p != nil {
			w.count.panicks.Add(1)
			err = fmt.Errorf("the sink panicked: %v", p)
		}
	}()
	return w.sink.Write(w.ctx, records)
}

// runBeside starts a task that Close waits for, unless the worker is closing.
func (w *worker) runBeside(task func(ctx context.Context)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closing {
		return
	}
	w.tasks.Go(func() {
		defer func() {
			if recover() != nil {
				w.count.panicks.Add(1)
			}
		}()
		task(w.ctx)
	})
}

// flush waits until the sink has taken the records that are pending now.
func (w *worker) flush(ctx context.Context) error {
	dropped, flushed := w.count.dropped.Load(), make(chan struct{})
	select {
	case w.asked <- flushed:
	case <-w.ended:
		return errors.New("awssdk: the sampler is closed")
	case <-ctx.Done():
		return tooLate(ctx)
	}
	select {
	case <-flushed:
	case <-ctx.Done():
		return tooLate(ctx)
	}
	if n := w.count.dropped.Load() - dropped; n > 0 {
		return fmt.Errorf("awssdk: the sink did not take %d records", n)
	}
	return nil
}

func tooLate(ctx context.Context) error {
	return fmt.Errorf("awssdk: the sink did not take all records in time: %w", ctx.Err())
}

func (w *worker) close(ctx context.Context) error {
	dropped := w.count.dropped.Load()
	w.fold.close()
	w.mu.Lock()
	if !w.closing {
		w.closing = true
		close(w.stop)
	}
	w.mu.Unlock()
	defer w.cancel()
	select {
	case <-w.ended:
	case <-ctx.Done():
		return tooLate(ctx)
	}
	w.cancel() // nobody reads the result of a running DescribeTable any more
	w.tasks.Wait()
	if n := w.count.dropped.Load() - dropped; n > 0 {
		return fmt.Errorf("awssdk: the sink did not take the last %d records", n)
	}
	return nil
}
