package wording

import (
	"fmt"
	"strings"
)

// Cell returns text for a cell of a CSV file. A spreadsheet takes what begins like a
// formula for one: a leading apostrophe says that it is text.
func Cell(s string) string {
	if s = Printable(s); s != "" && strings.ContainsRune("=+-@", rune(s[0])) {
		return "'" + s
	}
	return s
}

// InertJSON returns JSON text so that it can also be looked at: JSON lets through
// characters that steer a terminal or turn the direction of text, which only names
// that others gave hold; escaped they are the same JSON.
func InertJSON(text string) string { return steering.Replace(text) }

// steering escapes C1 controls and marks of direction.
var steering = func() *strings.Replacer {
	var pairs []string
	for _, span := range [][2]rune{{0x7f, 0x9f}, {0x200e, 0x200f}, {0x202a, 0x202e}, {0x2066, 0x2069}, {0x61c, 0x61c}} {
		for r := span[0]; r <= span[1]; r++ {
			pairs = append(pairs, string(r), fmt.Sprintf(`\u%04x`, r))
		}
	}
	return strings.NewReplacer(pairs...)
}()
