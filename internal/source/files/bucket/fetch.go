package bucket

import (
	"context"
	"errors"
	"io"
	"sync"
)

const (
	// partSize is how many bytes of an object a request reads.
	partSize = 4 << 20
	// atOnce is the most parts that are requested and not read to their end, and so the most
	// concurrent requests: the SDK keeps as many connections to a host.
	atOnce = 10
)

// part is a piece of an object, as it is fetched.
type part struct {
	ready chan struct{} // closed when there is data, or an error
	data  []byte
	err   error
}

// fetching is one run's reading ahead.
type fetching struct {
	reader  *Reader
	slots   chan struct{} // one for each part that is not read
	running sync.WaitGroup
	queue   chan *body
}

// fetch opens the objects one after the other for read, and returns how many were read to
// their end. It returns an error of read, or one that concerns every other object too.
func (r *Reader) fetch(ctx context.Context, read func(path string, body io.ReadCloser) error) (done int, err error) {
	f := &fetching{reader: r, slots: make(chan struct{}, atOnce), queue: make(chan *body, atOnce)}
	ahead, stop := context.WithCancel(ctx)
	f.running.Go(func() { f.dispatch(ahead) })
	defer func() { stop(); f.running.Wait() }()
	for b := range f.queue {
		// If no object of a bucket may be read, that is one error, not a gap for each
		// object.
		if begun := b.begin(); errors.Is(begun, errForAll) || done == 0 && errors.Is(begun, errDenied) {
			return done, begun
		}
		if err := read(b.object.path(), b); err != nil {
			return done, err
		}
		_ = b.Close() // has no error
		switch {
		case errors.Is(b.err, errForAll):
			return done, b.err
		case b.read == b.object.size:
			done++
			r.note(func(s *status) { s.objects++ })
		}
	}
	return done, nil
}

// dispatch starts requests in the order of the parts, as far ahead as there are slots.
func (f *fetching) dispatch(ctx context.Context) {
	defer close(f.queue)
	for i := range f.reader.objects {
		b := &body{of: f, object: &f.reader.objects[i], parts: make(chan *part, atOnce)}
		var wanted context.Context
		wanted, b.stop = context.WithCancel(ctx)
		select {
		case f.queue <- b:
			f.parts(wanted, b)
		case <-ctx.Done():
			b.stop()
			return
		}
	}
}

// parts requests the parts of an object, until ctx ends.
func (f *fetching) parts(ctx context.Context, b *body) {
	defer close(b.parts)
	for from := int64(0); from < b.object.size; from += partSize {
		n := min(partSize, b.object.size-from)
		select {
		case f.slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		p := &part{ready: make(chan struct{})}
		f.running.Go(func() {
			defer close(p.ready)
			p.data, p.err = f.reader.get(ctx, b.object, from, n)
		})
		b.parts <- p // the channel has room for all slots
	}
}

// body reads an object from its parts. It is for one goroutine.
type body struct {
	of     *fetching
	object *object
	parts  chan *part
	stop   context.CancelFunc // cancels its requests

	at   *part // nil when there is none
	rest []byte
	read int64
	err  error // io.EOF at the end
}

var errInterrupted = errors.New("interrupted")

// begin waits for the first part, and returns its error.
func (b *body) begin() error {
	if b.at == nil && b.err == nil {
		b.next()
	}
	return b.err
}

// next waits for the next part.
func (b *body) next() {
	b.release()
	p, more := <-b.parts
	switch {
	case !more && b.read < b.object.size:
		b.err = errInterrupted
		return
	case !more:
		b.err = io.EOF
		return
	}
	<-p.ready
	b.at, b.rest, b.err = p, p.data, p.err
}

// release gives back the slot of the part at hand.
func (b *body) release() {
	if b.at != nil {
		<-b.of.slots
		b.at, b.rest = nil, nil
	}
}

func (b *body) Read(to []byte) (int, error) {
	for len(b.rest) == 0 {
		if b.err == nil {
			b.next()
		}
		if b.err != nil {
			return 0, b.err
		}
	}
	n := copy(to, b.rest)
	b.rest = b.rest[n:]
	b.read += int64(n)
	b.of.reader.note(func(s *status) { s.bytes += int64(n) })
	return n, nil
}

// Close gives up the unread parts.
func (b *body) Close() error {
	b.stop()
	b.release()
	for p := range b.parts {
		<-p.ready
		<-b.of.slots
	}
	return nil
}
