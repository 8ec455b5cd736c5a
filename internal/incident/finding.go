package incident

import (
	"time"

	"github.com/keyheat/keyheat/detect"
)

// Continue returns the finding that holds: what the board found, or the stored one where
// the board is not as far yet. After a restart the board observes the last minutes again,
// and its findings are for a while the findings of that time. A stored finding without an
// incident stands for none. settled is the second up to which all load is known.
//
// A lower severity never makes a finding older: what is observed may get milder, and goes
// on to be observed.
func Continue(found, stored *detect.Finding, settled int64) detect.Finding {
	isSame := stored.Incident != "" && !found.FirstSeen.After(stored.LastSeen)
	switch {
	case !isSame:
		return *found
	case found.LastSeen.Before(stored.LastSeen):
		if found.State == detect.Resolved && (endsEarly(stored.Subject) || IsLost(stored, settled)) {
			return end(stored)
		}
		return *stored
	case found.State == detect.Resolved && stored.State == detect.Resolved && found.FirstSeen.After(stored.FirstSeen):
		return *stored // the episode's beginning is too long ago to be observed again
	case found.State != detect.Resolved && found.LastSeen.Equal(stored.LastSeen) && isLess(found, stored):
		return *stored
	}
	return *found
}

// endsEarly reports whether the board may end a finding of a subject before the newest second
// that is stored of it. A judge that has forgotten some keys can count one more to the
// finding about several that the next judge, which replays them, knows as another one's.
func endsEarly(s detect.Subject) bool { return !s.IsWatched() && !s.OfPipeline() }

// isLess reports whether a replayed finding has not come as far as the stored one.
func isLess(found, stored *detect.Finding) bool {
	return stateRank(found.State) < stateRank(stored.State) || detect.Rank(found.Severity) < detect.Rank(stored.Severity)
}

func stateRank(s detect.State) int {
	switch s {
	case detect.Pending:
		return 0
	case detect.Firing:
		return 1
	default:
		return 2
	}
}

// IsLost reports whether a stored finding that the board does not have any more is over:
// all load up to the settled second is known, and the finding was not among it for as long
// as one takes to resolve.
func IsLost(stored *detect.Finding, settled int64) bool {
	return settled > stored.LastSeen.Add(detect.ResolveSeconds*time.Second).Unix()
}

// end returns a stored finding as resolved.
func end(stored *detect.Finding) detect.Finding {
	over := *stored
	over.State = detect.Resolved
	return over
}
