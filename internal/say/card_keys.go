package say

import (
	"fmt"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/say/wording"
)

var _ = add(casebook.HotKey, card{
	name:    "hot key",
	symptom: keySymptom(aboutLimit),
	why:     whyOneKey,
})

// whyOneKey is the load of a key, refused for its own limit or the table's capacity.
func whyOneKey(f *detect.Finding, _ *casebook.Answer) string {
	text := capital(load(f, placeOn(f, "one key"))) + "."
	if casebook.StarvedAttempts(f) > 0 {
		return "Refused for lack of the table's capacity. " + text
	}
	return text
}

var _ = add(casebook.HotItem, card{
	name:    "hot item",
	symptom: keySymptom(aboutLimit),
	why: func(f *detect.Finding, _ *casebook.Answer) string {
		return capital(load(f, placeOn(f, "one key, most"+tense(f, " on ", " to ")+"one item"))) + "."
	},
})

var _ = add(casebook.IndexKey, card{
	name:    "hot key of an index",
	symptom: keySymptom(aboutLimit),
	why: func(f *detect.Finding, a *casebook.Answer) string {
		return fmt.Sprintf("%s%s; %s.", capital(amount(f)), placeOn(f, "one index key"), failingWrites(f, a))
	},
})

// failingWrites is the harm of an index key above the limit.
func failingWrites(f *detect.Finding, a *casebook.Answer) string {
	fail := "may fail"
	if !a.Harm.None() {
		fail = "fail"
	}
	return fmt.Sprintf("above %s, table writes %s", limit(f), fail)
}

var _ = add(casebook.MaskedKey, card{
	name: "mask in place of keys",
	symptom: func(f *detect.Finding, a *casebook.Answer) string {
		if !a.Harm.None() {
			return requests(f) + " throttled behind a mask"
		}
		return requestsTo(f) + " a mask " + aboutLimit(f)
	},
	why: func(f *detect.Finding, _ *casebook.Answer) string {
		return capital(amount(f)) + placeOn(f, "a mask; many keys may be behind it, perhaps none hot.")
	},
	now: func(f *detect.Finding, a *casebook.Answer) string {
		find := "find the key in CloudWatch Contributor Insights"
		if a.Harm.None() {
			return ifThrottled(f) + ", " + find + "."
		}
		return capital(find) + "."
	},
})

var _ = add(casebook.EventualReads, card{
	name:    "eventually consistent reads",
	symptom: keySymptom(func(*detect.Finding) string { return "may be refused" }),
	why: func(f *detect.Finding, _ *casebook.Answer) string {
		measured := "below"
		if f.Peak.RCU.High > detect.Units(detect.EventualRead) {
			measured = "near"
		}
		return fmt.Sprintf("%s%s, none marked as strong: above the documented %s, %s the %s of eventual reads that AWS measured.", capital(amount(f)), placeOn(f, "one key"), limit(f), measured, wording.Amount(detect.EventualRead))
	},
	heals: func(_ *detect.Finding, a *casebook.Answer) string {
		if a.Harm.None() {
			return "Nothing to heal: no refusals seen."
		}
		return ""
	},
})

var _ = add(casebook.AtLimit, card{
	name:    "key at the limit",
	symptom: keySymptom(func(*detect.Finding) string { return "flat at the partition limit" }),
	why: func(f *detect.Finding, _ *casebook.Answer) string {
		return capital(load(f, placeOn(f, "one key, flat as if the rest were refused"))) + "."
	},
})

var _ = add(casebook.MayBeOver, card{
	name:    "key that may be hot",
	symptom: keySymptom(aboutLimit),
	why: func(f *detect.Finding, _ *casebook.Answer) string {
		if figure := detect.SideOf(f, f.Peak.WCU, f.Peak.RCU); figure.High <= detect.Units(f.Limit()) {
			return fmt.Sprintf("%s WCU/s and %s RCU/s%s; one partition may not serve both.", wording.Significant(f.Peak.WCU.Value), wording.Significant(f.Peak.RCU.Value), placeOn(f, "one key"))
		}
		figure := sampledLoad(f)
		return fmt.Sprintf("%s %s%s%s; one partition takes %s.", wording.Range(figure.Low, figure.High), detect.SideOf(f, "WCU/s", "RCU/s"), placeOn(f, "one key"), leftOpenBy(f), limit(f))
	},
})

// leftOpenBy is what leaves a load open.
func leftOpenBy(f *detect.Finding) string {
	switch {
	case f.Quality.InBatches():
		return ", by the times of batches"
	case f.Quality.IsSampled():
		return ", estimated from samples"
	}
	return ""
}

var _ = add(casebook.NearLimit, card{
	name:    "key near the limit",
	symptom: keySymptom(aboutLimit),
	why:     whyOneKey,
	heals: func(f *detect.Finding, a *casebook.Answer) string {
		if !a.Harm.None() {
			return ""
		}
		switch h := a.Healing; h.Outlook {
		case casebook.Likely:
			if a.Harm.Visible {
				return "Likely, in minutes if it lasts: a split."
			}
		case casebook.Open:
			if a.Harm.Visible {
				return "Nothing to heal: the load is below the limit."
			}
		case casebook.No:
			if text := grounds[h.Ground]; text != "" {
				return "Nothing to heal yet; " + text + "."
			}
		}
		return ""
	},
})
