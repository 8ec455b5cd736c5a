package kafka

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/keyheat/keyheat/internal/source"
)

// ahead is a fetch of the next response while the current one is folded. The broker works
// meanwhile, and the partition need not wait for it afterwards.
type ahead struct {
	part   fetchPart
	cancel context.CancelFunc
	done   chan struct{} // closed once the others are set
	// Result of the fetch.
	response *fetchResponse
	err      error
}

// fetchAhead starts a fetch from an offset in the background. It does nothing while another
// partition's response arrives, or if memory lacks n spare bytes and the bytes of the last
// response.
func (r *reader) fetchAhead(ctx context.Context, offset int64, epoch int32, n int) {
	if r.source.coming.Load() >= int64(runtime.GOMAXPROCS(0)) {
		return
	}
	hold := r.source.memory.Spare(int64(max(n, r.reserve)))
	if hold == nil {
		return
	}
	a := &ahead{part: r.part(offset, epoch), done: make(chan struct{})}
	request := r.request(a.part, r.source.config.MaxWait, hold)
	ctx, a.cancel = context.WithCancel(ctx)
	go func() {
		defer close(a.done)
		a.response, a.err = r.send(ctx, request, true)
	}()
	r.ahead = a
	// With one processor the request would wait until the response is folded.
	runtime.Gosched()
}

// takeAhead returns the response of the fetch ahead, or its error, if the fetch began at
// this offset. Both are nil if there was no such fetch.
func (r *reader) takeAhead(offset int64) (*fetchResponse, error) {
	a := r.ahead
	if a == nil || a.part != r.part(offset, r.epochBefore(offset)) {
		r.dropAhead()
		return nil, nil
	}
	<-a.done
	a.cancel()
	r.ahead = nil
	return a.response, a.err
}

// dropAhead gives up the fetch ahead, and its memory.
func (r *reader) dropAhead() {
	if r.ahead == nil {
		return
	}
	r.ahead.cancel()
	<-r.ahead.done
	if r.ahead.response != nil {
		r.ahead.response.release()
	}
	r.ahead = nil
}

// fetch returns the leader's response: the one fetched ahead, or a new one as soon as there
// is memory for it. The caller releases the response.
func (r *reader) fetch(ctx context.Context, offset int64, wait time.Duration) (*fetchResponse, error) {
	response, err := r.takeAhead(offset)
	for {
		var short *shortError
		switch {
		case response != nil:
			return response, nil
		case errors.As(err, &short) && ctx.Err() == nil:
			r.reserve = short.bytes
		case err != nil:
			return nil, fmt.Errorf("fetch at offset %d: %w", offset, err)
		}
		hold, waited := r.source.memory.Acquire(ctx, int64(r.reserve))
		if waited != nil {
			return nil, fmt.Errorf("wait for memory: %w", waited)
		}
		request := r.request(r.part(offset, r.epochBefore(offset)), wait, hold)
		response, err = r.send(ctx, request, r.reserve > 0)
	}
}

// epochBefore returns the leader epoch of the record before an offset; -1 when it is not
// known.
func (r *reader) epochBefore(offset int64) int32 {
	if offset == r.at {
		return r.epoch
	}
	return -1
}

func (r *reader) part(offset int64, epoch int32) fetchPart {
	return fetchPart{topic: r.topic, id: r.identity.topic, partition: int32(r.id), offset: offset, epoch: epoch}
}

func (r *reader) request(part fetchPart, wait time.Duration, hold *source.Hold) *fetchRequest {
	return r.source.fetchRequest(r.connection, []fetchPart{part}, wait, r.fetchBytes, hold)
}

// send makes one request to the leader. more reports that records were at the request's
// offset when the previous response came. send is safe beside the reader's own goroutine.
func (r *reader) send(ctx context.Context, request *fetchRequest, more bool) (*fetchResponse, error) {
	if more {
		r.source.coming.Add(1)
		defer r.source.coming.Add(-1)
	}
	f, err := r.source.fetch(ctx, r.connection, request)
	if err != nil {
		return nil, err
	}
	return &fetchResponse{
		partitionData: f.parts[0], version: f.version, buf: f.buf, asked: f.asked, hold: request.hold, held: len(f.buf),
	}, nil
}
