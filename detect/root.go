package detect

import (
	"cmp"
	"slices"
)

// Roots groups findings by incident, the root finding of each first. Incidents keep the
// order of their first findings.
func Roots(found []Finding) (groups [][]*Finding) {
	at := make(map[string]int, len(found))
	for i := range found {
		f := &found[i]
		g, known := at[f.Incident]
		if !known {
			g = len(groups)
			at[f.Incident] = g
			groups = append(groups, nil)
		}
		groups[g] = append(groups[g], f)
	}
	for _, g := range groups {
		SortByRoot(g)
	}
	return groups
}

// SortByRoot orders findings of one incident: the one that explains the others comes first.
func SortByRoot(found []*Finding) { slices.SortFunc(found, compareRoots) }

// ownShare is the least part of a peak that a Region must request to explain it. The rest
// of the load is replicated to the Region.
const ownShare = 0.1

// compareRoots orders the findings of an incident. Open findings come first, then the kind
// that explains the others, then a global table's writing Region, then the worse finding.
func compareRoots(x, y *Finding) int {
	over := func(f *Finding) int { return BoolToInt(f.State == Resolved) }
	return cmp.Or(
		cmp.Compare(over(x), over(y)),
		cmp.Compare(x.rank(), y.rank()),
		cmp.Compare(BoolToInt(x.Index == ""), BoolToInt(y.Index == "")), // an index throttles its table's writes
		compareKnown(x, y),
		cmp.Compare(BoolToInt(x.OwnShare() < ownShare), BoolToInt(y.OwnShare() < ownShare)),
		cmp.Compare(Rank(y.Severity), Rank(x.Severity)),
		cmp.Compare(y.Utilization, x.Utilization),
		cmp.Compare(x.Fingerprint, y.Fingerprint),
	)
}

// compareKnown orders findings of one incident whose tables may be the same. Of open
// findings, the one with a known account and Region comes first; of resolved ones, the
// latest.
func compareKnown(x, y *Finding) int {
	known := func(f *Finding) int { return BoolToInt(f.Account != "") + BoolToInt(f.Region != "") }
	switch {
	case x.Target == y.Target:
		return 0
	case x.State == Resolved && y.State == Resolved:
		return y.LastSeen.Compare(x.LastSeen)
	}
	return cmp.Compare(known(y), known(x))
}

// BoolToInt returns 1 for true, so that false comes first in an order.
func BoolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// rank is the kind's rank. Few values explain nothing if all load is on one of them.
func (f *Finding) rank() int {
	if f.Kind == LowCardinalityKey && f.Cause != CauseFewValues {
		return rootRank[LargeItem]
	}
	return rootRank[f.Kind]
}

// rootRank ranks the kinds by how far they explain the others of an incident. The design
// or the caller that makes keys hot comes before the keys. The keys' items come last.
var rootRank = map[Kind]int{
	RollingHotKey: 1, MovingHotSpot: 2, TooFewShards: 3, UnevenShards: 4, LowCardinalityKey: 5, TestKey: 6, RetryStorm: 7, SingleCaller: 8,
	HotGSIKey: 9, HotKeyWrite: 10, HotKeyRead: 10, HotPartition: 11, TableStarvation: 12,
	LargeItem: 13, LargeCollection: 14, TooManyShards: 15,
}
