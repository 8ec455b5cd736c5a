package say_test

import (
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/position"
)

// lineTitle names the title of a brief, beside the lines of its answers.
const lineTitle = "title"

// variant is a case's story with other evidence, and the sentences that become others.
type variant struct {
	name   string
	code   detect.Case
	change func(*detect.Finding)
	says   map[string]string // by the name of the line; “ … ” stands for what the story says, too
}

func over(f *detect.Finding) { f.State = detect.Resolved }

// unrefused takes a finding's refusals away.
func unrefused(f *detect.Finding) {
	f.Throttling, f.Evidence.Refused = nil, nil
	f.Consumed.WCU = f.Peak.WCU.Value
}

// refusedCaller is a caller with the refusals that evidence shows.
func refusedCaller(f *detect.Finding) {
	f.Evidence.Callers = []detect.Part{{Text: "batch", Low: 0.45, High: 1}}
}

// notShown is a full partition of which no stream shows the keys.
func notShown(keys ...detect.RefusedKey) func(*detect.Finding) {
	return func(f *detect.Finding) { f.Partition, f.Ground, f.RefusedKeys = nil, detect.GroundNotSeen, keys }
}

// refusedKey is a key with nearly all refusals.
var refusedKey = detect.RefusedKey{Key: "cust#4711", WCU: detect.ExactFigure(32), Share: 1}

// sampledMean is a load of which samples prove the mean, and no second.
func sampledMean(f *detect.Finding) {
	f.Quality.Sampling, f.Quality.Rate = detect.SamplingByCall, new(0.01)
	f.Mean.WCU, f.Peak.WCU = detect.Figure{Value: 1500, Low: 1400, High: 1600}, detect.Figure{Value: 1500, Low: 1400, High: 2900}
}

// scanOf is a Scan that takes a table's capacity, which leaves so much to it.
func scanOf(units float64) func(*detect.Finding) {
	return func(f *detect.Finding) {
		f.Subject, f.Evidence.Callers = detect.SubjectTable, []detect.Part{{Text: "export", Low: 0.98, High: 1}}
		f.Advice = []detect.Step{detect.NewStep(detect.FixSlowScan)}
		f.Advice[0].Arguments = detect.Arguments{Share: 0.9, From: 2900, Units: units, Caller: "export"}
	}
}

var variants = []variant{
	{"burst capacity serves what is not provisioned", casebook.ShortOfCapacity, unrefused, map[string]string{
		lineTitle:    "orders: above its provisioned capacity",
		say.LineHarm: "No refusals seen yet; above its capacity since 16:55:49 UTC, for 31 s.",
		say.LineWhy:  "1,680 WCU/s are asked of 1,200 provisioned; burst capacity serves the rest for some minutes.",
	}},
	{"its capacity was raised", casebook.ShortOfCapacity, func(f *detect.Finding) { unrefused(f); over(f) }, map[string]string{
		lineTitle:     "orders: above its provisioned capacity",
		say.LineHarm:  "None: no refused request was seen.",
		say.LineWhy:   "1,680 WCU/s were asked of 1,200 provisioned.",
		say.LineNow:   "Nothing.",
		say.LineHeals: "It is over: it was above the stated capacity until 16:56:19 UTC.",
	}},
	{"one caller has the refusals", casebook.ShortOfCapacity, refusedCaller, map[string]string{
		say.LineWhy: "1,680 WCU/s are asked of 1,200 provisioned. Refused callers: “batch” ≥45%.",
		say.LineNow: "Raise the provisioned capacity of the table, or switch the table to on-demand. Meanwhile slow “batch”.",
	}},
	{"one caller has the refusals", casebook.SharedPartition, refusedCaller, map[string]string{
		say.LineWhy: "Partition 0x4a–0x5f of orders carries 124–131% of its write limit (inferred). Busiest: “a” 31%, “b” 28%. Refused callers: “batch” ≥45%.",
		say.LineNow: "Wait some minutes for a split, or slow “batch”.",
	}},
	{"batches send refused items again", casebook.HotKey, func(f *detect.Finding) {
		f.Peak.WCU.Low, f.Evidence.SortKeys.Repeated = 1000, 0.4
		f.Evidence.Operations = []detect.Operation{{Op: "BatchWriteItem", Share: 1}}
	}, map[string]string{say.LineWhy: "1,000 to 1,680 WCU/s on one key, resends included; one partition takes 1,000. Main callers: “web” ≥48%, “app” ≥28%."}},
	{"no item of a batch comes twice", casebook.HotKey, func(f *detect.Finding) {
		f.Evidence.Operations = []detect.Operation{{Op: "BatchWriteItem", Share: 1}}
	}, nil},
	{"a cache expired five times", casebook.HotItem, func(f *detect.Finding) {
		f.Advice = []detect.Step{detect.NewStep(detect.FixRefilledCache)}
		f.Advice[0].Arguments = detect.Arguments{Every: 300, Count: 5}
	}, map[string]string{say.LineWhy: "Up to 1,100 WCU/s on one key, most on one item; one partition takes 1,000. 5 times, every 5 min. Main callers: “web” ≥48%, “app” ≥28%.", say.LineThen: "Let one caller refill the cache."}},
	{"a third of sampled requests is refused", casebook.HotKey, func(f *detect.Finding) {
		f.Throttling.Share, f.Throttling.ShareLow, f.Throttling.ShareHigh = 1./3, 0.242, 0.433
	}, map[string]string{say.LineHarm: "33% (24 to 44%) of the key's writes refused since 16:55:49 UTC, for 31 s."}},
	{"writes of 200 units", casebook.HotKey, func(f *detect.Finding) {
		f.Evidence.Operations = []detect.Operation{{Op: "PutItem", Share: 1, Requests: 8, Units: 200}}
	}, map[string]string{say.LineNow: "Limit writes by “web” to “merchant#4711” to 60 WCU/s (0.3 writes/s). Capacity cannot help."}},
	{"one second", casebook.HotKey, func(f *detect.Finding) {
		f.LastSeen, f.Throttling.To = f.FirstSeen, f.FirstSeen
	}, map[string]string{say.LineHarm: "40% of the key's writes refused at 16:55:49 UTC, for 1 s."}},
	{"callers that do not retry", casebook.HotKey, func(f *detect.Finding) {
		f.Evidence.Retries = &detect.Retries{SentCalls: detect.SentCalls{Calls: 100, Attempts: 100, Amplification: 1}, Failed: detect.Figure{Value: 20}}
	}, map[string]string{say.LineHarm: "20% of the key's calls failed at their first attempt: these callers do not retry; hot since 16:55:49 UTC, for 31 s."}},
	{"no verdict on splits yet", casebook.HotKey, func(f *detect.Finding) {
		f.Ground, f.Evidence.Split = detect.GroundYoung, &detect.Split{Verdict: detect.SplitUnknown, Seconds: 3}
	}, map[string]string{say.LineHeals: "Unknown; next update in about 2 min.", say.LineThen: ""}},
	{"no split in 20 minutes", casebook.HotKey, func(f *detect.Finding) {
		f.LastSeen = f.FirstSeen.Add(20 * time.Minute)
		f.Evidence.Refused = map[string]int64{sample.KeyRange.String(): 900}
	}, map[string]string{say.LineHeals: "Not so far; most splits are quicker."}},
	{"it is over", casebook.HotKey, over, map[string]string{
		say.LineHarm: "40% of the key's writes refused from 16:55:49 to 16:56:19 UTC.",
		say.LineWhy:  "Up to 1,680 WCU/s went to one key; one partition takes 1,000. Main callers: “web” ≥48%, “app” ≥28%.",
		say.LineNow:  "Nothing.", say.LineHeals: "It is over: the load fell after 16:56:19 UTC.",
	}},
	{"DynamoDB split it", casebook.HotKey, func(f *detect.Finding) {
		over(f)
		f.Healed = &detect.Healed{Since: f.LastSeen}
	}, map[string]string{say.LineHeals: "It did: refusals ended at 16:56:19 UTC under the same load, so DynamoDB split the key.", say.LineThen: ""}},
	{"traces name the table's callers", casebook.HotItem, func(f *detect.Finding) {
		f.Evidence.Callers = nil
		f.TableCallers = []detect.Part{{Text: "web", Low: 0.6, High: 0.6}, {Text: "batch", Low: 0.35, High: 0.35}, {Text: "cron", Low: 0.05, High: 0.05}}
	}, map[string]string{
		say.LineWhy: " … Callers of the whole table: “web” 60%, “batch” 35%.",
	}},
	{"its callers are known", casebook.ReplicatedKey, func(f *detect.Finding) {
		f.Evidence.Callers = []detect.Part{{Text: "web", Low: 0.48, High: 0.52}}
	}, map[string]string{say.LineWhy: " … Main callers: “web” 15%, other Regions 70%."}},
	{"nine tenths come from two other Regions", casebook.ReplicatedKey, func(f *detect.Finding) {
		unrefused(f)
		f.Replication = &detect.Replication{Regions: []string{"ap-south-1", "eu-west-1", "us-east-1"}, WCU: 1512}
	}, map[string]string{
		say.LineWhy: " … 90% from other Regions.",
		say.LineNow: "Wait some minutes … in all Regions, other Regions first.",
	}},
	{"nobody knows the keys", casebook.SharedPartition, notShown(), map[string]string{
		lineTitle:     "orders: a partition refuses requests, no single key is hot",
		say.LineWhy:   "At least one partition takes no more, and no single key in it is known to be hot.",
		say.LineNow:   "Slow or pause writes to orders.",
		say.LineHeals: "Unknown: the samples do not show which keys share the partition.",
	}},
	{"one key has nearly all refusals", casebook.SharedPartition, notShown(refusedKey), map[string]string{
		lineTitle:   "orders: a partition refuses requests to one key (“cust#4711”)",
		say.LineWhy: "A partition is full; which keys fill it is unknown. Nearly all refusals hit “cust#4711”: 32 WCU/s refused.",
		say.LineNow: "Slow or pause writes to “cust#4711”.",
	}},
	{"one key's refusals carry no units", casebook.SharedPartition, notShown(detect.RefusedKey{Key: "cust#4711", Requests: 25, Share: 1}), map[string]string{
		say.LineWhy: "A partition is full; which keys fill it is unknown. Nearly all refusals hit “cust#4711”: 25 requests/s refused.",
	}},
	{"one key had them", casebook.SharedPartition, func(f *detect.Finding) {
		notShown(refusedKey)(f)
		over(f)
	}, map[string]string{
		say.LineWhy:   "A partition was full; which keys fill it is unknown. Nearly all refusals hit “cust#4711”: 32 WCU/s refused.",
		say.LineHeals: "It is over: no request was refused after 16:56:19 UTC.",
	}},
	{"several keys are refused", casebook.SharedPartition, func(f *detect.Finding) {
		f.Partition = nil
		f.RefusedKeys = []detect.RefusedKey{{Key: "cust#1", WCU: detect.ExactFigure(32), Share: 0.6}, {Key: "cust#2", WCU: detect.ExactFigure(21), Share: 0.4}, {Key: "cust#3", WCU: detect.ExactFigure(0.1), Share: 0.001}}
	}, map[string]string{
		say.LineWhy:   "Several keys together fill one or more partitions, none of them hot. Refused most: “cust#1” 32 WCU/s, “cust#2” 21 WCU/s.",
		say.LineNow:   "Wait some minutes for a split, or slow writes to “cust#1” and “cust#2”.",
		say.LineHeals: "Likely, in minutes: DynamoDB can split the partition.",
	}},
	{"the only partition is full without a refusal", casebook.SharedPartition, func(f *detect.Finding) {
		unrefused(f)
		f.Partition.From, f.Partition.To = 0, ^position.Position(0)
	}, map[string]string{
		lineTitle:    "orders: the only partition is full, no single key is hot",
		say.LineHarm: "No refusals seen yet; hot since 16:55:49 UTC, for 31 s.",
		say.LineWhy:  "The only partition of orders carries 124–131% of its write limit (inferred). Busiest: “a” 31%, “b” 28%.",
		say.LineNow:  "Wait some minutes for a split. If WriteKeyRangeThroughputThrottleEvents exceeds 0, shed load.",
	}},
	{"its partition was split", casebook.SharedPartition, func(f *detect.Finding) {
		over(f)
		f.Partition.Split = &detect.PartitionSplit{At: f.LastSeen.Add(time.Minute), CutLow: 0x550 << 52, CutHigh: 0x551 << 52}
	}, map[string]string{
		say.LineWhy:   "Partition 0x4a–0x5f of orders carried 124–131% of its write limit (inferred). Busiest: “a” 31%, “b” 28%.",
		say.LineHeals: "It did: DynamoDB split the partition near 0x5508±08 at 16:57:19 UTC.",
	}},
	// Harm.
	{"refused at times", casebook.HotKey, func(f *detect.Finding) { f.OverSeconds = new(12) }, map[string]string{
		say.LineHarm: "40% of the key's writes refused at times since 16:55:49 UTC, for 31 s.",
	}},
	{"only attempts are known", casebook.HotKey, func(f *detect.Finding) {
		f.Throttling, f.Evidence.Refused = nil, map[string]int64{sample.KeyRange.String(): 700}
	}, map[string]string{say.LineHarm: "700 attempts refused in 16 seconds; hot since 16:55:49 UTC, for 31 s."}},
	{"only sampled attempts are known", casebook.HotKey, func(f *detect.Finding) {
		f.Throttling, f.Evidence.Refused = nil, map[string]int64{sample.KeyRange.String(): 700}
		f.Quality.Rate = new(0.01)
	}, map[string]string{say.LineHarm: "64,900 to 75,400 attempts refused in 16 seconds; hot since 16:55:49 UTC, for 31 s."}},
	{"calls wait for their retries", casebook.HotKey, func(f *detect.Finding) {
		f.Throttling, f.Evidence.Refused = nil, map[string]int64{sample.KeyRange.String(): 700}
		f.Evidence.Retries = &detect.Retries{Seconds: 60, SentCalls: detect.SentCalls{Calls: 1000, Attempts: 1300}, Waited: detect.ExactFigure(300)}
	}, map[string]string{say.LineHarm: "Calls wait 0.3 s on average for retries; hot since 16:55:49 UTC, for 31 s."}},
	{"nothing is refused", casebook.HotKey, unrefused, map[string]string{
		lineTitle:    "orders: writes to one key above the partition limit (“merchant#4711”)",
		say.LineHarm: "No refusals seen yet; above the limit at times since 16:55:49 UTC, for 31 s.",
		say.LineNow:  "Wait some minutes for a split. If WriteKeyRangeThroughputThrottleEvents exceeds 0, limit those by “web” to 60 WCU/s.",
	}},
	{"minutes show no refusals", casebook.HotKey, func(f *detect.Finding) {
		unrefused(f)
		f.Quality = detect.NewQuality(detect.SourceMinutes)
	}, map[string]string{say.LineHarm: "Unknown: the samples do not show refusals."}},
	{"nothing was refused", casebook.HotKey, func(f *detect.Finding) { unrefused(f); over(f) }, map[string]string{
		say.LineHarm: "None: no refused request was seen.",
	}},
	{"all is served since a split", casebook.HotKey, func(f *detect.Finding) {
		unrefused(f)
		over(f)
		f.Healed = &detect.Healed{Since: f.LastSeen}
	}, map[string]string{say.LineHarm: "None since 16:56:19 UTC: all requests were served."}},
	{"one item must be refused by now", casebook.HotItem, func(f *detect.Finding) { f.Quality = detect.NewQuality(detect.SourceRequests) }, map[string]string{
		say.LineHarm: "No refusals in the samples; above the limit at times since 16:55:49 UTC, for 31 s.",
	}},
	{"a sampled mean is above the limit", casebook.HotKey, func(f *detect.Finding) {
		unrefused(f)
		sampledMean(f)
	}, map[string]string{
		say.LineHarm: "No refusals seen yet; proven above the limit since 16:55:49 UTC, for 31 s.",
		say.LineWhy:  "1,500 WCU/s on average … app” ≥28%.",
	}},
	{"it is probably above the limit", casebook.MayBeOver, func(f *detect.Finding) { f.Peak.WCU.Low = 1010 }, map[string]string{
		lineTitle:    "orders: writes to one key probably above the partition limit (“merchant#4711”)",
		say.LineHarm: "No refusals seen yet; probably above the limit since 16:55:49 UTC, for 31 s.",
	}},
	{"reads and writes together may be too much", casebook.MayBeOver, func(f *detect.Finding) {
		f.Peak.WCU, f.Peak.RCU = detect.ExactFigure(700), detect.ExactFigure(2000)
	}, map[string]string{say.LineWhy: "700 WCU/s and 2,000 RCU/s on one key; one partition may not serve both."}},
	// Now.
	{"callers that nothing tells apart", casebook.HotKey, func(f *detect.Finding) {
		f.Evidence.Callers = []detect.Part{{Text: "web", Low: 0.3, High: 0.34}, {Text: "app", Low: 0.3, High: 0.34}}
	}, map[string]string{say.LineNow: "Limit writes to “merchant#4711” to 900 WCU/s in all. … help."}},
	{"no callers", casebook.HotKey, func(f *detect.Finding) { f.Evidence.Callers = nil }, map[string]string{
		say.LineNow: "Limit writes to “merchant#4711” to 900 WCU/s. … help.",
	}},
	{"so few are refused that retries absorb it", casebook.HotKey, func(f *detect.Finding) { f.Ground, f.Throttling.Share = detect.GroundSortKey, 0.005 }, map[string]string{
		say.LineNow: "Nothing yet: retries absorb so few. Above 1% refused, limit writes by “web” … help.",
	}},
	{"it is refused, and does not fill its partition", casebook.MayBeOver, func(f *detect.Finding) {
		f.Quality.Sampling, f.Severity, f.OverSeconds, f.PossibleSeconds = detect.SamplingByCall, detect.Warning, new(0), 3
		f.Mean.WCU, f.Peak.WCU = detect.Figure{Value: 295, Low: 271, High: 321}, detect.Figure{Value: 336, Low: 283, High: 1705}
		f.Throttling = &detect.Throttling{From: f.FirstSeen, To: f.LastSeen, Units: 900, Share: 0.09, ShareLow: 0.07, ShareHigh: 0.12}
	}, map[string]string{say.LineNow: "Wait some minutes for a split, or raise the table's warm throughput."}},
	{"some are refused, and a split is likely", casebook.HotKey, func(f *detect.Finding) { f.Throttling.Share = 0.05 }, map[string]string{
		say.LineNow: "Wait some minutes for a split, or limit writes to “merchant#4711” to 900 WCU/s.",
	}},
	{"all is served for minutes", casebook.HotKey, func(f *detect.Finding) {
		f.Through = f.Throttling.To.Add(detect.HealedSeconds * time.Second)
	}, map[string]string{
		lineTitle:     "orders: writes throttled on one key, now served (“merchant#4711”)",
		say.LineNow:   "Nothing tonight: all requests have been served since.",
		say.LineHeals: "It has been served since 16:56:20 UTC; whether by a split is unknown.",
	}},
	{"all is served, since the load fell", casebook.HotKey, func(f *detect.Finding) {
		f.Through = f.Throttling.To.Add(detect.HealedSeconds * time.Second)
		f.Evidence.Split = &detect.Split{Verdict: detect.SplitHelps, Seconds: 120, Load: 700}
	}, map[string]string{say.LineHeals: "It has been served since 16:56:20 UTC; the load fell below the limit."}},
	{"most are refused for the table's capacity", casebook.HotKey, func(f *detect.Finding) {
		f.Evidence.Refused = map[string]int64{sample.Provisioned.String(): 700}
	}, map[string]string{
		say.LineWhy: "Refused for lack of the table's capacity. … app” ≥28%.",
		say.LineNow: "Raise the provisioned capacity of the table, or switch the table to on-demand.",
	}},
	{"callers failed, and it is over", casebook.RetryStorm, over, map[string]string{
		say.LineNow: "Nothing at the table. Check the callers for lost writes.",
	}},
	{"the key itself is above the limit", casebook.RetryStorm, func(f *detect.Finding) {
		f.Peak.WCU, f.Utilization, f.Ground = detect.ExactFigure(1300), 1.3, detect.GroundSortKey
	}, map[string]string{
		say.LineWhy:   "“job” makes 77% of all attempts on “tenant#a”, 4.2 a request: 1,300 WCU/s; one partition takes 1,000.",
		say.LineHeals: "When the caller slows down; fewer retries are not enough.",
	}},
	{"no split can help", casebook.OneCaller, func(f *detect.Finding) { f.Ground = detect.GroundSortKey }, map[string]string{
		say.LineHeals: "When the caller slows or moves on.",
	}},
	{"an index key is not refused", casebook.IndexKey, unrefused, map[string]string{
		say.LineWhy: "Up to 1,350 WCU/s on one index key; above 1,000, table writes may fail.",
		say.LineNow: "If the index's WriteKeyRangeThroughputThrottleEvents exceeds 0, limit table writes with “OPEN” to 900 WCU/s.",
	}},
	{"a job writes in order", casebook.MovingSpot, func(f *detect.Finding) {
		f.Advice = []detect.Step{detect.NewStep(detect.FixBoundedRate), detect.NewStep(detect.FixShuffleInput)}
		f.Advice[0].Arguments.Units = 750
	}, map[string]string{
		say.LineWhy:  "A job writes key after key, each in one partition. Main callers: “web” ≥48%, “app” ≥28%.",
		say.LineNow:  "Slow “web” to 750 WCU/s, or pause it: it writes keys in order.",
		say.LineThen: "Shuffle the rows before the import.",
	}},
	{"the hottest keys are known", casebook.MovingSpot, func(f *detect.Finding) {
		f.Members, f.Evidence.Callers = detect.NewMembers(9, []sample.Text{"a"}), nil
	}, map[string]string{say.LineNow: "Limit writes to each hot key to 900 WCU/s. … help."}},
	{"the hottest value is known", casebook.FewValues, func(f *detect.Finding) { f.Members = detect.NewMembers(8, []sample.Text{"DE"}) }, map[string]string{
		say.LineWhy: "1,200 WCU/s on “DE”, one of 8 key values; above 1,000, table writes may fail.",
		say.LineNow: "If the index's WriteKeyRangeThroughputThrottleEvents exceeds 0, limit writes to “DE” to 900 WCU/s.",
	}},
	{"there is one value", casebook.FewValues, func(f *detect.Finding) { f.Members = detect.NewMembers(1, []sample.Text{"ALL"}) }, map[string]string{
		say.LineWhy: "1,200 WCU/s on “ALL”, the only key value; above 1,000, table writes may fail.",
	}},
	{"values of a table", casebook.FewValues, func(f *detect.Finding) { f.Index = "" }, map[string]string{
		say.LineWhy: "1,200 WCU/s on “OPEN”, one of 4 key values; one partition takes 1,000.",
		say.LineNow: "If WriteKeyRangeThroughputThrottleEvents exceeds 0, limit writes to “OPEN” to 900 WCU/s.",
	}},
	{"a split of the values is possible", casebook.FewValues, func(f *detect.Finding) {
		f.Advice = append(f.Advice, detect.NewStep(detect.FixSplitMeanwhile))
	}, map[string]string{say.LineHeals: "For a time, perhaps: DynamoDB may split the hottest values."}},
	{"a table's Scan with a rate", casebook.Scan, scanOf(600), map[string]string{
		lineTitle:   "orders: throttled, a Scan takes the read capacity",
		say.LineWhy: "A Scan asks for 90% of the read units; the table lacks capacity for all. Scanned by “export”.",
		say.LineNow: "Slow the Scan by “export” from 2,900 to 600 RCU/s, or stop it.",
	}},
	{"a table's Scan is too fast by far", casebook.Scan, scanOf(20), map[string]string{say.LineNow: "Pause the Scan by “export”."}},
	{"its refusals name one key, and few are refused", casebook.SharedPartition, func(f *detect.Finding) {
		k := refusedKey
		k.Callers = []detect.Part{{Text: "web", Low: 1, High: 1}}
		notShown(k)(f)
		f.Throttling.Share = 0.02
	}, map[string]string{
		say.LineWhy: "A partition is full; which keys fill it is unknown. Nearly all refusals hit “cust#4711”: 32 WCU/s refused. Refused callers: “web” 100%.",
		say.LineNow: "Let writes to “cust#4711” by “web” back off, and wait some minutes for a split.",
	}},
	{"a new table has too few partitions", casebook.SharedPartition, func(f *detect.Finding) {
		f.Partition, f.Advice = nil, []detect.Step{detect.NewStep(detect.FixPrewarmNewTable)}
	}, map[string]string{say.LineNow: "Raise the table's warm throughput to add partitions, or shed load until DynamoDB has split some."}},
	{"a table serves so much at once", casebook.Ramp, func(f *detect.Finding) { f.Ground = detect.GroundWarm }, map[string]string{
		say.LineWhy: "9,100 WCU/s requested of the table; it serves about 4,540 WCU/s at once.",
	}},
	{"its peak is known", casebook.ShortOfCapacity, func(f *detect.Finding) { f.Peak.WCU = detect.ExactFigure(2200) }, map[string]string{
		say.LineNow: "Raise the provisioned write capacity of the table to 3,300 WCU/s (peak: 2,200), or switch the table to on-demand.",
	}},
	{"an index is short of writes", casebook.ShortOfCapacity, func(f *detect.Finding) { f.Index, f.Peak.WCU = "by-status", detect.ExactFigure(2200) }, map[string]string{
		say.LineWhy: "1,680 WCU/s are asked of 1,200 provisioned; DynamoDB then refuses table writes.",
		say.LineNow: "Raise the provisioned write capacity of the index to 3,300 WCU/s (peak: 2,200), or switch the table to on-demand.",
	}},
	{"its reads reach the maximum", casebook.OwnMaximum, func(f *detect.Finding) { f.Peak.RCU = detect.ExactFigure(900) }, map[string]string{
		say.LineNow: "Raise the maximum read throughput of the table to 1,350 RCU/s (peak: 900), or remove the maximum.",
	}},
	{"it needs so much less", casebook.AccountQuota, func(f *detect.Finding) { f.Peak.WCU, f.Consumed.WCU = detect.ExactFigure(50_000), 40_000 }, map[string]string{
		say.LineNow: "Request a higher quota from AWS; meanwhile cut the writes by 26%. No table setting helps.",
	}},
	{"reads come near what AWS measured", casebook.EventualReads, func(f *detect.Finding) { f.Peak.RCU.High = 4600 }, map[string]string{say.LineWhy: "Up to about 3,600 RCU/s on one key, none marked as strong: above the documented 3,000, near the 4,500 of eventual reads that AWS measured."}},
	{"no split can come", casebook.NearLimit, func(f *detect.Finding) { f.Ground = detect.GroundSortKey }, map[string]string{say.LineHeals: "Nothing to heal yet; new items always land at one end."}},
	{"refusals would be seen", casebook.AtLimit, func(f *detect.Finding) { f.Quality = detect.NewQuality(detect.SourceRequests) }, map[string]string{say.LineHarm: "No refusals seen yet; at the limit since 16:55:49 UTC, for 31 s."}},
	{"the table's own maximum refuses a Scan", casebook.Scan, func(f *detect.Finding) {
		scanOf(600)(f)
		f.Evidence.Refused = map[string]int64{sample.MaxOnDemand.String(): 700}
	}, map[string]string{say.LineWhy: "A Scan asks for 90% of the read units; the table's own maximum refuses the excess. Scanned by “export”."}},
	{"two Scans, and no reason", casebook.Scan, func(f *detect.Finding) {
		scanOf(600)(f)
		f.Evidence.Callers = []detect.Part{{Text: "export", Low: 0.6, High: 0.6}, {Text: "report", Low: 0.3, High: 0.3}}
		f.Evidence.Refused = map[string]int64{sample.ThrottleUnknown.String(): 700}
	}, map[string]string{say.LineWhy: "Scans ask for 90% of the read units; the samples do not say which limit refuses requests. Scanned by “export” and “report”.", say.LineHeals: "When the Scan by “export” ends or slows."}},
	{"half of the refusals hit one key", casebook.SharedPartition, notShown(detect.RefusedKey{Key: "cust#4711", WCU: detect.ExactFigure(32), Share: 0.5}), map[string]string{say.LineWhy: "A partition is full; which keys fill it is unknown. 50% of the refusals hit “cust#4711”: 32 WCU/s refused."}},
	// Then.
	{"even shards would not be enough", casebook.TooFewShards, func(f *detect.Finding) { f.Advice[0] = detect.NewStep(detect.FixEvenShards) }, map[string]string{
		say.LineThen: "Spread the load evenly over the shards, then make 14 of them.",
	}},
	{"a burst that comes again", casebook.HotKey, func(f *detect.Finding) {
		over(f)
		f.Advice = []detect.Step{detect.NewStep(detect.FixSpreadBurst)}
	}, map[string]string{say.LineHeals: "The burst is over: the load fell after 16:56:19 UTC.", say.LineThen: "Spread the burst over some seconds."}},
	{"its retries hardly wait", casebook.RetryStorm, func(f *detect.Finding) {
		f.Evidence.Retries.Callers[0].Waited = 16
	}, map[string]string{lineTitle: "orders: one caller retries without pause (“tenant#a”)"}},
	{"no table has samples", casebook.SamplesStopped, func(f *detect.Finding) { f.Table = "" }, map[string]string{
		lineTitle: "All tables: no samples since 16:55 UTC",
	}},
	{"samples came again", casebook.SamplesStopped, over, map[string]string{
		lineTitle:    "orders: no samples from 16:55 to 16:56 UTC",
		say.LineHarm: "Unknown: a hot key may have gone unseen.",
		say.LineNow:  "Nothing.", say.LineHeals: "It is over: last seen at 16:56:19 UTC.",
	}},
}

// TestOutlooks holds why a hot key heals or not.
func TestOutlooks(t *testing.T) {
	t.Parallel()
	for ground, want := range map[detect.Ground]string{
		detect.GroundItem:       "No: one item never splits.",
		detect.GroundLocalIndex: "No: a local index prevents splits.",
		detect.GroundSortKey:    "No: new items always land at one end.",
		detect.GroundMoving:     "No: the load moves on before a split.",
		detect.GroundBursts:     "No: its average is too low for a split.",
		detect.GroundPlaces:     "Unknown: the load moves along the sort key in several places.",
		detect.GroundNoSortKeys: "Unknown: samples lack sort keys.",
		detect.GroundHashedKeys: "Unknown: sort keys are hashed and have no order.",
		detect.GroundFewSamples: "Unknown: too few requests were sampled.",
		detect.GroundBatchTimes: "Unknown: requests carry the times of batches.",
		detect.GroundNotDecided: "Unknown: the sort keys seen do not decide it.",
		detect.GroundCutShort:   "Unknown: the samples show less than two minutes of heat.",
		detect.GroundWarmKey:    "Unknown: the key is not hot, but its partition is full.",
		"":                      "Unknown.",
	} {
		f := caseFinding(t, casebook.HotKey)
		f.Ground = ground
		f.Case = casebook.Diagnose(f)
		if got := say.New(f).Heals; got != want {
			t.Errorf("%s: %q, want %q", ground, got, want)
		}
	}
}

// TestLasting holds the lasting fix with the load that it leaves.
func TestLasting(t *testing.T) {
	t.Parallel()
	after := detect.NewAfter(detect.KeyWrites, 300, 400)
	for fix, want := range map[detect.Fix]string{
		detect.FixDividedCounter:   "If it counts, divide it over 3 keys, ≤400 WCU/s each.",
		detect.FixTimeKey:          "Add a suffix to the key's time, ≤400 WCU/s a key.",
		detect.FixCache:            "Cache the reads for a second; each cache reads about 400 WCU/s.",
		detect.FixSlowScan:         "Export to S3, or limit the Scan's rate; then at most 400 WCU/s.",
		detect.FixEventualRead:     "Read eventually consistently where possible; then at most 400 WCU/s.",
		detect.FixShuffleInput:     "Shuffle the rows before the import; busiest key then about 400 WCU/s.",
		detect.FixBoundedRate:      "Limit the job to 750 WCU/s.",
		detect.FixMendCaller:       "Look for a loop in “web”; then at most 400 WCU/s.",
		detect.FixConditionalWrite: "Replace transactions with conditional writes; then at most 400 WCU/s.",
		detect.FixBackOff:          "Retry with backoff, jitter and a limit; then at most 400 WCU/s.",
		detect.FixCompression:      "Compress large attributes; then at most 400 WCU/s.",
		detect.FixWaitForSplit:     "",
	} {
		f := caseFinding(t, casebook.HotKey)
		s := step(fix, after)
		s.Arguments.Units, s.Arguments.Caller = 750, "web"
		f.Ground, f.Advice = detect.GroundSortKey, []detect.Step{s}
		if got := say.New(f).Then; got != want {
			t.Errorf("%s: %q, want %q", fix, got, want)
		}
	}
}

// TestVariants holds the sentences of a case that depend on its evidence.
func TestVariants(t *testing.T) {
	t.Parallel()
	for _, v := range variants {
		f := caseFinding(t, v.code)
		before := say.New(f)
		v.change(f)
		f.Case = casebook.Diagnose(f)
		brief := say.New(f)
		for line, want := range v.says {
			got := lineOf(&brief, line)
			begin, end, _ := strings.Cut(want, " … ")
			if got != want && (begin+end == want || !strings.HasPrefix(got, begin) || !strings.HasSuffix(got, end)) {
				t.Errorf("%s of %s: %s is\n%s, want\n%s", v.name, v.code, line, got, want)
			}
			if got == lineOf(&before, line) {
				t.Errorf("%s of %s: the story itself says %q", v.name, v.code, got)
			}
		}
	}
}

// lineOf returns the title of a brief, or one of its answers.
func lineOf(b *say.Brief, name string) string {
	if name == lineTitle {
		return b.Title
	}
	for _, l := range b.Lines() {
		if l.Name == name {
			return l.Text
		}
	}
	return ""
}
