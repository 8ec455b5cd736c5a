package shards

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/keyheat/keyheat/internal/daemon"
	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/store"
)

// round renews the membership, reads the open shards, and starts and stops readers
// by this collector's share.
func (s *Source) round(ctx context.Context, sink source.Sink, all *sync.WaitGroup) error {
	bounded, cancel := context.WithTimeout(ctx, s.config.RequestTimeout)
	defer cancel()
	members, err := s.keepAlive(bounded)
	if err != nil {
		return err
	}
	open, err := s.registry.OpenShards(bounded, s.config.Name)
	if err != nil {
		return fmt.Errorf("read the open shards: %w", err)
	}
	s.noteChildren(open)
	readable := readable(open, s.client.log.Parts, s.isWanted)
	s.setSubscribed(readable)
	p := share(readable, s.config.Member, members)
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
	if s.health.Heal(daemon.Whole) {
		s.log.Info("joined the collectors that share the shards", "member", s.config.Member, "members", len(members))
	}
	return nil
}

func (s *Source) setSubscribed(readable []store.Shard) {
	var names []string
	for _, h := range readable {
		names = append(names, h.Name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.subscribed = names
}

// keepAlive renews the membership, and returns all living members in order.
func (s *Source) keepAlive(ctx context.Context) ([]string, error) {
	asked := time.Now()
	members, err := s.registry.Attend(ctx, s.config.Name, s.config.Member, s.config.Lease)
	if err != nil {
		return nil, fmt.Errorf("renew the membership: %w", err)
	}
	newcomer := time.Duration(0)
	if !s.ownership.holds() {
		newcomer = s.config.Round
	}
	s.childrenPacer.divide(len(members), newcomer)
	s.ownership.extend(asked.Add(s.config.Lease))
	return members, nil
}

// isWanted reports whether a table is to be read, and can be.
func (s *Source) isWanted(table string) bool {
	return slices.Contains(s.config.Tables, table) && s.config.Known(table) == nil
}

// take requests shards that this collector does not read yet, and returns the granted ones.
func (s *Source) take(ctx context.Context, names []string) (map[string]bool, error) {
	s.mu.Lock()
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return s.readers[name] != nil })
	s.mu.Unlock()
	if len(names) == 0 {
		return nil, nil
	}
	taken, err := s.registry.TakeShards(ctx, s.config.Name, s.config.Member, names)
	if err != nil {
		return nil, fmt.Errorf("take shards: %w", err)
	}
	return set(taken), nil
}

// start reads an owned shard until the source's ctx ends or the reader is stopped.
func (s *Source) start(ctx context.Context, h store.Shard, sink source.Sink, all *sync.WaitGroup) {
	own, stop := context.WithCancel(ctx)
	r := newReader(s, h, stop)
	s.mu.Lock()
	s.readers[h.Name] = r
	s.mu.Unlock()
	all.Go(func() {
		defer stop()
		s.readerEnded(ctx, r, r.run(own, sink))
	})
}

// readerEnded removes a reader, and lets others take a shard that has not ended.
func (s *Source) readerEnded(ctx context.Context, r *reader, ended bool) {
	s.health.Heal(r.shard.Name)
	if ended {
		s.ended.WithLabelValues(r.table).Inc()
	} else if ctx.Err() == nil { // otherwise leave releases all shards
		ctx, cancel := context.WithTimeout(ctx, s.config.RequestTimeout)
		defer cancel()
		if err := s.registry.FreeShard(ctx, s.config.Name, s.config.Member, r.shard.Name); err != nil {
			s.log.Warn("cannot let others take a shard", "shard", r.shard.Name, "error", err)
		}
	}
	s.mu.Lock()
	delete(s.readers, r.shard.Name)
	s.mu.Unlock()
	s.requestRound()
}

// stopAllBut stops the readers of all shards outside keep.
func (s *Source) stopAllBut(keep []string) {
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
