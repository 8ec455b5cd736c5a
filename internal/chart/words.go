package chart

import (
	"fmt"
	"strings"
	"time"

	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/rollup"
)

// Words are what a reader hears of a map's cells. The script of the page asks for them when
// somebody points at one.
type Words struct {
	Columns []ColumnWords `json:"columns"`
	// Rows have the words of the cells with load by their column. The last one is everything
	// without a row.
	Rows []map[int]string `json:"rows"`
}

// ColumnWords are the words of a column: its time, how much of it was counted, and a cell
// without load.
type ColumnWords struct {
	Time    string `json:"time"`
	Counted string `json:"counted"`
	Empty   string `json:"empty"`
}

// Words describes the cells.
func (m *Map) Words() Words {
	w := Words{Columns: make([]ColumnWords, len(m.Seen)), Rows: make([]map[int]string, len(m.Rows)+1)}
	for n := range m.Seen {
		w.Columns[n] = m.describeColumn(n)
	}
	for i, row := range m.Rows {
		w.Rows[i] = make(map[int]string, len(row.Cells))
		for _, c := range row.Cells {
			w.Rows[i][c.Column] = m.describe(c)
		}
	}
	rest := make(map[int]string, len(m.Seen))
	for n := range m.Seen {
		rest[n] = m.describeRest(n)
	}
	w.Rows[len(m.Rows)] = rest
	return w
}

func (m *Map) describeColumn(n int) ColumnWords {
	from, layout := m.ColumnTime(n), time.TimeOnly
	if m.Step >= 600 {
		layout = time.DateTime
	}
	w := ColumnWords{Time: from.Format(layout) + " UTC", Empty: "not counted: nothing is known of the load"}
	if m.Seen[n] > 0 {
		w.Empty = fmt.Sprintf("no load worth a cell: below %s %s/s", wording.About(m.Limit/50), m.Unit)
	}
	switch {
	case m.Step > 1:
		w.Time = fmt.Sprintf("%s to %s UTC", from.Format(layout), m.ColumnTime(n+1).Format(time.TimeOnly))
		w.Counted = fmt.Sprintf("%s of %s counted", wording.Count(m.Seen[n]), wording.Span(rollup.Level(m.Step).Duration()))
	case m.Seen[n] > 0:
		w.Counted = "Second counted whole"
	default:
		w.Counted = "Second not counted whole"
	}
	return w
}

func (m *Map) describe(c Cell) string {
	text := wording.About(c.Value) + " " + m.Unit
	if m.Step > 1 {
		text = "highest second " + text
	}
	if c.Low != c.High {
		text += fmt.Sprintf(" (%s to %s)", wording.About(c.Low), wording.About(c.High))
	}
	text += fmt.Sprintf(", %s of the limit", wording.Percent(c.Value/m.Limit))
	if m.Step > 1 {
		text += fmt.Sprintf("; %s %s in all, in %s s", wording.About(c.Sum), m.Unit, wording.Count(c.Seconds))
	}
	if c.Refused > 0 {
		text += fmt.Sprintf("; %s throttled", wording.Part(c.Refused/100))
	}
	if reasons := c.Reasons.Words(); len(reasons) > 0 {
		text += " (" + strings.Replace(strings.Join(reasons, ", "), "unknown", "reason not known", 1) + ")"
	}
	return text
}

// describeRest describes everything without a row.
func (m *Map) describeRest(n int) string {
	if m.Rest[n] == nil {
		return "unknown: not counted"
	}
	return fmt.Sprintf("%s %s/s on average; one key of them had at most %s %s in a second",
		wording.About(m.restRate(n)), m.Unit, wording.About(m.Unlisted), m.Unit)
}
