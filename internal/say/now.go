package say

import (
	"fmt"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/answer"
	"github.com/keyheat/keyheat/detect/wording"
)

// futile closes a move where people would raise capacity, in vain.
const futile = " More table capacity will not help."

// now is what on-call can do tonight.
func now(f *detect.Finding, a *answer.Answer) string {
	text := act(f, a)
	if a.Move.Futile && a.Move.Act == answer.SlowCallers {
		text += futile
	}
	return text
}

func act(f *detect.Finding, a *answer.Answer) string {
	w := requests(f)
	switch m := &a.Move; m.Act {
	case answer.Nothing:
		if f.State == detect.Resolved {
			return "Nothing: it is over."
		}
		return "Nothing tonight: nobody is harmed."
	case answer.SlowCallers:
		of := subject(f)
		if f.Kind == detect.LowCardinalityKey {
			of = "the hottest value"
		}
		switch {
		case len(m.Callers) == 0:
			return fmt.Sprintf("Slow or pause the %s of %s.", w, of)
		case a.Alike:
			return fmt.Sprintf("Slow or pause the %s of %s; its callers share them about evenly.", w, of)
		}
		return fmt.Sprintf("Slow or pause the %s of %s, %s first.", w, of, quote(m.Callers[0].Text))
	case answer.SlowScan:
		return "Slow or stop the Scan" + ofBusiest(m.Callers) + ": a rate limit, a smaller page or fewer segments."
	case answer.SlowImport:
		return "Slow or pause the job" + ofBusiest(m.Callers) + " that writes keys in order."
	case answer.StopTest:
		return "Stop the test" + ofBusiest(m.Callers) + "."
	case answer.BackOff:
		return "Let the retries" + ofBusiest(m.Callers) + " back off with jitter and a limit, or pause them."
	case answer.Wait:
		return "Wait some minutes: DynamoDB can split the partition. Slow callers if requests fail."
	case answer.Prewarm:
		return "Raise the table's warm throughput or provisioned capacity: both add partitions."
	case answer.RaiseCapacity:
		return "Raise the provisioned " + capacity(f) + ", or switch to on-demand."
	case answer.RaiseMaximum:
		return "Raise or remove the maximum throughput of the table or index."
	case answer.RaiseQuota:
		return "Ask AWS to raise the account's quota, or shed load. No table setting helps."
	case answer.RaiseIndexCapacity:
		return "Raise the write capacity of the index to the table's."
	case answer.CheckRefusals:
		return fmt.Sprintf("Check CloudWatch's %sKeyRangeThroughputThrottleEvents first. If it is zero, do nothing tonight.", detect.Side(f.Kind, "Write", "Read"))
	case answer.MendKeyheat:
		return ownMoves[f.Kind]
	}
	return ""
}

// capacity names the capacity to raise, above the load that was asked for.
func capacity(f *detect.Finding) string {
	if !f.Kind.OfTable() || f.Peak.RCU.Value+f.Peak.WCU.Value < 1 {
		return "capacity of the table"
	}
	if f.InReads() {
		return "read capacity above " + wording.Significant(f.Peak.RCU.Value) + " RCU"
	}
	return "write capacity above " + wording.Significant(f.Peak.WCU.Value) + " WCU"
}

// ownMoves are what to do about Keyheat itself.
var ownMoves = map[detect.Kind]string{
	detect.CollectionStopped: "Look at the collectors' logs and their /-/ready, then restart the one that hangs.",
	detect.CollectionLags:    "Add collectors, up to one a partition. A lag after an outage goes by itself.",
	detect.BadSamples:        "See the reject reasons in GET /api/v1/bad-samples, then mend the producer.",
	detect.TablesRefused:     "Raise the collector's limit of tables, or leave samples out.",
	detect.SamplesLost:       "Compare the log's retention with the collectors' absence. GET /api/v1/gaps lists all gaps.",
	detect.UnseenKeys:        "Check the producers' sampling rates, then add partitions and collectors.",
	detect.TooManyHotKeys:    "Check the producers' sampling rates: too small a rate makes every key hot.",
	detect.CoverageFell:      "See which producer stopped sending samples, or changed its rate.",
}

// heals says whether it heals by itself.
func heals(f *detect.Finding, a *answer.Answer) string {
	h := a.Healing
	if (f.Severity == detect.Info || a.Harm.Own) && h.Outlook != answer.Ended {
		return ""
	}
	switch h.Outlook {
	case answer.Ended:
		return "It is over: the load fell below the limit at " + f.LastSeen.UTC().Format("15:04:05 UTC") + "."
	case answer.Likely:
		if h.Ground == answer.GroundKeys {
			return "Likely, in some minutes: DynamoDB can split the partition between its keys."
		}
		return "Likely, in some minutes: the load spreads over sort keys, so DynamoDB can split it."
	case answer.WithLoad:
		return "Yes, when the load that causes it stops."
	case answer.Open:
		return fmt.Sprintf("Known in %s; an update follows.", wording.Span(h.Known))
	case answer.Unknown:
		if text := unknown[h.Ground]; text != "" {
			return "Unknown: " + text + "."
		}
		return "Unknown."
	}
	if text := grounds[h.Ground]; text != "" {
		return "No: " + text + "."
	}
	return "No."
}

var grounds = map[answer.Ground]string{
	answer.GroundItem:       "one item stays in one partition, and no split divides it",
	answer.GroundLocalIndex: "a table with a local index never splits a key",
	answer.GroundSortKey:    "new items always land at one end, so a split never divides the load",
	answer.GroundMoving:     "the load moves on before DynamoDB splits the partition",
	answer.GroundPeriod:     "the next period's key begins in one partition again",
	answer.GroundBursts:     "the load comes in bursts, and a split does not help bursts",
	answer.GroundNoSplit:    "it lasts longer than splits take",
	answer.GroundCapacity:   "only more capacity or less load ends it",
	answer.GroundDesign:     "only a change ends it",
}

var unknown = map[answer.Ground]string{
	answer.GroundSplitDone:  "DynamoDB may have split the key already; no refused request shows it",
	answer.GroundSortKey:    "the load moves along the sort key in several places",
	answer.GroundNoSortKeys: "the samples carry no sort keys",
	answer.GroundHashedKeys: "sort keys are hashed and have no order",
	answer.GroundFewSamples: "too few requests were sampled",
	answer.GroundBatchTimes: "requests carry the times of batches",
	answer.GroundNotSeen:    "the samples do not show which keys share the partition",
	answer.GroundNotDecided: "the sort keys seen do not decide it",
}
