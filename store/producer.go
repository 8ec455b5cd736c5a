package store

import (
	"context"
	"errors"
)

// A producer sends numbered batches over HTTP, to any collector of the store. Its position
// is the number of its next batch. Nobody claims it: the position's epoch is 0, and each
// commit with a batch of the producer moves it by compare-and-swap, from the empty position
// the first time.

const maxProducers = 100_000

// ErrTooManyProducers reports that the store remembers as many producers as it may.
var ErrTooManyProducers = errors.New("too many producers: the store forgets those that sent nothing for a day")

// Producer returns a producer's position; an empty one for a new producer. It fails with
// ErrTooManyProducers if there is no room for a new one.
func (s *Store) Producer(ctx context.Context, name string) (Position, error) {
	p := Position{PartitionID: PartitionID{Source: Push, Name: name}}
	err := s.snapshot(ctx, "read a producer's position", func(t *tx) error {
		found, err := first(selectAll(ctx, t, func(p *Position) []any { return []any{&p.Next, &p.Mark} }, `
			SELECT next_offset, mark FROM positions WHERE source = $1 AND name = $2`, Push, name))
		if err == nil {
			p.Next, p.Mark = found.Next, found.Mark
			return nil
		}
		if err = unlessMissing(err); err != nil {
			return err
		}
		var known int64
		if err := t.QueryRowContext(ctx, `SELECT count(*) FROM positions WHERE source = $1`, Push).Scan(&known); err != nil {
			return err
		}
		if known >= maxProducers {
			return ErrTooManyProducers
		}
		return nil
	})
	return p, err
}
