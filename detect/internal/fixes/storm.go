package fixes

import (
	"fmt"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/wording"
)

// Storm returns the caller whose retries a hot key suffers from, and that are to be
// mended before the key is; false where there is none. Retries of many callers alike
// are no storm of one, and a demand far above what a partition serves is refused however
// callers back off.
func Storm(f *detect.Finding) (*detect.CallerRetries, bool) {
	if f.Evidence == nil || f.Evidence.Retries == nil || len(f.Evidence.Retries.Callers) == 0 || f.Evidence.Records < detect.MinRecords {
		return nil, false
	}
	r := f.Evidence.Retries
	who := &r.Callers[0]
	if r.Amplification < detect.StormAmplification || who.Retries() < detect.StormShare*r.Retries() || demand(f) > detect.StormDemand {
		return nil, false
	}
	return who, true
}

// demand returns the peak as a share of what a partition serves. Attempts have no part
// in it.
func demand(f *detect.Finding) float64 {
	peak := f.Peak.WCU.Value
	if f.Kind == detect.HotKeyRead {
		peak = f.Peak.RCU.Value
	}
	return detect.Ratio(peak, detect.Units(detect.Limit(f.Kind)))
}

// ForStorm returns what to do about a caller that sends a key's requests again and
// again; false where none does.
func ForStorm(f *detect.Finding) (detect.Step, bool) {
	c := &Case{Finding: f, Load: detect.Milli(f.Peak.WCU.Value)}
	if c.reads() {
		c.Load = detect.Milli(f.Peak.RCU.Value)
	}
	found, applies := retryStorm(nil, c)
	return detect.Step{Action: detect.ActionRetry, Text: found.text, Effort: detect.EffortSetting, After: found.after, Basis: found.basis, Guide: "retries"}, applies
}

// retryStorm is a caller that sends most of the key's attempts again.
func retryStorm(_ *Adviser, c *Case) (fix, bool) {
	who, storms := Storm(c.Finding)
	if !storms {
		return fix{}, false
	}
	left := fmt.Sprintf("The demand without retries is %s a second at its peak, %s of what one partition serves", wording.PerSecond(c.Load, c.Kind), wording.Percent(demand(c.Finding)))
	if demand(c.Finding) > 1 {
		left += ": that stays, and the other steps of the hot key's finding are for it"
	} else {
		left += "; why its partition throttles at that is not in the samples of this key"
	}
	paused := ""
	if who.Waited < noPause*who.Retries() {
		paused = ", and a retry without a pause is refused like the one before"
	}
	alone := ""
	if r := c.Evidence.Retries; !r.Partial && !r.Estimated && r.Calls-who.Calls >= 1 && r.Refused-who.Refused < 0.5 {
		alone = ", and of the others' attempts none was throttled"
	}
	return fix{
		text: fmt.Sprintf("Let %s back off exponentially, with jitter and a limit on attempts. It sends each of its requests %.1f times on average%s%s. %s.",
			wording.Quote(who.Caller), who.Amplification, alone, paused, left),
		basis: "the attempts that requests tell of, which are not demand of their own",
		place: first, after: c.after(1, 1),
	}, true
}
