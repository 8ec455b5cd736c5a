package say

import (
	"fmt"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/say/wording"
)

var _ = add(casebook.Contention, card{
	name: "contended item",
	symptom: func(f *detect.Finding, _ *casebook.Answer) string {
		if c := f.Contention; c != nil && c.ConditionsFailed > c.Conflicts {
			return "conditions fail on one item"
		}
		return "requests cancel each other on one item"
	},
	harm: func(f *detect.Finding, _ *casebook.Answer) string {
		c := f.Contention
		if c == nil {
			return "Unknown."
		}
		lost := wording.PartWithin(c.Share, c.ShareLow, c.ShareHigh) + " of the attempts"
		if c.Failed > 0 {
			return fmt.Sprintf("%s of the calls gave up, %s lost.", capital(wording.Part(c.FailedShare)), lost)
		}
		return capital(lost) + " on one item lost."
	},
	why: func(f *detect.Finding, _ *casebook.Answer) string {
		c := f.Contention
		if c == nil {
			return ""
		}
		of := "the item"
		if c.Item != "" {
			of = "item " + quote(c.Item)
		}
		return fmt.Sprintf("%s of %s attempts/s on %s %s%s.", perSecondOf(c.Lost.Value), perSecondOf(c.Attempts.Value), of, howLost(f, c), bothSides(f, c))
	},
	now: func(f *detect.Finding, _ *casebook.Answer) string {
		if c := f.Contention; c != nil && c.MainLoser() != "" {
			return fmt.Sprintf("Let %s retry with backoff and jitter, or slow it.", quote(c.MainLoser()))
		}
		return "Let the callers retry with backoff and jitter, or slow some of them."
	},
	heals: plain("When fewer requests want the item at once."),
})

// howLost tells how attempts are lost.
func howLost(f *detect.Finding, c *detect.Contention) string {
	conflict, condition := tense(f, "end", "ended")+" in a TransactionConflict", tense(f, "fail", "failed")+" their condition"
	switch {
	case c.ConditionsFailed == 0:
		return conflict
	case c.Conflicts == 0:
		return condition
	case c.Conflicts >= c.ConditionsFailed:
		return conflict + " or " + condition
	}
	return condition + " or " + conflict
}

// bothSides names the caller that loses most attempts, if one stands out, and the ones that write
// most.
func bothSides(f *detect.Finding, c *detect.Contention) string {
	loses, writes, loser := tense(f, "loses", "lost"), tense(f, "writes", "wrote"), c.MainLoser()
	var writers []string
	for _, w := range casebook.MainCallers(c.Writers) {
		writers = append(writers, quote(w.Text))
	}
	switch {
	case len(writers) == 0:
		return ""
	case len(writers) == 1 && (loser == "" || quote(loser) == writers[0]):
		return ", by " + writers[0]
	case loser == "":
		return ", by " + wording.List(writers)
	case quote(loser) == writers[0]:
		return fmt.Sprintf("; %s %s and %s most, beside %s", quote(loser), writes, loses, writers[1])
	}
	return fmt.Sprintf("; %s %s most, %s %s most", quote(loser), loses, writers[0], writes)
}
