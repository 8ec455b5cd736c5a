package say

import (
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
)

// blindCard are the words of a case in which Keyheat cannot see, or could not.
type blindCard struct{ symptom, now, past, move string }

var blindCards = map[detect.Kind]blindCard{
	detect.CollectionStopped: {
		"no new samples are counted",
		"No collector reports or can read its source, or event time stands still.",
		"No collector reported or could read its source, or event time stood still.",
		"Look at the collectors' logs and their /-/ready, then restart any that hangs.",
	},
	detect.CollectionLags: {
		"samples are counted late",
		"Samples wait longer than usual before they are counted, or collectors cannot read a part of their source.",
		"Samples waited longer than usual before they were counted, or collectors could not read a part of their source.",
		"See what the collectors' /-/ready cannot read. If nothing, add collectors, up to one a partition.",
	},
	detect.BadSamples: {
		"collectors reject samples",
		"A collector rejects a part of the samples, and their load is not seen.",
		"A collector rejected a part of the samples, and their load was not seen.",
		"See the reject reasons in GET /api/v1/bad-samples, then mend the producer.",
	},
	detect.TablesRefused: {
		"a collector has no room for more tables",
		"A collector has no room for more tables, and their keys are not seen.",
		"A collector had no room for more tables, and their keys were not seen.",
		"Raise collect.tables of the collectors, or leave samples out.",
	},
	detect.SamplesLost: {
		"samples were lost",
		"Samples expired before they were read, and are never counted.",
		"Samples expired before they were read, and are never counted.",
		"Compare the log's retention with the collectors' absence. GET /api/v1/gaps lists all gaps.",
	},
	detect.SamplesStopped: {
		"",
		"Samples arrived every minute and then stopped, although collectors can read.",
		"Samples arrived every minute and then stopped, although collectors could read.",
		"Check that the application and its sampling still run. If the table may be quiet now, set quiet for it.",
	},
	detect.CoverageFell: {
		"samples show less of the load than before",
		"Samples show a smaller part of the table's load than before, by CloudWatch.",
		"Samples showed a smaller part of the table's load than before, by CloudWatch.",
		"See which producer stopped sending samples, or changed its rate.",
	},
	detect.UnseenKeys: {
		"too many keys to tell a hot one apart",
		"So many heavy keys are active that single ones cannot be told apart.",
		"So many heavy keys were active that single ones could not be told apart.",
		"Check the producers' sampling rates, then add partitions and collectors.",
	},
	detect.TooManyHotKeys: {
		"more keys are hot than are followed",
		"More keys are hot than Keyheat follows.",
		"More keys were hot than Keyheat follows.",
		"Check the producers' sampling rates: too small a rate makes every key hot.",
	},
}

// withBlind adds the cards of Keyheat's own blindness.
func withBlind(all map[casebook.Code]card) map[casebook.Code]card {
	for kind, w := range blindCards {
		c := card{symptom: plain(w.symptom), why: tellTensed(w.now, w.past)}
		if kind == detect.SamplesStopped {
			c.symptom = noSamples
		}
		all[casebook.Code(kind)] = c
	}
	return all
}

// noSamples is the time without samples.
func noSamples(f *detect.Finding, _ *casebook.Answer) string {
	if f.State == detect.Resolved {
		return "no samples from " + minute(f.FirstSeen) + " to " + minute(f.LastSeen) + " UTC"
	}
	return "no samples since " + minute(f.FirstSeen) + " UTC"
}

func minute(t time.Time) string { return t.UTC().Format("15:04") }
