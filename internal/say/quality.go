package say

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/say/wording"
)

// Limits describes how far samples can be trusted; empty without a limit.
func Limits(q *detect.Quality) string {
	var all []string
	switch q.Source {
	case detect.SourceChanges:
		all = append(all, "From a stream: a lower bound of the writes, without reads and refused requests.")
	case detect.SourceMixed:
		all = append(all, "Partly from a stream, without reads and refused requests; a write in both counts twice.")
	case detect.SourceMinutes:
		of := "minutes"
		if q.Resolution != 60 {
			of = wording.Span(time.Duration(q.Resolution) * time.Second)
		}
		all = append(all, "From sums over "+of+": a single second may be far higher.")
	}
	if q.InBatches() {
		all = append(all, "Many requests share one time: a batch or a burst. The load is the mean between batches, and alerts nobody.")
	}
	all = append(all, sampling(q)...)
	if q.Estimated != nil && *q.Estimated {
		all = append(all, "Some units are computed, because DynamoDB did not report them.")
	}
	if q.KeysHidden {
		all = append(all, "Keys are hidden by policy; `reporter keys hash` finds the hash of a key.")
	}
	return strings.Join(all, " ")
}

// doubtsShown is the number of doubts that are named.
const doubtsShown = 3

// Doubts names the keys that may have been over a limit; empty without one.
func Doubts(all []detect.Doubt) string {
	var named []string
	for i := range all[:min(doubtsShown, len(all))] {
		named = append(named, fmt.Sprintf("%s, up to %s %s/s", wording.Printable(wording.Shorten(all[i].Key, shownKey)), wording.About(all[i].Most), strings.ToUpper(all[i].Unit)))
	}
	if len(named) == 0 {
		return ""
	}
	if more := len(all) - len(named); more > 0 {
		named = append(named, fmt.Sprintf("and %s more", wording.Count(int64(more))))
	}
	return "May have been over the limit: " + strings.Join(named, "; ") + "."
}

// sampling describes the sampling method and the stated rate. A stated rate that is ten
// times too small makes every figure ten times too large.
func sampling(q *detect.Quality) (all []string) {
	if !q.IsSampled() || q.Sampling == detect.SamplingNone {
		return nil
	}
	rate := "at rates that differ"
	if q.Rate != nil {
		rate = fmt.Sprintf("at %s%%", strconv.FormatFloat(100**q.Rate, 'g', 4, 64))
	}
	switch q.Sampling {
	case detect.SamplingAssumed:
		all = append(all, fmt.Sprintf("Sampled %s; independent samples are assumed.", rate))
		if slices.Contains(q.CannotSee, detect.BlindHosts) {
			all = append(all, "If whole hosts were sampled, the load may be far lower: sample each call, or name its caller.")
		}
	case detect.SamplingUnknowable:
		all = append(all, fmt.Sprintf("Sampled %s by an unknown method, so nothing proves a load above the limit.", rate))
	default:
		all = append(all, fmt.Sprintf("Sampled %s.", rate))
	}
	return all
}
