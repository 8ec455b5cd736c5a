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
// but Is and DeltaVersion returns the value to store, and whether the key was in it.
type Eraser interface {
	// Is reports whether a stored key is the key, or contains it.
	Is(key string) bool
	Window(body []byte) (erased []byte, was bool, err error)
	Rollup(body []byte) (erased []byte, was bool, err error)
	// Delta removes it from the windows of the table and its indexes alone. DeltaVersion is
	// the version of what it returns.
	Delta(body []byte) (erased []byte, was bool, err error)
	DeltaVersion() int
	// Document takes it out of JSON, Text out of words that a person wrote.
	Document(document []byte) (erased []byte, was bool, err error)
	Text(text []byte) (erased []byte, was bool, err error)
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

// Erased counts the deleted rows, and the rows written again without the key.
type Erased struct {
	Findings      int64 `json:"findings"`
	Incidents     int64 `json:"incidents"`
	Notifications int64 `json:"notifications"`
	Windows       int64 `json:"windows"`
	Rollups       int64 `json:"rollups"`
	Deltas        int64 `json:"deltas"`
	Documents     int64 `json:"documents"`
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
	g := purging{Purge: p, store: s, doomed: map[string]bool{}}
	if p.DryRun {
		err := g.purge(ctx)
		return g.erased, err
	}
	if err := g.takeLease(ctx); err != nil {
		return g.erased, err
	}
	err := g.purge(ctx)
	return g.erased, errors.Join(err, g.end(context.WithoutCancel(ctx), err == nil))
}

type purging struct {
	Purge
	store  *Store
	lease  Lease
	erased Erased
	// doomed are the rows that a dry run left where a purge deletes them, by table and ID.
	doomed map[string]bool
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

// end gives the lease back, and records the result of a whole purge.
func (g *purging) end(ctx context.Context, whole bool) error {
	return g.store.change(ctx, "end a purge", func(t *tx) error {
		if err := t.endLease(ctx, g.lease, t.now); err != nil || !whole {
			return unlessLost(err)
		}
		detail, err := json.Marshal(g.erased)
		if err != nil {
			return err
		}
		return t.audit(ctx, g.Who, actionPurge, tableName(g.Table), string(detail))
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
	erase func([]byte) (erased []byte, was bool, err error)
	count *int64
}

// ofTables are the columns of rows about one table or index.
func (g *purging) ofTables() []holder {
	e := &g.erased
	return []holder{
		{"findings", "fingerprint", "document", "document = CAST($1 AS TEXT)", g.Document, &e.Documents},
		{"incidents", "id", "document", "document = CAST($1 AS TEXT)", g.Document, &e.Documents},
		{"table_views", "target", "document", "document = CAST($1 AS TEXT)", g.Document, &e.Documents},
		{"windows", "target, second", "body", "body = $1", g.Window, &e.Windows},
		{"rollups", "target, level, begins", "body", "body = $1", g.Rollup, &e.Rollups},
	}
}

// shared are the columns of rows that may be about several tables.
func (g *purging) shared() []holder {
	e := &g.erased
	return []holder{
		{"deltas", "writer, seq", "body", fmt.Sprint("body = $1, version = ", g.DeltaVersion()), g.Delta, &e.Deltas},
		{"notifications", "id", "payload", "payload = $1", g.Document, &e.Documents},
		{"reports", "id", "document", "document = CAST($1 AS TEXT)", g.Document, &e.Documents},
		{"reports", "id", "outline", "outline = CAST($1 AS TEXT)", g.Document, &e.Documents},
		{"silences", "id", "reason", "reason = CAST($1 AS TEXT)", g.Text, &e.Documents}, // what they match is no key
	}
}

func (g *purging) purge(ctx context.Context) error {
	table := cleanTarget(g.Table)
	const ofTable = `target IN (SELECT id FROM targets WHERE table_name = $1 AND ($2 = '' OR account = $2) AND ($3 = '' OR region = $3))`
	args := []any{table.Table, table.Account, table.Region}
	if err := g.deleteFindings(ctx, ofTable, args); err != nil {
		return err
	}
	for _, h := range g.ofTables() {
		if err := g.rewrite(ctx, h, ofTable, args); err != nil {
			return err
		}
	}
	if !g.DryRun {
		if err := g.step(ctx, func(t *tx) error { // the next judge does without
			_, err := t.exec(ctx, `DELETE FROM checkpoints WHERE `+ofTable, args...)
			return err
		}); err != nil {
			return err
		}
	}
	looks := 2 // not only the judge writes these: some may come during the first look
	if g.DryRun {
		looks = 1
	}
	for _, h := range slices.Repeat(g.shared(), looks) {
		if err := g.rewrite(ctx, h, `TRUE`, nil); err != nil {
			return err
		}
	}
	return nil
}

// inSteps calls f for each row, a few in each transaction.
func inSteps[T any](ctx context.Context, g *purging, rows []T, f func(*tx, T) error) error {
	for part := range slices.Chunk(rows, purgeBatch) {
		before := g.erased
		err := g.step(ctx, func(t *tx) error {
			g.erased = before
			for _, row := range part {
				if err := f(t, row); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			g.erased = before
			return err
		}
	}
	return nil
}

// step runs f in a transaction: in a dry run one that reads, and otherwise one that writes as
// long as the purge has the lease.
func (g *purging) step(ctx context.Context, f func(*tx) error) error {
	if g.DryRun {
		return g.store.snapshot(ctx, "look for a key", f)
	}
	return g.store.change(ctx, actionPurge, func(t *tx) error {
		if err := t.endLease(ctx, g.lease, utc(t.now.Add(purgeLease))); err != nil {
			return err
		}
		return f(t)
	})
}

// deleteFindings deletes the findings about the key, and the incidents that have one as their
// root.
func (g *purging) deleteFindings(ctx context.Context, where string, args []any) error {
	type finding struct{ fingerprint, key string }
	all, err := list(ctx, g.store, "find findings", func(f *finding) []any { return []any{&f.fingerprint, &f.key} }, `
		SELECT fingerprint, key_text FROM findings WHERE `+where, args...)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(f finding) bool { return !g.Is(f.key) })
	const rooted = `incident IN (SELECT id FROM incidents WHERE root = $1)`
	var histories int64
	return inSteps(ctx, g, all, func(t *tx, f finding) error {
		for _, d := range []struct {
			count            *int64
			table, id, where string
		}{
			{&histories, "incident_history", "incident", rooted},
			{&g.erased.Notifications, "notifications", "id", `fingerprint = $1 OR ` + rooted},
			{&histories, "incident_findings", "incident", `fingerprint = $1 OR ` + rooted},
			{&g.erased.Incidents, "incidents", "id", `root = $1`},
			{&histories, "finding_history", "fingerprint", `fingerprint = $1`},
			{&g.erased.Findings, "findings", "fingerprint", `fingerprint = $1`},
		} {
			n, err := g.remove(ctx, t, d.table, d.id, d.where, f.fingerprint)
			if err != nil {
				return err
			}
			*d.count += n
		}
		return nil
	})
}

// remove deletes rows, and returns how many. A dry run remembers them instead.
func (g *purging) remove(ctx context.Context, t *tx, table, id, where, fingerprint string) (n int64, err error) {
	if !g.DryRun {
		return t.exec(ctx, `DELETE FROM `+table+` WHERE `+where, fingerprint)
	}
	ids, err := selectAll(ctx, t, func(id *string) []any { return []any{id} }, `SELECT `+id+` FROM `+table+` WHERE `+where, fingerprint)
	for _, id := range ids {
		if row := table + " " + id; !g.doomed[row] {
			g.doomed[row] = true
			n++
		}
	}
	return n, err
}

// rewrite removes the key from a column's values. It reads one at a time: a day of windows
// would not fit into memory.
func (g *purging) rewrite(ctx context.Context, h holder, where string, args []any) error {
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
	rows = slices.DeleteFunc(rows, func(row []any) bool { return g.doomed[fmt.Sprint(h.table, " ", row[0])] })
	return inSteps(ctx, g, rows, func(t *tx, row []any) error { return g.rewriteRow(ctx, t, h, row) })
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
	erased, was, err := h.erase(value)
	if err != nil {
		return fmt.Errorf("%s %v: %w", h.table, row, err)
	}
	switch {
	case !was:
		return nil
	case g.DryRun:
		*h.count++
		return nil
	}
	n, err := t.exec(ctx, `UPDATE `+h.table+` SET `+h.set+` WHERE (`+h.key+`) = `+placeholdersFrom(2, 1, len(row)), append([]any{erased}, row...)...)
	*h.count += n
	return err
}
