package cli

import (
	"fmt"
	"io"

	"github.com/keyheat/keyheat/internal/cli/terminal"
)

// InSeconds is how lists write times.
const InSeconds = "2006-01-02 15:04:05"

// WriteList writes rows as JSON, or as a table that fits the terminal; what names the
// rows in the text of an empty list.
func WriteList[T any](out io.Writer, rows []T, f Format, what string, columns []terminal.Column, cells func(T) []string) error {
	if f == JSON {
		return WriteJSON(out, append([]T{}, rows...))
	}
	if len(rows) == 0 {
		_, err := fmt.Fprintln(out, "no "+what)
		return err
	}
	t := terminal.Table{Columns: columns}
	for _, row := range rows {
		t.Add(cells(row)...)
	}
	_, err := fmt.Fprintln(out, t.Render(terminal.WidthOf(out)))
	return err
}
