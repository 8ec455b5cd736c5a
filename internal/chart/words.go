package chart

import (
	"fmt"
	"strings"
	"time"

	"github.com/keyheat/keyheat/internal/say/wording"
)

// Words are what a reader hears of a map's cells. The script of the page asks for them when
// somebody points at one.
type Words struct {
	// Columns are the time of each column, and how much of it was counted. Empty are the
	// words of a cell without load.
	Columns []string `json:"columns"`
	Empty   []string `json:"empty"`
	// Rows have the words of the cells with load by their column. The last one is everything
	// without a row.
	Rows []map[int]string `json:"rows"`
}

// Words describes the cells.
func (m *Map) Words() (w Words) {
	rest := make(map[int]string, len(m.Seen))
	for n, seen := range m.Seen {
		empty := fmt.Sprintf("no load worth a cell: below %s %s/s", wording.About(m.Limit/50), m.Unit)
		if seen == 0 {
			empty = "not counted: nothing is known of the load"
		}
		w.Columns = append(w.Columns, fmt.Sprintf("%s UTC, %s of %s s counted", m.ColumnTime(n).Format(time.DateTime), wording.Count(seen), wording.Count(m.Step)))
		w.Empty, rest[n] = append(w.Empty, empty), m.describeRest(n)
	}
	for _, row := range m.Rows {
		cells := make(map[int]string, len(row.Cells))
		for _, c := range row.Cells {
			cells[c.Column] = m.describe(c)
		}
		w.Rows = append(w.Rows, cells)
	}
	w.Rows = append(w.Rows, rest)
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
