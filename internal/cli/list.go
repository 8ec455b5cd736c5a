package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/keyheat/keyheat/detect/wording"
)

// InSeconds is how lists write times.
const InSeconds = "2006-01-02 15:04:05"

// WriteList writes rows as JSON, or as a table with a head, a column for each of its
// words; what says what there is none of.
func WriteList[T any](out io.Writer, rows []T, f Format, what, head string, columns func(T) []string) error {
	if f == JSON {
		text, err := wording.JSON(append([]T{}, rows...))
		if err != nil {
			return err
		}
		_, err = io.WriteString(out, text)
		return err
	}
	if len(rows) == 0 {
		_, err := fmt.Fprintln(out, "no "+what)
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, head)
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(columns(row), "\t"))
	}
	return w.Flush()
}
