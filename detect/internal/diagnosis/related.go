package diagnosis

import (
	"fmt"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/internal/episode"
	"github.com/keyheat/keyheat/detect/internal/fixes"
	"github.com/keyheat/keyheat/detect/wording"
	"github.com/keyheat/keyheat/sketch"
)

// Related returns the findings that the evidence of a hot key has beside its heat.
// callers are the shares of the load of the whole table or index, by caller.
func Related(f *detect.Finding, facts *detect.TableFacts, callers map[string]float64) (all []detect.Finding) {
	add := func(kind detect.Kind, why string, step detect.Step) {
		m := detect.NewRelated(f, kind, f.Key)
		m.Why, m.Advice = why, []detect.Step{step}
		if own, unknown := fixes.ForTimes(f); unknown {
			m.Why, m.Advice = why+" "+f.Quality.Times(), []detect.Step{own, step}
		}
		all = append(all, m)
	}
	if hours, near := collectionGrowth(f, facts); near {
		add(detect.LargeCollection, whyLarge("about", *f.Evidence.GrowthBytes, " while it is hot", hours, facts), boundedKey(f))
	}
	if detect.Rank(f.Severity) < detect.Rank(detect.Warning) {
		return all
	}
	if fixes.LittleChanges(f) {
		add(detect.LargeItem, fmt.Sprintf("The items of the key are of %s, and a write changes %.1f%% of them: most of what the writes cost is for bytes that stay as they are.",
			wording.Size(f.Evidence.ItemBytes), 100**f.Evidence.ChangedShare), fixes.LargeItem(f))
	}
	if who, storms := fixes.Storm(f); storms {
		if step, found := fixes.ForStorm(f); found {
			why := WhyStorm(f, who)
			if toll := Toll(f); toll != "" {
				why += " " + toll
			}
			add(detect.RetryStorm, why, step)
		}
	}
	if !fixes.MakesHot(f, callers) && !fixes.ByTest(f) {
		return all
	}
	caller, found := fixes.ForCaller(f, callers)
	if !found {
		return all
	}
	if name, test := fixes.TestName(f.Key); test {
		add(detect.TestKey, fmt.Sprintf("The key's name holds %s: this is likely a test's load, and no design mends it.", wording.Quote(name)), caller)
	} else {
		add(detect.SingleCaller, fmt.Sprintf("The caller %s alone makes %s of the key's load, and %s of the load of all other keys.", wording.Quote(f.Evidence.Callers[0].Text), wording.Between(f.Evidence.Callers[0]), fixes.OfRest(fixes.ShareOfRest(f, callers))), caller)
	}
	return all
}

// whyLarge says when a collection that grows by so many bytes a second is too large.
func whyLarge(about string, bytes float64, while string, hours float64, facts *detect.TableFacts) string {
	return fmt.Sprintf("The key's item collection grows by %s %s KB a second%s: from nothing to 10 GB in some %.0f hours. The table has a local secondary index (%s), so that the collection may not pass 10 GB: then DynamoDB rejects what makes it larger.",
		about, wording.About(bytes/1024), while, hours, wording.Printable(strings.Join(facts.LSIs, ", ")))
}

// boundedKey returns what to do about a collection that grows without a bound.
func boundedKey(f *detect.Finding) detect.Step {
	step := detect.NewStep(detect.FixBoundedCollection)
	load := detect.Side(f.Kind, f.Peak.WCU, f.Peak.RCU).Value
	step.After = detect.NewAfter(f.Kind, load, load)
	return step
}

// Growing returns the finding about a key that is not hot, whose item collection grows
// towards what a local secondary index allows it; false where it does not.
func Growing(of episode.Subject, g episode.Growth, facts *detect.TableFacts) (detect.Finding, bool) {
	if of.Target.Index != "" || facts == nil || len(facts.LSIs) == 0 || g.Known < detect.GrowthSeconds || g.Last-g.First+1 < detect.FewValuesSeconds || g.Bytes <= 0 {
		return detect.Finding{}, false
	}
	hours := detect.CollectionBytes / g.Bytes / 3600
	if hours > detect.CollectionSoonHours {
		return detect.Finding{}, false
	}
	f := detect.NewFinding(detect.LargeCollection, of.Target, of.Key)
	f.Severity, f.State, f.Shards = detect.Info, detect.Pending, 1
	figure := func(units float64) detect.Figure { return detect.Figure{Value: units, Low: units, High: units} }
	loads := func(l sketch.Load, n float64) detect.Loads {
		return detect.Loads{WCU: figure(detect.Units(l.Write) / n), RCU: figure(detect.Units(l.Read) / n)}
	}
	f.Peak, f.Mean = detect.Peak{Loads: loads(g.Peak, 1), At: detect.TimeOf(g.At)}, loads(g.Sum, float64(g.Seconds))
	f.Consumed = detect.Consumed{WCU: f.Peak.WCU.Value, RCU: f.Peak.RCU.Value}
	f.Utilization = max(f.Peak.WCU.Value/detect.Units(detect.PartitionWrite), f.Peak.RCU.Value/detect.Units(detect.PartitionRead))
	f.FirstSeen, f.LastSeen, f.Through, f.Seconds = detect.TimeOf(g.First), detect.TimeOf(g.Last), detect.TimeOf(g.Last), g.Seconds
	f.OverSeconds = new(int) // a key that is hot has another finding
	f.Reason, f.Why = detect.Undetermined, whyLarge("about", g.Bytes, "", hours, facts)
	f.Advice = []detect.Step{boundedKey(&f)}
	return f, true
}

// collectionGrowth reports whether the key's item collection may reach what a local
// secondary index allows it, and within how many hours, growing as it does.
func collectionGrowth(f *detect.Finding, facts *detect.TableFacts) (hours float64, near bool) {
	if f.Index != "" || facts == nil || len(facts.LSIs) == 0 || f.Evidence == nil || f.Evidence.Records < detect.MinRecords ||
		f.Evidence.GrowthBytes == nil || *f.Evidence.GrowthBytes <= 0 {
		return 0, false
	}
	hours = detect.CollectionBytes / *f.Evidence.GrowthBytes / 3600
	return hours, hours <= detect.CollectionSoonHours
}
