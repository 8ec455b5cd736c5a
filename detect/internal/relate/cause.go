package relate

import (
	"maps"
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/sample"
)

// Assign sets the incident of each finding. It also makes a full key of an index critical
// if writes to the table were throttled because of the index.
func Assign(found []detect.Finding, policy func(detect.Target) detect.Policy) {
	markWarm(found, policy)
	g := newGrouping(found)
	claims := g.claims(found)
	for i := range found {
		f := &found[i]
		if g.presses(f) && f.Utilization >= detect.SaturatedFrom {
			f.Severity = policy(f.Target).Cap(detect.Critical)
		}
		f.BelongTo(claims[i].cause, claims[i].key)
	}
	for i := range found {
		switch f := &found[i]; {
		case isPressed(f):
			f.Incident = pressingIncident(found, f)
		case f.Contention != nil: // of the key, whatever makes the table hot
			f.BelongTo(casebook.HotKey, f.KeyType+":"+string(f.Key))
			if i := slices.IndexFunc(found, func(hot detect.Finding) bool { return hot.Subject.OfKey() && hot.KeyRef == f.KeyRef }); i >= 0 {
				f.Incident = found[i].Incident
			}
		case isShortOfIndex(f):
			if index := shortIndex(found, f); index != nil {
				f.Incident = index.Incident
			}
		}
	}
	casebook.Lift(found)
	followMoving(found)
	followFew(found)
}

// markWarm tells the keys that only lie in a full partition: few samples left open that they are hot.
func markWarm(found []detect.Finding, policy func(detect.Target) detect.Policy) {
	full := map[detect.Target]bool{}
	for i := range found {
		full[found[i].Target] = full[found[i].Target] || found[i].Subject == detect.SubjectPartition
	}
	for i := range found {
		if f := &found[i]; full[f.Target] && f.IsWarm(policy(f.Target)) {
			f.Ground = detect.GroundWarmKey
		}
	}
}

// followFew leaves one redesign to an incident: a key of more values needs no key shards, and a key
// that has all load, or that is sharded or named after a time, no more values.
func followFew(found []detect.Finding) {
	for _, group := range casebook.Roots(found) {
		root := group[0]
		for _, f := range group[1:] {
			switch {
			case root.Case == casebook.FewValues && root.Index == "" && f.Subject.OfKey():
				f.Advice = slices.DeleteFunc(slices.Clone(f.Advice), makesShards)
			case (root.Subject.OfKey() || design(root) != "") && f.Case == casebook.FewValues && f.Index == "":
				f.Advice = []detect.Step{} // the root has the steps
			}
		}
	}
}

// makesShards reports whether a step makes key shards, or is on the way to them.
func makesShards(s detect.Step) bool {
	return slices.Contains([]string{detect.ActionShard, detect.ActionMigrate}, s.Action) || s.Fix == detect.FixPrewarmForShards || s.Fix == detect.FixCapacityForCopies
}

// grouping holds the relations between findings.
type grouping struct {
	moving  map[detect.KeyRef]bool
	few     map[detect.Target]*detect.Finding
	designs map[detect.Target]*detect.Finding
	// storms are the callers that repeat the requests of several keys, callers the ones that
	// make several keys hot alone. What a caller does to one key belongs to the key's incident:
	// it often becomes known while that fires.
	storms  map[detect.KeyRef]string
	callers map[detect.KeyRef]string
	// pressed are the tables whose writes were throttled because of an index.
	pressed map[detect.Target]bool
}

func newGrouping(found []detect.Finding) grouping {
	g := grouping{
		moving: movingKeys(found), few: fewValues(found), designs: designs(found),
		storms: map[detect.KeyRef]string{}, callers: map[detect.KeyRef]string{}, pressed: map[detect.Target]bool{},
	}
	for i := range found {
		f := &found[i]
		e := f.Evidence
		switch {
		case e == nil:
		case f.Subject == detect.SubjectPartition && e.Refused[sample.OfIndex.String()] > 0:
			g.pressed[f.Target] = true
		case f.Case == casebook.RetryStorm && e.Retries != nil && len(e.Retries.Callers) > 0:
			g.storms[f.KeyRef] = string(e.Retries.Callers[0].Caller)
		case (f.Case == casebook.OneCaller || f.Case == casebook.TestKey) && len(e.Callers) > 0:
			g.callers[f.KeyRef] = string(e.Callers[0].Text)
		}
	}
	leaveSingle(g.storms)
	leaveSingle(g.callers)
	return g
}

// leaveSingle leaves out callers of one key.
func leaveSingle(callers map[detect.KeyRef]string) {
	keys := map[string]map[detect.KeyRef]bool{}
	for key, caller := range callers {
		key.Region = "" // it is written in each
		if keys[caller] == nil {
			keys[caller] = map[detect.KeyRef]bool{}
		}
		keys[caller][key] = true
	}
	maps.DeleteFunc(callers, func(_ detect.KeyRef, caller string) bool { return len(keys[caller]) == 1 })
}

// claim is the cause of a finding, and the key or pattern that it is about.
type claim struct {
	cause detect.Case
	key   string
}

// claims returns the claims of all findings. A key that is written in several Regions of
// a global table has one cause. If a Region shows more than a hot key, the first such
// Region decides.
func (g *grouping) claims(found []detect.Finding) []claim {
	all := make([]claim, len(found))
	first := map[detect.KeyRef]int{}
	for i := range found {
		f := &found[i]
		all[i].cause, all[i].key = g.cause(f)
		if f.Replication == nil || f.Key == "" || all[i].cause == casebook.HotKey {
			continue
		}
		if other, has := first[writtenKey(f)]; !has || f.Region < found[other].Region {
			first[writtenKey(f)] = i
		}
	}
	for i := range found {
		if other, has := first[writtenKey(&found[i])]; has && found[i].Replication != nil {
			all[i] = all[other]
		}
	}
	return all
}

// writtenKey returns a finding's key without its Region.
func writtenKey(f *detect.Finding) detect.KeyRef {
	key := f.KeyRef
	key.Region = ""
	return key
}

// cause returns the cause of a finding, and the key or pattern that it is about.
func (g *grouping) cause(f *detect.Finding) (c detect.Case, of string) {
	key := f.KeyType + ":" + string(f.Key)
	switch {
	case f.Subject == detect.SubjectPartition:
		return casebook.SharedPartition, ""
	case f.Subject == detect.SubjectTable:
		return casebook.ShortOfCapacity, ""
	case f.Ground == detect.GroundWarmKey:
		return casebook.SharedPartition, ""
	case f.Case == casebook.MovingSpot:
		return casebook.MovingSpot, ""
	case f.Case == casebook.FewValues:
		if only := g.few[f.Target]; only != nil {
			return g.cause(only) // the only value
		}
		if one := g.designs[f.Target]; one != nil {
			return g.cause(one) // the few values are its key shards, or its times
		}
		return casebook.FewValues, ""
	case f.Rolling != nil:
		return casebook.TimeKey, string(f.Rolling.Template)
	case f.Sharding != nil:
		return casebook.TooFewShards, string(f.Sharding.Pattern())
	case g.moving[f.KeyRef]:
		return casebook.MovingSpot, ""
	case g.isFew(f):
		return casebook.FewValues, ""
	case g.storms[f.KeyRef] != "":
		return casebook.RetryStorm, g.storms[f.KeyRef]
	case g.callers[f.KeyRef] != "":
		return casebook.OneCaller, g.callers[f.KeyRef]
	case g.presses(f):
		return casebook.BackPressure, key
	}
	return casebook.HotKey, key
}

// isFew reports whether a key is hot because its target has few values, and has more than
// this one.
func (g *grouping) isFew(f *detect.Finding) bool {
	only, few := g.few[f.Target]
	return few && only == nil
}

// presses reports whether a hot key of an index holds back the writes of its table.
func (g *grouping) presses(f *detect.Finding) bool {
	return isIndexKey(f) && g.pressed[baseOf(f)]
}

// isIndexKey reports whether a finding is about the writes of an index's key.
func isIndexKey(f *detect.Finding) bool { return f.Subject == detect.KeyWrites && f.Index != "" }

func baseOf(f *detect.Finding) detect.Target {
	return detect.Target{Account: f.Account, Region: f.Region, Table: f.Table}
}

// fewValues returns the targets whose number of key values bounds them: their keys are
// known to be few, or some keys, hot together, have all load. The finding is about the
// one key that has all load, if there is one.
func fewValues(found []detect.Finding) map[detect.Target]*detect.Finding {
	few, together := map[detect.Target]*detect.Finding{}, map[detect.Target]map[detect.Subject][]*detect.Finding{}
	for i := range found {
		switch f := &found[i]; {
		case f.State == detect.Resolved:
		case f.Case == casebook.FewValues:
			few[f.Target] = nil
		case f.Subject.OfKey():
			if together[f.Target] == nil {
				together[f.Target] = map[detect.Subject][]*detect.Finding{}
			}
			together[f.Target][f.Subject] = append(together[f.Target][f.Subject], f)
		}
	}
	for target, byKind := range together {
		for _, keys := range byKind {
			_, known := few[target]
			switch {
			case len(keys) > 1 && len(keys) <= detect.FewKeys && haveAllLoad(keys):
				few[target] = nil
			case known && len(keys) == 1 && keys[0].Share >= detect.WholeShare:
				few[target] = keys[0]
			}
		}
	}
	return few
}

// designs returns a finding about a key for each target whose hot keys are all shards of
// one key, or all times of one pattern.
func designs(found []detect.Finding) map[detect.Target]*detect.Finding {
	all := map[detect.Target]*detect.Finding{}
	for i := range found {
		f := &found[i]
		if !f.Subject.OfKey() {
			continue
		}
		if one, seen := all[f.Target]; seen && (one == nil || design(one) != design(f)) || design(f) == "" {
			all[f.Target] = nil
			continue
		}
		all[f.Target] = f
	}
	return all
}

// design returns the pattern of a key's time or key shards; empty for other keys.
func design(f *detect.Finding) string {
	switch {
	case f.Rolling != nil:
		return string(f.Rolling.Template)
	case f.Sharding != nil:
		return string(f.Sharding.Pattern())
	}
	return ""
}

// haveAllLoad reports whether keys that are hot at the same time have the whole load of
// their target.
func haveAllLoad(keys []*detect.Finding) bool {
	share, first, last := 0.0, keys[0].FirstSeen, keys[0].LastSeen
	for _, f := range keys {
		if f.Share >= detect.WholeShare {
			return false // this key was alone at its time
		}
		share += f.Share
		if f.FirstSeen.After(first) {
			first = f.FirstSeen
		}
		if f.LastSeen.Before(last) {
			last = f.LastSeen
		}
	}
	return share >= detect.WholeShare && !first.After(last)
}

// isPressed reports whether writes to the table were throttled because of a partition of
// an index, and none because of its own.
func isPressed(f *detect.Finding) bool {
	return f.Subject == detect.SubjectPartition && f.Index == "" && f.Evidence != nil &&
		f.Evidence.Refused[sample.OfIndex.String()] > 0 && f.Evidence.Refused[sample.KeyRange.String()] == 0
}

// isShortOfIndex reports whether writes to the table were throttled only because an index
// lacks capacity.
func isShortOfIndex(f *detect.Finding) bool {
	return f.Subject == detect.SubjectTable && f.Index == "" && f.Evidence != nil &&
		f.Evidence.Refused[sample.OfIndexCapacity.String()] > 0 && f.Evidence.ThrottledRequests() == f.Evidence.Refused[sample.OfIndexCapacity.String()]
}

// shortIndex returns the finding about the table's index that throttled most for lack of
// capacity, or nil if none is known.
func shortIndex(found []detect.Finding, table *detect.Finding) (most *detect.Finding) {
	for i := range found {
		f := &found[i]
		if f.Subject == detect.SubjectTable && f.Index != "" && baseOf(f) == table.Target && (f.State != detect.Resolved || table.State == detect.Resolved) &&
			f.Evidence.ThrottledRequests() > 0 && (most == nil || f.Evidence.ThrottledRequests() > most.Evidence.ThrottledRequests()) {
			most = f
		}
	}
	return most
}

// pressingIncident returns the incident of the hottest key of the table's indexes,
// because that key throttles the table's writes. If no such key is known, it returns the
// table's incident.
func pressingIncident(found []detect.Finding, table *detect.Finding) (incident string) {
	incident = detect.IncidentID(casebook.BackPressure, table.Target, "")
	most := 0.0
	for i := range found {
		f := &found[i]
		if isIndexKey(f) && baseOf(f) == table.Target && f.State != detect.Resolved && f.Utilization > most {
			incident, most = f.Incident, f.Utilization
		}
	}
	return incident
}
