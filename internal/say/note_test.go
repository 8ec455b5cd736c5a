package say_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/store"
)

// TestNotes holds the words of each reason in a history to a golden file.
func TestNotes(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for _, code := range []detect.NoteCode{
		"", detect.NoteTooOld, detect.NoteSilenced, detect.NoteSilenceEnded, detect.NoteContinues, detect.NoteContinuedBy,
		detect.NoteWorse, detect.NoteHealingKnown, detect.NoteRepeated, detect.NoteCause, detect.NoteCaughtUp,
	} {
		words := say.Note(&store.Transition{Note: string(code), About: "a\x1b", Until: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)})
		if (words == "") != (code == "") {
			t.Errorf("%q has the words %q", code, words)
		}
		fmt.Fprintf(&text, "%s: %s\n", code, words)
	}
	compareGolden(t, "testdata/notes.txt", text.String())
}
