package push

import (
	"context"
	"strconv"
	"time"

	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/sample/format"
)

// delivery is a batch on its way to the store. It goes on when its request ends.
type delivery struct {
	user     string // empty where nobody asked
	producer string // its name in the store; empty for none
	formerly string // its name before users had names of their own
	brief    bool   // it is short-lived
	sequence int64
	mark     string // hash of the body, or of Firehose's id of the request
	format   format.Format
	body     []byte
	hold     *source.Hold
	lost     loss // what its producer dropped before

	// at is the door's position behind the batch.
	at       int64
	outcome  source.Outcome
	response response
	decided  chan struct{} // closed when response is set
	// done is closed when the producer may send its next batch, too.
	done chan struct{}
}

func (d *delivery) finish(r response) {
	d.response = r
	close(d.decided)
}

// begin begins a delivery in the background. If the same batch is under way already, it
// returns that delivery.
func (s *Source) begin(d *delivery) (*delivery, *response) {
	s.mu.Lock()
	defer s.mu.Unlock()
	under, refused := s.admit(d)
	if refused != nil || under != d {
		d.hold.Release()
		return under, refused
	}
	s.numbered[d.producer] = d
	ctx := s.ctx
	s.deliveries.Go(func() { s.deliver(ctx, d) })
	return d, nil
}

// admit takes a place for a batch. It returns another delivery of the same batch, if there is
// one, or why the batch is refused. The caller holds mu.
func (s *Source) admit(d *delivery) (*delivery, *response) {
	if s.ctx == nil || s.ctx.Err() != nil {
		return nil, new(unavailable("this collector starts or stops"))
	}
	if refused := s.refuseResting(d, time.Now()); refused != nil {
		return nil, refused
	}
	if other := s.numbered[d.producer]; d.producer != "" && other != nil {
		if other.sequence != d.sequence || other.mark != d.mark {
			return nil, new(busy("another batch of this producer is under way: send one at a time"))
		}
		return other, nil
	}
	select {
	case s.slots <- struct{}{}:
		return d, nil
	default:
		return nil, new(busy("too many batches wait for their commit"))
	}
}

// deliver counts a batch and waits for its commit.
func (s *Source) deliver(ctx context.Context, d *delivery) {
	defer close(d.done)
	defer s.forget(d)
	if move, decided := s.next(ctx, d); decided != nil {
		d.hold.Release()
		d.finish(*decided)
	} else if err := s.doors[d.format].fold(ctx, d, move); err != nil {
		d.finish(unavailable("the batch was not stored"))
	}
	<-d.decided
}

// forget gives the place back, and lets the producer send another batch.
func (s *Source) forget(d *delivery) {
	<-s.slots
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.numbered[d.producer] == d {
		delete(s.numbered, d.producer)
	}
}

// next compares a numbered batch with its producer's stored position. It returns the move of
// the next batch, or the response to any other.
func (s *Source) next(ctx context.Context, d *delivery) (*source.Move, *response) {
	if d.producer == "" {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.config.RespondWithin)
	defer cancel()
	end, err := s.lookups.Wait(ctx, d.user)
	if err != nil {
		return nil, new(unavailable("the store does not answer"))
	}
	defer end()
	stored, err := s.store.Producer(ctx, d.producer, d.formerly)
	if err != nil {
		return nil, new(unavailable("the store does not answer"))
	}
	expected := int64(1)
	if stored.Next != "" {
		if expected, err = strconv.ParseInt(stored.Next, 10, 64); err != nil {
			return nil, new(unavailable("the producer's position cannot be read"))
		}
	}
	switch {
	case d.sequence == expected:
		if stored.Next == "" {
			if refused := s.refuseName(ctx, d); refused != nil {
				return nil, refused
			}
		}
		return &source.Move{Name: stored.Name, From: stored.Next, To: strconv.FormatInt(expected+1, 10), Mark: d.mark}, nil
	case d.sequence == expected-1 && isSame(stored.Mark, d.mark):
		return nil, new(duplicate())
	}
	return nil, new(conflict(expected))
}
