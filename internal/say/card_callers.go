package say

import (
	"fmt"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/say/wording"
)

var _ = add(casebook.RetryStorm, card{
	name: "retry storm",
	symptom: func(f *detect.Finding, _ *casebook.Answer) string {
		if e := f.Evidence; e != nil && e.Retries != nil && len(e.Retries.Callers) > 0 && e.Retries.Callers[0].Waited > 0 {
			return "one caller retries without pause"
		}
		return "one caller sends most retries" // one that reports no wait may well pause
	},
	why: func(f *detect.Finding, _ *casebook.Answer) string {
		if f.Evidence == nil || f.Evidence.Retries == nil || len(f.Evidence.Retries.Callers) == 0 {
			return ""
		}
		who := &f.Evidence.Retries.Callers[0]
		text := fmt.Sprintf("%s %s %s of all attempts on %s, %.1f a request",
			quote(who.Caller), tense(f, "makes", "made"), wording.Part(who.Share), subject(f), who.Amplification)
		if f.Utilization > 1 {
			text += ": " + load(f, "")
		}
		return text + "."
	},
	heals: func(f *detect.Finding, _ *casebook.Answer) string {
		switch {
		case f.Utilization > 1 && f.Ground.Splits():
			return callerOrSplit
		case f.Utilization > 1:
			return "When the caller slows down; fewer retries are not enough."
		}
		return "When the caller slows its retries."
	},
})

var _ = add(casebook.OneCaller, card{
	name:    "single caller",
	symptom: plain("one caller makes a key hot"),
	why:     whyOneKey,
	heals: func(f *detect.Finding, _ *casebook.Answer) string {
		if f.Ground.Splits() {
			return callerOrSplit
		}
		return "When the caller slows or moves on."
	},
})

// callerOrSplit are the two ends of load that one caller makes and a split can divide.
const callerOrSplit = "When the caller slows, or by a split."

var _ = add(casebook.TestKey, card{
	name:    "test key",
	symptom: plain("a key named like a test is hot"),
	why: func(f *detect.Finding, _ *casebook.Answer) string {
		return capital(load(f, placeOn(f, "a key named like a test"))) + "."
	},
	heals: func(f *detect.Finding, _ *casebook.Answer) string {
		if f.Ground.Splits() {
			return "When it ends, or by a split."
		}
		return "When it ends."
	},
})
