// Package terminal tells whether output goes to a person's terminal, and what that
// person wants of it.
package terminal

import (
	"io"
	"os"
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

// Colours reports whether colours are wanted: NO_COLOR in the environment says that
// they are not (https://no-color.org).
func Colours() bool { return os.Getenv("NO_COLOR") == "" }
