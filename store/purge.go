package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/keyheat/keyheat/sample"
)

// Eraser removes a key from stored bytes that the store does not read. Each method but Is
// reports whether the key was in them; otherwise the bytes are not written again.
type Eraser interface {
	// Is reports whether a stored key is the key, or a form of it that goes with it. A key
	// without a type is a text.
	Is(key sample.Key) bool
	// Window, Rollup and Delta remove it from summaries, Delta from the summaries of a
	// table and its indexes; an empty Account or Region matches every one. version is the
	// new delta's.
	Window(body []byte) (erased []byte, was bool, err error)
	Rollup(body []byte) (erased []byte, was bool, err error)
	Delta(table sample.Target, body []byte) (erased []byte, version int, was bool, err error)
	// Document takes it out of JSON, Text out of words that a person wrote.
	Document(document []byte) (erased []byte, was bool, err error)
	Text(text string) (erased string, was bool)
}

// Purge is a key that is to be forgotten.
type Purge struct {
	// Table is whose key it is, with all indexes. An empty Account or Region stands
	// for every one.
	Table sample.Target
	Eraser
	// Who asks for it, for the audit.
	Who string
	// Progress is called before the rows of a table are looked through, unless it is nil.
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
	// purgeBatch is how many rows one transaction of a purge looks through, so that
	// collectors wait for none for long.
	purgeBatch = 100
)

// PurgeKey deletes a key's rows (its findings with their histories, incidents with it as
// root, their notifications) and removes it from everything else that
// names it: windows, roll-ups, deltas, views, other findings, incidents, notifications
// and reports. The audit has an entry when it begins and one when it ends, without the
// key.
//
// It holds the judge's lease meanwhile, so that no judge writes the key again from its
// memory: the judge that had it starts over from the remaining rows. Each transaction has
// few rows. After an error, part of the key is gone; a repeated purge removes the rest.
//
// The collectors' memory is stored afterwards: a policy has to hide a key that is still
// used first. Deleted rows stay in the database's files until [Store.Vacuum].
func (s *Store) PurgeKey(ctx context.Context, p Purge) (Erased, error) {
	g := purging{Purge: p, store: s}
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

// step runs one transaction of the purge, as long as it has the lease.
func (g *purging) step(ctx context.Context, f func(*tx) error) error {
	before := g.erased
	err := g.store.change(ctx, actionPurge, func(t *tx) error {
		g.erased = before
		if err := t.endLease(ctx, g.lease, utc(t.now.Add(purgeLease))); err != nil {
			return err
		}
		return f(t)
	})
	if err != nil {
		g.erased = before
	}
	return err
}

// inSteps calls f for each name, a few in each transaction.
func inSteps[T any](ctx context.Context, g *purging, names []T, f func(*tx, T) error) error {
	for part := range slices.Chunk(names, purgeBatch) {
		err := g.step(ctx, func(t *tx) error {
			for _, name := range part {
				if err := f(t, name); err != nil {
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

func (g *purging) purge(ctx context.Context) error {
	targets, err := g.targets(ctx)
	if err != nil {
		return err
	}
	for _, target := range targets {
		if err := g.purgeTarget(ctx, target); err != nil {
			return err
		}
	}
	// Twice: others than the judge write these meanwhile.
	for range 2 {
		if err := errors.Join(g.purgeDeltas(ctx), g.purgeShared(ctx)); err != nil {
			return err
		}
	}
	return nil
}

func (g *purging) targets(ctx context.Context) ([]int64, error) {
	table := cleanTarget(g.Table)
	return list(ctx, g.store, "find a table", singleColumn[int64], `
		SELECT id FROM targets
		WHERE table_name = $1 AND ($2 = '' OR account = $2) AND ($3 = '' OR region = $3) ORDER BY id`,
		table.Table, table.Account, table.Region)
}

func (g *purging) purgeTarget(ctx context.Context, target int64) error {
	if err := g.deleteFindings(ctx, target); err != nil {
		return err
	}
	for _, of := range []struct {
		count   *int64
		rewrite rewriting
	}{
		{&g.erased.Documents, rewriting{"findings", "fingerprint", "document", g.document}},
		{&g.erased.Documents, rewriting{"incidents", "id", "document", g.document}},
		{&g.erased.Documents, rewriting{"table_views", "target", "document", g.document}},
		{&g.erased.Windows, rewriting{"windows", "second", "body", g.window}},
	} {
		if err := g.rewrite(ctx, of.rewrite, of.count, fmt.Sprintf("target = %d", target)); err != nil {
			return err
		}
	}
	levels, err := list(ctx, g.store, "find roll-ups", singleColumn[int64], `SELECT DISTINCT level FROM rollups WHERE target = $1`, target)
	for _, level := range levels {
		if err == nil {
			err = g.rewrite(ctx, rewriting{"rollups", "begins", "body", g.rollup}, &g.erased.Rollups, fmt.Sprintf("target = %d AND level = %d", target, level))
		}
	}
	return err
}

// deleteFindings deletes the findings about the key and its forms, and the incidents they
// stand for.
func (g *purging) deleteFindings(ctx context.Context, target int64) error {
	type finding struct{ fingerprint, key string }
	all, err := list(ctx, g.store, "find findings", func(f *finding) []any { return []any{&f.fingerprint, &f.key} }, `
		SELECT fingerprint, key_text FROM findings WHERE target = $1`, target)
	if err != nil {
		return err
	}
	for _, f := range slices.DeleteFunc(all, func(f finding) bool { return !g.Is(sample.Key{Text: f.key}) }) {
		if err := g.step(ctx, func(t *tx) error { return t.deleteFinding(ctx, f.fingerprint, &g.erased) }); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) deleteFinding(ctx context.Context, fingerprint string, e *Erased) error {
	for _, d := range []struct {
		count     *int64
		statement string
	}{
		{nil, `DELETE FROM incident_history WHERE incident IN (SELECT id FROM incidents WHERE root = $1)`},
		{&e.Notifications, `DELETE FROM notifications WHERE fingerprint = $1 OR incident IN (SELECT id FROM incidents WHERE root = $1)`},
		{nil, `DELETE FROM incident_findings WHERE fingerprint = $1 OR incident IN (SELECT id FROM incidents WHERE root = $1)`},
		{&e.Incidents, `DELETE FROM incidents WHERE root = $1`},
		{nil, `DELETE FROM finding_history WHERE fingerprint = $1`},
		{&e.Findings, `DELETE FROM findings WHERE fingerprint = $1`},
	} {
		n, err := t.exec(ctx, d.statement, fingerprint)
		if err != nil {
			return err
		}
		if d.count != nil {
			*d.count += n
		}
	}
	return nil
}

func (g *purging) purgeDeltas(ctx context.Context) error {
	type name struct {
		writer string
		seq    int64
	}
	names, err := list(ctx, g.store, "find deltas", func(n *name) []any { return []any{&n.writer, &n.seq} }, `SELECT writer, seq FROM deltas ORDER BY writer, seq`)
	if err != nil {
		return err
	}
	g.report("deltas", len(names))
	return inSteps(ctx, g, names, func(t *tx, n name) error { return g.purgeDelta(ctx, t, n.writer, n.seq) })
}

func (g *purging) purgeDelta(ctx context.Context, t *tx, writer string, seq int64) error {
	var body []byte
	err := t.QueryRowContext(ctx, `SELECT body FROM deltas WHERE writer = $1 AND seq = $2`, writer, seq).Scan(&body)
	if errors.Is(err, sql.ErrNoRows) { // pruned meanwhile
		return nil
	}
	if err != nil {
		return err
	}
	erased, version, was, err := g.Delta(g.Table, body)
	if err != nil {
		return fmt.Errorf("delta %d of %s: %w", seq, writer, err)
	}
	if !was {
		return nil
	}
	g.erased.Deltas++
	return t.run(ctx, `UPDATE deltas SET body = $3, version = $4 WHERE writer = $1 AND seq = $2`, writer, seq, erased, version)
}

// purgeShared removes the key from rows that may be about several tables.
func (g *purging) purgeShared(ctx context.Context) error {
	for _, of := range []struct {
		count   *int64
		rewrite rewriting
	}{
		{&g.erased.Documents, rewriting{"notifications", "id", "payload", g.payload}},
		{&g.erased.Documents, rewriting{"reports", "id", "document", g.document}},
		{nil, rewriting{"reports", "id", "outline", g.document}},
		{nil, rewriting{"silences", "id", "reason", g.text}}, // what they match is no key
	} {
		if err := g.rewrite(ctx, of.rewrite, of.count, "TRUE"); err != nil {
			return err
		}
	}
	return nil
}

func (g *purging) report(table string, rows int) {
	if g.Progress != nil && rows > 0 {
		g.Progress(table, rows)
	}
}
