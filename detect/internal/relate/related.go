package relate

import (
	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/detect/internal/episode"
	"github.com/keyheat/keyheat/detect/internal/fixes"
	"github.com/keyheat/keyheat/sketch"
)

// FindRelated returns the findings that the evidence of a hot key has beside its heat.
// callers are the shares of the load of the whole table or index, by caller.
func FindRelated(f *detect.Finding, facts *detect.TableFacts, callers map[string]float64) (all []detect.Finding) {
	add := func(c detect.Case, steps ...detect.Step) {
		m := casebook.NewRelated(f, c, f.Key)
		m.Advice = steps
		if own, unknown := fixes.ForTimes(f); unknown {
			m.Advice = append([]detect.Step{own}, steps...)
		}
		all = append(all, m)
	}
	if fillsCollection(f, facts) {
		add(casebook.LargeCollection, boundedKey(f))
	}
	if detect.Rank(f.Severity) < detect.Rank(detect.Warning) {
		return all
	}
	if fixes.LittleChanges(f) {
		add(casebook.LargeItem, fixes.LargeItem(f))
	}
	if _, storms := fixes.Storm(f); storms {
		if step, found := fixes.ForStorm(f); found {
			add(casebook.RetryStorm, step)
		}
	}
	if !fixes.MakesHot(f, callers) && !fixes.ByTest(f) {
		return all
	}
	caller := fixes.ForCaller(f, callers)
	if len(caller) == 0 {
		return all
	}
	c := casebook.OneCaller
	if fixes.IsTest(string(f.Key)) {
		c = casebook.TestKey
	}
	add(c, caller...)
	return all
}

// boundedKey returns the step for a collection that grows without a bound.
func boundedKey(f *detect.Finding) detect.Step {
	step := detect.NewStep(detect.FixBoundedCollection)
	if f.Evidence != nil && f.Evidence.GrowthBytes != nil && *f.Evidence.GrowthBytes > 0 {
		step.Arguments.Bytes = *f.Evidence.GrowthBytes
		step.Arguments.Seconds = int(detect.CollectionBytes / *f.Evidence.GrowthBytes)
	}
	load := detect.SideOf(f, f.Peak.WCU, f.Peak.RCU).Value
	step.After = detect.NewAfter(f.Subject, load, load)
	return step
}

// Growing returns the finding about a key that is not hot, whose item collection grows
// towards the limit of a local secondary index, if it does.
func Growing(of episode.Followed, g episode.Growth, facts *detect.TableFacts) (detect.Finding, bool) {
	if of.Target.Index != "" || facts == nil || len(facts.LSIs) == 0 || g.Known < detect.GrowthSeconds || g.Last-g.First+1 < detect.FewValuesSeconds || g.Bytes <= 0 {
		return detect.Finding{}, false
	}
	if !fillsSoon(g.Bytes) {
		return detect.Finding{}, false
	}
	f := casebook.NewFinding(casebook.LargeCollection, of.Target, of.Key)
	f.Severity, f.State, f.Shards = detect.Info, detect.Pending, 1
	loads := func(l sketch.Load, n float64) detect.Loads {
		return detect.Loads{WCU: detect.ExactFigure(detect.Units(l.Write) / n), RCU: detect.ExactFigure(detect.Units(l.Read) / n)}
	}
	f.Peak, f.Mean = detect.Peak{Loads: loads(g.Peak, 1), At: detect.TimeOf(g.At)}, loads(g.Sum, float64(g.Seconds))
	f.Consumed = detect.Consumed{WCU: f.Peak.WCU.Value, RCU: f.Peak.RCU.Value}
	f.Utilization = max(f.Peak.WCU.Value/detect.Units(detect.PartitionWrite), f.Peak.RCU.Value/detect.Units(detect.PartitionRead))
	f.FirstSeen, f.LastSeen, f.Through, f.Seconds = detect.TimeOf(g.First), detect.TimeOf(g.Last), detect.TimeOf(g.Last), g.Seconds
	f.OverSeconds = new(int) // a key that is hot has another finding
	f.Evidence = &detect.Evidence{
		Operations: []detect.Operation{}, Refused: map[string]int64{}, Items: []detect.Part{}, Callers: []detect.Part{}, Attributes: []detect.Part{}, GrowthBytes: &g.Bytes,
	}
	f.Advice = []detect.Step{boundedKey(&f)}
	return f, true
}

// fillsCollection reports whether the key's item collection may soon reach the size that
// a local secondary index allows.
func fillsCollection(f *detect.Finding, facts *detect.TableFacts) bool {
	return f.Index == "" && facts != nil && len(facts.LSIs) > 0 && f.Evidence != nil && f.Evidence.Records >= detect.MinRecords &&
		f.Evidence.GrowthBytes != nil && fillsSoon(*f.Evidence.GrowthBytes)
}

// fillsSoon reports whether an empty collection would soon be full, given its growth in
// bytes a second.
func fillsSoon(growth float64) bool {
	return growth > 0 && detect.CollectionBytes/growth/3600 <= detect.CollectionSoonHours
}
