package push

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/sample/format"
)

// attendEvery is how often a door looks for commits, and moves its watermark on.
const attendEvery = 50 * time.Millisecond

// door is the partition of all batches in one format that this collector takes. Its position
// counts them.
type door struct {
	source *Source
	name   string

	mu        sync.Mutex
	partition source.Partition // nil while it is not claimed
	at        int64
	// keyed is when a span, or a record of Firehose's, with a key arrived last.
	keyed time.Time
	// lost is what producers dropped, and lastGap when a gap of that was recorded.
	lost    loss
	lastGap time.Time
	// folded are counted and not committed, in their order.
	folded []*delivery
}

func (d *door) isOpen() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.partition != nil
}

// run claims the door's partition, again whenever it is lost, until ctx ends.
func (d *door) run(ctx context.Context, sink source.Sink) error {
	for ctx.Err() == nil {
		p, err := sink.Claim(ctx, source.Claim{Partition: d.name, First: "0"})
		if err != nil {
			return err
		}
		err = d.attend(ctx, p)
		if err != nil && !errors.Is(err, source.ErrReclaim) {
			return err
		}
		d.source.restProducers(err, time.Now())
	}
	return nil
}

// attend keeps a claimed partition until it is lost or ctx ends, and then tells the requests
// that wait what became of their batches.
func (d *door) attend(ctx context.Context, p source.Partition) error {
	at, err := strconv.ParseInt(p.Position(), 10, 64)
	if err != nil {
		return err
	}
	d.mu.Lock()
	d.partition, d.at = p, at
	d.mu.Unlock()
	tick := time.NewTicker(attendEvery)
	defer tick.Stop()
	for err == nil && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-tick.C:
			err = d.step(ctx)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	defer func() { d.partition = nil }()
	if ctx.Err() != nil {
		release, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.source.config.ReleaseTimeout)
		defer cancel()
		d.lastGap = time.Time{}
		_ = d.recordLoss(release, time.Now()) // Release says why
		if err = p.Release(release); err == nil {
			d.settle(d.at)
		}
	}
	for _, lost := range d.folded {
		lost.finish(unavailable("the batch was not stored"))
	}
	d.folded = nil
	return err
}

// step moves the watermark on, and answers the requests whose batches are committed.
func (d *door) step(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := d.recordLoss(ctx, time.Now())
	if err == nil {
		err = d.partition.Fold(ctx, d.batch())
	}
	if committed, err := strconv.ParseInt(d.partition.CommittedPosition(), 10, 64); err == nil {
		d.settle(committed)
	}
	if ctx.Err() != nil {
		return nil // the handle is alive, for Release
	}
	return err
}

// fold counts a batch. The response follows its commit.
func (d *door) fold(ctx context.Context, b *delivery, move *source.Move) error {
	defer b.hold.Release()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.partition == nil {
		return source.ErrReclaim
	}
	d.lost.add(b.lost)
	if err := d.recordLoss(ctx, time.Now()); err != nil {
		return err
	}
	batch := d.batch()
	now := time.Now().UnixMilli()
	batch.Messages = func(yield func(source.Message) bool) { yield(source.Message{Value: b.body, Time: now}) }
	batch.Next, batch.Bytes, batch.Producer, batch.Outcome = strconv.FormatInt(d.at+1, 10), len(b.body), move, &b.outcome
	batch.User = b.user
	if err := d.partition.Fold(ctx, batch); err != nil {
		return err
	}
	if (b.format == format.OTLP || b.format == format.Firehose) && b.outcome.Counted > b.outcome.CallerOnly {
		d.keyed = time.Now()
	}
	d.at++
	b.at, b.body = d.at, nil
	d.folded = append(d.folded, b)
	return nil
}

// spansAwaited is how long spans, or Firehose's records, with keys are waited for after the last
// one.
const spansAwaited = 5 * time.Minute

// batch returns a batch without messages. It is read a while ago: until then every sample has
// arrived. The caller holds mu.
func (d *door) batch() source.Batch {
	late := d.source.config.Late
	if time.Since(d.keyed) < spansAwaited {
		late = d.source.config.SpansLate
	}
	read := time.Now().Add(-late).UnixMilli()
	return source.Batch{Next: strconv.FormatInt(d.at, 10), Time: read, End: true, Read: read}
}

// settle answers the requests of the batches up to a committed position. The caller holds mu.
func (d *door) settle(committed int64) {
	for len(d.folded) > 0 && d.folded[0].at <= committed {
		b := d.folded[0]
		d.folded = d.folded[1:]
		if b.outcome.RefusedAll {
			b.finish(refuseTables(b.outcome))
			continue
		}
		delivery := atLeastOnce
		if b.producer != "" {
			delivery = exactlyOnce
		}
		b.finish(confirm(b.outcome, delivery))
	}
}
