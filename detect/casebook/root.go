package casebook

import (
	"cmp"
	"slices"

	"github.com/keyheat/keyheat/detect"
)

// Roots groups findings by incident, the root finding of each first. Incidents keep the
// order of their first findings.
func Roots(found []detect.Finding) (groups [][]*detect.Finding) {
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
// Few values explain nothing if all load is on one of them, or if they are the key shards or the
// times of one. A key that is too hot explains that its item is contended, or that its items
// grow, and otherwise these come first.
func SortByRoot(found []*detect.Finding) {
	hot := slices.ContainsFunc(found, func(f *detect.Finding) bool {
		return f.Subject.OfKey() && f.Severity == detect.Critical && f.State != detect.Resolved
	})
	explained := slices.ContainsFunc(found, func(f *detect.Finding) bool {
		return f.Subject.OfKey() && (f.Rolling != nil || f.Sharding != nil || f.Share >= detect.WholeShare && isOnly(f, found))
	})
	slices.SortFunc(found, func(x, y *detect.Finding) int { return compareRoots(x, y, explained, hot) })
}

// isOnly reports whether no other key of an incident has an open finding like this one. The same
// key in another Region is no other key.
func isOnly(f *detect.Finding, found []*detect.Finding) bool {
	return !slices.ContainsFunc(found, func(other *detect.Finding) bool {
		return other.PartitionKey() != f.PartitionKey() && other.Subject == f.Subject && other.State != detect.Resolved
	})
}

// ownShare is the least part of a peak that a Region must request to explain it. The rest
// of the load is replicated to the Region.
const ownShare = 0.1

// compareRoots orders the findings of an incident. Open findings come first, then the case
// that explains the others, then a global table's writing Region, then the worse finding.
func compareRoots(x, y *detect.Finding, fewExplained, hot bool) int {
	over := func(f *detect.Finding) int { return detect.BoolToInt(f.State == detect.Resolved) }
	return cmp.Or(
		cmp.Compare(over(x), over(y)),
		cmp.Compare(rank(x, fewExplained, hot), rank(y, fewExplained, hot)),
		cmp.Compare(detect.BoolToInt(x.Index == ""), detect.BoolToInt(y.Index == "")), // an index throttles its table's writes
		compareKnown(x, y),
		cmp.Compare(detect.BoolToInt(x.OwnShare() < ownShare), detect.BoolToInt(y.OwnShare() < ownShare)),
		cmp.Compare(detect.Rank(y.Severity), detect.Rank(x.Severity)),
		cmp.Compare(y.Utilization, x.Utilization),
		cmp.Compare(x.Fingerprint, y.Fingerprint),
	)
}

// compareKnown orders findings of one incident whose tables may be the same. Of open
// findings, the one with a known account and Region comes first; of resolved ones, the
// latest.
func compareKnown(x, y *detect.Finding) int {
	known := func(f *detect.Finding) int {
		return detect.BoolToInt(f.Account != "") + detect.BoolToInt(f.Region != "")
	}
	switch {
	case x.Target == y.Target:
		return 0
	case x.State == detect.Resolved && y.State == detect.Resolved:
		return y.LastSeen.Compare(x.LastSeen)
	}
	return cmp.Compare(known(y), known(x))
}

// rank is how far a finding explains the others of its incident: the place of its case, the
// same for all forms of one.
func rank(f *detect.Finding, fewExplained, hot bool) int {
	c := f.Case
	switch {
	case (f.Contention != nil || c == LargeCollection) && !hot && f.Severity != detect.Info:
		c = OneCaller // the last of the callers, before the keys
	case f.Ground == detect.GroundWarmKey:
		c = LargeItem // it only lies in the partition
	case f.Subject.IsWatched():
		c = watched(f)
	case c == FewValues && fewExplained:
		c = LargeItem
	}
	return slices.IndexFunc(cases, func(of *Case) bool { return of.Code == c })
}

// watched is the case that all forms of a watched subject's cases have their rank of.
func watched(f *detect.Finding) detect.Case {
	switch {
	case f.Subject == detect.KeyWrites && f.Index != "":
		return IndexKey
	case f.Subject.OfKey():
		return HotKey
	case f.Subject == detect.SubjectPartition:
		return SharedPartition
	}
	return ShortOfCapacity
}

// Incidents returns the incidents of findings, the most severe first. Each finding names
// its incident.
func Incidents(found []detect.Finding) []detect.Incident {
	all := []detect.Incident{}
	for _, g := range Roots(found) {
		all = append(all, NewIncident(g[0].Incident, g[0], g))
	}
	slices.SortStableFunc(all, func(x, y detect.Incident) int { return cmp.Compare(detect.Rank(y.Severity), detect.Rank(x.Severity)) })
	return all
}

// NewIncident returns the incident that findings make, with one of them as its root.
func NewIncident(id string, root *detect.Finding, found []*detect.Finding) detect.Incident {
	i := detect.Incident{
		ID: id, Case: Diagnose(root), Subject: root.Subject, Target: root.Target,
		Severity: root.Severity, State: root.State, OpenedAt: root.FirstSeen, LastSeen: root.LastSeen,
		Root: root.Fingerprint, Findings: []string{},
		Labels: map[string]string{}, Notified: []string{}, Quality: root.Quality,
	}
	for _, f := range found {
		i.Findings = append(i.Findings, f.Fingerprint)
		i.Severity, i.State = detect.WorstSeverity(i.Severity, f.Severity), worstState(i.State, f.State)
		if f.FirstSeen.Before(i.OpenedAt) {
			i.OpenedAt = f.FirstSeen
		}
		if f.LastSeen.After(i.LastSeen) {
			i.LastSeen = f.LastSeen
		}
	}
	return i
}

// Lift gives the root of each incident the worst severity and state of its findings: a
// rolling key is as bad as the worst of its days.
func Lift(found []detect.Finding) {
	for _, g := range Roots(found) {
		for _, f := range g[1:] {
			g[0].Severity, g[0].State = detect.WorstSeverity(g[0].Severity, f.Severity), worstState(g[0].State, f.State)
		}
	}
}

// worstState returns the first of the two states in the order firing, pending, resolved.
func worstState(a, b detect.State) detect.State {
	switch {
	case a == detect.Firing || b == detect.Firing:
		return detect.Firing
	case a == detect.Pending || b == detect.Pending:
		return detect.Pending
	}
	return detect.Resolved
}
