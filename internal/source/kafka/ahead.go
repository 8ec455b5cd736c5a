package kafka

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/keyheat/keyheat/internal/source/memory"
)

// ahead is the fetch of what follows a response, made while that is folded: the broker
// works meanwhile, and the partition does not wait for it afterwards.
type ahead struct {
	request *fetchRequest
	cancel  context.CancelFunc
	done    chan struct{} // closed once the others are set
	// What the fetch returned.
	response *fetchResponse
	err      error
}

// fetchAhead fetches from an offset without being waited for, unless other partitions'
// responses come meanwhile, or memory is not to spare for n bytes and for what the last
// response needed.
func (r *reader) fetchAhead(ctx context.Context, offset int64, epoch int32, n int) {
	if r.source.coming.Load() >= int64(runtime.GOMAXPROCS(0)) {
		return
	}
	hold := r.source.memory.Spare(int64(max(n, r.reserve)))
	if hold == nil {
		return
	}
	request := r.request(offset, epoch, r.source.config.MaxWait, hold)
	request.more = true
	a := &ahead{request: request, done: make(chan struct{})}
	ctx, a.cancel = context.WithCancel(ctx)
	go func() {
		defer close(a.done)
		a.response, a.err = r.send(ctx, request)
	}()
	r.ahead = a
	// With one processor the request would wait until the response is folded.
	runtime.Gosched()
}

// takeAhead returns the response to the fetch ahead, if that is what is to be read now,
// and the error of that fetch. Both are nil where there is none.
func (r *reader) takeAhead(offset int64) (*fetchResponse, error) {
	a := r.ahead
	if a == nil || a.request.offset != offset || a.request.epoch != r.epochBefore(offset) {
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

// fetch returns the leader's response to a fetch: to that which was made ahead, or to one
// that is made when there is memory for it. Who gets the response releases it.
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
		request := r.request(offset, r.epochBefore(offset), wait, hold)
		request.more = r.reserve > 0
		response, err = r.send(ctx, request)
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

func (r *reader) request(offset int64, epoch int32, wait time.Duration, hold *memory.Hold) *fetchRequest {
	return &fetchRequest{
		versions: &r.connection.versions, topic: r.topic, id: r.is.topic, partition: int32(r.id), offset: offset, epoch: epoch,
		maxWait: wait, maxBytes: int32(r.fetchBytes), limit: r.source.config.MaxBatchBytes + r.source.config.FetchBytes,
		clientID: r.source.config.ClientID, hold: hold,
	}
}

// send makes one request to the leader. After an error its memory is given back. It is
// safe beside the reader's own goroutine.
func (r *reader) send(ctx context.Context, request *fetchRequest) (*fetchResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, request.maxWait+r.source.config.RequestTimeout)
	defer cancel()
	if request.more {
		r.source.coming.Add(1)
		defer r.source.coming.Add(-1)
	}
	asked := time.Now()
	response, err := r.connection.transport.RoundTrip(ctx, r.connection.client.Addr, request)
	if err != nil {
		request.hold.Release()
		return nil, err
	}
	fetched := response.(*fetchResponse)
	fetched.asked = asked
	return fetched, nil
}
