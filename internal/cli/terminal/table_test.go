package terminal_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/keyheat/keyheat/internal/cli/terminal"
)

func keys() *terminal.Table {
	t := &terminal.Table{Columns: []terminal.Column{
		{Name: "severity"}, {Name: "kind", Spare: 1}, {Name: "key", Least: 8}, {Name: "peak/s", Right: true}, {Name: "at", Spare: 2},
	}}
	t.Add(terminal.Severity("critical"), "hot_key_write", "customer#12345678", "1,500 WCU", "2026-03-10T09:00:05Z")
	t.Add("warning", "hot_key_read", "a", "2,900 RCU", "2026-03-10T09:00:05Z")
	t.Add("", "", "└ and 3 like it")
	return t
}

// TestATableFitsItsTerminal: columns that can be spared go first, then what is long is
// cut, and what there is no room for is named.
func TestATableFitsItsTerminal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		width  int
		whole  bool   // the longest key
		beyond string // the columns left out
	}{
		{0, true, ""}, {200, true, ""}, {77, true, ""}, {76, false, ""}, {68, false, ""},
		{67, true, "at"}, {55, true, "at"}, {54, false, "at"}, {46, false, "at"},
		{45, true, "kind, at"}, {40, true, "kind, at"}, {39, false, "kind, at"}, {31, false, "kind, at"}, {20, false, "kind, at"},
	} {
		got := keys().Render(c.width)
		note := ""
		if c.beyond != "" {
			note = "(the terminal is too narrow for: " + c.beyond + ")"
		}
		table, found := strings.CutSuffix(got, note)
		if strings.Contains(table, "customer#12345678") != c.whole || !found || c.beyond == "" && strings.Contains(got, "narrow") {
			t.Errorf("in %d characters:\n%s", c.width, got)
		}
		for line := range strings.Lines(table) {
			plain := strings.NewReplacer("\x1b[31m", "", "\x1b[33m", "", "\x1b[0m", "", "\n", "").Replace(line)
			if n := utf8.RuneCountInString(plain); c.width > 30 && n > c.width {
				t.Errorf("a line has %d characters of %d: %q", n, c.width, plain)
			}
		}
	}
}
