package advice

import (
	"fmt"
	"slices"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/wording"
)

// Related returns the findings that the evidence of a hot key has beside its heat.
// callers are the shares of the load of the whole table or index, by caller.
func Related(f *detect.Finding, facts *detect.TableFacts, callers map[string]float64) (all []detect.Finding) {
	add := func(kind detect.Kind, why string, step detect.Step) {
		m := detect.NewRelated(f, kind, f.Key)
		m.Why, m.Advice = why, []detect.Step{step}
		all = append(all, m)
	}
	if hours, near := collectionGrowth(f, facts); near {
		add(detect.LargeCollection, fmt.Sprintf("The key's item collection grows by about %s KB a second while it is hot: from nothing to 10 GB in some %.0f hours. The table has a local secondary index (%s), so that the collection may not pass 10 GB: then DynamoDB rejects what makes it larger.",
			wording.About(*f.Evidence.GrowthBytes/1024), hours, strings.Join(facts.LSIs, ", ")),
			detect.Step{Action: detect.ActionRename, Text: fmt.Sprintf("Put a month or another bounded part into the key, such as %s#%s, or do without the local secondary index: a global one has no such bound.", f.Key, f.Peak.At.Format("2006-01"))})
	}
	if detect.Rank(f.Severity) < detect.Rank(detect.Warning) {
		return all
	}
	if verticalAdvice(f) != "" {
		add(detect.LargeItem, fmt.Sprintf("The items of the key are of %s KB, and a write changes %.1f%% of them: most of what the writes cost is for bytes that stay as they are.",
			wording.About(f.Evidence.ItemBytes/1024), 100**f.Evidence.ChangedShare), detect.Step{Action: detect.ActionVertical, Text: verticalAdvice(f)})
	}
	single := makesHot(f, callers)
	if name, test := testName(f.Key); test && (single || byTest(f)) {
		add(detect.TestKey, fmt.Sprintf("The key's name holds %s: this is likely a test's load, and no design mends it.", wording.Quote(name)), detect.Step{Action: detect.ActionCaller, Text: callerAdvice(f)})
	} else if single {
		add(detect.SingleCaller, fmt.Sprintf("The caller %s alone makes %s of the key's load, and only %.0f%% of the load of all other keys.", wording.Quote(f.Evidence.Callers[0].Text), wording.Between(f.Evidence.Callers[0]), 100*shareOfRest(f, callers)), detect.Step{Action: detect.ActionCaller, Text: callerAdvice(f)})
	}
	return all
}

// makesHot reports whether one caller alone makes the key hot: it has most of the
// key's load, and far less of the load of all others. The one caller of a service's own
// table is no news.
func makesHot(f *detect.Finding, callers map[string]float64) bool {
	if f.Evidence == nil || len(f.Evidence.Callers) == 0 || f.Evidence.Records < detect.MinRecords || len(callers) == 0 || f.Share > detect.WholeShare {
		return false
	}
	c := f.Evidence.Callers[0]
	return c.Low >= detect.CallerShare && shareOfRest(f, callers)*detect.CallerExcess <= c.Low
}

// shareOfRest returns the share that the key's busiest caller has of the load of all
// other keys of the table.
func shareOfRest(f *detect.Finding, callers map[string]float64) float64 {
	c := f.Evidence.Callers[0]
	return min(1, max(0, detect.Ratio(callers[c.Text]-f.Share*(c.Low+c.High)/2, 1-f.Share)))
}

// byTest reports whether the key's busiest caller is named like a test, too.
func byTest(f *detect.Finding) bool {
	if f.Evidence == nil || len(f.Evidence.Callers) == 0 || f.Evidence.Callers[0].Low < detect.CallerShare {
		return false
	}
	_, test := testName(f.Evidence.Callers[0].Text)
	return test
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

// testWords are parts of names that nobody gives to what customers do.
var testWords = []string{
	"test", "tests", "testing", "loadtest", "perftest", "smoketest", "benchmark", "bench", "dummy", "canary", "healthcheck", "synthetic", "probe",
}

// testName reports whether a part of the key is such a word, and returns it.
func testName(key string) (string, bool) {
	for _, part := range strings.FieldsFunc(key, func(r rune) bool { return strings.ContainsRune("#:/|-_. ", r) }) {
		if slices.Contains(testWords, strings.ToLower(part)) {
			return part, true
		}
	}
	return "", false
}
