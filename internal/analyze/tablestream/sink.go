package tablestream

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/internal/source/shards"
	"github.com/keyheat/keyheat/sample"
)

func (r *reading) Claim(ctx context.Context, c source.Claim) (source.Partition, error) {
	c.First = string(shards.AtTime(r.since))
	p, err := r.sink.Claim(ctx, c)
	if err != nil {
		return nil, r.sinkFailed(ctx, fmt.Errorf("claim: %w", err))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return &claimed{Partition: p, reading: r, shard: r.shard(c.Partition)}, nil
}

// sinkFailed ends the reading with an error of the sink, unless the reading ends anyway.
func (r *reading) sinkFailed(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.fail(err)
	}
	return err
}

// claimed passes the wanted records of one shard on: a source.Partition.
type claimed struct {
	source.Partition
	reading *reading
	shard   *shard
}

func (p *claimed) Fold(ctx context.Context, b source.Batch) error {
	r := p.reading
	var all, wanted []source.Message
	if b.Messages != nil {
		all = slices.Collect(b.Messages)
		for _, m := range all {
			if at := time.UnixMilli(m.Time); !at.Before(r.since) && (r.until.IsZero() || at.Before(r.until)) {
				wanted = append(wanted, m)
			}
		}
		b.Messages = slices.Values(wanted)
	}
	if err := p.Partition.Fold(ctx, b); err != nil {
		return r.sinkFailed(ctx, fmt.Errorf("fold: %w", err))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts.add(wanted)
	p.shard.note(all)
	read := p.shard.last // all earlier records were read
	if b.End && b.Read > 0 {
		read = time.UnixMilli(b.Read)
	}
	p.shard.done = b.Final || !r.until.IsZero() && !read.Before(r.until)
	r.stopIfDone()
	return nil
}

// Gap implements source.Partition. A shard that vanished before any of its records was read
// was in its last minutes, and is no gap.
func (p *claimed) Gap(ctx context.Context, g sample.Gap) error {
	if _, unread := shards.Position(g.From).Time(); unread {
		return nil
	}
	return p.Partition.Gap(ctx, g)
}
