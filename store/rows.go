package store

import (
	"context"
	"fmt"
	"strings"
)

// maxRows bounds the rows of one INSERT, and with them its parameters: SQLite
// takes 32,766, Postgres 65,535.
const maxRows = 64

// insert writes rows with few statements: verb is "INSERT INTO t (a, b)",
// tail an ON CONFLICT clause or empty. It works through the rows in their
// order, in powers of two, so that a connection's statement cache sees seven
// texts and not one for every count.
func (t *tx) insert(ctx context.Context, verb, tail string, rows [][]any) error {
	for len(rows) > 0 {
		n := maxRows
		for n > len(rows) {
			n /= 2
		}
		var args []any
		for _, row := range rows[:n] {
			args = append(args, row...)
		}
		query := verb + " VALUES " + placeholders(n, len(rows[0])) + " " + tail
		if _, err := t.ExecContext(ctx, query, args...); err != nil {
			return fmt.Errorf("%s: %w", verb, err)
		}
		rows = rows[n:]
	}
	return nil
}

// placeholders is "($1, $2), ($3, $4)" for two rows of two columns.
func placeholders(rows, columns int) string {
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
		fmt.Fprintf(&b, "$%d", i+1)
	}
	b.WriteByte(')')
	return b.String()
}

// clean is text as both engines can hold it.
func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}
