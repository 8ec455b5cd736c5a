package wording

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// formula finds what a spreadsheet takes for a formula: its first character, also in full
// width, where a cell begins, behind what programs skip. A file with commas can be read as one
// whose cells end at ";" or "|". Tabs and ends of lines are escapes by then.
var formula = regexp.MustCompile("(^|[;|])([ \"'“”]*[=+\\-@＝＋－＠])")

// Cell returns text for a cell of a CSV file. An apostrophe before what could be a formula says
// that it is text.
func Cell[T ~string](text T) string { return formula.ReplaceAllString(Printable(text), "${1}'${2}") }

// InertJSON returns JSON text so that it can also be looked at: JSON lets through
// characters that steer a terminal, turn the direction of text or cannot be seen, which
// only names that others gave hold; escaped they are the same JSON.
func InertJSON(text string) string {
	if !strings.ContainsFunc(text, steers) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if !steers(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// steers reports whether JSON may have a character that [Printable] escapes. JSON escapes
// controls of ASCII itself, but for those between its values.
func steers(r rune) bool {
	return r >= 0x7f && r != utf8.RuneError && Printable(string(r)) != string(r)
}

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
