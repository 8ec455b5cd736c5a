package shardkey

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
)

// Page is the result of one query of one shard.
type Page[T any] struct {
	// Items are in sort-key order.
	Items []T
	// Next is the start of the shard's next page, in the form of the caller's client
	// (LastEvaluatedKey), or nil if there is none.
	Next any
}

// Reader reads all shards of a key like one partition key.
type Reader[T any] struct {
	// Fetch queries one shard by its partition key, from the end of its last page; next is nil
	// for the first page. Fetch is called concurrently for different shards.
	Fetch func(ctx context.Context, name string, next any) (Page[T], error)
	// Less is the sort key's order. Fetch returns items in this order.
	Less func(a, b T) bool
	// Parallel is the most concurrent queries, 8 if zero.
	Parallel int
	// Limit is the most items to read; 0 reads all.
	Limit int
}

const defaultParallel = 8

// Query reads the shards concurrently, and yields their items in sort-key order, equal ones in
// the order of names. It reads one page ahead for each shard, and stops when the caller stops
// or the limit is reached. It yields an error once, as the last, after all items that certainly
// come before it.
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
		var streams []*stream[T]
		slots := make(chan struct{}, cmp.Or(r.Parallel, defaultParallel))
		for _, name := range names {
			s := &stream[T]{name: name, pages: make(chan result[T])}
			streams = append(streams, s)
			running.Go(func() { r.read(ctx, s, slots) })
		}
		r.drain(ctx, streams, yield)
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

// result is a page or an error. last means that no page follows.
type result[T any] struct {
	items []T
	err   error
	last  bool
}

// read fetches a shard's pages, one ahead of the consumer.
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
func (r Reader[T]) drain(ctx context.Context, streams []*stream[T], yield func(T, error) bool) {
	var zero T
	for _, s := range streams {
		if err := s.fill(ctx); err != nil {
			yield(zero, err)
			return
		}
	}
	for n := 1; ; n++ {
		s := r.first(streams)
		if s == nil || !yield(s.items[0], nil) || n == r.Limit {
			return
		}
		s.items = s.items[1:]
		if err := s.fill(ctx); err != nil {
			yield(zero, err)
			return
		}
	}
}

// first returns the stream with the first item, of equal ones the first; nil for none.
func (r Reader[T]) first(streams []*stream[T]) (first *stream[T]) {
	for _, s := range streams {
		if len(s.items) > 0 && (first == nil || r.Less(s.items[0], first.items[0])) {
			first = s
		}
	}
	return first
}

// stream is one shard's items, as far as they have been fetched.
type stream[T any] struct {
	name  string
	pages chan result[T]
	items []T
	last  bool
}

// fill waits for the next page if all fetched items are used up. Pages may be empty.
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
