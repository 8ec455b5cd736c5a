package wording_test

import (
	"testing"

	"github.com/keyheat/keyheat/detect/wording"
)

// TestKeysAreOnlyRead: whoever writes keys cannot steer a terminal, a page's
// direction of text, or what stands beside them.
func TestKeysAreOnlyRead(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"merchant#7": "merchant#7", "": "", "naïve 鍵 🔥": "naïve 鍵 🔥", `say "hi"`: `say "hi"`,
		"a\x1b[2Jb": `a\x1b[2Jb`, "a\u009b2Jb": `a\u009b2Jb`, "a\x1b]8;;http://x\x07b": `a\x1b]8;;http://x\ab`,
		"a\nb\tc\r": `a\nb\tc\r`, "a\u202eb": `a\u202eb`, "a\u2066b": `a\u2066b`, "a\xffb": `a\xffb`, "a\x00b": `a\x00b`, `a\b`: `a\\b`,
	} {
		if got := wording.Printable(key); got != want {
			t.Errorf("%q is written as %q, want %q", key, got, want)
		}
		if got := wording.Quote(key); got != "“"+want+"”" {
			t.Errorf("%q is quoted as %q", key, got)
		}
	}
}
