package contributors

import (
	"fmt"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/wording"
)

// Blind is the blind spot of every report of Contributor Insights, in a sentence. It
// belongs to every verdict.
const Blind = "These are means of minutes: a key that is over a limit for single seconds is not seen in them, and so no key is proven healthy."

// explain returns the grounds of the verdict in sentences.
func (k *Key) explain() string {
	s := ""
	switch k.Verdict {
	case Over:
		s = fmt.Sprintf("Over the limit: %s in the mean of the minute %s, so some second had at least as much. %s %s", k.provenText(), k.minuteText(), k.overText(), k.throttledText())
	case AtLimit:
		s = fmt.Sprintf("At the limit: %s in the mean of the minute %s, and requests of it were throttled in that minute, while a partition was full. What was throttled is not in its load: it asks for more.", k.provenText(), k.minuteText())
	case PartitionFull:
		s = fmt.Sprintf("Requests of it were throttled in the minute %s, in which a partition was full. Whether this key fills it is not proven: its load was %s in the mean of that minute.%s", k.minuteText(), k.alternatives(), k.possibleText())
	case OverNotThrottled:
		s = fmt.Sprintf("Over what one partition serves, by values that are approximate: %s in the mean of the minute %s. %s No request of it was throttled because of a key range meanwhile%s", k.provenText(), k.minuteText(), k.overText(), k.unrefusedText())
	case Near:
		s = fmt.Sprintf("Near the limit: %s in the mean of the minute %s.%s", k.provenText(), k.minuteText(), k.possibleText())
	case Possible:
		s = fmt.Sprintf("May be over: its %s in the minute %s may be %s: what the table or index consumed in that minute does not tell which. %s", k.value(), k.minuteText(), k.alternatives(), k.overText())
		if !k.refused {
			s += " No request of it was throttled because of a key range meanwhile."
		}
	case PossiblyNear:
		s = fmt.Sprintf("May be near the limit: its %s in the minute %s may be %s, up to %s of what one partition serves: what the table or index consumed in that minute does not tell which.",
			k.value(), k.minuteText(), k.alternatives(), wording.PercentAtMost(k.shares(*k.Value).High))
	case NotOver, Throttled:
		s = fmt.Sprintf("Not over a limit in the mean of %s; single seconds are not seen. At most %s in the minute %s.", k.countText(k.Minutes), k.mostText(), k.minuteText())
	case NotCounted:
		s = "Its load was not reported."
	}
	if t := k.throttling(); t != "" {
		s += " " + t
	}
	return s
}

func (k *Key) minuteText() string { return k.Minute.UTC().Format(time.RFC3339) }

func (k *Key) value() string {
	return wording.About(*k.Value) + " ConsumedThroughputUnits"
}

// provenText formats a key's proven load, in the dimension that is nearer to its limit.
func (k *Key) provenText() string {
	kind, low, high := detect.HotKeyWrite, k.WCU.Low, k.WCU.High
	if low/detect.Units(detect.PartitionWrite) < k.RCU.Low/detect.Units(detect.PartitionRead) {
		kind, low, high = detect.HotKeyRead, k.RCU.Low, k.RCU.High
	}
	limit := detect.Units(detect.Limit(kind))
	if least := k.shares(*k.Value).Low; least > over*low/limit {
		return fmt.Sprintf("%s, which is, by writes or by reads, at least %s of what one partition serves,", k.alternatives(), wording.PercentAtLeast(least))
	}
	return fmt.Sprintf("%s %s, at least %s of the %s that one partition serves,", Range{low, high}, detect.Side(kind, "WCU/s", "RCU/s"), wording.PercentAtLeast(low/limit), wording.About(limit))
}

// alternatives formats the reads and writes that a value may consist of.
func (k *Key) alternatives() string {
	return fmt.Sprintf("%s WCU/s with %s RCU/s", k.WCU, k.RCU)
}

// String formats a range of units, as one number if both ends look alike.
func (r Range) String() string {
	return wording.Range(r.Low, r.High)
}

// mostText formats the most load that a key had.
func (k *Key) mostText() string {
	return fmt.Sprintf("%s WCU/s and %s RCU/s", wording.AtMost(k.WCU.High), wording.AtMost(k.RCU.High))
}

// possibleText returns a remark on other possible minutes over a limit.
func (k *Key) possibleText() string {
	if k.PossibleMinutes == 0 {
		return ""
	}
	return fmt.Sprintf(" In %s it may be over.", minutes(k.PossibleMinutes))
}

// overText counts the minutes in which a key is, or may be, over.
func (k *Key) overText() string {
	switch {
	case k.OverMinutes > 0 && k.PossibleMinutes > 0:
		return fmt.Sprintf("It was so in %s of %d, and may have been in %d more.", minutes(k.OverMinutes), k.Minutes, k.PossibleMinutes)
	case k.OverMinutes > 0:
		return fmt.Sprintf("It was so in %s.", k.countText(k.OverMinutes))
	}
	return fmt.Sprintf("It may have been in %s.", k.countText(k.PossibleMinutes))
}

// countText formats n as a part of the minutes that report the key's load.
func (k *Key) countText(n int) string {
	switch {
	case k.Minutes == 1:
		return "the only minute that reports it"
	case n == k.Minutes:
		return "all " + minutes(n) + " that report it"
	}
	return fmt.Sprintf("%s of the %d that report it", minutes(n), k.Minutes)
}

// throttledText describes the throttling beside a load that is over a limit.
func (k *Key) throttledText() string {
	if k.whole {
		return "In that minute requests were throttled because of a key range."
	}
	return "Whether requests were throttled because of a key range in that minute is not known."
}

// unrefusedText explains why a load above a limit may have been served.
func (k *Key) unrefusedText() string {
	if k.SortKey != nil {
		return ": an item is on one partition, so its real load is probably a little lower."
	}
	return ": the key's items are probably on several partitions already, or its real load is a little lower."
}

// throttling describes the key's throttled requests.
func (k *Key) throttling() string {
	if k.Throttled == 0 {
		return ""
	}
	noun, when := "requests, retries among them, were", "from "+k.ThrottledFirst.UTC().Format(time.RFC3339)+" to "+k.ThrottledLast.UTC().Format(time.RFC3339)
	if k.Throttled == 1 {
		noun = "request was"
	}
	if k.ThrottledMinutes == 1 {
		when = "that of " + k.ThrottledFirst.UTC().Format(time.RFC3339)
	}
	s := fmt.Sprintf("%s %s throttled in %s, %s", wording.Count(k.Throttled), noun, minutes(k.ThrottledMinutes), when)
	switch {
	case k.KeyRange == nil:
		return s + "; why, is not known: CloudWatch's metrics of these minutes could not be read, or have no data."
	case *k.KeyRange > 0:
		in := minutes(*k.KeyRange) + " of them"
		switch {
		case k.ThrottledMinutes == 1:
			in = "it"
		case *k.KeyRange == k.ThrottledMinutes:
			in = "each of them"
		}
		return s + fmt.Sprintf("; in %s a partition could take no more %s.", in, strings.Join(sides(k.KeyRangeOf), " or "))
	}
	return s + "; CloudWatch tells of no full partition in them, so the table or index may have too little as a whole."
}

func sides(kinds []string) (all []string) {
	for _, side := range kinds {
		all = append(all, side+"s")
	}
	return all
}

func minutes(n int) string {
	if n == 1 {
		return "1 minute"
	}
	return wording.Count(int64(n)) + " minutes"
}
