package say

import (
	"fmt"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/say/wording"
)

var _ = add(casebook.ShortOfCapacity, card{
	name: "short of capacity",
	symptom: func(_ *detect.Finding, a *casebook.Answer) string {
		if a.Harm.None() {
			return "above its provisioned capacity"
		}
		return "throttled, too little provisioned capacity"
	},
	why: func(f *detect.Finding, a *casebook.Answer) string {
		text := fmt.Sprintf("The %s as a whole %s more than its provisioned %s capacity", targetWord(f), tense(f, "needs", "needed"), detect.SideOf(f, "write", "read"))
		if n := f.CapacityNeed(); n != nil && n.Now > n.Provisioned {
			text = fmt.Sprintf("%s %s of %s provisioned", perSecond(n.Now, n.Unit), tense(f, "are asked", "were asked"), wording.Significant(n.Provisioned))
		}
		switch {
		case a.Harm.None():
			return text + tense(f, "; burst capacity serves the rest for some minutes.", ".")
		case f.Index != "" && !f.InReads():
			return fmt.Sprintf("%s; DynamoDB then %s table writes.", text, tense(f, "refuses", "refused"))
		}
		return text + "." + noKey(f, a)
	},
	heals: plain("No, unless auto scaling raises it or the load falls."),
})

var _ = add(casebook.OwnMaximum, card{
	name:    "at its own maximum",
	symptom: plain("throttled by its own maximum throughput"),
	why: func(f *detect.Finding, a *casebook.Answer) string {
		return fmt.Sprintf("The %s reached the maximum throughput that its owner set.%s", targetWord(f), noKey(f, a))
	},
	heals: plain("No: only a higher maximum or less load ends it."),
})

var _ = add(casebook.AccountQuota, card{
	name:    "at the account's quota",
	symptom: plain("throttled by a quota of the account"),
	why: func(f *detect.Finding, a *casebook.Answer) string {
		return fmt.Sprintf("The %s reached the account's quota for one table in this Region.%s", targetWord(f), noKey(f, a))
	},
	heals: plain("No: only a higher quota or less load ends it."),
})

var _ = add(casebook.IndexCapacity, card{
	name:    "index short of capacity",
	symptom: plain("writes throttled, an index has too little capacity"),
	why: func(f *detect.Finding, _ *casebook.Answer) string {
		return fmt.Sprintf("An index %s too little write capacity; DynamoDB then refuses table writes.", tense(f, "has", "had"))
	},
})

var _ = add(casebook.NoReason, card{
	name:    "throttled without a reason",
	symptom: plain("throttled, the samples do not say why"),
	why: tellTensed("No single key is known to be hot, and the samples lack DynamoDB's throttle reasons.",
		"No single key was known to be hot, and the samples lack DynamoDB's throttle reasons."),
})

// noKey says that no key is to blame, unless a caller is.
func noKey(f *detect.Finding, a *casebook.Answer) string {
	if refusedMost(f, a) != "" {
		return ""
	}
	return fmt.Sprintf(" No single key or partition %s hot.", tense(f, "is", "was"))
}
