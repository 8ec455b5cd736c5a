// Package terminal recognises a person's terminal, its width, and the wish for colours.
package terminal

import (
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"
)

// Is reports whether w is a terminal that can be drawn on, and not a pipe, a file or
// a log.
func Is(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || f == nil {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}

// Colours reports whether colours are wanted: NO_COLOR in the environment refuses them
// (https://no-color.org).
func Colours() bool { return os.Getenv("NO_COLOR") == "" }

// Severity returns the name of a severity in its colour: red for critical, else yellow.
func Severity(name string) string {
	if name == "critical" {
		return text.FgRed.Sprint(name)
	}
	return text.FgYellow.Sprint(name)
}

// Wrap breaks sentences into lines of a width, without spaces at their ends.
func Wrap(sentences string, width int) string {
	lines := strings.Split(text.WrapSoft(sentences, width), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n")
}

// Line returns its begin, and of more the parts that fit a line of [Width].
func Line(begin string, more []string) string {
	for _, part := range more {
		if next := begin + ", " + part; utf8.RuneCountInString(next) <= Width {
			begin = next
		}
	}
	return begin
}

// WidthOf returns how many characters a line of w has, or 0 where w is no terminal, or one
// that does not say.
func WidthOf(w io.Writer) int {
	if !Is(w) {
		return 0
	}
	width, _, err := term.GetSize(int(w.(*os.File).Fd()))
	if err != nil {
		return 0
	}
	return width
}
