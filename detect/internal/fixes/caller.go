package fixes

import (
	"slices"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
)

// testKey is a key with a test's name and a test's caller.
func testKey(c *Case) (fix, bool) {
	if !IsTest(string(c.Key)) || !ByTest(c.Finding) {
		return fix{}, false
	}
	return fix{arguments: detect.Arguments{Caller: c.Evidence.Callers[0].Text}, place: first, after: c.withoutCaller()}, true
}

// singleCaller is a caller with a far larger share of the key's load than of all others'.
func singleCaller(c *Case) (fix, bool) {
	if !MakesHot(c.Finding, c.Callers) {
		return fix{}, false
	}
	who := c.Evidence.Callers[0]
	storming, storms := Storm(c.Finding)
	_, tests := testKey(c)
	_, job := boundedJob(c)
	_, burst := laterWrites(c)
	if tests || job || burst || c.isBehind() || c.isPlaceholder() || storms && storming.Caller == who.Text {
		return fix{}, false
	}
	return fix{
		arguments: detect.Arguments{Caller: who.Text, Share: who.Low},
		place:     first, after: c.newAfter(1-c.OwnShare()*who.High, 1),
	}, true
}

// ForCaller returns the steps for the caller that makes a key hot; nil if none does.
func ForCaller(f *detect.Finding, callers map[string]float64) (all []detect.Step) {
	c := caseOf(f)
	c.Callers = callers
	if found, applies := testKey(c); applies {
		return []detect.Step{found.step(detect.FixStopTest)}
	}
	for _, e := range []entry{{detect.FixBoundedRate, boundedJob}, {detect.FixShuffleInput, shuffledImport}, {detect.FixMendCaller, singleCaller}} {
		if found, applies := e.find(c); applies {
			all = append(all, found.step(e.code))
		}
	}
	return all
}

// job returns the caller that makes the key's load as a job does: an import, or a caller
// that is named like a job.
func (c *Case) job() (detect.Part, bool) {
	if who, imports := c.importer(); imports {
		return who, true
	}
	who, alone := c.onlyCaller()
	return who, alone && hasWord(string(who.Text), jobWords)
}

// IsJob reports whether requests look like a job's: they are in batches, or come from a
// caller that is named like one.
func IsJob(e *detect.Evidence) bool {
	c := &Case{Finding: &detect.Finding{Subject: detect.KeyWrites, Evidence: e}}
	return c.part(sample.BatchWriteItem) >= mostShare ||
		slices.ContainsFunc(e.Callers, func(p detect.Part) bool { return hasWord(string(p.Text), jobWords) })
}

// importer returns the caller that writes the key's items in batches, in their order.
func (c *Case) importer() (detect.Part, bool) {
	who, alone := c.onlyCaller()
	if !alone || c.reads() || c.part(sample.BatchWriteItem) < mostShare {
		return who, false
	}
	s := c.Evidence.SortKeys
	return who, c.movesOn() || s != nil && s.Steps >= detect.MinRecords && s.Rising >= risingShare
}

// onlyCaller returns the caller that has nearly all of the key's load.
func (c *Case) onlyCaller() (who detect.Part, alone bool) {
	if c.Evidence == nil || len(c.Evidence.Callers) == 0 || c.Evidence.Records < detect.MinRecords {
		return who, false
	}
	who = c.Evidence.Callers[0]
	return who, who.Text != "" && who.Low*c.OwnShare() >= detect.CallerShare
}

// boundedJob slows a job to the rate that leaves room for the rest of the key's load.
func boundedJob(c *Case) (fix, bool) {
	who, is := c.job()
	load := c.LoadNow()
	if _, burst := laterWrites(c); !is || burst || c.isBehind() || load <= detect.RoomTonight*detect.Units(detect.Limit(c.Subject)) {
		return fix{}, false
	}
	from := load * c.OwnShare() * (who.Low + who.High) / 2
	to := detect.RateBelow(from - (load - c.RateTonight()))
	if to <= 0 || to >= from {
		return fix{}, false
	}
	left := load - from + to
	return fix{
		arguments: detect.Arguments{Caller: who.Text, Share: who.Low, From: from, Units: to},
		place:     first, after: detect.NewAfter(c.Subject, left, left),
	}, true
}

// shuffledImport is for an import in the order of its keys.
func shuffledImport(c *Case) (fix, bool) {
	_, is := c.importer()
	return fix{place: first}, is
}

// withoutCaller returns the load without the busiest caller's.
func (c *Case) withoutCaller() *detect.After {
	who := c.Evidence.Callers[0]
	return c.newAfter(1-c.OwnShare()*who.High, 1-c.OwnShare()*who.Low)
}

// MakesHot reports whether one caller alone makes the key hot: it has most of the key's
// load, and far less of all other load. The only caller of a table is no news. callers has
// each caller's share of the whole table's or index's load.
func MakesHot(f *detect.Finding, callers map[string]float64) bool {
	if f.Evidence == nil || len(f.Evidence.Callers) == 0 || f.Evidence.Records < detect.MinRecords || len(callers) == 0 || f.Share > detect.WholeShare {
		return false
	}
	c := f.Evidence.Callers[0]
	return c.Low*f.OwnShare() >= detect.CallerShare && shareOfRest(f, callers)*detect.CallerExcess <= c.Low
}

// shareOfRest returns the share of the key's busiest caller in the load of all other keys
// of the table.
func shareOfRest(f *detect.Finding, callers map[string]float64) float64 {
	c := f.Evidence.Callers[0]
	return min(1, max(0, detect.Ratio(callers[string(c.Text)]-f.Share*(c.Low+c.High)/2, 1-f.Share)))
}

// ByTest reports whether the key's busiest caller is named like a test.
func ByTest(f *detect.Finding) bool {
	if f.Evidence == nil || len(f.Evidence.Callers) == 0 || f.Evidence.Callers[0].Low*f.OwnShare() < detect.CallerShare {
		return false
	}
	return IsTest(string(f.Evidence.Callers[0].Text))
}

// testWords are parts of names that customers' traffic does not have.
var testWords = []string{
	"test", "tests", "testing", "loadtest", "perftest", "smoketest", "benchmark", "bench", "dummy", "canary", "healthcheck", "synthetic", "probe",
}

// jobWords are parts of the names of jobs, which nobody waits for.
var jobWords = []string{
	"job", "jobs", "cron", "batch", "nightly", "import", "importer", "export", "exporter", "backfill", "reindex", "loader", "etl", "migration",
}

// IsTest reports whether a part of a name is a test's.
func IsTest(name string) bool { return hasWord(name, testWords) }

// hasWord reports whether a part of a name is one of the words.
func hasWord(name string, words []string) bool {
	return hasPart(name, func(part string) bool { return slices.Contains(words, strings.ToLower(part)) })
}
