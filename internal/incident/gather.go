package incident

import (
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
)

// Evidence is what the findings of an incident prove at one moment.
type Evidence struct {
	// Incident is the incident as these findings alone make it. Its state is firing if one
	// of them is, and resolved if all are.
	detect.Incident
	// Lasting is the worst severity of a load that has lasted; empty for none. OfKeys
	// reports that hot keys are among the findings that have got beyond pending.
	Lasting detect.Severity
	OfKeys  bool
	// Harm reports that a finding fires, or may yet fire by itself. A design alone, such as
	// few key values, harms nobody while nothing is hot.
	Harm bool
}

// gather returns what findings of one moment, one or more, prove of the incident that they
// belong to. before is the stored incident.
//
// An incident that fires keeps its root and case until another case has held for a minute
// of harm, or the root is over.
func gather(id string, found []*detect.Finding, before *detect.Incident) Evidence {
	all := found
	if open := slices.DeleteFunc(slices.Clone(found), isOver); len(open) > 0 {
		found = open // one that is over, perhaps of an earlier life, makes the others no worse
	}
	casebook.SortByRoot(found)
	harmful := slices.MaxFunc(found, func(a, b *detect.Finding) int { return a.LastSeen.Compare(b.LastSeen) }).LastSeen
	root, turn := found[0], (*detect.Turn)(nil)
	cause := casebook.Form(casebook.Diagnose(root))
	if before.State == detect.Firing && casebook.Form(before.Case) != cause {
		turn = turnOf(before.Turn, string(cause), harmful)
		known := slices.IndexFunc(all, func(f *detect.Finding) bool { return f.Fingerprint == before.Root })
		if known >= 0 && (!isHarm(root) || isHarm(all[known])) && harmful.Sub(turn.Since) < settle {
			root = all[known]
		} else {
			turn = nil
		}
	}
	e := Evidence{Incident: casebook.NewIncident(id, root, found)}
	e.Turn = turn
	for _, f := range found {
		e.Harm = e.Harm || isHarm(f)
		if f.State == detect.Pending {
			continue
		}
		e.OfKeys, e.Lasting = e.OfKeys || f.Subject.OfKey(), detect.WorstSeverity(e.Lasting, f.Lasting)
	}
	if lasting := lastsTogether(found, harmful.Unix()); detect.Rank(lasting) > detect.Rank(e.Lasting) {
		e.Lasting = lasting
	}
	return e
}

// lastsTogether returns the severity of a load that goes from key to key, and is as lasting as
// one key's must be: some key was proven above its limit in enough of the newest seconds.
func lastsTogether(found []*detect.Finding, newest int64) (lasting detect.Severity) {
	first := newest - detect.HarmOf + 1
	var recent []*detect.Finding
	for _, f := range found {
		if f.Subject.OfKey() && f.LastSeen.Unix() >= first {
			recent = append(recent, f)
			lasting = detect.WorstSeverity(lasting, f.Severity)
		}
	}
	_, in := detect.AnyOver(recent)
	seconds := int64(0)
	for _, s := range in {
		seconds += max(0, s.To-max(s.From, first)+1)
	}
	if len(recent) < 2 || seconds < detect.HarmSeconds {
		return ""
	}
	return lasting
}

// isHarm reports whether a finding fires, or may yet fire by itself.
func isHarm(f *detect.Finding) bool {
	return f.State == detect.Firing || f.State == detect.Pending && f.Subject.IsWatched()
}

func isOver(f *detect.Finding) bool { return f.State == detect.Resolved }
