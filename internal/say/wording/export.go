package wording

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"
)

// Cell returns text for a cell of a CSV file. A spreadsheet takes what begins like a
// formula for one, also in full width and behind spaces: a leading apostrophe says that
// it is text.
func Cell[T ~string](text T) string {
	s := Printable(text)
	if first := strings.TrimLeft(s, " \u00a0\u3000"); first != "" && strings.IndexAny(first, "=+-@＝＋－＠") == 0 {
		return "'" + s
	}
	return s
}

// InertJSON returns JSON text so that it can also be looked at: JSON lets through
// characters that steer a terminal, turn the direction of text or cannot be seen, which
// only names that others gave hold; escaped they are the same JSON.
func InertJSON(text string) string { return steering.Replace(text) }

// JSON returns a value as indented JSON, for people and programs: it does nothing to a
// terminal.
func JSON(v any) (string, error) {
	var text strings.Builder
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return InertJSON(text.String()), err
}

// steering escapes C1 controls, marks of direction and characters that nobody sees.
var steering = func() *strings.Replacer {
	var pairs []string
	for _, span := range [][2]rune{
		{0x7f, 0x9f}, {0xad, 0xad}, {0x61c, 0x61c}, {0x200b, 0x200f}, {0x202a, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0001, 0xe007f},
	} {
		for r := span[0]; r <= span[1]; r++ {
			escaped := ""
			for _, unit := range utf16.Encode([]rune{r}) {
				escaped += fmt.Sprintf(`\u%04x`, unit)
			}
			pairs = append(pairs, string(r), escaped)
		}
	}
	return strings.NewReplacer(pairs...)
}()
