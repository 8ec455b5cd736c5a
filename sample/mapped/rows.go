package mapped

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/internal/frame"
)

// Columns are the columns of a line of names.
type Columns struct {
	// Separator separates columns: a comma, a tab, a semicolon or a bar.
	Separator rune
	Names     []string
	// spaced means that a space follows each separator.
	spaced bool
}

// separators are the possible column separators.
const separators = ",\t;|"

// Preamble returns the length of the text before the line of names: lines that begin with #,
// and Excel's sep=;.
func Preamble(text []byte) (n int) {
	for {
		line := bytes.TrimPrefix(text[n:], []byte("\ufeff"))
		end := bytes.IndexByte(text[n:], '\n') + 1
		if end == 0 || !bytes.HasPrefix(line, []byte("#")) && !bytes.HasPrefix(line, []byte("sep=")) {
			return n
		}
		n += end
	}
}

// ColumnsOf returns the columns of a line, with the separator that gives the most of them. It
// returns false for fewer than two.
func ColumnsOf(line []byte) (best Columns, ok bool) {
	line = bytes.TrimPrefix(bytes.TrimRight(line, "\r\n"), []byte("\ufeff"))
	if len(line) == 0 || line[0] == '{' || line[0] == '[' {
		return best, false
	}
	for _, separator := range separators {
		names, ok := cells(line, separator)
		if !ok || len(names) < 2 || len(names) <= len(best.Names) || separator == '|' && slices.ContainsFunc(names, hasSpaceAround) {
			continue
		}
		spaced := !slices.ContainsFunc(names[1:], func(name string) bool { return !strings.HasPrefix(name, " ") })
		for i := range names {
			names[i] = strings.TrimSpace(names[i])
		}
		best = Columns{separator, names, spaced}
	}
	return best, len(best.Names) > 1
}

// hasSpaceAround reports whether a bar stands between words, as in a line of a log.
func hasSpaceAround(name string) bool { return strings.TrimSpace(name) != name }

// Cells returns the cells of the first row of a text, by name. It returns none if the row has
// more or fewer cells than columns.
func (c *Columns) Cells(text []byte) map[string]string {
	n, _ := c.Next(text, true)
	row, ok := c.cells(bytes.TrimRight(text[:n], "\r\n"))
	if !ok || len(row) != len(c.Names) {
		return nil
	}
	all := make(map[string]string, len(row))
	for i, name := range c.Names {
		all[name] = row[i]
	}
	return all
}

// Line returns the line of names.
func (c *Columns) Line() []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Comma = c.Separator
	_ = w.Write(c.Names) // into memory
	w.Flush()
	return b.Bytes()
}

// cells returns the cells of one row, or false if a quote does not end.
func cells(line []byte, separator rune) ([]string, bool) {
	if bytes.IndexByte(line, '"') < 0 {
		return strings.Split(string(line), string(separator)), true
	}
	r := csv.NewReader(bytes.NewReader(line))
	r.Comma, r.FieldsPerRecord, r.LazyQuotes = separator, -1, separator == '\t'
	row, err := r.Read()
	return row, err == nil
}

// cells returns the cells of one row of the columns.
func (c *Columns) cells(line []byte) ([]string, bool) {
	row, ok := cells(line, c.Separator)
	if c.spaced {
		for i := range row {
			row[i] = strings.TrimSpace(row[i])
		}
	}
	return row, ok
}

// MaxRow is the largest row that may span lines, in bytes. If a quote does not end within it,
// reading continues with the next line.
const MaxRow = 64 << 10

// Next returns the length of the first row of a text, with its line end. A quoted field may
// contain line breaks. The length is 0 while the row may continue behind the text; whole means
// that nothing follows. If a quote has no end, or seems to end in another row, ok is false. The length
// then covers only one line, so that no other line is lost.
func (c *Columns) Next(text []byte, whole bool) (n int, ok bool) {
	line := bytes.IndexByte(text, '\n') + 1
	switch {
	case line == 0 && !whole:
		return 0, true
	case line == 0:
		line = len(text)
	}
	if bytes.IndexByte(text[:line], '"') < 0 {
		return line, true
	}
	n, at := c.scan(text[:min(len(text), MaxRow)])
	switch {
	case at != behindRow && at != brokenQuote && !whole && len(text) < MaxRow:
		return 0, true
	case (at == behindRow || at == inRow && n == len(text)) && !c.swallows(text[:n]):
		return n, true
	}
	return line, false
}

// place is the state at the end of a scan of a row.
type place int

const (
	inRow       place = iota // in its last field, as far as the text shows
	inQuote                  // in a field whose quote has no end
	brokenQuote              // behind a quote within a quoted field
	behindRow
)

// scan reads the first row of a text, and returns its length and its final state.
func (c *Columns) scan(text []byte) (n int, at place) {
	for begins := true; n < len(text); {
		b := text[n]
		n++
		switch {
		case begins && b == '"':
			length := countQuoted(text[n:])
			if length < 0 {
				return len(text), inQuote
			}
			if n += length; n < len(text) && text[n] != '\n' && text[n] != '\r' && rune(text[n]) != c.Separator {
				return n, brokenQuote
			}
			begins = false
		case b == '\n':
			return n, behindRow
		default:
			begins = rune(b) == c.Separator
		}
	}
	return n, inRow
}

// countQuoted returns the length of the rest of a quoted field with its last quote, or a
// negative number without that quote.
func countQuoted(text []byte) (n int) {
	for {
		at := bytes.IndexByte(text[n:], '"')
		if at < 0 {
			return -1
		}
		if n += at + 1; n == len(text) || text[n] != '"' {
			return n
		}
		n++ // a doubled quote is one character
	}
}

// swallows reports whether a row that spans lines seems to contain other rows: a line with as
// many columns as a row, whose first byte is a digit if the row's is. A line of a longer text
// is rarely both.
func (c *Columns) swallows(row []byte) bool {
	lines := bytes.SplitAfter(bytes.TrimRight(row, "\r\n"), []byte("\n"))
	for i, line := range lines[1:] {
		last := i+2 == len(lines) // a sound row's last line ends with a closing quote
		if c.count(line) == len(c.Names) && startsWithDigit(line) == startsWithDigit(row) && (!last || c.count(lines[0]) >= len(c.Names)) {
			return true
		}
	}
	return false
}

// count returns the number of columns of a line, ignoring quotes.
func (c *Columns) count(line []byte) int { return bytes.Count(line, []byte(string(c.Separator))) + 1 }

func startsWithDigit(line []byte) bool {
	line = bytes.TrimLeft(line, `"`)
	return len(line) > 0 && '0' <= line[0] && line[0] <= '9'
}

func (d *Decoder) rows(message []byte) {
	for len(message) > 0 {
		n, ok := d.columns.Next(message, true)
		if row := bytes.Trim(message[:n], " \r\n"); len(row) > 0 {
			d.row(row, ok)
		}
		message = message[n:]
	}
}

// row maps a row. An empty cell is a missing field. closed means that the row's quotes end. A
// row that is not UTF-8 is bad, because two different keys could become equal.
func (d *Decoder) row(line []byte, closed bool) {
	row, ok := d.columns.cells(line)
	switch {
	case !utf8.Valid(line):
		d.relay.Handler.Bad(sample.RejectBadUTF8, frame.Excerpt(line))
		return
	case !ok && !closed:
		d.relay.Handler.Bad(RejectQuote, frame.Excerpt(line))
		return
	case !ok || len(row) != len(d.columns.Names):
		d.relay.Handler.Bad(RejectRow, frame.Excerpt(line))
		return
	}
	d.emit(line, func(i int) json.RawMessage { return d.at[i].value(row) })
}

// cell is the position of a value in rows: a column, and a path within the column's JSON unless
// it is empty.
type cell struct {
	column int // negative for none
	path   string
}

// find returns the position of a name: a column with this name, or a path within a column whose
// name begins the path, as in exports of logs with JSON lines.
func (c *Columns) find(name string) cell {
	if column := slices.Index(c.Names, name); column >= 0 || name == "" {
		return cell{column: column}
	}
	for at := range len(name) {
		if name[at] != '.' {
			continue
		}
		if column := slices.Index(c.Names, name[:at]); column >= 0 {
			return cell{column, name[at+1:]}
		}
	}
	return cell{column: -1}
}

// value returns the cell's value in a row, or nil.
func (c cell) value(row []string) json.RawMessage {
	if c.column < 0 || row[c.column] == "" {
		return nil
	}
	text := appendText(nil, row[c.column])
	if c.path == "" {
		return text
	}
	return lookUp(text, c.path)
}
