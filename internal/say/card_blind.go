package say

import (
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
)

var _ = add(casebook.CollectionStopped, card{
	name:    "collection has stopped",
	symptom: plain("no new samples are counted"),
	why: tellTensed(
		"No collector reports or can read its source, or event time stands still.",
		"No collector reported or could read its source, or event time stood still.",
	),
	now: plain("Look at the collectors' logs and their /-/ready, then restart any that hangs."),
})

var _ = add(casebook.CollectionLags, card{
	name:    "collection lags",
	symptom: plain("samples are counted late"),
	why: tellTensed(
		"Samples wait longer than usual before they are counted, or collectors cannot read a part of their source.",
		"Samples waited longer than usual before they were counted, or collectors could not read a part of their source.",
	),
	now: plain("See what the collectors' /-/ready cannot read. If nothing, add collectors, up to one a partition."),
})

var _ = add(casebook.BadSamples, card{
	name:    "rejected samples",
	symptom: plain("collectors reject samples"),
	why: tellTensed(
		"A collector rejects a part of the samples, and their load is not seen.",
		"A collector rejected a part of the samples, and their load was not seen.",
	),
	now: plain("See the reject reasons in GET /api/v1/bad-samples, then mend the producer."),
})

var _ = add(casebook.TablesRefused, card{
	name:    "tables without room",
	symptom: plain("a collector has no room for more tables"),
	why: tellTensed(
		"A collector has no room for more tables, and their keys are not seen.",
		"A collector had no room for more tables, and their keys were not seen.",
	),
	now: plain("Raise collect.tables of the collectors, or leave samples out."),
})

var _ = add(casebook.SamplesLost, card{
	name:    "lost samples",
	symptom: plain("samples were lost"),
	why:     plain("Samples expired before they were read, and are never counted."),
	now:     plain("Compare the log's retention with the collectors' absence. GET /api/v1/gaps lists all gaps."),
})

var _ = add(casebook.SamplesStopped, card{
	name:    "no samples",
	symptom: noSamples,
	why: tellTensed(
		"Samples arrived every minute and then stopped, although collectors can read.",
		"Samples arrived every minute and then stopped, although collectors could read.",
	),
	now: plain("Check that the application and its sampling still run. If the table may be quiet now, set quiet for it."),
})

var _ = add(casebook.CoverageFell, card{
	name:    "samples show less than before",
	symptom: plain("samples show less of the load than before"),
	why: tellTensed(
		"Samples show a smaller part of the table's load than before, by CloudWatch.",
		"Samples showed a smaller part of the table's load than before, by CloudWatch.",
	),
	now: plain("See which producer stopped sending samples, or changed its rate."),
})

var _ = add(casebook.UnseenKeys, card{
	name:    "keys that cannot be told apart",
	symptom: plain("too many keys to tell a hot one apart"),
	why: tellTensed(
		"So many heavy keys are active that single ones cannot be told apart.",
		"So many heavy keys were active that single ones could not be told apart.",
	),
	now: plain("Check the producers' sampling rates, then add partitions and collectors."),
})

var _ = add(casebook.TooManyHotKeys, card{
	name:    "more hot keys than are followed",
	symptom: plain("more keys are hot than are followed"),
	why: tellTensed(
		"More keys are hot than Keyheat follows.",
		"More keys were hot than Keyheat follows.",
	),
	now: plain("Check the producers' sampling rates: too small a rate makes every key hot."),
})

// noSamples is the time without samples.
func noSamples(f *detect.Finding, _ *casebook.Answer) string {
	if f.State == detect.Resolved {
		return "no samples from " + minute(f.FirstSeen) + " to " + minute(f.LastSeen) + " UTC"
	}
	return "no samples since " + minute(f.FirstSeen) + " UTC"
}

func minute(t time.Time) string { return t.UTC().Format("15:04") }
