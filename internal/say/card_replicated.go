package say

import (
	"fmt"
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/say/wording"
)

var _ = add(casebook.ReplicatedKey, card{
	name:    "key written in other Regions",
	symptom: keySymptom(aboutLimit),
	why:     whyOneKey,
	relief: func(f *detect.Finding, a *casebook.Answer) string {
		text := fmt.Sprintf("limit %s %s to %s", requestsTo(f), subject(f), ofKey(f, a.Move.Total))
		if main := casebook.MainCallers(f.Replication.Callers); len(main) > 0 && main[0].Low > 0.5 {
			return text + ", " + quote(main[0].Text) + " in " + writers(f) + " first"
		}
		return text + " in all Regions, " + writers(f) + " first"
	},
})

// writers is the other Region that writes most, or the others.
func writers(f *detect.Finding) string {
	r := f.Replication
	switch own := slices.Index(r.Regions, f.Region); {
	case r.Writer != "":
		return wording.Printable(r.Writer)
	case len(r.Regions) == 2 && own >= 0:
		return r.Regions[1-own]
	}
	return "other Regions"
}
