package wording

import (
	"fmt"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
)

// IsLoad reports whether a finding is about a load that is too high now, and not about
// how a key is made or used.
func IsLoad(f *detect.Finding) bool {
	return f.Subject.IsWatched() || f.IsPattern() || f.Case == casebook.MovingSpot
}

// Over says for how long the load of a finding was over, or at, the limit; empty where it was
// not, and nothing is expected to be.
func Over(f *detect.Finding) string {
	if f.Subject.OfTable() {
		return Seconds(f.SecondsOver()) + " with throttled requests, or with more load than capacity"
	}
	var parts []string
	over := " proven above the limit"
	if of := members(f); of != "" {
		if f.OverSeconds == nil {
			return "in how many seconds any " + of + " was above the limit is not known"
		}
		over = " in which any " + of + " was proven above the limit"
	}
	named := "the limit" // where it is named first
	if f.SecondsOver() > 0 {
		parts, named = append(parts, Seconds(f.SecondsOver())+over), "it"
	}
	if f.PossibleSeconds > 0 {
		possible := Seconds(f.PossibleSeconds) + " possibly above " + named
		limit := detect.Units(f.Limit())
		if f.Subject.OfKey() && f.Combined > 1 && detect.SideOf(f, f.Peak.WCU, f.Peak.RCU).High <= limit {
			possible = Seconds(f.PossibleSeconds) + " in which reads and writes are above what a partition serves only if both count together, see below"
		}
		if mean := detect.SideOf(f, f.Mean.WCU, f.Mean.RCU); f.Subject.OfKey() && mean.Value-decided*(mean.Value-mean.Low) > limit {
			possible += fmt.Sprintf(", and the mean of %s is proven above it", Seconds(int(f.Seconds)))
		}
		parts, named = append(parts, possible), "it"
	}
	if f.SaturatedSeconds > 0 {
		parts = append(parts, fmt.Sprintf("%s in which %.0f to %.0f%% of %s was served", Plateau(f.SaturatedSeconds), 100*detect.SaturatedFrom, 100*detect.SaturatedTo, named))
	}
	if len(parts) == 0 && IsLoad(f) {
		return "no second above the limit"
	}
	return strings.Join(parts, ", ")
}

// decided is how much further a bound that decides is from a mean than one that is shown: 4.9
// standard deviations, for 1 - detect.DecideTail, and 1.96.
const decided = 2.5

// members names what a finding is about several of; empty of others.
func members(f *detect.Finding) string {
	switch {
	case f.Case == casebook.FewValues:
		return "value"
	case f.Sharding != nil && !f.Subject.OfKey():
		return "shard"
	case f.IsPattern() || f.Case == casebook.MovingSpot:
		return "of the keys"
	}
	return ""
}
