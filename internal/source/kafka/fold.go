package kafka

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"

	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/internal/source/kafka/recordbatch"
)

// fold hands a response to the Sink, a chunk of records at a time, and releases it.
func (r *reader) fold(ctx context.Context, res *fetchResponse) error {
	began := r.at
	some := len(res.RecordBatches) > 0
	end, epoch := recordbatch.End(res.RecordBatches)
	if r.foreseen && end > r.at && end < res.end() {
		r.fetchAhead(ctx, end, epoch, len(res.buf))
	}
	decoder, claimed := res.decode(r.at, r.source.config.MaxBatchBytes), int64(0)
	err := r.foldChunks(ctx, decoder, res)
	if errors.Is(err, io.EOF) {
		claimed = decoder.ClaimedRecords()
	}
	r.foreseen = r.at == end && r.epoch == epoch
	held := res.held
	res.release()
	r.reserve, r.atEnd = 0, r.at >= res.end()
	if !r.atEnd {
		r.reserve = max(held, r.fetchBytes)
	}
	var short *shortError
	switch {
	case errors.As(err, &short):
		r.reserve = short.bytes
		return nil
	case errors.Is(err, source.ErrReread):
		r.reserve = held
		return nil
	case source.IsFromSink(err):
		return err
	}
	if r.at == began && claimed > r.at {
		return r.believe(ctx, res, claimed)
	}
	return r.endResponse(ctx, res, began, some, err)
}

// believe moves the position to the claimed end of the last batch. A fetch from after its
// last record has returned the batch again, and no other one.
func (r *reader) believe(ctx context.Context, res *fetchResponse, claimed int64) error {
	if r.at < res.HighWatermark && r.fetchBytes < r.source.config.MaxBatchBytes {
		return r.growFetch() // the next batch may not have fit
	}
	return r.foldChunk(ctx, recordbatch.Chunk{Next: min(claimed, max(res.HighWatermark, r.at)), Epoch: r.epoch}, res)
}

// foldChunks folds the response's chunks, and returns why it has no more.
func (r *reader) foldChunks(ctx context.Context, decoder *recordbatch.Decoder, res *fetchResponse) error {
	for {
		c, err := decoder.Next()
		if err != nil {
			return err
		}
		if err := r.foldChunk(ctx, c, res); err != nil {
			return err
		}
	}
}

// endResponse handles the end of a response. some reports that the response held records.
func (r *reader) endResponse(ctx context.Context, res *fetchResponse, began int64, some bool, end error) error {
	var corrupt *recordbatch.CorruptError
	switch {
	case errors.As(end, &corrupt):
		return r.skipCorrupt(ctx, corrupt, res.end())
	case errors.Is(end, recordbatch.ErrOldFormat):
		return end
	case r.at > began:
		r.fetchBytes = r.source.config.FetchBytes
		return nil
	case some:
		return r.growFetch()
	}
	return r.foldChunk(ctx, recordbatch.Chunk{Next: r.at}, res) // nothing new: the watermark moves
}

// growFetch enlarges the next fetch after a response without a new whole batch: a batch that
// was read already may have filled it.
func (r *reader) growFetch() error {
	if r.fetchBytes >= r.source.config.MaxBatchBytes {
		return fmt.Errorf("the batch at offset %d exceeds the limit of %d bytes: raise kafka.max_batch to the topic's max.message.bytes", r.at, r.source.config.MaxBatchBytes)
	}
	r.fetchBytes = min(2*r.fetchBytes, r.source.config.MaxBatchBytes)
	return nil
}

func (r *reader) foldChunk(ctx context.Context, c recordbatch.Chunk, res *fetchResponse) error {
	lag := max(res.HighWatermark-c.Next, 0)
	epoch := r.epoch
	if c.Next > r.at {
		epoch = c.Epoch
	}
	err := r.handle.Fold(ctx, source.Batch{
		Messages: messages(c.Records), Next: strconv.FormatInt(c.Next, 10), Mark: mark(epoch),
		Time: c.Time, End: c.Next >= res.end(), Read: res.asked.UnixMilli(), Lag: lag, Bytes: c.Bytes,
		Yield: func() bool {
			wanted := r.source.memory.HasWaiters()
			if wanted {
				res.release()
				r.dropAhead()
			}
			return wanted
		},
		Wanted: r.source.memory.HasWaiters,
	})
	if errors.Is(err, source.ErrReread) {
		return err
	}
	if err != nil {
		return source.FromSink(fmt.Errorf("fold: %w", err))
	}
	r.at, r.epoch = c.Next, epoch
	r.newest = max(r.newest, c.Time)
	if len(c.Records) > 0 {
		r.lossCheck.step = 0
	}
	r.source.messages.WithLabelValues(r.topic).Add(float64(len(c.Records)))
	r.source.bytes.WithLabelValues(r.topic).Add(float64(c.Bytes))
	r.source.lag.WithLabelValues(r.topic, strconv.Itoa(r.id)).Set(float64(lag))
	return nil
}

func messages(records []recordbatch.Record) iter.Seq[source.Message] {
	if len(records) == 0 {
		return nil
	}
	return func(yield func(source.Message) bool) {
		for i := range records {
			if !yield(source.Message{Value: records[i].Value, Time: records[i].Time}) {
				return
			}
		}
	}
}
