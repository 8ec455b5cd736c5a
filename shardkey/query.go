package shardkey

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
)

// Page is what one query of one shard returns.
type Page[T any] struct {
	// Items are in sort-key order.
	Items []T
	// Next is where the shard's next page begins, as the caller's client has it
	// (LastEvaluatedKey); nil when there is none.
	Next any
}

// Reader reads all shards of a key as if they were one.
type Reader[T any] struct {
	// Fetch queries one shard by its partition key, from where a page left off;
	// next is nil for the first page. It is called for different shards at the
	// same time.
	Fetch func(ctx context.Context, name string, next any) (Page[T], error)
	// Less is the sort key's order, the one in which Fetch returns.
	Less func(a, b T) bool
	// Parallel is how many queries may be under way at once; 8 when zero.
	Parallel int
	// Limit ends the reading after so many items; 0 reads all.
	Limit int
}

const defaultParallel = 8

// Query reads shards side by side and yields their items in sort-key order,
// equal ones by the order of names. It reads ahead one page a shard, and stops
// reading when the caller stops or the limit is reached. An error is yielded
// once, as the last, after every item that comes before it for certain.
func (r Reader[T]) Query(ctx context.Context, names []string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		if err := r.check(); err != nil {
			yield(zero, err)
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		var running sync.WaitGroup
		defer running.Wait()
		defer cancel()
		m := merge[T]{less: r.Less}
		slots := make(chan struct{}, cmp.Or(r.Parallel, defaultParallel))
		for i, name := range names {
			s := &stream[T]{name: name, place: i, pages: make(chan result[T])}
			m.streams = append(m.streams, s)
			running.Go(func() { r.read(ctx, s, slots) })
		}
		r.drain(ctx, &m, yield)
	}
}

func (r Reader[T]) check() error {
	switch {
	case r.Fetch == nil || r.Less == nil:
		return errors.New("shardkey: a Reader needs Fetch and Less")
	case r.Parallel < 0 || r.Limit < 0:
		return errors.New("shardkey: Parallel and Limit are not negative")
	}
	return nil
}

// result is a page or why there is none; last says that no page follows.
type result[T any] struct {
	items []T
	err   error
	last  bool
}

// read fetches a shard's pages, one ahead of what was asked for.
func (r Reader[T]) read(ctx context.Context, s *stream[T], slots chan struct{}) {
	var next any
	for {
		got := r.fetch(ctx, s.name, &next, slots)
		select {
		case s.pages <- got:
		case <-ctx.Done():
			return
		}
		if got.last {
			return
		}
	}
}

func (r Reader[T]) fetch(ctx context.Context, name string, next *any, slots chan struct{}) result[T] {
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	case <-ctx.Done():
		return result[T]{err: ctx.Err(), last: true}
	}
	page, err := r.Fetch(ctx, name, *next)
	if err != nil {
		return result[T]{err: fmt.Errorf("query shard %q: %w", name, err), last: true}
	}
	*next = page.Next
	return result[T]{items: page.Items, last: page.Next == nil}
}

// drain yields the merged items.
func (r Reader[T]) drain(ctx context.Context, m *merge[T], yield func(T, error) bool) {
	var zero T
	for _, s := range m.streams {
		if err := s.fill(ctx); err != nil {
			yield(zero, err)
			return
		}
	}
	m.begin()
	for n := 1; m.Len() > 0; n++ {
		s := m.ready[0]
		if !yield(s.items[0], nil) || n == r.Limit {
			return
		}
		s.items = s.items[1:]
		if err := s.fill(ctx); err != nil {
			yield(zero, err)
			return
		}
		m.settle()
	}
}

// stream is one shard's items, as far as they are known.
type stream[T any] struct {
	name  string
	place int
	pages chan result[T]
	items []T
	last  bool
}

// fill waits for the next page when all known items are used up; pages may be
// empty.
func (s *stream[T]) fill(ctx context.Context) error {
	for len(s.items) == 0 && !s.last {
		select {
		case got := <-s.pages:
			if got.err != nil {
				return got.err
			}
			s.items, s.last = got.items, got.last
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// merge is a heap of the streams that have an item, by their first.
type merge[T any] struct {
	less    func(a, b T) bool
	streams []*stream[T]
	ready   []*stream[T]
}

func (m *merge[T]) begin() {
	for _, s := range m.streams {
		if len(s.items) > 0 {
			m.ready = append(m.ready, s)
		}
	}
	heap.Init(m)
}

// settle puts the first stream where its next item belongs.
func (m *merge[T]) settle() {
	if len(m.ready[0].items) == 0 {
		heap.Pop(m)
		return
	}
	heap.Fix(m, 0)
}

func (m *merge[T]) Len() int      { return len(m.ready) }
func (m *merge[T]) Swap(i, j int) { m.ready[i], m.ready[j] = m.ready[j], m.ready[i] }
func (m *merge[T]) Push(s any)    { m.ready = append(m.ready, s.(*stream[T])) }

func (m *merge[T]) Less(i, j int) bool {
	a, b := m.ready[i], m.ready[j]
	switch {
	case m.less(a.items[0], b.items[0]):
		return true
	case m.less(b.items[0], a.items[0]):
		return false
	}
	return a.place < b.place
}

func (m *merge[T]) Pop() any {
	last := m.ready[len(m.ready)-1]
	m.ready = m.ready[:len(m.ready)-1]
	return last
}
