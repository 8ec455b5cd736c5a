package say

import (
	"fmt"
	"math"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/say/wording"
)

var _ = add(casebook.Scan, card{
	name: "Scan",
	symptom: func(f *detect.Finding, _ *casebook.Answer) string {
		if f.Subject == detect.SubjectTable {
			return "throttled, a Scan takes the read capacity"
		}
		return "a Scan fills one partition after another"
	},
	why: func(f *detect.Finding, a *casebook.Answer) string {
		if f.Subject != detect.SubjectTable {
			return tense(f, "A Scan reads one partition after another, as fast as it can.", "A Scan read one partition after another, as fast as it could.")
		}
		scans := tense(f, "A Scan asks for", "A Scan asked for")
		if len(a.Callers) > 1 {
			scans = tense(f, "Scans ask for", "Scans asked for")
		}
		scans += " " + scanShare(f) + " of the read units; "
		switch casebook.Lack(f) {
		case detect.GroundOwnMaximum:
			return fmt.Sprintf("%sthe %s's own maximum %s the excess.", scans, targetWord(f), tense(f, "refuses", "refused"))
		case detect.GroundNoReason:
			return fmt.Sprintf("%sthe samples do not say which limit %s.", scans, tense(f, "refuses requests", "refused requests"))
		}
		return fmt.Sprintf("%sthe %s %s capacity for all.", scans, targetWord(f), tense(f, "lacks", "lacked"))
	},
	heals: func(_ *detect.Finding, a *casebook.Answer) string {
		if len(a.Callers) > 1 {
			return "When the Scan" + busiest("by", a) + " ends or slows."
		}
		return "When the Scan ends or slows."
	},
})

// scanShare writes the part of the reads that Scans make.
func scanShare(f *detect.Finding) string {
	for i := range f.Advice {
		if s := &f.Advice[i]; s.Fix == detect.FixSlowScan && s.Arguments.Share > 0 {
			return wording.Part(s.Arguments.Share)
		}
	}
	return "much"
}

var _ = add(casebook.Walk, card{
	name:    "job in key order",
	symptom: plain("a job fills one partition after another"),
	why: func(f *detect.Finding, _ *casebook.Answer) string {
		return "A job " + tense(f, "goes", "went") + " through the key space: a copy in Scan order, or a sorted load."
	},
})

var _ = add(casebook.Ramp, card{
	name: "growth faster than splits",
	symptom: func(f *detect.Finding, _ *casebook.Answer) string {
		return "load grew faster than the " + targetWord(f) + " can"
	},
	why: func(f *detect.Finding, _ *casebook.Answer) string {
		if f.Ramp == nil {
			return ""
		}
		units := func(n float64) string { return wording.Significant(n) + " " + strings.ToUpper(f.Ramp.Unit) + "/s" }
		if f.Ground == detect.GroundPreviousPeak {
			times := wording.Significant(math.Round(10*f.Ramp.Requested/f.Ramp.Previous) / 10)
			return fmt.Sprintf("%s requested of the %s, %s times its previous peak of %s.", units(f.Ramp.Requested), targetWord(f), times, wording.Significant(f.Ramp.Previous))
		}
		return fmt.Sprintf("%s requested of the %s; it %s about %s at once.", units(f.Ramp.Requested), targetWord(f), tense(f, "serves", "served"), units(f.Ramp.Serves))
	},
	heals: plain("Likely, within half an hour: an on-demand table grows to its new peak."),
})

var _ = add(casebook.BackPressure, card{
	name:    "index that holds writes back",
	symptom: plain("a full index partition holds back table writes"),
	why: func(f *detect.Finding, _ *casebook.Answer) string {
		return fmt.Sprintf("A partition of an index %s at its limit; DynamoDB then refuses table writes.", tense(f, "is", "was"))
	},
})

var _ = add(casebook.SharedPartition, card{
	name: "hot partition without a hot key",
	symptom: func(f *detect.Finding, a *casebook.Answer) string {
		name, does := "a partition", "refuses requests"
		if f.Partition != nil {
			name = fullPartition(f)
		}
		if soleRefused(f) != nil {
			return name + " refuses requests to one key"
		}
		if a.Harm.None() {
			does = "is full"
		}
		return fmt.Sprintf("%s %s, no single key is hot", name, does)
	},
	why: whySharedPartition,
})

// whySharedPartition names the keys that a full partition refuses most.
func whySharedPartition(f *detect.Finding, _ *casebook.Answer) string {
	if f.Partition != nil {
		return causeInPartition(f)
	}
	if len(f.RefusedKeys) == 0 {
		return tense(f, "At least one partition takes no more, and no single key in it is known to be hot.",
			"At least one partition took no more, and no single key in it was known to be hot.")
	}
	if f.Ground == detect.GroundKeys {
		text := fmt.Sprintf("Several keys together %s one or more partitions, none of them hot.", tense(f, "fill", "filled"))
		var keys []string
		for i := range f.RefusedKeys[:min(len(f.RefusedKeys), shownRefused)] {
			if k := &f.RefusedKeys[i]; k.Share >= leastRefused {
				keys = append(keys, quote(k.Key)+" "+lostBy(k))
			}
		}
		if len(keys) > 0 {
			text += " Refused most: " + strings.Join(keys, ", ") + "."
		}
		return text
	}
	most := &f.RefusedKeys[0]
	whose := fmt.Sprintf("%s of the refusals", capital(wording.Part(most.Share)))
	if most.Share >= almostAll {
		whose = "Nearly all refusals"
	}
	return fmt.Sprintf("A partition %s full; which keys fill it is unknown. %s hit %s: %s refused.", tense(f, "is", "was"), whose, quote(most.Key), lostBy(most))
}

// almostAll is the least share of all refused load from which a title names one key alone.
const almostAll = 0.9

// soleRefused is the key that a partition refuses almost all load of; nil if there is none.
func soleRefused(f *detect.Finding) *detect.RefusedKey {
	if f.Subject != detect.SubjectPartition || len(f.RefusedKeys) == 0 || f.RefusedKeys[0].Share < almostAll {
		return nil
	}
	return &f.RefusedKeys[0]
}
