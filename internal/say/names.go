package say

import (
	"cmp"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/store"
)

// CaseName names a case in a few words.
func CaseName(c detect.Case) string { return cmp.Or(cards[c].name, wording.Printable(string(c))) }

// Name names what a finding has found in a few words: the case and, of one key's load, its side.
func Name(s detect.Subject, c detect.Case) string {
	if s.OfKey() {
		return CaseName(c) + detect.Side(s, " (writes)", " (reads)")
	}
	return CaseName(c)
}

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
	case detect.NoteCause:
		return "cause changed from " + CaseName(detect.Case(t.About))
	default:
		return notes[code]
	}
}

// notes are the notes without figures.
var notes = map[detect.NoteCode]string{
	detect.NoteTooOld:       "judged too late to notify",
	detect.NoteCaughtUp:     "still going on once the judge had caught up",
	detect.NoteSilenceEnded: "no longer silenced",
	detect.NoteHealingKnown: "whether it heals by itself is known",
	detect.NoteRepeated:     "sent again",
}
