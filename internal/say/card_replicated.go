package say

import (
	"fmt"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/say/wording"
)

var _ = add(casebook.ReplicatedKey, card{
	name:    "key written in other Regions",
	symptom: keySymptom(aboutLimit),
	why: func(f *detect.Finding, a *casebook.Answer) string {
		text := whyOneKey(f, a)
		if len(a.Callers) == 0 { // or the list of callers has it
			text += fmt.Sprintf(" %s %s from %s.", wording.Percent(1-f.OwnShare()), tense(f, "comes", "came"), writers(f))
		}
		return text
	},
	relief: func(f *detect.Finding, a *casebook.Answer) string {
		return fmt.Sprintf("limit %s %s to %s in all Regions together, %s first", requestsTo(f), subject(f), ofKey(f, a.Move.Total), writers(f))
	},
})

// writers is the other Region, or the others.
func writers(f *detect.Finding) string {
	if r := f.Replication.Regions; len(r) == 2 && f.Region == r[0] {
		return r[1]
	} else if len(r) == 2 && f.Region == r[1] {
		return r[0]
	}
	return "other Regions"
}
