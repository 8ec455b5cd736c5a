package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/keyheat/keyheat/sample"
)

// Eraser removes a key of a table from stored values that the store does not read. Each method
// returns the value to store, or nil if the key was not in it.
type Eraser interface {
	Window(body []byte) ([]byte, error)
	Rollup(body []byte) ([]byte, error)
	// Delta removes it from the windows of the table and its indexes alone.
	Delta(body []byte) ([]byte, error)
	// Document takes it out of JSON, Text out of a key or out of words that a person wrote.
	Document(document []byte) ([]byte, error)
	Text(text []byte) ([]byte, error)
}

// Purge is a key to forget.
type Purge struct {
	// Table has the key, in itself or an index. An empty Account or Region stands for
	// every one.
	Table sample.Target
	Eraser
	// Who asks for it, for the audit.
	Who string
	// DryRun changes nothing, and neither takes the lease nor writes to the audit. The
	// result counts the rows that a purge would change.
	DryRun bool
	// Progress is called before the purge searches the rows of a database table, unless it
	// is nil.
	Progress func(table string, rows int)
}

// Erased counts the findings about the key, and the values that named it, also those of rows
// that are deleted with their finding.
type Erased struct {
	Findings  int64 `json:"findings"`
	Windows   int64 `json:"windows"`
	Rollups   int64 `json:"rollups"`
	Deltas    int64 `json:"deltas"`
	Documents int64 `json:"documents"`
}

// actionPurge is the audit's name of a purge, actionPurgeBegun of a purge that began and
// may have been interrupted.
const actionPurge, actionPurgeBegun = "purge a key", "begin to purge a key"

const (
	// purgeLease is for how long a purge takes the judge's lease each time.
	purgeLease = time.Minute
	// purgeBatch is how many rows one transaction of a purge searches, so that collectors
	// never wait long for it.
	purgeBatch = 100
)

// PurgeKey deletes a key's rows (its findings with their histories, incidents with it as
// root, their notifications) and removes it from everything else that
// names it: windows, roll-ups, deltas, views, other findings, incidents, notifications
// and reports. What the judge remembers of its table is deleted. The audit has an entry when
// it begins and one when it ends, without the key.
//
// It holds the judge's lease meanwhile, so that no judge writes the key again from its
// memory: the judge that had it starts over from the remaining rows. Each transaction has
// few rows. After an error, part of the key is gone; a repeated purge removes the rest.
//
// The collectors' memory is stored afterwards: a policy has to hide a key that is still
// used first. Deleted rows stay in the database's files until [Store.Vacuum].
func (s *Store) PurgeKey(ctx context.Context, p Purge) (Erased, error) {
	g := purging{Purge: p, store: s}
	if p.DryRun {
		err := g.rewriteAll(ctx, 1)
		return g.erased, err
	}
	if err := g.takeLease(ctx); err != nil {
		return g.erased, err
	}
	err := g.rewriteAll(ctx, 2) // not only the judge writes: some rows may come during the first look
	if err == nil {
		err = g.step(ctx, g.finish)
	}
	if err != nil {
		err = fmt.Errorf("a part of the key is removed: purge it again: %w", errors.Join(err, s.ReleaseLease(context.WithoutCancel(ctx), g.lease)))
	}
	return g.erased, err
}

type purging struct {
	Purge
	store  *Store
	lease  Lease
	erased Erased
}

func (g *purging) takeLease(ctx context.Context) error {
	l := Lease{Name: JudgeLease, Holder: "purge " + rand.Text()}
	return g.store.change(ctx, actionPurgeBegun, func(t *tx) error {
		err := t.QueryRowContext(ctx, `
			INSERT INTO leases (name, holder, token, expires, used)
			VALUES ($1, $2, 1, $3, $4)
			ON CONFLICT (name) DO UPDATE
			SET holder = excluded.holder, token = leases.token + 1, expires = excluded.expires, used = excluded.used
			RETURNING token, writes`, l.Name, l.Holder, utc(t.now.Add(purgeLease)), t.now).Scan(&l.Token, &l.Writes)
		g.lease = l
		if err != nil {
			return err
		}
		return t.audit(ctx, g.Who, actionPurgeBegun, tableName(g.Table), "")
	})
}

// holder is a column whose values may name the key.
type holder struct {
	table string
	// key has the columns that identify a row.
	key    string
	column string
	// set assigns the value without the key, which is $1.
	set   string
	erase func([]byte) ([]byte, error)
	count *int64
}

const (
	setBody, setDocument = "body = $1", "document = CAST($1 AS TEXT)"
	// setKey marks a finding about the key: finish deletes it.
	setKey = "key_text = CAST($1 AS TEXT), state = 'purged'"
)

// ofTables are the columns of rows about one table or index.
func (g *purging) ofTables() []holder {
	e := &g.erased
	return []holder{
		{"findings", "fingerprint", "key_text", setKey, g.Text, &e.Findings},
		{"findings", "fingerprint", "document", setDocument, g.Document, &e.Documents},
		{"incidents", "id", "document", setDocument, g.Document, &e.Documents},
		{"table_views", "target", "document", setDocument, g.Document, &e.Documents},
		{"windows", "target, second", "body", setBody, g.Window, &e.Windows},
		{"rollups", "target, level, begins", "body", setBody, g.Rollup, &e.Rollups},
	}
}

// shared are the columns of rows that may be about several tables.
func (g *purging) shared() []holder {
	e := &g.erased
	return []holder{
		{"deltas", "writer, seq", "body", setBody, g.Delta, &e.Deltas},
		{"notifications", "id", "payload", "payload = $1", g.Document, &e.Documents},
		{"reports", "id", "document", setDocument, g.Document, &e.Documents},
		{"reports", "id", "outline", "outline = CAST($1 AS TEXT)", g.Document, &e.Documents},
		{"silences", "id", "reason", "reason = CAST($1 AS TEXT)", g.Text, &e.Documents}, // what they match is no key
	}
}

// ofTable is the condition of rows about the purge's table and its indexes.
const ofTable = `target IN (SELECT id FROM targets WHERE table_name = $1 AND ($2 = '' OR account = $2) AND ($3 = '' OR region = $3))`

func (g *purging) tableArgs() []any {
	table := cleanTarget(g.Table)
	return []any{table.Table, table.Account, table.Region}
}

// rewriteAll removes the key from every column, and looks several times for rows that others
// than the judge write.
func (g *purging) rewriteAll(ctx context.Context, looks int) error {
	for _, h := range g.ofTables() {
		if err := g.rewrite(ctx, h, ofTable, g.tableArgs()...); err != nil {
			return err
		}
	}
	for _, h := range slices.Repeat(g.shared(), looks) {
		if err := g.rewrite(ctx, h, `TRUE`); err != nil {
			return err
		}
	}
	return nil
}

// step runs f in a transaction: in a dry run one that reads, and otherwise one that writes as
// long as the purge has the lease.
func (g *purging) step(ctx context.Context, f func(context.Context, *tx) error) error {
	if g.DryRun {
		return g.store.snapshot(ctx, "look for a key", func(t *tx) error { return f(ctx, t) })
	}
	return g.store.change(ctx, actionPurge, func(t *tx) error {
		if err := t.endLease(ctx, g.lease, utc(t.now.Add(purgeLease))); err != nil {
			return err
		}
		return f(ctx, t)
	})
}

// rewrite removes the key from a column's values. It reads one at a time: a day of windows
// would not fit into memory.
func (g *purging) rewrite(ctx context.Context, h holder, where string, args ...any) error {
	rows, err := list(ctx, g.store, "find "+h.table, func(row *[]any) (columns []any) {
		*row = make([]any, 1+strings.Count(h.key, ","))
		for i := range *row {
			columns = append(columns, &(*row)[i])
		}
		return columns
	}, `SELECT `+h.key+` FROM `+h.table+` WHERE `+where, args...)
	if err != nil {
		return err
	}
	if g.Progress != nil && len(rows) > 0 {
		g.Progress(h.table, len(rows))
	}
	for part := range slices.Chunk(rows, purgeBatch) {
		before := *h.count
		err := g.step(ctx, func(ctx context.Context, t *tx) error {
			*h.count = before
			for _, row := range part {
				if err := g.rewriteRow(ctx, t, h, row); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// rewriteRow removes the key from the value of a row.
func (g *purging) rewriteRow(ctx context.Context, t *tx, h holder, row []any) error {
	for i := range row {
		if at, is := row[i].(time.Time); is {
			row[i] = utc(at)
		}
	}
	var value []byte
	err := t.QueryRowContext(ctx, `SELECT `+h.column+` FROM `+h.table+` WHERE (`+h.key+`) = `+placeholders(1, len(row)), row...).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) { // pruned meanwhile
		return nil
	}
	if err != nil {
		return err
	}
	erased, err := h.erase(value)
	if err != nil {
		return fmt.Errorf("%s %v: %w", h.table, row, err)
	}
	if erased == nil {
		return nil
	}
	*h.count++
	if g.DryRun {
		return nil
	}
	return t.run(ctx, `UPDATE `+h.table+` SET `+h.set+` WHERE (`+h.key+`) = `+placeholdersFrom(2, 1, len(row)), append([]any{erased}, row...)...)
}

// finish deletes the marked findings, the incidents that have one as their root, and what the
// judge remembers. It gives the lease back, and records the result.
func (g *purging) finish(ctx context.Context, t *tx) error {
	const findings = `(SELECT fingerprint FROM findings WHERE state = 'purged')`
	const incidents = `(SELECT id FROM incidents WHERE root IN ` + findings + `)`
	err := t.runAll(ctx, []statement{
		{`DELETE FROM incident_history WHERE incident IN ` + incidents, nil},
		{`DELETE FROM notifications WHERE fingerprint IN ` + findings + ` OR incident IN ` + incidents, nil},
		{`DELETE FROM incident_findings WHERE fingerprint IN ` + findings + ` OR incident IN ` + incidents, nil},
		{`DELETE FROM incidents WHERE root IN ` + findings, nil},
		{`DELETE FROM finding_history WHERE fingerprint IN ` + findings, nil},
		{`DELETE FROM findings WHERE state = 'purged'`, nil},
		{`DELETE FROM checkpoints WHERE ` + ofTable, g.tableArgs()},
	})
	if err != nil {
		return err
	}
	if err := t.endLease(ctx, g.lease, t.now); err != nil {
		return err
	}
	detail, err := json.Marshal(g.erased)
	if err != nil {
		return err
	}
	return t.audit(ctx, g.Who, actionPurge, tableName(g.Table), string(detail))
}
