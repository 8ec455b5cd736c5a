package streams

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/keyheat/keyheat/internal/health"
	"github.com/keyheat/keyheat/internal/source"
)

// round says that this collector is alive, looks at the shards, and starts and
// stops readers by what its share is.
func (s *Streams) round(ctx context.Context, sink source.Sink, all *sync.WaitGroup) error {
	bounded, cancel := context.WithTimeout(ctx, s.config.RequestTimeout)
	defer cancel()
	me, err := s.attend(bounded)
	if err != nil {
		return err
	}
	open, err := s.ledger.Open(bounded)
	if err != nil {
		return fmt.Errorf("look at the shards: %w", err)
	}
	s.noteHeirs(open)
	readable := readable(open, s.wanted)
	p := share(readable, me.name, me.members)
	s.stopAllBut(p.keep)
	taken, err := s.take(bounded, p.take)
	if err != nil {
		return err
	}
	for _, h := range readable {
		if taken[h.Name] {
			s.start(ctx, h, sink, all)
		}
	}
	if s.health.Heal(health.Whole) {
		s.log.Info("one of the collectors that share the shards", "member", me.name, "members", len(me.members))
	}
	return nil
}

// attendance is what a member learns when it attends.
type attendance struct {
	name    string
	members []string
}

func (s *Streams) attend(ctx context.Context) (attendance, error) {
	asked := time.Now()
	me, members, err := s.ledger.Attend(ctx, s.config.Lease)
	if err != nil {
		return attendance{}, fmt.Errorf("say that this collector is alive: %w", err)
	}
	newcomer := time.Duration(0)
	if !s.tenure.holds() {
		newcomer = s.config.Round
	}
	s.children.Divide(len(members), newcomer)
	s.tenure.extend(asked.Add(s.config.Lease))
	return attendance{me, members}, nil
}

// wanted says whether a table is to be read, and can be.
func (s *Streams) wanted(table string) bool {
	return slices.Contains(s.config.Tables, table) && s.config.Known(table) == nil
}

// take asks for shards that are not read here yet, and answers which are ours.
func (s *Streams) take(ctx context.Context, names []string) (map[string]bool, error) {
	s.mu.Lock()
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return s.readers[name] != nil })
	s.mu.Unlock()
	if len(names) == 0 {
		return nil, nil
	}
	taken, err := s.ledger.Take(ctx, names)
	if err != nil {
		return nil, fmt.Errorf("take shards: %w", err)
	}
	return set(taken), nil
}

// start reads a shard that is ours, until ctx ends, which is the source's, or
// the reader is stopped.
func (s *Streams) start(ctx context.Context, h Shard, sink source.Sink, all *sync.WaitGroup) {
	own, stop := context.WithCancel(ctx)
	r := newReader(s, h, stop)
	s.mu.Lock()
	s.readers[h.Name] = r
	s.mu.Unlock()
	all.Go(func() {
		defer stop()
		s.finished(ctx, r, r.run(own, sink))
	})
}

// finished forgets a reader, and lets others take what it did not end.
func (s *Streams) finished(ctx context.Context, r *reader, ended bool) {
	s.health.Heal(r.shard.Name)
	if ended {
		s.ended.WithLabelValues(r.table).Inc()
	} else if ctx.Err() == nil { // else leave does it for all of them
		ctx, cancel := context.WithTimeout(ctx, s.config.RequestTimeout)
		defer cancel()
		if err := s.ledger.Free(ctx, r.shard.Name); err != nil {
			s.log.Warn("free a shard", "shard", r.shard.Name, "error", err)
		}
	}
	s.mu.Lock()
	delete(s.readers, r.shard.Name)
	s.mu.Unlock()
	s.hurry()
}

// stopAllBut stops the readers of other shards: they are too many, or another's.
func (s *Streams) stopAllBut(keep []string) {
	kept := set(keep)
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, r := range s.readers {
		if !kept[name] {
			r.stop()
		}
	}
}

func set(names []string) map[string]bool {
	all := make(map[string]bool, len(names))
	for _, name := range names {
		all[name] = true
	}
	return all
}
