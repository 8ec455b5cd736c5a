package say

import (
	"fmt"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/say/wording"
)

var _ = add(casebook.TimeKey, card{
	name: "key named after its time",
	symptom: func(f *detect.Finding, a *casebook.Answer) string {
		if f.Subject.OfKey() || f.Rolling == nil {
			return keySymptom(aboutLimit)(f, a)
		}
		return "a new hot key each " + f.Rolling.Period
	},
	why: func(f *detect.Finding, _ *casebook.Answer) string {
		if f.Rolling == nil {
			return ""
		}
		return capital(load(f, placeOn(f, "one "+wording.Printable(f.Rolling.Period)+"'s key"))) + "."
	},
	heals: func(f *detect.Finding, _ *casebook.Answer) string {
		s := f.PredictedSplit()
		if f.Rolling == nil || !f.Rolling.OutlivesSplits() || s == nil || s.Verdict == detect.SplitMoving || s.Verdict == detect.SplitHotItem {
			return ""
		}
		return "This " + wording.Printable(f.Rolling.Period) + "'s key may split, but each new one starts in one partition."
	},
})

var _ = add(casebook.MovingSpot, card{
	name:    "load that moves from key to key",
	symptom: plain("keys get hot one after another"),
	why: func(f *detect.Finding, _ *casebook.Answer) string {
		if slices.ContainsFunc(f.Advice, func(s detect.Step) bool { return s.Fix == detect.FixShuffleInput }) {
			return "A job " + tense(f, "writes", "wrote") + " key after key, each in one partition."
		}
		return fmt.Sprintf("One key after another %s up to %s.", tense(f, "gets", "got"), amount(f))
	},
})

var _ = add(casebook.FewValues, card{
	name:    "few key values",
	symptom: plain("too few key values for the load"),
	why: func(f *detect.Finding, a *casebook.Answer) string {
		if f.Index != "" && !f.InReads() && f.Utilization > 1 {
			return capital(amount(f)) + placeOn(f, oneOfFew(f)) + "; " + failingWrites(f, a) + "."
		}
		return capital(load(f, placeOn(f, oneOfFew(f)))) + "."
	},
	heals: func(_ *detect.Finding, a *casebook.Answer) string {
		if a.Healing.Outlook == casebook.Likely {
			return "For a time, perhaps: DynamoDB may split the hottest values."
		}
		return ""
	},
})

// oneOfFew names the hottest value of a key with few values: “DE”, one of 8 key values.
func oneOfFew(f *detect.Finding) string {
	if f.Members == nil || len(f.Members.Keys) == 0 {
		return "one of few key values"
	}
	if f.Members.Count.Value == 1 {
		return quote(f.Members.Keys[0]) + ", the only key value"
	}
	return fmt.Sprintf("%s, one of %s key values", quote(f.Members.Keys[0]), wording.About(f.Members.Count.Value))
}

var _ = add(casebook.TooFewShards, card{
	name: "too few shards",
	symptom: func(f *detect.Finding, _ *casebook.Answer) string {
		if f.Sharding == nil {
			return "too few key shards"
		}
		return fmt.Sprintf("%d key shards are too few", f.Sharding.Shards)
	},
	why: whyShards,
})

var _ = add(casebook.TooManyShards, card{
	name: "too many shards",
	symptom: func(f *detect.Finding, _ *casebook.Answer) string {
		if f.Sharding == nil {
			return "too many key shards"
		}
		return fmt.Sprintf("%d key shards, the load needs %d", f.Sharding.Shards, f.Sharding.Needed)
	},
	why: whyShards,
})

var _ = add(casebook.UnevenShards, card{
	name:    "uneven shards",
	symptom: plain("key shards carry uneven load"),
	why: func(f *detect.Finding, _ *casebook.Answer) string {
		if f.Sharding == nil {
			return ""
		}
		s := f.Sharding
		return fmt.Sprintf("Key shard %s %s %s, %.1f times the mean; one partition takes %s.",
			quote(s.Hottest), tense(f, "has", "had"), fullest(f), 1+s.Deviation, limit(f))
	},
})

// whyShards is the load of key shards that are too few, or too many.
func whyShards(f *detect.Finding, _ *casebook.Answer) string {
	if f.Sharding == nil {
		return ""
	}
	return fmt.Sprintf("%d key shards of %s %s up to %s each; one partition takes %s.", f.Sharding.Shards, quote(f.Sharding.Base), tense(f, "take", "took"), fullest(f), limit(f))
}

// fullest is the load of the fullest key shard.
func fullest(f *detect.Finding) string {
	return ofKey(f, f.Utilization*detect.Units(f.Limit()))
}

var _ = add(casebook.LargeItem, card{
	name:    "large items, small updates",
	symptom: plain("small changes rewrite large items"),
	why: func(f *detect.Finding, _ *casebook.Answer) string {
		if f.Evidence == nil {
			return ""
		}
		return fmt.Sprintf("Writes %s little of items of %s, and %s for all.", tense(f, "change", "changed"), wording.Size(f.Evidence.ItemBytes), tense(f, "pay", "paid"))
	},
})

var _ = add(casebook.LargeCollection, card{
	name:    "item collection near 10 GB",
	symptom: plain("an item collection grows towards 10 GB"),
	harm: func(f *detect.Finding, _ *casebook.Answer) string {
		return fmt.Sprintf("%s within %s at the rate", tense(f, "None yet. Inserts fail", "None. Inserts would fail"), fullIn(growthOf(f)))
	},
	why: func(f *detect.Finding, _ *casebook.Answer) string {
		return fmt.Sprintf("The items of %s %s by %s a second; a local index limits them to 10 GB.", subject(f), tense(f, "grow", "grew"), wording.Size(growthOf(f)))
	},
	heals: plain("No: only another key or fewer items help."),
})

// growthOf is the growth of a key's items in bytes a second; 0 if it is unknown.
func growthOf(f *detect.Finding) float64 {
	if f.Evidence == nil || f.Evidence.GrowthBytes == nil {
		return 0
	}
	return *f.Evidence.GrowthBytes
}

// fullIn is the time in which an empty collection reaches its limit.
func fullIn(growth float64) string {
	return wording.Span(time.Duration(detect.CollectionBytes / max(1, growth) * float64(time.Second)))
}
