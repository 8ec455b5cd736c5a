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

	"github.com/keyheat/keyheat/internal/daemon/retry"
	"github.com/keyheat/keyheat/internal/source/memory"
)

// followsPerWait is how many requests a follower begins at most for each broker within
// Config.MaxWait: a partition to which records come one by one is not fetched for each.
const followsPerWait = 10

// follower fetches for the partitions that are read to the ends of their logs. Those that
// wait for the same broker share a request, so that hundreds of quiet partitions take a
// few requests a second and not a few each. One that has much to read fetches alone.
type follower struct {
	source     *Source
	connection *connection
	wake       chan struct{} // somebody waits

	mu sync.Mutex
	// waiting are partitions that no request is made for now.
	waiting []*following
}

// following is a partition that waits for something behind the end of its log.
type following struct {
	part     fetchPart
	since    time.Time
	answered chan *fetchResponse // of one place; closed when the request failed
	silence  error               // set before answered is closed, if the broker was silent
	gone     bool                // under the follower's mu: nobody takes the response
}

func newFollower(k *Source, l *connection) *follower {
	return &follower{source: k, connection: l, wake: make(chan struct{}, 1)}
}

// fetch waits, about Config.MaxWait at most, until the broker has something to say of a
// partition, and returns it, or that there is nothing new. Who gets the response releases
// it. Nil without an error is a request that failed, perhaps for another partition's sake,
// or the end of ctx; an error is a broker that does not answer.
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

// await has the next requests made for these partitions, too.
func (f *follower) await(all ...*following) {
	if len(all) == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiting = append(f.waiting, all...)
	retry.Signal(f.wake)
}

// run makes requests until ctx ends.
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
		retry.Pause(ctx, f.pause())
	}
}

// pause is how long the follower gathers partitions for its next requests.
func (f *follower) pause() time.Duration { return f.source.config.MaxWait / followsPerWait }

// shared is what partitions have in common that can share a request.
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

// poll makes one request, and hands out what the broker has to say. Those partitions of
// which there is nothing new wait on, unless they have waited for long enough.
func (f *follower) poll(ctx context.Context, all []*following) {
	parts := make([]fetchPart, len(all))
	longest := time.Duration(0)
	for i, w := range all {
		parts[i] = w.part
		longest = max(longest, time.Since(w.since))
	}
	hold, err := f.source.memory.Acquire(ctx, 0)
	if err != nil {
		return // with ctx, which ended for those that wait, too
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

// answer hands a response to who waits for it.
func (f *follower) answer(w *following, response *fetchResponse) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if w.gone {
		response.release()
		return
	}
	w.answered <- response
}

// giveUp hands nothing to those who wait but that the broker is silent, if that is why:
// they would wait for another request timeout to see it.
func giveUp(all []*following, why error) {
	for _, w := range all {
		if errors.Is(why, context.DeadlineExceeded) || errors.Is(why, os.ErrDeadlineExceeded) {
			w.silence = fmt.Errorf("fetch at offset %d, with other partitions: %w", w.part.offset, why)
		}
		close(w.answered)
	}
}

// isNews reports whether a broker says of a partition anything but that nothing is behind
// the end of its log.
func (p *partitionData) isNews(end int64) bool {
	return p.err != nil || len(p.records) > 0 || p.diverged >= 0 || p.logStart > end || p.end() > end
}

// part returns what the response says of one part, in memory of its own that is taken of
// the response's.
func (f *fetched) part(i int, hold *memory.Hold) *fetchResponse {
	p := f.parts[i]
	p.records = bytes.Clone(p.records)
	n := len(p.records)
	return &fetchResponse{partitionData: p, version: f.version, buf: p.records, asked: f.asked, hold: hold.SplitOff(int64(n)), held: n}
}
