package kafka

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/keyheat/keyheat/internal/daemon"
	"github.com/keyheat/keyheat/internal/source"
)

// followsPerWait is the most requests that a follower starts for a broker within
// Config.MaxWait. A partition with a slow trickle of records would otherwise cost a request
// each.
const followsPerWait = 10

// follower fetches for partitions that are read to the end of their logs. Partitions on the
// same broker share a request, so that hundreds of quiet partitions take a few requests a
// second together. A partition with a backlog fetches alone.
type follower struct {
	source     *Source
	connection *connection
	wake       chan struct{} // a partition waits

	mu sync.Mutex
	// waiting are partitions that no request is made for now.
	waiting []*following
}

// following is a partition that waits for records after the end of its log.
type following struct {
	part     fetchPart
	since    time.Time
	answered chan *fetchResponse // room for one response; closed when the request failed
	silence  error               // set before answered is closed, if the broker was silent
	gone     bool                // guarded by the follower's mu: the reader has left
}

func newFollower(k *Source, l *connection) *follower {
	return &follower{source: k, connection: l, wake: make(chan struct{}, 1)}
}

// fetch waits about Config.MaxWait at most, and returns the broker's news of a partition,
// or an empty response. The caller releases the response. Without an error, a nil response
// means that ctx ended, or that the request failed, perhaps because of another partition.
// An error means that the broker does not answer.
func (f *follower) fetch(ctx context.Context, part fetchPart) (*fetchResponse, error) {
	w := &following{part: part, since: time.Now(), answered: make(chan *fetchResponse, 1)}
	f.await(w)
	select {
	case response := <-w.answered:
		return response, w.silence
	case <-ctx.Done():
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	w.gone = true
	select {
	case response := <-w.answered:
		return response, w.silence
	default:
		return nil, nil
	}
}

// await adds partitions to the next requests.
func (f *follower) await(all ...*following) {
	if len(all) == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiting = append(f.waiting, all...)
	daemon.Signal(f.wake)
}

func (f *follower) run(ctx context.Context) {
	var polls sync.WaitGroup
	defer polls.Wait()
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.wake:
		}
		f.mu.Lock()
		waiting := f.waiting
		f.waiting = nil
		f.mu.Unlock()
		// Brokers fill a response in the order of its request.
		slices.SortFunc(waiting, func(a, b *following) int { return a.since.Compare(b.since) })
		for _, all := range f.byLeader(ctx, waiting) {
			polls.Go(func() { f.poll(ctx, all) })
		}
		daemon.Pause(ctx, f.pause())
	}
}

// pause returns how long the follower gathers partitions for its next requests.
func (f *follower) pause() time.Duration { return f.source.config.MaxWait / followsPerWait }

// shared has the properties that partitions of one request have in common.
type shared struct {
	leader int // the broker's id
	byName bool
}

// byLeader returns the partitions that can share a request.
func (f *follower) byLeader(ctx context.Context, all []*following) map[shared][]*following {
	leaders, err := f.connection.leaders(ctx, f.source.config.Topics)
	if err != nil {
		giveUp(all, err)
		return nil
	}
	groups := make(map[shared][]*following)
	for _, w := range all {
		s := shared{leaders[partition{w.part.topic, int(w.part.partition)}], w.part.id == (topicID{})}
		groups[s] = append(groups[s], w)
	}
	return groups
}

// poll makes one request and hands out the responses. Partitions without news wait on until
// their time is over.
func (f *follower) poll(ctx context.Context, all []*following) {
	parts := make([]fetchPart, len(all))
	longest := time.Duration(0)
	for i, w := range all {
		parts[i] = w.part
		longest = max(longest, time.Since(w.since))
	}
	hold, err := f.source.memory.Acquire(ctx, 0)
	if err != nil {
		return // ctx also ends the waiting readers
	}
	wait := max(f.source.config.MaxWait-longest, f.pause())
	got, err := f.source.fetch(ctx, f.connection, f.source.fetchRequest(f.connection, parts, wait, f.source.config.FetchBytes, hold))
	if err != nil {
		giveUp(all, err)
		return
	}
	var quiet []*following
	for i, w := range all {
		if got.parts[i].isNews(w.part.offset) || time.Since(w.since) >= f.source.config.MaxWait-f.pause() {
			f.answer(w, got.part(i, hold))
		} else {
			quiet = append(quiet, w)
		}
	}
	responseBuffers.Keep(got.buf)
	hold.Release()
	f.await(quiet...)
}

// answer hands a response to the reader that waits for it.
func (f *follower) answer(w *following, response *fetchResponse) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if w.gone {
		response.release()
		return
	}
	w.answered <- response
}

// giveUp ends all waits with an error if the broker did not answer, and without one
// otherwise. The readers would only wait for another request timeout.
func giveUp(all []*following, why error) {
	for _, w := range all {
		if errors.Is(why, context.DeadlineExceeded) || errors.Is(why, os.ErrDeadlineExceeded) {
			w.silence = fmt.Errorf("fetch at offset %d, with other partitions: %w", w.part.offset, why)
		}
		close(w.answered)
	}
}

// isNews reports whether the response has more to report than an unchanged end of the log.
func (p *partitionData) isNews(end int64) bool {
	return p.ErrorCode != 0 || len(p.RecordBatches) > 0 || p.DivergingEpoch.EndOffset >= 0 || p.LogStartOffset > end || p.end() > end
}

// part returns one partition of the response. It copies the records, and splits their
// memory off the response's hold.
func (f *fetched) part(i int, hold *source.Hold) *fetchResponse {
	p := f.parts[i]
	p.RecordBatches = bytes.Clone(p.RecordBatches)
	n := len(p.RecordBatches)
	return &fetchResponse{partitionData: p, version: f.version, buf: p.RecordBatches, asked: f.asked, hold: hold.SplitOff(int64(n)), held: n}
}
