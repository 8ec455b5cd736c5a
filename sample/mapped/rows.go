package mapped

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"

	"github.com/keyheat/keyheat/sample/internal/frame"
)

// Columns are those of a line of names.
type Columns struct {
	// Separator is the character between them: a comma, a tab or a semicolon.
	Separator rune
	Names     []string
}

// separators are what may stand between columns.
const separators = ",\t;"

// ColumnsOf returns the columns of a line, separated by what makes the most of them;
// false when there are not two.
func ColumnsOf(line []byte) (best Columns, ok bool) {
	line = bytes.TrimPrefix(bytes.TrimRight(line, "\r\n"), []byte("\ufeff"))
	if len(line) == 0 || line[0] == '{' || line[0] == '[' {
		return best, false
	}
	for _, separator := range separators {
		names, ok := cells(line, separator)
		if !ok || len(names) < 2 || len(names) <= len(best.Names) {
			continue
		}
		for i := range names {
			names[i] = strings.TrimSpace(names[i])
		}
		best = Columns{separator, names}
	}
	return best, len(best.Names) > 1
}

// cells returns the cells of one line; false when its quotes do not end.
func cells(line []byte, separator rune) ([]string, bool) {
	if bytes.IndexByte(line, '"') < 0 {
		return strings.Split(string(line), string(separator)), true
	}
	r := csv.NewReader(bytes.NewReader(line))
	r.Comma, r.FieldsPerRecord, r.LazyQuotes = separator, -1, separator == '\t'
	row, err := r.Read()
	return row, err == nil
}

// row maps a row. An empty cell is a field that is not there.
func (d *Decoder) row(line []byte) {
	row, ok := cells(line, d.columns.Separator)
	if !ok || len(row) != len(d.columns.Names) {
		d.relay.Handler.Bad(ReasonRow, frame.Excerpt(line))
		return
	}
	d.emit(line, func(i int) json.RawMessage {
		column := d.at[i]
		if column < 0 || row[column] == "" {
			return nil
		}
		return appendText(nil, row[column])
	})
}
