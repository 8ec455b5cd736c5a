package relate_test

import (
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/internal/relate"
	"github.com/keyheat/keyheat/sample"
)

// tell changes a key of 1,680 WCU/s whose requests have sort keys, all of them known, and
// of which nothing else was observed.
type tell func(f *detect.Finding)

func split(s detect.Split) tell { return func(f *detect.Finding) { f.Evidence.Split = &s } }

func observed(v detect.SplitVerdict, direction string, seconds int) tell {
	return split(detect.Split{Verdict: v, Direction: direction, Seconds: seconds, Load: 1680})
}

// items gives the key an item with a proven load, and the verdict on splits.
func items(v detect.SplitVerdict, load, item float64) tell {
	return func(f *detect.Finding) {
		split(detect.Split{Verdict: v, Seconds: detect.SplitSeconds, Load: load, Item: item})(f)
		f.Evidence.Items = []detect.Part{{Text: "a", Low: 0.9, High: 1}}
	}
}

func few(f *detect.Finding) { f.Evidence.Records = detect.MinRecords - 1 }

func inBatches(f *detect.Finding) { f.Quality.CannotSee = []string{detect.BlindSeconds} }

func ofIndex(f *detect.Finding) { f.Subject, f.Index = detect.KeyWrites, "by-status" }

// plateau is a load that stays just at the limit.
func plateau(f *detect.Finding) {
	f.Severity, f.SaturatedSeconds, f.OverSeconds = detect.Critical, 9, new(0)
}

func TestDiagnose(t *testing.T) {
	t.Parallel()
	const long = detect.SplitSeconds
	noSortKey := &detect.TableFacts{KeySchema: sample.KeySchema{SortKey: []string{}}}
	withLSI := &detect.TableFacts{LSIs: []string{"by-day"}}
	for sentence, c := range map[string]struct {
		tells  []tell
		facts  *detect.TableFacts
		ground detect.Ground
	}{
		"the table has no sort key":                   {nil, noSortKey, detect.GroundItem},
		"one item is above the limit":                 {[]tell{items(detect.SplitHotItem, 1680, 1400)}, nil, detect.GroundItem},
		"one item fills a flat load":                  {[]tell{plateau, items(detect.SplitUnknown, 980, 980)}, nil, detect.GroundItem},
		"one item of a load that is not flat":         {[]tell{items(detect.SplitUnknown, 980, 980)}, nil, detect.GroundNotDecided},
		"one item of a batch's time":                  {[]tell{inBatches, items(detect.SplitHotItem, 900, 1400)}, nil, detect.GroundBatchTimes},
		"one value of an index":                       {[]tell{ofIndex, items(detect.SplitHotItem, 1680, 1400)}, nil, detect.GroundNotDecided},
		"a key named after its hour":                  {[]tell{func(f *detect.Finding) { f.Rolling = &detect.Rolling{Period: "hour"} }}, withLSI, detect.GroundPeriod},
		"a table with a local index":                  {[]tell{observed(detect.SplitHelps, "", long)}, withLSI, detect.GroundLocalIndex},
		"a local index binds no key of another index": {[]tell{ofIndex, observed(detect.SplitHelps, "", long)}, withLSI, detect.GroundSplit},
		"new items come at one end":                   {[]tell{observed(detect.SplitMoving, detect.Rising, long)}, nil, detect.GroundSortKey},
		"the load wanders":                            {[]tell{observed(detect.SplitMoving, detect.Wandering, long)}, nil, detect.GroundMoving},
		"splits help":                                 {[]tell{observed(detect.SplitHelps, "", long)}, nil, detect.GroundSplit},
		"splits help, of half of the requests":        {[]tell{observed(detect.SplitHelps, "", long), func(f *detect.Finding) { f.Evidence.SortKeys.Known = 0.5 }}, nil, detect.GroundNotDecided},
		"requests carry the times of batches":         {[]tell{inBatches, observed(detect.SplitUnknown, "", long)}, nil, detect.GroundBatchTimes},
		"few requests were sampled":                   {[]tell{few, func(f *detect.Finding) { f.Quality.Sampling = detect.SamplingByCall }}, nil, detect.GroundFewSamples},
		"few requests, none left out":                 {[]tell{few, observed(detect.SplitUnknown, "", long)}, nil, detect.GroundNotDecided},
		"few records without sort keys":               {[]tell{few, func(f *detect.Finding) { f.Evidence.SortKeys = nil }}, nil, detect.GroundNoSortKeys},
		"no request was looked at":                    {[]tell{func(f *detect.Finding) { f.Evidence = nil }}, nil, detect.GroundFewSamples},
		"requests have no sort keys":                  {[]tell{func(f *detect.Finding) { f.Evidence.SortKeys = nil }}, nil, detect.GroundNoSortKeys},
		"another judge saw the key":                   {nil, nil, detect.GroundYoung},
		"sort keys are hashed":                        {[]tell{observed(detect.SplitHidden, "", long)}, nil, detect.GroundHashedKeys},
		"the load comes in bursts":                    {[]tell{observed(detect.SplitBursts, "", 3)}, nil, detect.GroundBursts},
		"the key was seen for three seconds":          {[]tell{observed(detect.SplitUnknown, "", 3)}, nil, detect.GroundYoung},
		"the load rises in several places":            {[]tell{observed(detect.SplitUnknown, detect.Rising, long)}, nil, detect.GroundPlaces},
		"the sort keys leave it open":                 {[]tell{observed(detect.SplitUnknown, "", long)}, nil, detect.GroundNotDecided},
	} {
		f := &detect.Finding{Subject: detect.KeyWrites, Severity: detect.Critical, OverSeconds: new(20)}
		f.Evidence = &detect.Evidence{Records: 1000, SortKeys: &detect.SortKeys{Known: 1, Distinct: 385}}
		for _, change := range c.tells {
			change(f)
		}
		if ground := relate.Diagnose(f, c.facts); ground != c.ground {
			t.Errorf("%s: %s, want %s", sentence, ground, c.ground)
		}
	}
}
