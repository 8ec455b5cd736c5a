package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/keyheat/keyheat/sample"
)

// Claim is a request for a partition.
type Claim struct {
	PartitionID
	// First is where a partition begins that is not known yet.
	First string
	// Log identifies the log behind the name, such as a Kafka topic's id; empty if it has
	// none, or the source does not know it. A Log other than the stored one begins at
	// Start, and the unread rest of the stored one is a gap.
	Log, Start string
	// Partitions is the number of the log's partitions: partitions of another Log beyond
	// them are gaps too. 0 when not known.
	Partitions int
	// Readers are who share the source's partitions, such as a consumer group;
	// empty where anybody may claim. While some attend, others are refused.
	Readers string
}

type claimed struct {
	Position
	former string
}

// Claim makes a writer the owner of a partition: it raises the epoch, so that no writer
// with an older claim can move the position again, and returns the position to read from.
// An unknown partition begins at First, and its watermark at Beginning: no second is
// complete before the partition's first commit.
//
// Claim only when the right to the partition is certain, after a successful heartbeat of
// the group's generation for example: a late zombie that claims takes the partition from
// its rightful owner. After ErrUnavailable, claim again: a lost response costs an epoch
// and nothing else.
//
// It fails with ErrHeld while other Readers attend, and with ErrFormerLog
// when the partition was claimed with a newer Log before: the caller's Log is outdated.
func (s *Store) Claim(ctx context.Context, writer string, c Claim) (Position, error) {
	var p Position
	err := s.change(ctx, "claim "+c.String(), func(t *tx) (err error) {
		p, err = t.claim(ctx, writer, c)
		return err
	})
	return p, err
}

func (t *tx) claim(ctx context.Context, writer string, c Claim) (Position, error) {
	row, err := t.lockPosition(ctx, writer, c)
	if err != nil {
		return Position{}, err
	}
	if err := t.refuse(ctx, writer, c, row); err != nil {
		return Position{}, err
	}
	if err := t.follow(ctx, writer, c, row); err != nil {
		return Position{}, err
	}
	if err := t.supersede(ctx, writer, c, row); err != nil {
		return Position{}, err
	}
	row.Epoch, row.Writer = row.Epoch+1, writer
	if c.Readers != "" {
		row.Readers = c.Readers
	}
	err = t.run(ctx, `
		UPDATE positions
		SET next_offset = $1, epoch = $2, ended = $3, writer = $4, log = $5, former = $6, readers = $7, superseded = '', mark = $10
		WHERE source = $8 AND name = $9`,
		row.Next, row.Epoch, row.Ended, row.Writer, row.Log, row.former, row.Readers, c.Source, c.Name, row.Mark)
	if err != nil {
		return Position{}, err
	}
	if err := t.putGaps(ctx, writer, row.Lost); err != nil {
		return Position{}, err
	}
	return row.Position, t.claimWatermark(ctx, row.Position)
}

// lockPosition returns a partition's row, locked until the transaction ends. One of
// epoch 0 is new.
func (t *tx) lockPosition(ctx context.Context, writer string, c Claim) (*claimed, error) {
	row := &claimed{Position: Position{PartitionID: c.PartitionID}}
	err := t.QueryRowContext(ctx, `
		INSERT INTO positions (source, name, next_offset, epoch, ended, writer, moved)
		VALUES ($1, $2, $3, 0, FALSE, $4, $5)
		ON CONFLICT (source, name) DO UPDATE SET epoch = positions.epoch
		RETURNING next_offset, epoch, ended, writer, mark, log, former, readers`,
		c.Source, c.Name, c.First, writer, t.now).Scan(
		&row.Next, &row.Epoch, &row.Ended, &row.Writer, &row.Mark, &row.Log, &row.former, &row.Readers)
	return row, err
}

// refuse fails when others than the claim's readers attend.
func (t *tx) refuse(ctx context.Context, writer string, c Claim, row *claimed) error {
	if row.Readers == "" || c.Readers == "" || row.Readers == c.Readers || row.Writer == writer {
		return nil
	}
	host, attends, err := t.attends(ctx, row.Writer)
	if err == nil && attends {
		return &heldError{PartitionID: c.PartitionID, Readers: row.Readers, Host: host, Refused: c.Readers}
	}
	return err
}

// attends reports whether a writer is running, as far as the store can tell, and
// where.
func (t *tx) attends(ctx context.Context, writer string) (host string, attends bool, err error) {
	var seen, stopped time.Time
	err = t.QueryRowContext(ctx, `SELECT host, seen, stopped FROM writers WHERE writer = $1`, writer).Scan(&host, &seen, &stopped)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	return host, stopped.IsZero() && t.now.Sub(seen) <= SilentAfter, err
}

// maxFormer is how many former logs of a partition are remembered.
const maxFormer = 16

// follow moves a position to the claim's log. Another log begins at its start, and the
// unread rest of the one before is a gap.
func (t *tx) follow(ctx context.Context, writer string, c Claim, row *claimed) error {
	if c.Log == "" || c.Log == row.Log {
		return nil
	}
	former := strings.Fields(row.former)
	if slices.Contains(former, c.Log) {
		return fmt.Errorf("%s is %s, not %s any more: %w", c.PartitionID, row.Log, c.Log, ErrFormerLog)
	}
	before := row.Log
	row.Log = c.Log
	if before == "" { // known by its name only until now
		return nil
	}
	former = append([]string{before}, former...)
	row.former = strings.Join(former[:min(len(former), maxFormer)], " ")
	if err := t.leave(ctx, &row.Position, c, c.Start, reasonAnotherLog, row.Writer == writer); err != nil {
		return err
	}
	row.Next, row.Mark, row.Ended = c.Start, "", false
	return t.leaveBeyond(ctx, c, before, row)
}

// The reasons of gaps that a claim records, for a person.
const (
	reasonAnotherLog  = "the log was deleted and created again: what was left of the one before was not read"
	reasonFewer       = "the log was deleted and created again with fewer partitions: what was left in this one was not read"
	reasonReadToEnd   = "the log was deleted and created again: the one before had been read to its end %s before that was noticed, and no record of it is known to be missing"
	reasonAnotherHome = "its readers read the log of this name on another cluster now: what was left here was not read when that was noticed"
)

// readToEnd is how long ago a log that is gone may have been read to its end, for nothing of
// it to be known as missing. Collectors look twice a second and store it once a second; the
// rest is for the deletion, and for a log that is created a little later.
const readToEnd = 15 * time.Second

// leave records the unread records behind a position as a gap, with their number when a
// collector looked last. An empty log leaves nothing. watched reports that the claiming
// collector saw the end of a log until the log was gone.
func (t *tx) leave(ctx context.Context, p *Position, c Claim, to, reason string, watched bool) error {
	var lag int64
	var until, moved time.Time
	err := t.QueryRowContext(ctx, `SELECT lag, watermark, moved FROM watermarks WHERE source = $1 AND name = $2`, p.Source, p.Name).Scan(&lag, &until, &moved)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if lag == 0 && p.Next == c.Start {
		return nil
	}
	if lag > 0 {
		reason += fmt.Sprintf(" (%d messages when it was last looked at)", lag)
	}
	g := sample.Gap{Source: p.Source, Partition: p.Name, From: p.Next, To: to, Reason: reason}
	if until.After(Beginning) && until.Before(Infinity) {
		g.Since = until
	}
	// The watermark moves with each look at the log's end, and stands where nobody looks.
	if ago := t.now.Sub(moved); watched && lag == 0 && !g.Since.IsZero() && ago <= readToEnd {
		g.To, g.Until = g.From, t.now
		g.Reason = fmt.Sprintf(reasonReadToEnd, ago.Round(100*time.Millisecond))
	}
	p.Lost = append(p.Lost, Gap{Gap: g, Noticed: t.now})
	return nil
}

// leaveBeyond leaves the partitions of a former log that the new one does not have.
func (t *tx) leaveBeyond(ctx context.Context, c Claim, log string, row *claimed) error {
	topic, _, numbered := cutLast(c.Name)
	if !numbered || c.Partitions == 0 {
		return nil
	}
	all, err := selectAll(ctx, t, func(p *Position) []any { return []any{&p.Source, &p.Name, &p.Next} }, `
		SELECT source, name, next_offset FROM positions WHERE source = $1 AND log = $2 ORDER BY name`, c.Source, log)
	if err != nil {
		return err
	}
	for _, p := range all {
		of, number, ok := cutLast(p.Name)
		if !ok || of != topic || number < c.Partitions {
			continue
		}
		if err := t.leave(ctx, &p, c, "", reasonFewer, false); err != nil {
			return err
		}
		row.Lost = append(row.Lost, p.Lost...)
		for _, table := range []string{"positions", "watermarks"} {
			if err := t.run(ctx, `DELETE FROM `+table+` WHERE source = $1 AND name = $2`, p.Source, p.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

func cutLast(name string) (log string, number int, ok bool) {
	i := strings.LastIndexByte(name, '/')
	if i < 0 {
		return name, 0, false
	}
	number, err := strconv.Atoi(name[i+1:])
	return name[:i], number, err == nil
}

// supersede leaves the partition of the same name that the same readers read
// elsewhere before, on a cluster that this one has taken the place of: nobody reads
// it any more. Its position stays, for the case that it is read again.
func (t *tx) supersede(ctx context.Context, writer string, c Claim, row *claimed) error {
	if c.Readers == "" {
		return nil
	}
	all, err := selectAll(ctx, t, func(p *Position) []any { return []any{&p.Source, &p.Name, &p.Next, &p.Writer} }, `
		SELECT source, name, next_offset, writer FROM positions
		WHERE name = $1 AND readers = $2 AND source <> $3 AND superseded = '' ORDER BY source`, c.Name, c.Readers, c.Source)
	if err != nil {
		return err
	}
	for _, p := range all {
		_, attends, err := t.attends(ctx, p.Writer)
		if err != nil {
			return err
		}
		if attends && p.Writer != writer {
			continue
		}
		if err := t.leave(ctx, &p, c, "", reasonAnotherHome, false); err != nil {
			return err
		}
		row.Lost = append(row.Lost, p.Lost...)
		if err := t.run(ctx, `UPDATE positions SET superseded = $1 WHERE source = $2 AND name = $3`, c.Source, p.Source, p.Name); err != nil {
			return err
		}
		if err := t.run(ctx, `DELETE FROM watermarks WHERE source = $1 AND name = $2`, p.Source, p.Name); err != nil {
			return err
		}
	}
	return nil
}
