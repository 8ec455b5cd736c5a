package say

import (
	"fmt"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/sample"
)

// words are what people read of a fix: an imperative of at most eight words without a full
// stop, and the reason in a sentence. Both are templates of [facts].
type words struct{ do, why *template.Template }

// facts are the figures and names of a step, as text. An empty one is not known.
type facts struct {
	// Where is table or index, Requests writes or reads.
	Where, Requests string
	// Key, Caller and Attribute are quoted.
	Key, Caller, Attribute string
	// Period is the time after which a key is named.
	Period string
	// Count is the step's number, Have the number of key shards now.
	Count, Have string
	// Splits counts splits, if there are several.
	Splits string
	// Share is a part in percent, AtLeast the same as a lower bound.
	Share, AtLeast string
	// Units are a second, PerQuery those of a query, Fanned the read units that queries
	// of all key shards add.
	Units, PerQuery, Fanned string
	// From is a caller's present rate, Limit the rate to keep, or the load that a key keeps;
	// empty if unknown.
	From, Limit string
	// Each is the load after the step, Peak the load of the whole in its highest second.
	Each, Peak           string
	Size, Attempts, Sent string
	Span                 string
	// Every is the interval of bursts, Growth the growth of a collection, Strong the share
	// of reads that are not eventual, and Consistency their name. Within is where and how old
	// items of a global table move. All are empty if they do not apply.
	Every, Growth, Strong, Consistency, Within string
	// Single reports that the key may be one item, Known that the load left is known,
	// CutOff that Count is a lower bound, and Told that the owner says what the item is.
	Single, Known, CutOff, Told bool
}

func newWords(do, why string) words {
	parse := func(text string) *template.Template { return template.Must(template.New("").Parse(text)) }
	return words{parse(do), parse(why)}
}

const (
	backOff     = "Retry with backoff, jitter and a limit"
	ownItem     = "Move changing attributes into their own item"
	indexKey    = "Give the index a key with more values"
	splitKey    = "Spread {{if .CutOff}}it over at least{{else}}the key over{{end}} {{.Count}} key shards"
	prewarm     = "Raise the table's warm throughput"
	waitSplit   = "Wait some minutes for a split"
	migrateKeys = "Migrate to the new keys"
)

// fixWords has the words for every fix.
var fixWords = map[detect.Fix]words{
	detect.FixCheckCombined:     newWords("Check CloudWatch's key-range throttle metrics first", "Reads and writes are each below the limit; if neither metric counts throttles, do nothing."),
	detect.FixWaitForSplit:      newWords(waitSplit, "DynamoDB can split the key{{with .Splits}} in about {{.}} splits{{end}}, if the load lasts."),
	detect.FixAwaitVerdict:      newWords("Wait for the verdict on splits", "It is known after two minutes of heat; do not change the keys before."),
	detect.FixSplitMeanwhile:    newWords("Watch for a split meanwhile", "One may come within minutes, but another step helps sooner or for longer."),
	detect.FixCheckSplit:        newWords("Check CloudWatch's key-range throttle metrics first", "The key has been hot for {{.Span}}, longer than splits take, and no refused request was seen."),
	detect.FixKeepKey:           newWords("Keep the key, and watch its growth", "One partition still serves its load."),
	detect.FixStopTest:          newWords("Stop or move the test", "The key and its caller {{.Caller}} are named like a test."),
	detect.FixCalmRetries:       newWords(backOff, "{{.Caller}} sends each request {{.Sent}} times on average."),
	detect.FixMissingValue:      newWords("Mend the code that builds the key", "{{.Key}} looks as if a value were missing: no design of keys helps while callers leave it out."),
	detect.FixMaskedKey:         newWords("Sample the key hashed, not masked", "{{.Key}} is a mask: many keys may be behind it, and no one of them may be hot."),
	detect.FixMendCaller:        newWords("Look for a loop in {{with .Caller}}{{.}}{{else}}the caller{{end}}", "{{.Caller}} makes at least {{.AtLeast}} of the key's load: a loop, a job or retries may make it."),
	detect.FixCheckCapacity:     newWords("Check the capacity of the {{.Where}}", "DynamoDB refused {{.Attempts}} attempts for lack of capacity, not for a full partition."),
	detect.FixOwnTimes:          newWords("Send each request's own time", "Requests{{with .Caller}} of {{.}}{{end}} carry the times of batches: seconds above the limit are unknown."),
	detect.FixBackOff:           newWords(backOff, "DynamoDB refused {{.Attempts}} attempts in {{.Span}}{{with .Caller}}; {{.}} sends each request {{$.Sent}} times{{end}}."),
	detect.FixSpreadBurst:       newWords("Spread the burst over some seconds", "{{with .Every}}It comes every {{.}}: with a random delay, and limited{{else}}Limited{{end}} to {{.Units}}, the {{.Requests}} come up to {{.Span}} late."),
	detect.FixRefilledCache:     newWords("Let one caller refill the cache", "Every {{.Every}} many callers read the same at once, as if a cache expired: refill it before, by one of them."),
	detect.FixConditionalWrite:  newWords("Replace transactions with conditional writes", "{{.Share}} of the key's write units are transactional, and cost twice."),
	detect.FixEventualRead:      newWords("Read eventually consistently where possible", "{{.Share}} of the read units are {{.Consistency}}; eventual reads spare {{.Units}}."),
	detect.FixSmallerQuery:      newWords("Read fewer bytes with each query", "A query costs {{.PerQuery}} RCU on average: narrow its key condition, or set a Limit."),
	detect.FixFewerWrites:       newWords("Write the item less often", "Gather changes in each process and write once a second, and leave out writes that change nothing."),
	detect.FixDividedCounter:    newWords("{{if .Told}}Divide the counter{{else}}If it counts, divide it{{end}} over {{.Count}} keys", "Add to one at random; readers sum them and the old item{{with .Limit}}; other items keep about {{.}}{{end}}.{{if not .Told}} Never divide a lock, a session or a sequence.{{end}}"),
	detect.FixCache:             newWords("Cache the reads", "{{with .AtLeast}}{{if $.Strong}}An application's cache of one second answers at least {{.}}; DAX answers none of the {{$.Strong}} that are {{$.Consistency}}.{{else}}A cache of one second answers at least {{.}} of them.{{end}}{{else}}{{if .Known}}Hardly any item is read twice within a second: keep items for longer.{{else}}How often the same items are read again is unknown.{{end}}{{end}}"),
	detect.FixChangingItem:      newWords(ownItem, "A write changes {{.Share}} of an item of {{.Size}}{{with .Attribute}}, most often {{.}}{{end}}."),
	detect.FixReadItem:          newWords("Move read attributes into their own item", "A read pays for the whole item of {{.Size}}."),
	detect.FixWrittenItem:       newWords(ownItem, "A write pays for the whole item of {{.Size}}, however little changes."),
	detect.FixCompression:       newWords("Compress large attributes", "Items have {{.Size}}{{with .Share}}; save at least {{.}} of the bytes{{end}}."),
	detect.FixObjectStore:       newWords("Store large values in S3", "Items have {{.Size}}: their size makes the load, not the number of requests."),
	detect.FixSparseIndex:       newWords("Leave this value out of the index", "No query used {{.Key}} in {{.Span}}, but other values were queried."),
	detect.FixProjection:        newWords("Project fewer attributes into the index", "Each write of an index entry pays for {{.Size}}."),
	detect.FixIndexKeyOfQueries: newWords(indexKey, "Add an attribute that the queries know: each then reads a part of {{.Key}}."),
	detect.FixShardedIndex:      newWords(splitKey, "Only the key of the index changes; each key shard takes about {{.Each}}."),
	detect.FixIndexKeyOfWrites:  newWords(indexKey, "Add an attribute that the queries know: it divides {{.Key}}."),
	detect.FixCopies:            newWords("Keep {{.Count}} copies of the item", "Key shards do not divide one item: read a copy at random, and write all{{with .Limit}}; the key's other items keep about {{.}}{{end}}."),
	detect.FixDividedItem:       newWords("Give its parts {{if .CutOff}}at least {{end}}{{.Count}} keys", "Only for parts that are written by themselves{{with .Limit}}; other items keep about {{.}}{{end}}. Never divide a lock, a session or a sequence."),
	detect.FixTimeKey:           newWords("Add a suffix to the key's time", "Each new {{.Period}}'s key takes all load: add an attribute or {{.Count}} key shards."),
	detect.FixShardedKey:        newWords(splitKey, "{{if .Limit}}One item keeps its key shard at {{.Limit}} or more{{else}}{{if .Single}}If the key has several items, each{{else}}Each{{end}} key shard takes about {{.Each}}{{end}}{{with .Fanned}}; queries of all key shards add up to {{.}}{{end}}."),

	detect.FixPrewarmForShards:  newWords("Pre-warm the {{.Where}} before the key shards", "New keys share few partitions at first: raise the warm throughput to {{.Units}}."),
	detect.FixCapacityForCopies: newWords("Provision more while old items are copied", "The load and the copies need {{.Units}} together."),
	detect.FixMigrateWrites:     newWords(migrateKeys, "Read both, write to the key shards, and move old items{{.Within}} at {{.Units}} or less."),
	detect.FixMigrateQueue:      newWords("Let the old key drain", "Write to the key shards and read both: nothing is copied."),
	detect.FixMigrateReads:      newWords(migrateKeys, "Write both, and copy old items{{.Within}} at {{.Units}} or less; the key keeps its reads until readers move."),
	detect.FixMigrateIndex:      newWords("Migrate to the new index", "Add the new key to old items at {{.Units}} or less, then move the queries."),
	detect.FixMigrateTimeKey:    newWords("Start with the next {{.Period}}", "Past keys stay as they are: nothing is copied."),
	detect.FixMigrateShards:     newWords("Write to the new key shards", "Read old and new key shards together: old names stay valid."),

	detect.FixProvisionedCapacity:   newWords("Raise the provisioned capacity", "All keys together reached {{.Peak}}."),
	detect.FixIndexCapacity:         newWords("Raise the write capacity of the index", "It needs as much as the table's writes, unless it is sparse or projects less."),
	detect.FixOwnMaximum:            newWords("Raise or remove the maximum throughput", "The owner's maximum refuses requests, not a partition."),
	detect.FixAccountQuota:          newWords("Request a higher quota from AWS", "The {{.Where}} reached the account's quota for one table in this Region: no table setting helps."),
	detect.FixNamedCapacity:         newWords("Raise the capacity that CloudWatch names", "It is provisioned capacity, a maximum or the account's quota: no key is the cause."),
	detect.FixSendReason:            newWords("Send DynamoDB's throttle reason with each refused sample", "The exception's class does not show which limit refuses requests; ThrottlingReasons does."),
	detect.FixFindIndexKey:          newWords("Find the hot key of the index", "A full partition of an index holds the writes back; records of the table do not name its key."),
	detect.FixSlowScan:              newWords("Export to S3, or limit the Scan's rate", "{{if .Limit}}{{.Caller}} scans at {{.From}}: limit it to {{.Limit}}{{else}}Limit its rate{{end}}, or export to S3, which consumes no read capacity."),
	detect.FixPrewarmNewTable:       newWords(prewarm, "A new on-demand table has few partitions: {{.Units}} gives it about {{.Count}}."),
	detect.FixPrewarm:               newWords(prewarm, "More partitions spread its keys, and no split has come so far."),
	detect.FixPrewarmForRamp:        newWords(prewarm, "{{.Units}} leaves room for the load; set it before the next launch."),
	detect.FixSlowRamp:              newWords("Let the load grow more slowly", "An on-demand table serves twice its previous peak, and grows further within 30 minutes."),
	detect.FixWaitForPartitionSplit: newWords(waitSplit, "DynamoDB can split the partition between its keys, if the load lasts."),
	detect.FixContributorInsights:   newWords("Switch on CloudWatch Contributor Insights", "It names the throttled keys, also of callers that are not sampled."),
	detect.FixBoundedCollection:     newWords("Put the {{.Period}} into the key", "A local index limits the items of {{.Key}} to 10 GB{{if .Growth}}: at {{.Growth}} a second, an empty key is full in {{.Span}}{{end}}."),
	detect.FixMoreValues:            newWords("Build the{{if eq .Where \"index\"}} index{{end}} key from more values", "The {{.Where}} has few key values, and traffic adds none."),
	detect.FixIndexShards:           newWords("Put {{.Count}} key shards behind each value", "The index has few values, and traffic adds none."),
	detect.FixMoreShards:            newWords("Raise the key shards from {{.Have}} to {{.Count}}", "Write to all of them, and read old and new ones: old names stay valid."),
	detect.FixFewerShards:           newWords("Write to {{.Count}} key shards only", "They carry the highest peak seen, and a read of all takes fewer queries."),
	detect.FixEvenShards:            newWords("Spread the load evenly over the shards", "Choose the suffix at random, or by a hash of an attribute with many values."),
	detect.FixShorterTransactions:   newWords("Put fewer items into the transactions", "A transaction holds all its items until it ends: leave out what need not change together."),
	detect.FixRetryConflicts:        newWords("Retry lost attempts with backoff and jitter", "{{with .Caller}}{{.}} loses most. {{end}}Callers that retry at once meet again. Read the item again where its condition did not hold; keep a ClientRequestToken for ten minutes."),
	detect.FixCountFromStream:       newWords("If it counts, count from the stream", "The table's stream has each change once, so no transaction needs to write the sum."),
	detect.FixLease:                 newWords("{{if .Told}}Make the lock{{else}}If it locks, make it{{end}} a lease", "Store the owner and an expiry; others wait until then, with jitter, instead of trying at once."),
	detect.FixWorkQueue:             newWords("Hand the work out by a queue", "Workers of a queue get different messages, and need no lock."),
	detect.FixNumberBlocks:          newWords("Take numbers in blocks", "Each process takes 100 with one write and hands them out; one that ends leaves a gap."),
	detect.FixConditionAlone:        newWords("Claim the name with one conditional put", "attribute_not_exists needs no transaction where nothing else must change with the name."),
	detect.FixShuffleInput:          newWords("Shuffle the rows before the import", "In random order, the {{.Requests}} go to all partitions at once."),
	detect.FixBoundedRate:           newWords("Limit the job to {{.Units}}", "{{with .Caller}}{{.}} makes at least {{$.AtLeast}} of the key's load, {{$.From}}; slower, it fits one partition.{{else}}One partition serves that much, whatever the order of the keys.{{end}}"),

	detect.FixFindUnsampled:      newWords("Find the callers without sampling", "A service, job or deployment may send requests that no sample shows."),
	detect.FixCheckSamplingRate:  newWords("Check the producers' sampling rates", "Too small a rate, or too large a count, makes every key look hot."),
	detect.FixMorePartitions:     newWords("Add partitions and collectors", "Each collector then has fewer keys to tell apart."),
	detect.FixCapacityOfManyKeys: newWords("Pre-warm the table, or provision more", "If the samples are right, many keys share this load."),
	detect.FixStartCollector:     newWords("Start a collector", "Where one should run, its log and its /-/ready name the fault."),
	detect.FixRestartCollectors:  newWords("Restart the collectors that hang", "Their logs and /-/ready name the topic, shard or request that fails."),
	detect.FixAddCollectors:      newWords("Add collectors, up to one a partition", "A lag after an outage ends by itself."),
	detect.FixCheckProducers:     newWords("Check the application and its sampling", "A deploy may have switched sampling off. If the table may be quiet at this time, give it quiet hours in the settings."),
	detect.FixMendProducer:       newWords("Mend the producer of rejected samples", "GET /api/v1/bad-samples lists the reject reasons with excerpts."),
	detect.FixRaiseTableLimit:    newWords("Raise collect.tables of the collectors", "Or leave out samples of tables that nobody needs."),
	detect.FixCompareRetention:   newWords("Keep the log for longer", "Samples expired before a collector read them; GET /api/v1/gaps lists all gaps."),
}

// Imperative names a step in at most eight words.
func Imperative(f *detect.Finding, s *detect.Step) string { return render(fixWords[s.Fix].do, f, s) }

// StepWhy is the reason for a step, in a sentence with its figures.
func StepWhy(f *detect.Finding, s *detect.Step) string { return render(fixWords[s.Fix].why, f, s) }

func render(t *template.Template, f *detect.Finding, s *detect.Step) string {
	var text strings.Builder
	if t == nil || t.Execute(&text, newFacts(f, s)) != nil {
		return string(s.Fix)
	}
	return text.String()
}

func newFacts(f *detect.Finding, s *detect.Step) facts {
	a := &s.Arguments
	unit := "wcu"
	switch {
	case s.Action == detect.ActionMigrate || s.Fix == detect.FixCapacityForCopies: // they write
	case s.Fix == detect.FixSlowScan:
		unit = "rcu"
	case s.After != nil:
		unit = s.After.Unit
	case f.InReads():
		unit = "rcu"
	}
	w := facts{
		Where: targetWord(f), Requests: requests(f), Key: subject(f), Period: "period",
		Count: number(a.Count), Units: perSecond(a.Units, unit),
		PerQuery: wording.About(a.Units), Size: wording.Size(a.Bytes), Attempts: attemptsOf(f, a.Attempts, a.Seconds), Sent: fmt.Sprintf("%.1f", a.Sent),
		Span: wording.Span(time.Duration(a.Seconds) * time.Second), Peak: wholePeak(f), Known: s.After != nil, CutOff: a.AtLeast, Told: a.Shape != "",
		Single: f.Index == "" && f.Evidence != nil && f.Evidence.SortKeys == nil,
	}
	if a.Every > 0 {
		w.Every = wording.Span(time.Duration(a.Every) * time.Second)
	}
	if a.Bytes > 0 {
		w.Growth = w.Size
	}
	if s.Fix == detect.FixBoundedCollection {
		if w.Period = "day"; a.Seconds < fullInDays {
			w.Period = "hour"
		}
	}
	if e := f.Evidence; e != nil {
		w.Consistency = consistency(e)
		if e.StrongReads >= 0.05 {
			w.Strong = wording.Part(e.StrongReads)
		}
	}
	if a.Region != "" {
		w.Within = fmt.Sprintf(" in %s only", wording.Printable(a.Region))
	}
	if a.Strong {
		w.Within += ", without transactions,"
	}
	if a.Count > 1 {
		w.Splits = w.Count
	}
	if a.Share > 0 {
		w.Share, w.AtLeast = wording.Part(a.Share), wording.PercentAtLeast(a.Share)
	}
	if s.Cost != nil && s.Cost.RCU > 0 {
		w.Fanned = perSecond(s.Cost.RCU, "rcu")
	}
	if a.From > 0 {
		w.From = perSecond(a.From, unit)
	}
	if a.Units > 0 {
		w.Limit = perSecond(a.Units, unit)
	}
	if a.Caller != "" {
		w.Caller = quote(a.Caller)
	}
	if a.Attribute != "" {
		w.Attribute = quote(a.Attribute)
	}
	if f.Rolling != nil {
		w.Period = wording.Printable(f.Rolling.Period)
	}
	if f.Sharding != nil {
		w.Have = number(f.Sharding.Shards)
	}
	if s.After != nil {
		w.Each = perSecond(s.After.High, s.After.Unit)
	}
	return w
}

// fullInDays is the seconds to a full collection from which a day's part of it is small.
const fullInDays = 48 * 3600

// consistency names the reads that are not eventual.
func consistency(e *detect.Evidence) string {
	transactional, all := 0.0, 0.0
	for _, o := range e.Operations {
		if op, _ := sample.ParseOp(o.Op); op.IsRead() {
			all += o.Share
			if op == sample.TransactGetItems {
				transactional += o.Share
			}
		}
	}
	switch share := detect.Ratio(transactional, all); {
	case share < 0.05:
		return "strongly consistent"
	case share > e.StrongReads-0.05:
		return "transactional"
	}
	return "strongly consistent or transactional"
}

// number writes a number; an unknown one is empty.
func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// perSecond writes units a second: 1,680 WCU/s.
func perSecond(units float64, unit string) string {
	return wording.Significant(units) + " " + strings.ToUpper(unit) + "/s"
}

// wholePeak is the highest second of a table or index as a whole.
func wholePeak(f *detect.Finding) string {
	var all []string
	if f.Peak.WCU.Value > 0 {
		all = append(all, perSecond(f.Peak.WCU.Value, "wcu"))
	}
	if f.Peak.RCU.Value > 0 {
		all = append(all, perSecond(f.Peak.RCU.Value, "rcu"))
	}
	return wording.List(all)
}

// StepFacts are the facts of a step behind its reason: what it takes, the load that it
// leaves, the capacity that it needs, and the request units that it adds.
func StepFacts(f *detect.Finding, s *detect.Step) []Line {
	var all lines
	all.add("Takes", Takes(s))
	all.add("Leaves", Leaves(s))
	all.add("Needs", Capacity(f, s))
	all.add("Adds", Adds(s.Cost))
	if s.Names != nil {
		all.add("Names", ShardNames(s.Names))
	}
	return all
}

// shownNumbers is how many numbers of key shards are listed.
const shownNumbers = 12

// listNumbers names the first key shard, and lists the numbers of the others.
func listNumbers(name func(int) string, numbers []int) string {
	var others []string
	for _, n := range numbers[1:min(len(numbers), shownNumbers)] {
		others = append(others, strconv.Itoa(n))
	}
	text := name(numbers[0])
	if len(others) > 0 {
		text += " and with " + strings.Join(others, ", ")
	}
	if len(numbers) > shownNumbers {
		text += fmt.Sprintf(" up to %d", numbers[len(numbers)-1])
	}
	return text + ", which lie apart"
}

// ShardNames names the key shards that a step makes.
func ShardNames(n *detect.ShardNames) string {
	base := wording.Shorten(n.Base, shownKey-12)
	name := func(number int) string {
		text := fmt.Sprintf("%s%d%s", n.Before, number, n.After)
		switch {
		case n.Alone:
			return quote(text)
		case n.Prefix:
			return quote(fmt.Sprintf("%s%s", text, base))
		}
		return quote(fmt.Sprintf("%s%s", base, text))
	}
	names := name(0) + " to " + name(n.Shards-1)
	if len(n.Numbers) > 0 {
		names = listNumbers(name, n.Numbers)
	}
	if n.NewTable {
		names += " in a new table"
	}
	if n.Decimals > 0 { // the shards of a number keep their table
		decimal := func(number int) string { return quote(fmt.Sprintf("%s.%0*d", base, n.Decimals, number)) }
		names = fmt.Sprintf("%s to %s, or %s", decimal(1), decimal(n.Shards), names)
	}
	return names
}
