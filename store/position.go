package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// Push is the source of producers and of the collectors' own watermarks. A collector that is
// gone leaves nothing unread there, because producers send to another one.
const Push = "http"

// PartitionID names a partition of a log, or a shard of a stream.
type PartitionID struct {
	// Source is where the partition lives, such as "kafka:" and a cluster's id.
	Source string
	// Name is the partition in that source, such as "samples/7".
	Name string
}

// String is "source/name".
func (id PartitionID) String() string { return id.Source + "/" + id.Name }

// compare is the key order in which rows are locked.
func (id PartitionID) compare(other PartitionID) int {
	return cmp.Or(cmp.Compare(id.Source, other.Source), cmp.Compare(id.Name, other.Name))
}

// Position is where a partition is to be read on, and who may move it.
type Position struct {
	PartitionID
	// Next is the first position that is not counted yet, in the source's own
	// form.
	Next string
	// Epoch rises with every claim; only the newest may move the position.
	Epoch int64
	// Ended reports that the partition was counted to its end and will not grow.
	Ended bool
	// Writer made the newest claim.
	Writer string
	// Mark is the source's own note about the last record before Next.
	Mark string
	// Log is the position's log, and Readers are the members that share it; empty if no
	// claim named them.
	Log, Readers string
	// Lost are the gaps that a claim has recorded; it alone sets them.
	Lost []Gap
}

// Move is the compare-and-swap of one position.
type Move struct {
	PartitionID
	// Epoch is the claim under which the caller reads; 0 for a producer's position, which
	// nobody claims.
	Epoch int64
	// From is where the caller believes the stored position to be, To where
	// it goes. An empty From of epoch 0 is a new producer.
	From, To string
	// Mark is the source's own note about the last record before To; see [Position].
	Mark string
	// Ended marks the partition as counted to its end.
	Ended bool
}

// Positions are all known partitions of a source, in key order; of all
// sources when source is empty.
func (s *Store) Positions(ctx context.Context, source string) ([]Position, error) {
	return list(ctx, s, "read positions", func(p *Position) []any {
		return []any{&p.Source, &p.Name, &p.Next, &p.Epoch, &p.Ended, &p.Writer, &p.Mark, &p.Log, &p.Readers}
	}, `
		SELECT source, name, next_offset, epoch, ended, writer, mark, log, readers
		FROM positions WHERE $1 = '' OR source = $1 ORDER BY source, name`, source)
}

// move swaps the positions in key order, so that two committers never wait for
// each other in a circle. It tries all of them, to name every lost one.
func (t *tx) move(ctx context.Context, writer string, moves []Move) error {
	moves = slices.Clone(moves)
	slices.SortFunc(moves, func(a, b Move) int { return a.compare(b.PartitionID) })
	var lost []PartitionID
	for _, m := range moves {
		n, err := t.moveOne(ctx, writer, m)
		if err != nil {
			return fmt.Errorf("move %s: %w", m.PartitionID, err)
		}
		if n == 0 {
			lost = append(lost, m.PartitionID)
		}
	}
	if len(lost) > 0 {
		return &FencedError{Lost: lost}
	}
	return nil
}

// moveOne swaps one position, or stores a new producer's. It returns 0 if the position was
// not where the caller believed.
func (t *tx) moveOne(ctx context.Context, writer string, m Move) (int64, error) {
	if m.Epoch == 0 && m.From == "" {
		return t.exec(ctx, `
			INSERT INTO positions (source, name, next_offset, epoch, ended, writer, moved, mark)
			VALUES ($1, $2, $3, 0, FALSE, $4, $5, $6)
			ON CONFLICT (source, name) DO NOTHING`, m.Source, m.Name, m.To, writer, t.now, clean(m.Mark))
	}
	return t.exec(ctx, `
		UPDATE positions
		SET next_offset = $1, ended = $2, writer = $3, moved = $4, mark = $9
		WHERE source = $5 AND name = $6 AND next_offset = $7 AND epoch = $8`,
		m.To, m.Ended, writer, t.now, m.Source, m.Name, m.From, m.Epoch, clean(m.Mark))
}
