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

// Growing returns the finding about a key whose item collection grows towards the limit of a
// local secondary index, if it does.
func Growing(of episode.Followed, g episode.Growth, facts *detect.TableFacts, p detect.Policy) (detect.Finding, bool) {
	if of.Target.Index != "" || facts == nil || len(facts.LSIs) == 0 || g.Known < detect.GrowthSeconds || g.Span() < detect.FewValuesSeconds || g.Bytes <= 0 || p.Excludes(of.Key.Text) {
		return detect.Finding{}, false
	}
	full := detect.CollectionBytes / g.Bytes // of an empty collection
	if full > detect.CollectionSoonHours*3600 {
		return detect.Finding{}, false
	}
	f := casebook.NewFinding(casebook.LargeCollection, of.Target, of.Key)
	f.Severity, f.State, f.Shards = detect.Info, detect.Pending, 1
	if full <= detect.CollectionTellHours*3600 && g.Fast >= detect.CollectionTellSeconds {
		f.Severity = p.Cap(detect.Warning)
	}
	loads := func(l sketch.Load, n float64) detect.Loads {
		return detect.Loads{WCU: detect.ExactFigure(detect.Units(l.Write) / n), RCU: detect.ExactFigure(detect.Units(l.Read) / n)}
	}
	f.Peak, f.Mean = detect.Peak{Loads: loads(g.Peak, 1), At: detect.TimeOf(g.At)}, loads(g.Sum, float64(g.Seconds))
	f.Consumed = detect.Consumed{WCU: f.Peak.WCU.Value, RCU: f.Peak.RCU.Value}
	f.Utilization = max(f.Peak.WCU.Value/detect.Units(detect.PartitionWrite), f.Peak.RCU.Value/detect.Units(detect.PartitionRead))
	f.FirstSeen, f.LastSeen, f.Through, f.Seconds = detect.TimeOf(g.First), detect.TimeOf(g.Last), detect.TimeOf(g.Last), g.Seconds
	switch {
	case f.Severity == detect.Info:
	case g.Over:
		f.State, f.LastSeen = detect.Resolved, detect.TimeOf(g.LastFast)
	default:
		f.State = detect.Firing
	}
	f.OverSeconds = new(int) // a key that is hot has another finding
	f.Evidence = detect.NewEvidence(map[string]int64{})
	f.Evidence.GrowthBytes = &g.Bytes
	step := detect.NewStep(detect.FixBoundedCollection)
	step.Arguments.Bytes, step.Arguments.Seconds = g.Bytes, int(full)
	step.After = detect.NewAfter(f.Subject, f.Peak.WCU.Value, f.Peak.WCU.Value)
	f.Advice = []detect.Step{step}
	return f, true
}
