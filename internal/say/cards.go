package say

import (
	"fmt"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
)

// sentence writes one about a finding.
type sentence func(f *detect.Finding, a *casebook.Answer) string

// card is the words of one case. A finding that is over is told in the past.
type card struct {
	// name is the case in two or three words.
	name string
	// symptom is the visible effect, in a few words; why is the cause in a sentence.
	symptom, why sentence
	// harm is who is hurt where no requests are refused, without its time; nil of most.
	harm sentence
	// now is what to do where no load is to be slowed: where Keyheat itself cannot see, say; nil
	// of most.
	now sentence
	// relief is the load to slow, and the rate to keep, where these are not the key's and its
	// callers'; nil of most.
	relief sentence
	// heals is whether an open finding heals by itself, where its case says more than its
	// outlook does: nil, or empty, for none.
	heals sentence
}

// cards are the words of all cases. Each file of cards adds its own.
var cards = map[detect.Case]card{}

func add(c detect.Case, words card) bool {
	cards[c] = words
	return true
}

// say writes words; nothing where a case has none.
func (w sentence) say(f *detect.Finding, a *casebook.Answer) string {
	if w == nil {
		return ""
	}
	return w(f, a)
}

// plain is the same words for all findings of a case.
func plain(text string) sentence {
	return func(*detect.Finding, *casebook.Answer) string { return text }
}

// tellTensed is words for now, and words for when it is over.
func tellTensed(now, past string) sentence {
	return func(f *detect.Finding, _ *casebook.Answer) string { return tense(f, now, past) }
}

// placeOn is the place of a load, such as " on one key".
func placeOn(f *detect.Finding, key string) string { return tense(f, " on ", " went to ") + key }

// keySymptom is the symptom of a key with a load that is somewhere about the limit.
func keySymptom(where func(*detect.Finding) string) sentence {
	return func(f *detect.Finding, a *casebook.Answer) string {
		key := "one key"
		if f.Subject == detect.KeyWrites && f.Index != "" {
			key = "one index key"
		}
		switch {
		case a.Move.Act == casebook.Nothing && f.State == detect.Firing && a.Harm.Refused > 0:
			return fmt.Sprintf("%s throttled on %s, now served", requests(f), key)
		case !a.Harm.None() && f.Severity != detect.Info:
			return fmt.Sprintf("%s throttled on %s", requests(f), key)
		}
		return requestsTo(f) + " " + key + " " + where(f)
	}
}

// aboutLimit is how surely a key's load is above the limit.
func aboutLimit(f *detect.Finding) string {
	switch {
	case f.SecondsOver() > 0 || f.Severity == detect.Critical:
		return "above the partition limit"
	case isLikely(f):
		return "probably above the partition limit"
	case f.PossibleSeconds > 0:
		return "may be above the partition limit"
	}
	return "near the partition limit"
}
