package store

import (
	"context"
	"time"
	"unicode/utf8"
)

// A producer sends numbered batches over HTTP, to any collector of the store. Its position
// is the number of its next batch. Nobody claims it: the position's epoch is 0, and each
// commit with a batch of the producer moves it by compare-and-swap, from the empty position
// the first time.

// TimedMark begins the mark of a batch whose samples all have times of their own. An hour
// later it is too old to be counted again, so that its position may be forgotten.
const TimedMark = "timed:"

// Producer returns a producer's position; an empty one for a new producer. The first of the
// names that has one is the producer's.
func (s *Store) Producer(ctx context.Context, names ...string) (Position, error) {
	p := Position{PartitionID: PartitionID{Source: Push, Name: names[0]}}
	err := s.snapshot(ctx, "read a producer's position", func(t *tx) error {
		for _, name := range names {
			found, err := first(selectAll(ctx, t, func(p *Position) []any { return []any{&p.Next, &p.Mark} }, `
				SELECT next_offset, mark FROM positions WHERE source = $1 AND name = $2`, Push, name))
			if err == nil {
				p.Name, p.Next, p.Mark = name, found.Next, found.Mark
				return nil
			}
			if err = unlessMissing(err); err != nil {
				return err
			}
		}
		return nil
	})
	return p, err
}

// ProducerRoom returns how many more producers may have a name with a prefix, of at most
// `most`. If there is none, up to a tenth of the names give way, the longest idle first: names
// that sent nothing for so long, and whose newest batch has a TimedMark.
func (s *Store) ProducerRoom(ctx context.Context, prefix string, most int64, idle time.Duration) (room int64, err error) {
	const named = ` source = $1 AND substr(name, 1, $2) = $3`
	args := []any{Push, utf8.RuneCountInString(prefix), prefix}
	err = s.snapshot(ctx, "count producers", func(t *tx) error {
		return t.QueryRowContext(ctx, `SELECT count(*) FROM positions WHERE`+named, args...).Scan(&room)
	})
	if room = most - room; err != nil || room > 0 {
		return room, err
	}
	var gone int64
	err = s.change(ctx, "forget idle producers", func(t *tx) (err error) {
		gone, err = t.exec(ctx, `
			DELETE FROM positions WHERE`+named+` AND moved < $4 AND name IN (
				SELECT name FROM positions WHERE`+named+` AND moved < $4 AND substr(mark, 1, $5) = $6 ORDER BY moved, name LIMIT $7)`,
			append(args, utc(t.now.Add(-idle)), len(TimedMark), TimedMark, max(1, most/10)-room)...)
		return err
	})
	return max(0, room+gone), err
}
