package terminal

import (
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Column is a column of a table.
type Column struct {
	Name string
	// Right aligns it to the right, as numbers are.
	Right bool
	// Least is the width, in characters, to which cells are cut if the terminal is too
	// narrow; 0 for cells that are never cut.
	Least int
	// Spare orders the columns that are left out where cutting is not enough: the
	// highest first, and never one with 0.
	Spare int
}

// Table is rows below the names of their columns.
type Table struct {
	Columns []Column
	rows    [][]string
}

// Add adds a row, with a cell for each column or fewer.
func (t *Table) Add(cells ...string) {
	t.rows = append(t.rows, append(cells, make([]string, len(t.Columns)-len(cells))...))
}

const padding = 2

// Render writes the table for a terminal of width characters, or of any width if that is
// 0. It names columns without room below the table.
func (t *Table) Render(width int) string {
	shown, widths := t.fit(width)
	out := table.NewWriter()
	out.SetStyle(table.StyleLight)
	out.Style().Options = table.OptionsNoBordersAndSeparators
	out.Style().Format.Header = text.FormatUpper
	out.Style().Box.PaddingLeft, out.Style().Box.PaddingRight = "", strings.Repeat(" ", padding)
	line := func(cells func(column int) string) (row table.Row) {
		for at, column := range shown {
			row = append(row, text.Snip(cells(column), widths[at], "…"))
		}
		return row
	}
	out.AppendHeader(line(func(column int) string { return t.Columns[column].Name }))
	for _, cells := range t.rows {
		out.AppendRow(line(func(column int) string { return cells[column] }))
	}
	var configs []table.ColumnConfig
	for at, column := range shown {
		if t.Columns[column].Right {
			configs = append(configs, table.ColumnConfig{Number: at + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
		}
	}
	out.SetColumnConfigs(configs)
	out.SuppressTrailingSpaces()
	if len(shown) == len(t.Columns) {
		return out.Render()
	}
	var missing []string
	for i, c := range t.Columns {
		if !slices.Contains(shown, i) {
			missing = append(missing, c.Name)
		}
	}
	return out.Render() + "\n(the terminal is too narrow for: " + strings.Join(missing, ", ") + ")"
}

func (t *Table) fit(width int) (shown, widths []int) {
	natural, least := make([]int, len(t.Columns)), make([]int, len(t.Columns))
	for i, c := range t.Columns {
		natural[i] = text.StringWidthWithoutEscSequences(c.Name)
		for _, row := range t.rows {
			natural[i] = max(natural[i], text.StringWidthWithoutEscSequences(row[i]))
		}
		least[i] = natural[i]
		if c.Least > 0 {
			least[i] = min(natural[i], max(c.Least, len(c.Name)))
		}
		shown = append(shown, i)
	}
	room := func() int {
		needed := 0
		for _, i := range shown {
			needed += least[i] + padding
		}
		return width - needed
	}
	for width > 0 && room() < 0 {
		next := slices.MaxFunc(shown, func(a, b int) int { return t.Columns[a].Spare - t.Columns[b].Spare })
		if t.Columns[next].Spare == 0 {
			break
		}
		shown = slices.DeleteFunc(shown, func(i int) bool { return i == next })
	}
	free := room()
	for _, i := range shown {
		wide := natural[i]
		if width > 0 {
			wide = min(natural[i], least[i]+max(free, 0))
			free -= wide - least[i]
		}
		widths = append(widths, wide)
	}
	return shown, widths
}
