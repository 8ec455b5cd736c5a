package say

import (
	"fmt"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/say/wording"
)

// tense returns now or, for a finding that is over, past.
func tense(f *detect.Finding, now, past string) string {
	if f.State == detect.Resolved {
		return past
	}
	return now
}

// shownRefused is the most refused keys that a sentence names.
const shownRefused = 3

// lostBy writes what a key was refused: 31 WCU/s, or 31 requests/s if these carry no units.
func lostBy(k *detect.RefusedKey) string {
	var parts []string
	if k.WCU.Value == 0 && k.RCU.Value == 0 && k.Requests > 0 {
		return wording.Significant(k.Requests) + " requests/s"
	}
	if k.WCU.Value > 0 || k.RCU.Value == 0 {
		parts = append(parts, wording.Significant(k.WCU.Value)+" WCU/s")
	}
	if k.RCU.Value > 0 {
		parts = append(parts, wording.Significant(k.RCU.Value)+" RCU/s")
	}
	return strings.Join(parts, " and ")
}

// leastRefused is the least share of all refused load of which a line is written.
const leastRefused = 0.01

// RefusedKeys returns a line about each key that a table or index refused most.
func RefusedKeys(keys []detect.RefusedKey) (all []Line) {
	for i := range keys {
		k := &keys[i]
		if k.Share < leastRefused {
			break
		}
		text := fmt.Sprintf("%s %s", quote(k.Key), lostBy(k))
		if figure := largerOf(k); figure.Value > 0 && figure.Low != figure.High {
			text += fmt.Sprintf(" (%s to %s)", wording.Significant(figure.Low), wording.Significant(figure.High))
		}
		text += fmt.Sprintf(", %s of the last minute of refusals", wording.Part(k.Share))
		var callers []string
		for _, c := range k.Callers[:min(len(k.Callers), shownRefused)] {
			callers = append(callers, newCaller(&c).text())
		}
		if len(callers) > 0 {
			text += ", by " + strings.Join(callers, ", ")
		}
		name := ""
		if i == 0 {
			name = "refused"
		}
		all = append(all, Line{name, text + "."})
	}
	return all
}

// largerOf returns the larger part of what a key was refused.
func largerOf(k *detect.RefusedKey) detect.Figure {
	if k.RCU.Value > k.WCU.Value {
		return k.RCU
	}
	return k.WCU
}
