package wording

import (
	"fmt"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
)

// Headline returns what a finding means to a reader who sees one for the first time.
func Headline(f *detect.Finding) string {
	switch {
	case f.Kind == detect.RetryStorm:
		return fmt.Sprintf("one caller sends its requests again and again; without the repeats the key needs %s what one partition serves", Times(f.Utilization))
	case f.Kind == detect.TableStarvation:
		return "requests exceed the capacity of " + whole(f) + " as a whole"
	case f.Sharding != nil && !f.Kind.OfKey() && f.Severity == detect.Critical:
		return "one of the shards alone has more than one partition serves"
	case f.Kind == detect.HotPartition && f.Evidence != nil && f.Evidence.Refused[sample.OfIndex.String()] > 0 && f.Evidence.Refused[sample.KeyRange.String()] == 0:
		return "an index, of which a partition is full, holds the table's writes back"
	case f.Kind == detect.HotPartition:
		return "at least one partition throttles requests, and no single key is known to need more than one partition serves"
	case f.Kind == detect.LowCardinalityKey && f.Severity != detect.Info && f.Utilization > 1:
		return "the key has few values, and the hottest needs more than one partition serves"
	case f.Kind == detect.LowCardinalityKey && f.Severity == detect.Warning:
		return "the key has few values, and what one partition serves bounds each"
	case f.Severity == detect.Critical && isOver(f) && f.Kind == detect.HotKeyRead && isThrottled(f):
		return "requests exceed what one partition is certain to serve, and some are throttled"
	case f.Severity == detect.Critical && isOver(f) && f.Kind == detect.HotKeyRead:
		return "requests exceed what one partition is certain to serve, so that some may be throttled"
	case f.Severity == detect.Critical && isOver(f):
		return "requests exceed what one partition serves"
	case f.Severity == detect.Critical && f.Kind == detect.HotGSIKey && f.SaturatedSeconds == 0:
		return "the key fills its partition of the index, and writes to the table are throttled for it"
	case f.Severity == detect.Critical && f.SaturatedSeconds == 0 && f.Evidence != nil && f.Evidence.Refused[sample.KeyRange.String()] > 0:
		return "the key fills its partition, which throttles requests of it"
	case f.Severity == detect.Critical && f.SaturatedSeconds == 0:
		return "the mean of some seconds is proven to be above what one partition serves"
	case f.Severity == detect.Critical && isThrottled(f):
		return "the key fills its partition, which throttles the requests beyond that"
	case f.Severity == detect.Critical:
		return "the key's load stays just at what one partition serves, as where the rest is throttled"
	case f.Severity == detect.Warning && f.PossibleSeconds > 0 && f.SecondsOver() == 0:
		return "requests may exceed what one partition serves, which is not proven of any single second"
	case f.Severity == detect.Warning:
		return "requests are close to what one partition serves"
	}
	return "for information, it does not page"
}

// whole names the table or index that a finding is about, or the index that its reasons
// are about.
func whole(f *detect.Finding) string {
	switch {
	case f.Index != "":
		return "the index"
	case f.Evidence != nil && f.Evidence.Refused[sample.OfIndexCapacity.String()] > 0:
		return "an index of the table"
	}
	return "the table"
}

// isThrottled reports whether the samples show that requests on the key were throttled.
func isThrottled(f *detect.Finding) bool {
	return f.Evidence.ThrottledRequests() > 0 || f.Peak.WCU.Value-f.Consumed.WCU >= 1 || f.Peak.RCU.Value-f.Consumed.RCU >= 1
}

// isOver reports whether some second is proven above the limit.
func isOver(f *detect.Finding) bool {
	return f.SecondsOver() > 0 || f.OverSeconds == nil && f.Utilization > 1
}
