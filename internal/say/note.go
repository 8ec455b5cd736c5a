package say

import (
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/store"
)

// Note writes why a history has an entry; empty where the states say it.
func Note(t *store.Transition) string {
	about := wording.Printable(t.About)
	switch code := detect.NoteCode(t.Note); code {
	case detect.NoteSilenced:
		return "silenced until " + t.Until.UTC().Format(time.RFC3339) + " by silence " + about
	case detect.NoteContinues:
		return "continues incident " + about
	case detect.NoteContinuedBy:
		return "continued by incident " + about
	case detect.NoteWorse:
		return "severity rose from " + about
	default:
		return notes[code]
	}
}

// notes are the notes without figures.
var notes = map[detect.NoteCode]string{
	detect.NoteTooOld:       "too old to notify",
	detect.NoteSilenceEnded: "no longer silenced",
	detect.NoteHealingKnown: "whether it heals by itself is known",
	detect.NoteRepeated:     "sent again",
}
