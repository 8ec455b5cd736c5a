package store

import (
	"context"
	"slices"
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
// names that has one is the producer's. It is one round trip: floods of new producers ask, too.
func (s *Store) Producer(ctx context.Context, names ...string) (Position, error) {
	found, err := list(ctx, s, "read a producer's position", func(p *Position) []any { return []any{&p.Source, &p.Name, &p.Next, &p.Mark} }, `
		SELECT source, name, next_offset, mark FROM positions WHERE source = $1 AND name IN `+placeholdersFrom(2, 1, len(names)),
		append([]any{Push}, texts(names)...)...)
	for _, name := range names {
		if i := slices.IndexFunc(found, func(p Position) bool { return p.Name == name }); i >= 0 {
			return found[i], err
		}
	}
	return Position{PartitionID: PartitionID{Source: Push, Name: names[0]}}, err
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
