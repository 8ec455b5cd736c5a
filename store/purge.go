package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/keyheat/keyheat/sample"
)

// Eraser takes a key out of what the store holds as bytes that it does not read. Each
// method reports whether the key was in them; else the bytes are not written again.
type Eraser interface {
	// Window, Rollup and Delta take it out of summaries, Delta out of those of a table and its
	// indexes; an empty Account or Region stands for every one. version is that of the
	// new delta.
	Window(body []byte) (erased []byte, was bool, err error)
	Rollup(body []byte) (erased []byte, was bool, err error)
	Delta(table sample.Target, body []byte) (erased []byte, version int, was bool, err error)
	// Document takes it out of JSON, Text out of a sentence.
	Document(document []byte) (erased []byte, was bool, err error)
	Text(text string) (erased string, was bool)
}

// Purge is a key that is to be forgotten.
type Purge struct {
	// Table is whose key it is, with all indexes. An empty Account or Region stands
	// for every one.
	Table sample.Target
	// Keys are the key as it may be stored.
	Keys []sample.Key
	Eraser
	// Who asks for it, for the audit.
	Who string
}

// Erased counts what was deleted, and what was written again without the key.
type Erased struct {
	Findings      int64 `json:"findings"`
	Incidents     int64 `json:"incidents"`
	Notifications int64 `json:"notifications"`
	Peaks         int64 `json:"peaks"`
	Windows       int64 `json:"windows"`
	Rollups       int64 `json:"rollups"`
	Deltas        int64 `json:"deltas"`
	Documents     int64 `json:"documents"`
}

// actionPurge is what the audit calls a purge.
const actionPurge = "purge a key"

// PurgeKey deletes what is about a key (its findings with their histories, incidents
// that stand for them, notifications about these, its hourly peaks) and takes it out
// of everything else that names it: windows, roll-ups, deltas, views, other findings, incidents,
// notifications and reports. It is one transaction, and an entry of the audit, without the key. A
// judge that is running loses its lease and starts over from what is left.
//
// What collectors hold in memory is stored afterwards: a key that is still used has to
// be hidden by policy first.
func (s *Store) PurgeKey(ctx context.Context, p Purge) (Erased, error) {
	var e Erased
	err := s.change(ctx, "purge a key", func(t *tx) error {
		e = Erased{}
		// First of all, so that no judgement is written beside this.
		if _, err := t.exec(ctx, `UPDATE leases SET token = token + 1, holder = '', expires = $1`, t.now); err != nil {
			return err
		}
		targets, err := t.targetsOf(ctx, p.Table)
		if err != nil {
			return err
		}
		for _, target := range targets {
			if err := t.purgeTarget(ctx, target, p, &e); err != nil {
				return err
			}
		}
		if err := t.purgeDeltas(ctx, p, &e); err != nil {
			return err
		}
		if err := t.purgeTexts(ctx, p, &e); err != nil {
			return err
		}
		detail, err := json.Marshal(e)
		if err != nil {
			return err
		}
		return t.audit(ctx, p.Who, actionPurge, tableName(p.Table), string(detail))
	})
	return e, err
}

// targetsOf returns the ids of a table and its indexes.
func (t *tx) targetsOf(ctx context.Context, table sample.Target) ([]int64, error) {
	table = cleanTarget(table)
	return selectAll(ctx, t, func(id *int64) []any { return []any{id} }, `
		SELECT id FROM targets
		WHERE table_name = $1 AND ($2 = '' OR account = $2) AND ($3 = '' OR region = $3) ORDER BY id`,
		table.Table, table.Account, table.Region)
}

func (t *tx) purgeTarget(ctx context.Context, target int64, p Purge, e *Erased) error {
	for _, k := range p.Keys {
		if err := t.deleteFindings(ctx, target, clean(k.Text), e); err != nil {
			return err
		}
		n, err := t.exec(ctx, `DELETE FROM hourly_peaks WHERE target = $1 AND key_type = $2 AND key_text = $3`, target, k.Type, clean(k.Text))
		if err != nil {
			return err
		}
		e.Peaks += n
	}
	for _, of := range []struct {
		count   *int64
		rewrite rewriting
	}{
		{&e.Documents, rewriting{"findings", "fingerprint", "document", p.document}},
		{nil, rewriting{"findings", "fingerprint", "key_text", p.text}}, // the pattern of a group of keys
		{&e.Documents, rewriting{"incidents", "id", "document", p.document}},
		{&e.Documents, rewriting{"table_views", "target", "document", p.document}},
		{&e.Windows, rewriting{"windows", "second", "body", p.window}},
	} {
		if err := t.rewrite(ctx, of.rewrite, of.count, fmt.Sprintf("target = %d", target)); err != nil {
			return err
		}
	}
	levels, err := selectAll(ctx, t, only[int64], `SELECT DISTINCT level FROM rollups WHERE target = $1`, target)
	for _, level := range levels {
		if err == nil {
			err = t.rewrite(ctx, rewriting{"rollups", "begins", "body", p.rollup}, &e.Rollups, fmt.Sprintf("target = %d AND level = %d", target, level))
		}
	}
	return err
}

// deleteFindings deletes the findings about a key, and the incidents they stand for.
func (t *tx) deleteFindings(ctx context.Context, target int64, key string, e *Erased) error {
	fingerprints, err := selectAll(ctx, t, func(f *string) []any { return []any{f} }, `
		SELECT fingerprint FROM findings WHERE target = $1 AND key_text = $2`, target, key)
	if err != nil {
		return err
	}
	for _, f := range fingerprints {
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
			n, err := t.exec(ctx, d.statement, f)
			if err != nil {
				return err
			}
			if d.count != nil {
				*d.count += n
			}
		}
	}
	return nil
}

func (t *tx) purgeDeltas(ctx context.Context, p Purge, e *Erased) error {
	type name struct {
		writer string
		seq    int64
	}
	names, err := selectAll(ctx, t, func(n *name) []any { return []any{&n.writer, &n.seq} }, `SELECT writer, seq FROM deltas ORDER BY writer, seq`)
	if err != nil {
		return err
	}
	for _, n := range names {
		var body []byte
		if err := t.QueryRowContext(ctx, `SELECT body FROM deltas WHERE writer = $1 AND seq = $2`, n.writer, n.seq).Scan(&body); err != nil {
			return err
		}
		erased, version, was, err := p.Delta(p.Table, body)
		if err != nil {
			return fmt.Errorf("delta %d of %s: %w", n.seq, n.writer, err)
		}
		if !was {
			continue
		}
		if _, err := t.exec(ctx, `UPDATE deltas SET body = $3, version = $4 WHERE writer = $1 AND seq = $2`, n.writer, n.seq, erased, version); err != nil {
			return err
		}
		e.Deltas++
	}
	return nil
}

// purgeTexts takes the key out of what may be about several tables.
func (t *tx) purgeTexts(ctx context.Context, p Purge, e *Erased) error {
	for _, of := range []struct {
		count   *int64
		rewrite rewriting
	}{
		{&e.Documents, rewriting{"notifications", "id", "payload", p.payload}},
		{nil, rewriting{"notifications", "id", "last_error", p.text}},
		{&e.Documents, rewriting{"reports", "id", "document", p.document}},
		{nil, rewriting{"reports", "id", "summary", p.text}},
		{nil, rewriting{"finding_history", "id", "note", p.text}},
		{nil, rewriting{"incident_history", "id", "note", p.text}},
		{nil, rewriting{"silences", "id", "reason", p.text}}, // people wrote it; what they match is no key
	} {
		if err := t.rewrite(ctx, of.rewrite, of.count, "TRUE"); err != nil {
			return err
		}
	}
	return nil
}

// rewriting is a column from which a key is erased. erase returns the value to store.
type rewriting struct {
	table, key, column string
	erase              func([]byte) (erased any, was bool, err error)
}

// rewrite writes values again from which something was erased, and adds how many they
// are to count, unless it is nil. It reads one at a time: a day of windows would not fit
// into memory.
func (t *tx) rewrite(ctx context.Context, r rewriting, count *int64, where string) error {
	names, err := selectAll(ctx, t, func(name *any) []any { return []any{name} }, `SELECT `+r.key+` FROM `+r.table+` WHERE `+where)
	if err != nil {
		return err
	}
	for _, name := range names {
		if at, is := name.(time.Time); is {
			name = utc(at)
		}
		var value []byte
		row := where + ` AND ` + r.key + ` = $1`
		if err := t.QueryRowContext(ctx, `SELECT `+r.column+` FROM `+r.table+` WHERE `+row, name).Scan(&value); err != nil {
			return err
		}
		erased, was, err := r.erase(value)
		if err != nil {
			return fmt.Errorf("%s %v: %w", r.table, name, err)
		}
		if !was {
			continue
		}
		n, err := t.exec(ctx, `UPDATE `+r.table+` SET `+r.column+` = $2 WHERE `+row, name, erased)
		if err != nil {
			return err
		}
		if count != nil {
			*count += n
		}
	}
	return nil
}

func (p Purge) window(body []byte) (any, bool, error) { return p.Window(body) }

func (p Purge) rollup(body []byte) (any, bool, error) { return p.Rollup(body) }

// payload is of bytes, a document of text.
func (p Purge) payload(document []byte) (any, bool, error) { return p.Document(document) }

func (p Purge) document(document []byte) (any, bool, error) {
	erased, was, err := p.Document(document)
	return string(erased), was, err
}

func (p Purge) text(text []byte) (any, bool, error) {
	erased, was := p.Text(string(text))
	return erased, was, nil
}
