package history

import (
	"context"
	"errors"
	"time"

	"golang.org/x/time/rate"

	"github.com/keyheat/keyheat/internal/daemon/retry"
	"github.com/keyheat/keyheat/internal/source/shards"
)

// list lists the table's streams with their shards, and returns the readers of new shards.
func (s *Source) list(ctx context.Context) (found []*reader, err error) {
	pace := rate.NewLimiter(s.traits.ListingRate, 1)
	streams, err := s.streams(ctx, pace)
	if err != nil {
		return nil, err
	}
	if len(streams) == 0 {
		return nil, ErrNoStream
	}
	for i, stream := range streams {
		described, disabled, err := s.describe(ctx, pace, stream)
		if errors.Is(err, shards.ErrGone) && i < len(streams)-1 {
			continue // an old stream, gone since it was listed
		}
		if err != nil {
			return nil, err
		}
		found = append(found, s.add(stream, described, disabled)...)
	}
	return found, nil
}

// streams returns the streams that the table has or had, the oldest first.
func (s *Source) streams(ctx context.Context, pace *rate.Limiter) (all []string, err error) {
	for cursor := ""; ; {
		var page []string
		err := s.insist(ctx, pace, func(ctx context.Context) (err error) {
			page, cursor, err = s.log.Streams(ctx, s.config.Table, cursor)
			return err
		})
		if err != nil {
			return nil, err
		}
		if all = append(all, page...); cursor == "" {
			return shards.OrderStreams(all, s.log.Parts), nil
		}
	}
}

// describe returns all shards of a stream.
func (s *Source) describe(ctx context.Context, pace *rate.Limiter, stream string) (all []shards.Described, disabled bool, err error) {
	for cursor := ""; ; {
		var page shards.Description
		err := s.insist(ctx, pace, func(ctx context.Context) (err error) {
			page, err = s.log.Describe(ctx, stream, cursor, "")
			return err
		})
		if err != nil {
			return nil, false, err
		}
		all = append(all, page.Shards...)
		if cursor = page.Next; cursor == "" {
			return all, page.Disabled, nil
		}
	}
}

// insist repeats a request of a listing until it succeeds, is refused for good, or has
// failed for Patience.
func (s *Source) insist(ctx context.Context, pace *rate.Limiter, request func(context.Context) error) error {
	pauses := retry.NewBackOff(500*time.Millisecond, 10*time.Second)
	for failing := time.Now(); ; {
		if err := pace.Wait(ctx); err != nil {
			return err
		}
		err := s.ask(ctx, request)
		switch {
		case err == nil, ctx.Err() != nil, final(err), errors.Is(err, shards.ErrGone):
			return err
		case errors.Is(err, shards.ErrThrottled):
			failing = time.Now()
		case time.Since(failing) > s.config.Patience:
			return err
		}
		retry.Pause(ctx, pauses.NextBackOff())
	}
}

// ask makes one free request.
func (s *Source) ask(ctx context.Context, request func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.config.RequestTimeout)
	defer cancel()
	err := request(ctx)
	s.note(func(c *counts) {
		c.others++
		if errors.Is(err, shards.ErrThrottled) {
			c.throttled++
		}
	})
	return err
}

// final reports whether a repeated request would return the same error.
func final(err error) bool { return errors.Is(err, shards.ErrDenied) }

// add adds the new shards of a stream, and returns their readers.
func (s *Source) add(stream string, described []shards.Described, disabled bool) (found []*reader) {
	table, label := s.log.Parts(stream)
	name := func(id string) string { return table + "/" + label + "/" + id }
	s.mu.Lock()
	defer s.mu.Unlock()
	s.disabled[stream] = disabled
	for _, d := range described {
		if known := s.shards[name(d.ID)]; known != nil {
			known.open = d.Open
			continue
		}
		r := &reader{source: s, stream: stream, id: d.ID, name: name(d.ID), open: d.Open, at: shards.AtTime(s.config.Since)}
		if d.Parent != "" {
			r.parent = name(d.Parent)
		}
		s.shards[r.name] = r
		s.order = append(s.order, r)
		found = append(found, r)
	}
	return found
}
