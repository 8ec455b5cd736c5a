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
	// Window and Delta take it out of summaries. version is that of the new delta.
	Window(body []byte) (erased []byte, was bool, err error)
	Delta(body []byte) (erased []byte, version int, was bool, err error)
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
	Deltas        int64 `json:"deltas"`
	Documents     int64 `json:"documents"`
}

// actionPurge is what the audit calls a purge.
const actionPurge = "purge a key"

// PurgeKey deletes what is about a key (its findings with their histories, incidents
// that stand for them, notifications that name it, its hourly peaks) and takes it out
// of everything else that names it: windows, deltas, views, other findings, incidents
// and reports. It is one transaction, and an entry of the audit, without the key. A
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
		for _, step := range []func(context.Context, Purge, *Erased) error{t.purgeDeltas, t.purgeNotifications, t.purgeReports, t.purgeHistories} {
			if err := step(ctx, p, &e); err != nil {
				return err
			}
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
	for _, table := range []struct{ name, key string }{{"findings", "fingerprint"}, {"incidents", "id"}, {"table_views", "CAST(target AS TEXT)"}} {
		n, err := t.rewrite(ctx, `SELECT `+table.key+`, document FROM `+table.name+` WHERE target = $1`,
			`UPDATE `+table.name+` SET document = $2 WHERE `+table.key+` = $1`, p.documentText, target)
		if err != nil {
			return err
		}
		e.Documents += n
	}
	// Text columns beside the document: the pattern of a group of keys.
	if _, err := t.rewrite(ctx, `SELECT fingerprint, key_text FROM findings WHERE target = $1`,
		`UPDATE findings SET key_text = $2 WHERE fingerprint = $1`, p.text, target); err != nil {
		return err
	}
	return t.purgeWindows(ctx, target, p, e)
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

// purgeWindows writes the seconds of a target again without the key, one at a time:
// a day of them would not fit into memory.
func (t *tx) purgeWindows(ctx context.Context, target int64, p Purge, e *Erased) error {
	seconds, err := selectAll(ctx, t, func(second *time.Time) []any { return []any{second} },
		`SELECT second FROM windows WHERE target = $1 ORDER BY second`, target)
	if err != nil {
		return err
	}
	for _, second := range seconds {
		var body []byte
		if err := t.QueryRowContext(ctx, `SELECT body FROM windows WHERE target = $1 AND second = $2`, target, utc(second)).Scan(&body); err != nil {
			return err
		}
		erased, was, err := p.Window(body)
		if err != nil {
			return fmt.Errorf("the window of %s: %w", second.UTC().Format(time.RFC3339), err)
		}
		if !was {
			continue
		}
		if _, err := t.exec(ctx, `UPDATE windows SET body = $3 WHERE target = $1 AND second = $2`, target, utc(second), erased); err != nil {
			return err
		}
		e.Windows++
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
		erased, version, was, err := p.Delta(body)
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

// purgeNotifications deletes those that name the key, pending ones too: what they tell
// of is gone.
func (t *tx) purgeNotifications(ctx context.Context, p Purge, e *Erased) error {
	type row struct {
		id      string
		payload []byte
		cause   string
	}
	all, err := selectAll(ctx, t, func(r *row) []any { return []any{&r.id, &r.payload, &r.cause} }, `SELECT id, payload, last_error FROM notifications`)
	if err != nil {
		return err
	}
	for _, r := range all {
		_, named, err := p.Document(r.payload)
		if err != nil {
			return fmt.Errorf("notification %s: %w", r.id, err)
		}
		if _, told := p.Text(r.cause); !named && !told {
			continue
		}
		n, err := t.exec(ctx, `DELETE FROM notifications WHERE id = $1`, r.id)
		if err != nil {
			return err
		}
		e.Notifications += n
	}
	return nil
}

func (t *tx) purgeReports(ctx context.Context, p Purge, e *Erased) error {
	n, err := t.rewrite(ctx, `SELECT id, document FROM reports`, `UPDATE reports SET document = $2 WHERE id = $1`, p.documentText)
	if err != nil {
		return err
	}
	e.Documents += n
	_, err = t.rewrite(ctx, `SELECT id, summary FROM reports`, `UPDATE reports SET summary = $2 WHERE id = $1`, p.text)
	return err
}

func (t *tx) purgeHistories(ctx context.Context, p Purge, _ *Erased) error {
	for _, table := range []string{"finding_history", "incident_history"} {
		_, err := t.rewrite(ctx, `SELECT CAST(id AS TEXT), note FROM `+table, `UPDATE `+table+` SET note = $2 WHERE CAST(id AS TEXT) = $1`, p.text)
		if err != nil {
			return err
		}
	}
	return nil
}

// rewrite writes texts again from which something was erased, and counts them. query
// returns names and texts, and update sets the text $2 of the name $1.
func (t *tx) rewrite(ctx context.Context, query, update string, erase func(string) (string, bool, error), args ...any) (n int64, err error) {
	type row struct{ name, text string }
	all, err := selectAll(ctx, t, func(r *row) []any { return []any{&r.name, &r.text} }, query, args...)
	if err != nil {
		return 0, err
	}
	for _, r := range all {
		erased, was, err := erase(r.text)
		if err != nil {
			return n, fmt.Errorf("%s: %w", r.name, err)
		}
		if !was {
			continue
		}
		if _, err := t.exec(ctx, update, r.name, erased); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

func (p Purge) documentText(text string) (string, bool, error) {
	erased, was, err := p.Document([]byte(text))
	return string(erased), was, err
}

func (p Purge) text(text string) (string, bool, error) {
	erased, was := p.Text(text)
	return erased, was, nil
}
