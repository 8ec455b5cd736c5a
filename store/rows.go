package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// maxRows bounds the rows of one INSERT, and with them its parameters: SQLite
// takes 32,766, Postgres 65,535.
const maxRows = 64

// insert writes rows with few statements: verb is "INSERT INTO t (a, b)",
// tail an ON CONFLICT clause or empty. It works through the rows in their
// order, in powers of two, so that a connection's statement cache sees seven
// texts and not one for every count.
func (t *tx) insert(ctx context.Context, verb, tail string, rows [][]any) error {
	var all []statement
	for len(rows) > 0 {
		n := maxRows
		for n > len(rows) {
			n /= 2
		}
		var args []any
		for _, row := range rows[:n] {
			args = append(args, row...)
		}
		all = append(all, statement{verb + " VALUES " + placeholders(n, len(rows[0])) + " " + tail, args})
		rows = rows[n:]
	}
	if len(all) == 0 {
		return nil
	}
	if err := t.runAll(ctx, all); err != nil {
		return fmt.Errorf("%s: %w", verb, err)
	}
	return nil
}

func insertAll[T any](ctx context.Context, t *tx, verb, tail string, all []T, row func(T) []any) error {
	rows := make([][]any, len(all))
	for i, v := range all {
		rows[i] = row(v)
	}
	return t.insert(ctx, verb, tail, rows)
}

// placeholders is "($1, $2), ($3, $4)" for two rows of two columns.
func placeholders(rows, columns int) string { return placeholdersFrom(1, rows, columns) }

// placeholdersFrom is placeholders whose first one has another number.
func placeholdersFrom(first, rows, columns int) string {
	var b strings.Builder
	for i := range rows * columns {
		switch {
		case i == 0:
			b.WriteByte('(')
		case i%columns == 0:
			b.WriteString("), (")
		default:
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "$%d", i+first)
	}
	b.WriteByte(')')
	return b.String()
}

// orNull is a time as the store keeps it, NULL for the zero time.
func orNull(t time.Time) sql.NullTime { return sql.NullTime{Time: utc(t), Valid: !t.IsZero()} }

// orZero reads a time, the zero time for NULL.
type orZero time.Time

// Scan implements sql.Scanner.
func (z *orZero) Scan(v any) error {
	var t sql.NullTime
	err := t.Scan(v)
	*z = orZero(t.Time)
	return err
}

// asJSON keeps a value, or reads one through a pointer to it, as text in JSON; nil is
// NULL, and NULL leaves the pointer's target unchanged.
type asJSON struct{ v any }

// Value implements driver.Valuer.
func (j asJSON) Value() (driver.Value, error) {
	text, err := json.Marshal(j.v)
	return clean(string(text)), err
}

// Scan implements sql.Scanner.
func (j asJSON) Scan(v any) error {
	var text sql.NullString
	if err := text.Scan(v); err != nil || !text.Valid {
		return err
	}
	return json.Unmarshal([]byte(text.String), j.v)
}

// clean is text as both engines can hold it.
func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}
