package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// rewriting is a column from which a key is erased. erase returns the value to store.
type rewriting struct {
	table, key, column string
	erase              func([]byte) (erased any, was bool, err error)
}

// rewrite writes changed values again, and adds their number to count, unless it is nil.
// It reads one at a time: a day of windows would not fit into memory.
func (g *purging) rewrite(ctx context.Context, r rewriting, count *int64, where string) error {
	names, err := list(ctx, g.store, "find "+r.table, func(name *any) []any { return []any{name} }, `SELECT `+r.key+` FROM `+r.table+` WHERE `+where)
	if err != nil {
		return err
	}
	g.report(r.table, len(names))
	return inSteps(ctx, g, names, func(t *tx, name any) error {
		n, err := t.rewrite(ctx, r, where, name)
		if count != nil {
			*count += n
		}
		return err
	})
}

func (t *tx) rewrite(ctx context.Context, r rewriting, where string, name any) (rewritten int64, err error) {
	if at, is := name.(time.Time); is {
		name = utc(at)
	}
	var value []byte
	row := where + ` AND ` + r.key + ` = $1`
	err = t.QueryRowContext(ctx, `SELECT `+r.column+` FROM `+r.table+` WHERE `+row, name).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) { // pruned meanwhile
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	erased, was, err := r.erase(value)
	if err != nil {
		return 0, fmt.Errorf("%s %v: %w", r.table, name, err)
	}
	if !was {
		return 0, nil
	}
	return t.exec(ctx, `UPDATE `+r.table+` SET `+r.column+` = $2 WHERE `+row, name, erased)
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
