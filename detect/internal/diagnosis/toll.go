package diagnosis

import (
	"fmt"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/wording"
	"github.com/keyheat/keyheat/sample"
)

// Toll says what retries cost the callers of a hot key in its last minute: for how long
// they waited, what failed, and whose most of it is. Empty where nothing tells, and where
// they cost nothing.
func Toll(f *detect.Finding) string {
	if f.Evidence == nil || f.Evidence.Retries == nil {
		return ""
	}
	r := f.Evidence.Retries
	if r.Waited.Value < shownToll && r.Failed.Value < 1 {
		return ""
	}
	when := "the last minute"
	if span := int(r.To.Sub(r.From).Seconds()); span < detect.TollSeconds {
		when = "the last " + wording.Seconds(span)
	}
	least := ""
	switch {
	case r.Partial:
		least = "at least "
	case r.Estimated:
		least = "about "
	}
	var costs []string
	if r.Waited.Value >= shownToll {
		costs = append(costs, fmt.Sprintf("callers waited %s in retries%s", amount(least, r.Waited, " s"), most(r, waited, r.Waited.Value, "of that time")))
	}
	if r.Failed.Value >= 1 {
		whose := ""
		if len(costs) == 0 {
			whose = most(r, failed, r.Failed.Value, "of these")
		}
		costs = append(costs, fmt.Sprintf("%s failed for good%s", amount(least, r.Failed, " requests"), whose))
	}
	return fmt.Sprintf("In %s %s.", when, wording.List(costs))
}

// WhyThrottled says that requests on a key were throttled, where the samples show it;
// empty where they do not.
func WhyThrottled(f *detect.Finding) string {
	n := f.Evidence.ThrottledRequests()
	if n == 0 {
		return ""
	}
	if f.Quality.Rate != nil && *f.Quality.Rate < 1 {
		return fmt.Sprintf("Of the attempts on the key that were sampled in %s, DynamoDB throttled %s.", wording.Hottest(f.Evidence.Seconds), wording.Count(n))
	}
	return fmt.Sprintf("DynamoDB throttled at least %s attempts on the key in %s.", wording.Count(n), wording.Hottest(f.Evidence.Seconds))
}

// amount writes an amount with its interval, where it is sampled: about 41 s (33 to 52).
func amount(least string, f detect.Figure, unit string) string {
	text := least + wording.About(f.Value) + unit
	if wording.About(f.Low) != wording.About(f.High) {
		text += " (" + wording.Range(f.Low, f.High) + ")"
	}
	return text
}

// shownToll is the least time, in seconds, that callers waited for it to be worth saying.
const shownToll = 0.05

func waited(c *detect.CallerRetries) float64 { return c.Waited }

func failed(c *detect.CallerRetries) float64 { return c.Failed }

// most says, in brackets, whose most of a part of the toll is; nothing where no caller has
// half of it.
func most(r *detect.Retries, of func(*detect.CallerRetries) float64, all float64, what string) string {
	var worst *detect.CallerRetries
	for i := range r.Callers {
		if c := &r.Callers[i]; worst == nil || of(c) > of(worst) {
			worst = c
		}
	}
	if worst == nil || worst.Caller == "" || of(worst) < all/2 {
		return ""
	}
	part := fmt.Sprintf("%.0f%%", 100*of(worst)/all)
	if part == "100%" {
		part = "all"
	}
	return fmt.Sprintf(" (%s %s by %s)", part, what, wording.Quote(worst.Caller))
}

// WhyStorm says how one caller's retries make most of a key's attempts.
func WhyStorm(f *detect.Finding, who *detect.CallerRetries) string {
	r := f.Evidence.Retries
	about := ""
	if r.Estimated {
		about = "about "
	}
	return fmt.Sprintf("%s makes %s%.0f%% of the attempts on the key: it sends each of its requests %.1f times on average, and %s%s of its about %s attempts a second are throttled. All callers together ask for %s a second at the peak; attempts are not demand and do not count towards shards.",
		wording.Quote(who.Caller), about, 100*who.Share, who.Amplification, about, wording.About(perSecondOf(r, who.Refused)), wording.Significant(perSecondOf(r, who.Attempts)), wording.PerSecond(peakOf(f), f.Kind))
}

func perSecondOf(r *detect.Retries, amount float64) float64 {
	return detect.Ratio(amount, float64(r.Seconds))
}

// peakOf returns the peak of what a finding is about.
func peakOf(f *detect.Finding) sample.Milli {
	if f.Kind == detect.HotKeyRead {
		return detect.Milli(f.Peak.RCU.Value)
	}
	return detect.Milli(f.Peak.WCU.Value)
}
