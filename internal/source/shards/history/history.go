// Package history reads the remaining records of one table in a sharded log, once, in one
// process and without a store. Its parent package is the reader of a daemon, which shares
// shards with others and stores its positions. This package stores nothing, and ends.
//
// # Order
//
// All shards are read at once, children beside their parents. Within a shard the log
// keeps the order of each key's changes, and a key's changes are in one shard at a time.
// Analyze counts changes by the second in which each was written, so that the order of
// the shards does not matter.
//
// # Where it begins and ends
//
// Each shard is opened at its first record since Since. A shard that ended before answers
// with an empty page and its end.
//
// The end is the second in which Run began, for every shard. A shard is read up to its
// end, or up to a record of that second or later, or until [shards.Idleness] reports that
// all earlier records were read. With Follow there is no end.
//
// # Its rate
//
// Each shard has one request a second by default, and the pauses between refused ones
// grow. DynamoDB serves two readers of a shard, and a third may throttle the others.
package history

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/keyheat/keyheat/internal/daemon/retry"
	"github.com/keyheat/keyheat/internal/settings/options"
	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/internal/source/shards"
	"github.com/keyheat/keyheat/sample"
)

// Config selects the records to read. A zero field takes its default.
type Config struct {
	// Table is the table's name.
	Table string
	// Since is the time of the oldest change to hand out, in whole seconds.
	Since time.Time
	// Follow continues after all existing records are read, until ctx ends.
	Follow bool
	// Listed, if set, is called once with the number of open shards. Following them takes a
	// request to each shard every PageEvery.
	Listed func(open int)
	// PageEvery is the least time between two requests for records of a shard.
	PageEvery time.Duration
	// RequestTimeout bounds a request.
	RequestTimeout time.Duration
	// Patience is how long requests of one kind may fail before the reading ends early.
	// Throttled requests do not count as failures.
	Patience time.Duration
}

// defaults returns the defaults of Config but for Table and Since.
func defaults() Config {
	return Config{PageEvery: time.Second, RequestTimeout: 10 * time.Second, Patience: time.Minute}
}

// ErrNoStream means that the table has no stream, and had none in the last 24 hours.
var ErrNoStream = errors.New("the table has no stream")

const (
	// atOnce is how many pages may be in memory at once. A page has up to 1 MB, and takes
	// several times that while it is decoded.
	atOnce = 16
	// relistEvery is how often shards are listed while others are awaited.
	relistEvery = 30 * time.Second
	// childrenAfter is the pause before a listing that should show the children of a closed
	// shard. childrenTries bounds such listings: children appear some time after their
	// parent has closed.
	childrenAfter = 5 * time.Second
	childrenTries = 6
)

// Source reads the records left in a table's streams. Its Run is called once.
type Source struct {
	config Config
	log    shards.Log
	traits shards.Traits
	until  time.Time // 0 with Follow
	began  time.Time
	// buffers has the buffers for decoded pages. Their number bounds concurrent reads.
	buffers chan []byte
	ended   chan struct{} // room for one signal: a reader has ended

	mu       sync.Mutex
	shards   map[string]*reader // by stream and shard
	order    []*reader
	disabled map[string]bool // streams that take no more records
	counts   counts
	lost     []sample.Gap // gaps of shards without a handle
	stopped  error        // why no reader goes on
	stop     context.CancelFunc
}

// New returns a source that has made no request yet.
func New(config Config, log shards.Log) *Source {
	config = options.OrDefault(config, defaults())
	s := &Source{
		config: config, log: log, traits: log.Traits(),
		buffers: make(chan []byte, atOnce), ended: make(chan struct{}, 1),
		shards: make(map[string]*reader), disabled: make(map[string]bool),
	}
	for range atOnce {
		s.buffers <- nil
	}
	return s
}

// Run reads until all records are read, or until ctx ends, which is no error. Unread
// records are gaps in the Sink. Run returns an error only if it could not read any shard.
func (s *Source) Run(ctx context.Context, sink source.Sink) error {
	s.begin()
	working, stop := context.WithCancel(ctx)
	defer stop()
	s.stop = stop
	var readers sync.WaitGroup
	err := s.readAll(working, func(r *reader) {
		readers.Go(func() {
			defer retry.Signal(s.ended)
			r.run(working, sink)
		})
	})
	if err != nil && working.Err() == nil {
		s.fail(err)
	}
	readers.Wait()
	if s.Status().Shards == 0 && s.stopped != nil {
		return s.stopped
	}
	return s.reportGaps(context.WithoutCancel(ctx), sink, ctx.Err() != nil)
}

func (s *Source) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.began = time.Now()
	if !s.config.Follow {
		s.until = s.began.Truncate(time.Second)
	}
}

// fail ends the reading. The first error counts.
func (s *Source) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped == nil {
		s.stopped = err
	}
	s.stop()
}

// readAll lists shards and starts their readers, until all have ended and no child is
// missing; with Follow, until ctx ends.
func (s *Source) readAll(ctx context.Context, start func(*reader)) error {
	tries := 0
	for first := true; ; first = false {
		found, err := s.list(ctx)
		if err != nil {
			return err
		}
		if first && s.config.Listed != nil {
			s.config.Listed(s.open())
		}
		for _, r := range found {
			start(r)
		}
		if len(found) > 0 {
			tries = 0
		}
		for relist := false; !relist; {
			pause := relistEvery
			switch reading, childless := s.progress(); {
			case ctx.Err() != nil:
				return nil
			case childless > 0 && tries < childrenTries:
				tries, relist, pause = tries+1, true, childrenAfter
			case reading == 0 && childless > 0:
				s.miss(childless)
				return nil
			case reading == 0 && !s.config.Follow:
				return nil
			case s.config.Follow:
				relist = true
			}
			if relist {
				retry.Pause(ctx, pause)
				continue
			}
			retry.Wait(ctx, pause, s.ended)
		}
	}
}

// open returns the number of open shards.
func (s *Source) open() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.order {
		if r.open {
			n++
		}
	}
	return n
}

// progress returns the number of shards still being read, and the number of ended shards
// whose children should exist but are unknown.
func (s *Source) progress() (reading, childless int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	parents := make(map[string]bool)
	for _, r := range s.order {
		parents[r.parent] = true
	}
	for _, r := range s.order {
		switch {
		case r.state == reads:
			reading++
		case r.state == ended && !parents[r.name] && !s.disabled[r.stream]:
			childless++
		}
	}
	return reading, childless
}

// miss records that the children of so many shards were not found.
func (s *Source) miss(childless int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost = append(s.lost, sample.Gap{
		Until: s.until, Reason: fmt.Sprintf("%s did not show the children of %d shards that have ended", s.traits.Operations.Describe, childless),
	})
}

// reportGaps records all unread ranges in the Sink.
func (s *Source) reportGaps(ctx context.Context, sink source.Sink, interrupted bool) error {
	s.mu.Lock()
	gaps := s.lost
	read, all := 0, len(s.order)
	for _, r := range s.order {
		if r.state != reads {
			read++
		}
	}
	unread := sample.Gap{Since: s.config.Since, Until: s.until}
	switch {
	case s.stopped != nil:
		unread.Reason = fmt.Sprintf("%v; %d of %d shards were read to their end", s.stopped, read, all)
		gaps = append([]sample.Gap{unread}, gaps...)
	case interrupted && !s.config.Follow && all == 0:
		unread.Reason = "interrupted before its shards were known"
		gaps = append(gaps, unread)
	case interrupted && !s.config.Follow && read < all:
		unread.Reason = fmt.Sprintf("interrupted: %d of %d shards were read to their end", read, all)
		gaps = append(gaps, unread)
	}
	s.mu.Unlock()
	if len(gaps) == 0 {
		return nil
	}
	handle, err := sink.Claim(ctx, source.Claim{Partition: s.config.Table, First: string(shards.TrimHorizon)})
	if err != nil {
		return fmt.Errorf("claim: %w", err)
	}
	for _, g := range gaps {
		if err := handle.Gap(ctx, g); err != nil {
			return fmt.Errorf("record a gap: %w", err)
		}
	}
	return handle.Release(ctx)
}
