package board_test

import (
	"math"
	"slices"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/shardkey"
)

// stories are all of them.
var stories = slices.Concat(lifetimes, arithmetic, reasonStories, relatedStories, tableStories, shardingStories, fewValueStories, policyStories)

// lifetimes are the stories of one key's load, second by second.
var lifetimes = []story{
	{name: "a cold key is not a finding", seconds: demands(1, 2, 3)},
	{name: "799 of 1,000 is below the warning share", seconds: demands(799, 799, 799)},
	{name: "exactly the warning share is not above it", seconds: demands(800, 800, 800)},
	{name: "one second at 900 is a warning that waits", seconds: demands(900),
		kind: detect.KeyWrites, severity: detect.Warning, state: detect.Pending, peak: 900, shards: 2, utilization: 0.9},
	{name: "two of three seconds at 900 fire", seconds: demands(900, 10, 900),
		kind: detect.KeyWrites, severity: detect.Warning, state: detect.Firing, peak: 900, shards: 2, utilization: 0.9},
	{name: "two of four seconds at 900 do not", seconds: demands(900, 10, 10, 900),
		kind: detect.KeyWrites, severity: detect.Warning, state: detect.Pending, peak: 900, shards: 2, utilization: 0.9},
	{name: "exactly 1,000 is not over the limit", seconds: demands(1000, 1000),
		kind: detect.KeyWrites, severity: detect.Warning, state: detect.Firing, peak: 1000, shards: 2, utilization: 1},
	{name: "a thousandth more is", seconds: demands(1000.001),
		kind: detect.KeyWrites, severity: detect.Warning, state: detect.Pending, peak: 1000.001, over: 1, shards: 2, utilization: 1.000001},
	{name: "single seconds up to a tenth above the limit, nothing refused, are a warning", seconds: demands(1080, 900, 900, 1100, 900, 900, 1050),
		kind: detect.KeyWrites, severity: detect.Warning, state: detect.Firing, peak: 1100, over: 3, shards: 2, utilization: 1.1},
	{name: "five such seconds of ten are critical", seconds: demands(1080, 900, 1010, 1100, 900, 1020, 1050),
		kind: detect.KeyWrites, severity: detect.Critical, state: detect.Firing, peak: 1100, over: 5, shards: 2, utilization: 1.1},
	{name: "a second further above the limit is critical", seconds: demands(1101),
		kind: detect.KeyWrites, severity: detect.Critical, state: detect.Pending, peak: 1101, over: 1, shards: 2, utilization: 1.101},
	{name: "5,000 writes a second want 8 shards", seconds: demands(5000, 5000, 5000),
		kind: detect.KeyWrites, severity: detect.Critical, state: detect.Firing, peak: 5000, over: 3, shards: 8, utilization: 5},
	{name: "50,000 want 75", seconds: demands(50_000, 50_000),
		kind: detect.KeyWrites, severity: detect.Critical, state: detect.Firing, peak: 50_000, over: 2, shards: 75, utilization: 50},
	{name: "3,330 reads a second are over the read limit", reads: true, seconds: demands(3330, 3330),
		kind: detect.KeyReads, severity: detect.Critical, state: detect.Firing, peak: 3330, over: 2, shards: 2, utilization: 1.11},
	{name: "a key named after today rolls", key: "2025-11-21", seconds: demands(1200, 1200), ground: detect.GroundPeriod,
		kind: detect.KeyWrites, severity: detect.Critical, state: detect.Firing, peak: 1200, over: 2, shards: 2, utilization: 1.2},
	{name: "so does one with today's hour in it, where the writer is", key: "events#2025112016#eu", seconds: demands(1200, 1200), ground: detect.GroundPeriod,
		kind: detect.KeyWrites, severity: detect.Critical, state: detect.Firing, peak: 1200, over: 2, shards: 2, utilization: 1.2},
	{name: "a key named after another day does not", key: "2025-11-11", seconds: demands(1200, 1200),
		kind: detect.KeyWrites, severity: detect.Critical, state: detect.Firing, peak: 1200, over: 2, shards: 2, utilization: 1.2},
	{name: "nor does a longer number that holds the day", key: "order#9202511217", seconds: demands(1200, 1200),
		kind: detect.KeyWrites, severity: detect.Critical, state: detect.Firing, peak: 1200, over: 2, shards: 2, utilization: 1.2},
	{name: "a key of an index is a finding of its own kind", index: "by-status", seconds: demands(1200, 1200),
		kind: detect.KeyWrites, severity: detect.Critical, state: detect.Firing, peak: 1200, over: 2, shards: 2, utilization: 1.2},
	{name: "1,100 reads a second are not", reads: true, seconds: demands(1100, 1100, 1100)},
	{name: "throttled requests are demand", seconds: []demand{{units: 1400, throttled: 420}, {units: 1400, throttled: 420}},
		kind: detect.KeyWrites, severity: detect.Critical, state: detect.Firing, peak: 1400, over: 2, shards: 3, utilization: 1.4},
	{name: "a steady 990 of which nothing is throttled is a warning", seconds: demands(990, 990, 990, 990, 990),
		kind: detect.KeyWrites, severity: detect.Warning, state: detect.Firing, peak: 990, shards: 2, utilization: 0.99},
	{name: "a plateau just below the limit is saturation, and a warning with a thousandth refused", seconds: []demand{{units: 991, throttled: 1}, {units: 999, throttled: 1}, {units: 400}, {units: 1001, throttled: 1}},
		kind: detect.KeyWrites, severity: detect.Warning, state: detect.Firing, peak: 1001, over: 1, saturated: 3, shards: 2, utilization: 1.001},
	{name: "three seconds of a plateau too far apart are not", seconds: []demand{{units: 991, throttled: 1}, {units: 400}, {units: 991, throttled: 1}, {units: 400}, {units: 400}, {units: 991, throttled: 1}},
		kind: detect.KeyWrites, severity: detect.Warning, state: detect.Firing, peak: 991, shards: 2, utilization: 0.991},
	{name: "three seconds of a plateau with others between of which nothing is seen are not", seconds: []demand{{units: 991, throttled: 1}, {}, {units: 991, throttled: 1}, {}, {units: 991, throttled: 1}},
		kind: detect.KeyWrites, severity: detect.Warning, state: detect.Firing, peak: 991, shards: 2, utilization: 0.991},
	{name: "seconds of a plateau count once, and those that stand alone do not", seconds: []demand{{units: 1400, throttled: 400}, {units: 400}, {units: 400}, {units: 400}, {units: 991, throttled: 1}, {units: 999, throttled: 1}, {units: 400}, {units: 990, throttled: 1}, {units: 995, throttled: 1}, {units: 400}, {units: 400}, {units: 400}, {units: 991, throttled: 1}},
		kind: detect.KeyWrites, severity: detect.Critical, state: detect.Firing, peak: 1400, over: 1, saturated: 4, shards: 3, utilization: 1.4},
	{name: "what is not proven is possible and no more", seconds: []demand{{units: 700, unsure: 400}, {units: 850, unsure: 200}},
		kind: detect.KeyWrites, severity: detect.Warning, state: detect.Pending, peak: 850, possible: 2, shards: 2, utilization: 0.85},
	{name: "what is only possible is no finding", seconds: []demand{{units: 700, unsure: 400}, {units: 700, unsure: 400}}},
	{name: "59 quiet seconds keep it firing", seconds: join(demands(2000, 2000), quiet(59)),
		kind: detect.KeyWrites, severity: detect.Critical, state: detect.Firing, peak: 2000, over: 2, shards: 3, utilization: 2},
	{name: "60 quiet seconds resolve it", seconds: join(demands(2000, 2000), quiet(60)),
		kind: detect.KeyWrites, severity: detect.Critical, state: detect.Resolved, peak: 2000, over: 2, shards: 3, utilization: 2},
	{name: "seconds not wholly seen resolve nothing", seconds: join(demands(2000, 2000), quiet(120)), incomplete: true,
		kind: detect.KeyWrites, severity: detect.Critical, state: detect.Firing, peak: 2000, over: 2, shards: 3, utilization: 2},
	{name: "a key that cools and returns begins a new episode", seconds: join(demands(9000, 9000), quiet(70), demands(900)),
		kind: detect.KeyWrites, severity: detect.Warning, state: detect.Pending, peak: 900, shards: 2, utilization: 0.9},
	{name: "a pause shorter than that does not", seconds: join(demands(9000), quiet(30), demands(900)),
		kind: detect.KeyWrites, severity: detect.Critical, state: detect.Pending, peak: 9000, over: 1, shards: 14, utilization: 9},
	{name: "severity stays the episode's worst", seconds: demands(1500, 900, 900, 900),
		kind: detect.KeyWrites, severity: detect.Critical, state: detect.Firing, peak: 1500, over: 1, shards: 3, utilization: 1.5},
}

// arithmetic are the sources' worked examples of shard counts and ceilings, as
// DYNAMODB.md's sections "Shards" and "Throttling" have them.
var arithmetic = []story{
	{name: "500 writes a second need one shard", seconds: demands(500, 500), policy: warnAt(0.4),
		says: []string{"keep_key {} leaves 500"},
		kind: detect.KeyWrites, severity: detect.Warning, state: detect.Firing, peak: 500, shards: 1, utilization: 0.5},
	{name: "500,000 want 750", seconds: demands(500_000, 500_000), says: []string{"sharded_key {count:750} leaves 667"},
		kind: detect.KeyWrites, severity: detect.Critical, state: detect.Firing, peak: 500_000, over: 2, shards: 750, utilization: 500},
	{name: "AWS's own form: 5,000 writes of 1 KB want at least 5", seconds: demands(5000, 5000), policy: headroom(1),
		kind: detect.KeyWrites, severity: detect.Critical, state: detect.Firing, peak: 5000, over: 2, shards: 5, utilization: 5},
	{name: "10,000 writes want 15", seconds: demands(10_000, 10_000),
		kind: detect.KeyWrites, severity: detect.Critical, state: detect.Firing, peak: 10_000, over: 2, shards: 15, utilization: 10},
	{name: "up to 20, with more headroom", seconds: demands(10_000, 10_000), policy: headroom(2),
		kind: detect.KeyWrites, severity: detect.Critical, state: detect.Firing, peak: 10_000, over: 2, shards: 20, utilization: 10},
	{name: "80% of a table on one status", workloads: slices.Concat([]workload{{key: "open", units: 2000}}, keysLike("closed%d", 5, workload{units: 100})), share: 0.8, key: "open", lasts: 60,
		kind: detect.KeyWrites, severity: detect.Critical, state: detect.Firing, peak: 2000, over: 60, shards: 3, utilization: 2},
	{name: "600 strong reads of a 20 KB item fill a partition", workloads: []workload{{key: "big", reads: true, strong: true, units: 3000, each: 5, bytes: 20480}}, reads: true, share: 1,
		says: []string{"eventual_read {share:1,units:1500} leaves 1500"},
		kind: detect.KeyReads, severity: detect.Warning, state: detect.Firing, peak: 3000, shards: 2, utilization: 1},
	{name: "reading the shards is counted", workloads: []workload{{key: "feed", units: 4000, sk: rising}, {key: "feed", reads: true, op: sample.Query, units: 100, each: 0.5}}, share: 1, ground: detect.GroundSortKey,
		says: []string{"sharded_key {count:6} leaves 667 named feed#SHARD_0 adds 507 RCU"},
		kind: detect.KeyWrites, severity: detect.Critical, state: detect.Firing, peak: 4000, over: 3, shards: 6, utilization: 4},
	{name: "new partitions are made ahead", workloads: []workload{{key: "k", units: 5000, sk: rising}}, share: 1, ground: detect.GroundSortKey,
		says: []string{"prewarm_for_shards {units:7500}", "sharded_key {count:8} leaves 625 named k#SHARD_0", "migrate_writes"},
		kind: detect.KeyWrites, severity: detect.Critical, state: detect.Firing, peak: 5000, over: 3, shards: 8, utilization: 5},
	{name: "reads and writes together may be too much", workloads: []workload{{key: "k", units: 700}, {key: "k", reads: true, units: 2000}}, share: 1,
		says:  []string{"check_combined"},
		holds: func(f *detect.Finding) bool { return math.Abs(f.Combined-1.367) < 0.001 }, kind: detect.KeyWrites, severity: detect.Info, state: detect.Pending, peak: 700, possible: 3, shards: 2, utilization: 0.7},
	{name: "or not", workloads: []workload{{key: "k", units: 400}, {key: "k", reads: true, units: 1500}}},
	{name: "two sampling rates in one second", workloads: []workload{{key: "k", units: 600}, {key: "k", units: 60, rate: 0.1}}, share: 1,
		kind: detect.KeyWrites, severity: detect.Warning, state: detect.Firing, peak: 1200, possible: 3, shards: 2, utilization: 1.2},
	{name: "a gap in the middle does not count as quiet", seconds: join(demands(2000, 2000), quiet(89)), lost: [2]int{30, 59},
		kind: detect.KeyWrites, severity: detect.Critical, state: detect.Firing, peak: 2000, over: 2, shards: 3, utilization: 2},
	{name: "behind it sixty seconds do", seconds: join(demands(2000, 2000), quiet(90)), lost: [2]int{30, 59},
		kind: detect.KeyWrites, severity: detect.Critical, state: detect.Resolved, peak: 2000, over: 2, shards: 3, utilization: 2},
}

// hot is a story of 1,500 writes a second of one key and nothing else.
func hot(name string, ground detect.Ground, a workload, texts ...string) story {
	a.key, a.units = cmpString(a.key, "k"), 1500
	s := story{
		name: name, workloads: []workload{a}, share: 1, ground: ground, says: texts, index: a.index,
		kind: detect.KeyWrites, severity: detect.Critical, state: detect.Firing, peak: 1500, over: 3, shards: 3, utilization: 1.5,
	}
	if a.index != "" {
		s.kind = detect.KeyWrites
	}
	return s
}

// lasting lets a story last two minutes, which a verdict on splits takes.
func lasting(s *story) { s.lasts, s.over = 120, 120 }

func (s story) with(change func(*story)) story {
	change(&s)
	return s
}

func withFacts(f detect.TableFacts) func(*story) { return func(s *story) { s.facts = &f } }

// because sets the ground, holds what else is true of the finding.
func because(g detect.Ground) func(*story) { return func(s *story) { s.ground = g } }

func holds(is func(*detect.Finding) bool) func(*story) { return func(s *story) { s.holds = is } }

func withOther(about any) func(*story) {
	return func(s *story) { s.others = map[any]int{about: 1} }
}

func cmpString(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// reasonStories are why a table does not heal itself.
var reasonStories = []story{
	// An item is hot by its own load, not by its share of the key's: the Guide's limit is
	// of the item, and half of 1,500 is below it.
	hot("most of the load on one item", detect.GroundItem, workload{sk: mostly(8)}, "divided_item {count:3} leaves 500").with(holds(func(f *detect.Finding) bool {
		return f.Evidence.Items[0].Text == "the-one" && f.Evidence.Split.Item > 1000
	})),
	hot("half of the load on one item is below the limit", detect.GroundSplit, workload{sk: mostly(5)}).with(because(detect.GroundSplit)).with(holds(func(f *detect.Finding) bool { return f.Evidence.Split.Splits == 1 })).with(lasting),
	hot("so is a quarter", detect.GroundSplit, workload{sk: quarter}).with(because(detect.GroundSplit)).with(lasting),
	hot("three items of 500 are three partitions' load", detect.GroundSplit, workload{sk: three}).with(because(detect.GroundSplit)).with(holds(func(f *detect.Finding) bool { return f.Evidence.Split.Splits == 2 })).with(lasting),
	hot("a tenth leaves it to split", detect.GroundSplit, workload{sk: mostly(1)}, "split_meanwhile {count:1} leaves 901").with(because(detect.GroundSplit)).with(lasting),
	hot("many sort keys split", detect.GroundSplit, workload{sk: shuffled}).with(because(detect.GroundSplit)).with(lasting),
	hot("which three seconds do not tell", detect.GroundYoung, workload{sk: shuffled}).with(holds(func(f *detect.Finding) bool { return f.Evidence.Split.Seconds == 3 })),
	hot("for certain when there is no local index", detect.GroundSplit, workload{sk: shuffled}).with(because(detect.GroundSplit)).with(withFacts(detect.TableFacts{KeySchema: sample.Keys("pk", "sk"), LSIs: []string{}})).with(lasting),
	hot("not under a local index", detect.GroundLocalIndex, workload{sk: shuffled}).with(withFacts(detect.TableFacts{LSIs: []string{"by-date"}})),
	hot("which does not hold for a global one", detect.GroundSplit, workload{sk: shuffled, index: "by-status"}, "sharded_index {count:3}", "split_meanwhile").with(because(detect.GroundSplit)).with(lasting).with(withFacts(detect.TableFacts{LSIs: []string{"by-date"}})),
	hot("a table without sort keys has one item a key", detect.GroundItem, workload{}).with(withFacts(detect.TableFacts{KeySchema: sample.Keys("pk")})),
	hot("without sort keys in the samples nothing is known", detect.GroundNoSortKeys, workload{}),
	hot("writes that follow the time", detect.GroundSortKey, workload{sk: rising}).with(holds(func(f *detect.Finding) bool {
		return f.Evidence.Split.Direction == detect.Rising && f.Evidence.Split.Residual > 1450 && f.Evidence.Split.Refused > 0.3
	})),
	hot("also when they arrive in any order", detect.GroundSortKey, workload{sk: jittered}).with(holds(func(f *detect.Finding) bool { return f.Evidence.Split.Direction == detect.Rising })),
	hot("a queue's numbers sort by value", detect.GroundSortKey, workload{sk: counter}).with(holds(func(f *detect.Finding) bool { return f.Evidence.Split.Direction == detect.Rising })),
	hot("writers in turn wander", detect.GroundMoving, workload{sk: inTurn}).with(lasting),
	hot("hidden sort keys have no order", detect.GroundHashedKeys, workload{sk: hashed}).with(holds(func(f *detect.Finding) bool { return f.Quality.KeysHidden })).with(lasting),
	hot("a hidden key says what that costs", detect.GroundHashedKeys, workload{key: "user#" + hashed(1).Text, sk: hashed}).with(holds(func(f *detect.Finding) bool { return f.Quality.KeysHidden })).with(lasting),
	hot("but one item is one item", detect.GroundItem, workload{sk: hashedItem}),
	hot("bursts are not healed by splits", detect.GroundBursts, workload{sk: shuffled, every: 20, from: 0, to: 120}).with(func(s *story) {
		s.workloads[0].units, s.lasts, s.over, s.peak, s.shards, s.utilization = 6000, 120, 12, 6000, 9, 6
	}),
	hot("or count down", detect.GroundSortKey, workload{sk: falling}).with(holds(func(f *detect.Finding) bool { return f.Evidence.Split.Direction == detect.Falling })),
	hot("also in an index", detect.GroundSortKey, workload{sk: rising, index: "by-status"}),
	hot("a day's key rolls, whatever its sort keys", detect.GroundPeriod, workload{key: "2025-11-21", sk: rising}, "time_key {count:3} leaves 500"),
	hot("unless one item of it is hot", detect.GroundItem, workload{key: "2025-11-21", sk: oneItem}),
	{name: "a read-hot item wants copies, not shards", workloads: []workload{{key: "k", reads: true, units: 4000, sk: oneItem}}, reads: true, share: 1, ground: detect.GroundItem,
		says: []string{"cache {", "copies {count:2} leaves 2000"},
		kind: detect.KeyReads, severity: detect.Warning, state: detect.Firing, peak: 4000, over: 3, shards: 2, utilization: 4000.0 / 3000}, // eventual reads, none of which was refused
	{name: "reads in the order of sort keys move as writes do", workloads: []workload{{key: "k", reads: true, units: 4000, sk: rising}}, reads: true, share: 1, ground: detect.GroundSortKey,
		holds: func(f *detect.Finding) bool { return f.Evidence.Split.Residual > 3900 }, kind: detect.KeyReads, severity: detect.Warning, state: detect.Firing, peak: 4000, over: 3, shards: 2, utilization: 4000.0 / 3000},
}

const (
	keyRangeCause    = "TableWriteKeyRangeThroughputExceeded"
	provisionedCause = "TableWriteProvisionedThroughputExceeded"
)

// relatedStories are hot keys whose evidence has findings of its own.
var relatedStories = []story{
	hot("one caller alone", "", workload{caller: "role/batch"}, "bounded_rate {share:0.99", "caller:role/batch}").with(withOther(casebook.OneCaller)).with(beside("role/web")),
	hot("the caller of the whole table is no cause", "", workload{caller: "role/web"}).with(beside("role/web")),
	hot("a key named like a test", "", workload{key: "loadtest#1", caller: "bench"}, "stop_test {caller:bench}").with(withOther(casebook.TestKey)),
	hot("a product that is named like a test", "", workload{key: "product#bench", caller: "role/web"}).with(beside("role/web")),
	hot("a word within a word is no test", "", workload{key: "latest#1"}),
	hot("large items of which little changes", "", workload{each: 20, bytes: 20480, edit: &sample.Edit{Changed: 30, Attributes: []string{"views"}}}, "changing_item {share:", "attribute:views}").with(withOther(casebook.LargeItem)),
	hot("large items that change", "", workload{each: 20, bytes: 20480, edit: &sample.Edit{Changed: 20000}}),
	hot("large items whose images nobody sees", "", workload{each: 20, bytes: 20480}),
	hot("a collection that grows for seconds under a local index", detect.GroundLocalIndex, workload{bytes: 1024, edit: &sample.Edit{Changed: 1024, Grown: 1024}}).with(withFacts(detect.TableFacts{LSIs: []string{"by-date"}})),
	{name: "a warm key's collection grows, too", workloads: []workload{{key: "k", units: 200, bytes: 1024, edit: &sample.Edit{Changed: 1024, Grown: 1024}}}, lasts: 60, facts: &detect.TableFacts{LSIs: []string{"by-date"}},
		says:  []string{"bounded_collection {bytes:204800,seconds:52428} leaves 200"},
		holds: func(f *detect.Finding) bool { return math.Abs(*f.Evidence.GrowthBytes-200*1024) < 1 }, kind: casebook.LargeCollection, severity: detect.Info, state: detect.Pending, peak: 200, shards: 1, utilization: 0.2, share: -1},
	{name: "not without a local index", workloads: []workload{{key: "k", units: 200, bytes: 1024, edit: &sample.Edit{Changed: 1024, Grown: 1024}}}, lasts: 60, facts: &detect.TableFacts{LSIs: []string{}}},
	{name: "nor one whose items stay as large", workloads: []workload{{key: "k", units: 200, bytes: 1024, edit: &sample.Edit{Changed: 1024}}}, lasts: 60, facts: &detect.TableFacts{LSIs: []string{"by-date"}}},
	{name: "nor in less than a minute", workloads: []workload{{key: "k", units: 200, bytes: 1024, edit: &sample.Edit{Changed: 1024, Grown: 1024}}}, lasts: 59, facts: &detect.TableFacts{LSIs: []string{"by-date"}}},
	hot("one that does not grow", detect.GroundLocalIndex, workload{bytes: 1024, edit: &sample.Edit{Changed: 1024}}).with(withFacts(detect.TableFacts{LSIs: []string{"by-date"}})),
	hot("what a stream shows is a lower bound", "", workload{change: true}).with(holds(func(f *detect.Finding) bool {
		return f.Quality.Source == detect.SourceChanges && slices.Contains(f.Quality.CannotSee, detect.BlindReads)
	})),
	{name: "a partition that throttles shows a plateau in its stream", workloads: []workload{{key: "k", units: 1000, change: true}}, share: 1,
		kind: detect.KeyWrites, severity: detect.Critical, state: detect.Firing, peak: 1000, saturated: 3, shards: 2, utilization: 1},
	{name: "two callers share the heat", workloads: []workload{{key: "k", units: 750, caller: "role/a"}, {key: "k", units: 750, caller: "role/b"}}, share: 1,
		kind: detect.KeyWrites, severity: detect.Critical, state: detect.Firing, peak: 1500, over: 3, shards: 3, utilization: 1.5},
	{name: "a new key each day is a pattern", workloads: []workload{{key: "2025-11-21", units: 1500, to: 3}, {key: "2025-11-22", units: 1600, from: 86400, to: 86403}}, lasts: 86403,
		key: "<date>", share: 1, ground: detect.GroundPeriod, says: []string{"time_key {count:3} leaves 533"}, others: map[any]int{detect.KeyWrites: 1},
		holds: func(f *detect.Finding) bool { return len(f.Rolling.Keys) == 2 && f.Rolling.Period == "day" }, kind: casebook.TimeKey, severity: detect.Critical, state: detect.Firing, peak: 1600, over: 6, shards: 3, utilization: 1.6},
	{name: "what a partition throttles of a warm key is saturation", workloads: []workload{{key: "k", units: 900, cause: keyRangeCause, throttled: 150}}, share: 1,
		says: []string{"back_off {attempts:"},
		kind: detect.KeyWrites, severity: detect.Critical, state: detect.Firing, peak: 900, shards: 2, utilization: 0.9},
	{name: "what the table throttles is not", workloads: []workload{{key: "k", units: 900, cause: provisionedCause, throttled: 150}}, share: 1,
		says: []string{"check_capacity {attempts:"}, others: map[any]int{detect.SubjectTable: 1},
		kind: detect.KeyWrites, severity: detect.Warning, state: detect.Firing, peak: 900, shards: 2, utilization: 0.9},
}

// tableStory is a story of a table as a whole.
func tableStory(name string, kind detect.Subject, ground detect.Ground, workloads []workload, says ...string) story {
	return story{
		name: name, workloads: workloads, share: 1, ground: ground, says: says,
		kind: kind, severity: detect.Warning, state: detect.Firing, peak: 900, over: 3, shards: 1, utilization: 1,
	}
}

// warm returns three warm keys of 300 writes a second; of one a part is throttled.
func warm(cause string) []workload {
	return []workload{{key: "a", units: 300}, {key: "b", units: 300, cause: cause, throttled: 20}, {key: "c", units: 300, cause: cause, throttled: 30}}
}

// warmFor returns three warm keys that a partition throttles for so many seconds.
func warmFor(seconds int) []workload {
	all := warm(keyRangeCause)
	all[1].to, all[2].to = seconds, seconds
	return append(all, workload{key: "b", units: 300, from: seconds, to: 901}, workload{key: "c", units: 300, from: seconds, to: 901})
}

// freshTable returns 5,000 writes a second of many keys, of which a partition throttles
// some.
func freshTable() []workload {
	return append(keysLike("u%d", 48, workload{units: 100}), workload{key: "v", units: 100, cause: keyRangeCause, throttled: 30}, workload{key: "w", units: 100, cause: keyRangeCause, throttled: 20})
}

// tableStories are tables that throttle without a hot key.
var tableStories = []story{
	tableStory("warm keys share a partition", detect.SubjectPartition, detect.GroundKeys, warm(keyRangeCause), "wait_for_partition_split").with(because(detect.GroundKeys)).with(holds(func(f *detect.Finding) bool { return slices.Equal(f.Members.Keys, []sample.Text{"a", "b", "c"}) })),
	tableStory("one warm key shares it with others", detect.SubjectPartition, detect.GroundNotSeen, warm(keyRangeCause)[2:]).with(holds(func(f *detect.Finding) bool { return slices.Equal(f.Members.Keys, []sample.Text{"c"}) })).with(func(s *story) {
		s.peak = 300
	}),
	tableStory("no key is even warm, but several are refused", detect.SubjectPartition, detect.GroundKeys, keysLike("u%d", 10, workload{units: 90, cause: keyRangeCause, throttled: 10})).with(because(detect.GroundKeys)).with(holds(func(f *detect.Finding) bool { return f.Members.Count.Value == 0 })),
	tableStory("and that for longer than splits take is critical", detect.SubjectPartition, detect.GroundKeys, warmFor(900), "\nprewarm {}").with(because(detect.GroundKeys)).with(func(s *story) {
		s.lasts, s.over, s.severity = 901, 900, detect.Critical
	}),
	tableStory("a second less is not", detect.SubjectPartition, detect.GroundKeys, warmFor(899), "wait_for_partition_split").with(func(s *story) {
		s.lasts, s.over = 901, 899
	}),
	tableStory("so are the writes that an index holds back, at once", detect.SubjectPartition, detect.GroundIndex, warm("IndexWriteKeyRangeThroughputExceeded")).with(func(s *story) {
		s.severity = detect.Critical
	}),
	tableStory("a new on-demand table that is asked for more than it begins with", detect.SubjectPartition, detect.GroundKeys, freshTable(), "prewarm_new_table {count:8,units:7500}").with(func(s *story) {
		s.facts, s.peak = &detect.TableFacts{Billing: detect.BillingOnDemand}, 5000
	}),
	tableStory("a Scan goes through", detect.SubjectPartition, detect.GroundScan, append(warm(""), workload{op: sample.Scan, reads: true, units: 2000, each: 100, cause: "TableReadKeyRangeThroughputExceeded", throttled: 500}), "slow_scan"),
	tableStory("too little was provisioned", detect.SubjectTable, detect.GroundProvisioned, warm(provisionedCause), "provisioned_capacity").with(because(detect.GroundProvisioned)),
	tableStory("an index is short", detect.SubjectTable, detect.GroundProvisioned, warm("IndexWriteProvisionedThroughputExceeded")).with(because(detect.GroundIndexCapacity)),
	tableStory("the only index is short", detect.SubjectTable, detect.GroundProvisioned, warm("IndexWriteProvisionedThroughputExceeded")).with(because(detect.GroundIndexCapacity)).with(
		withFacts(detect.TableFacts{Indexes: map[string]detect.IndexFacts{"by-customer": {}}})),
	tableStory("the owner's own maximum", detect.SubjectTable, detect.GroundProvisioned, warm("TableWriteMaxOnDemandThroughputExceeded"), "own_maximum").with(because(detect.GroundOwnMaximum)),
	tableStory("the account's limit", detect.SubjectTable, detect.GroundProvisioned, warm("TableWriteAccountLimitExceeded"), "account_quota").with(because(detect.GroundAccountQuota)),
	tableStory("more than provisioned, not yet throttled", detect.SubjectTable, detect.GroundProvisioned, warm("")).with(holds(func(f *detect.Finding) bool { return f.Ground == detect.GroundProvisioned })).with(func(s *story) {
		s.facts = &detect.TableFacts{Billing: detect.BillingProvisioned, WCU: 600}
		s.severity, s.state, s.over, s.utilization = detect.Info, detect.Pending, 0, 1.5 // burst capacity serves it: nothing pages
	}),
	{name: "a vector index has units of its own", workloads: []workload{{key: "v", units: 5000, index: "by-embedding", cause: keyRangeCause, throttled: 500}}, index: "by-embedding", withCensus: true, lasts: 60,
		facts: &detect.TableFacts{VectorIndexes: []string{"by-embedding"}}},
	{name: "another index of that table has not", workloads: []workload{{key: "v", units: 1500, index: "by-status"}}, index: "by-status", share: 1,
		facts: &detect.TableFacts{VectorIndexes: []string{"by-embedding"}},
		kind:  detect.KeyWrites, severity: detect.Critical, state: detect.Firing, peak: 1500, over: 3, shards: 3, utilization: 1.5},
	tableStory("an exception without a reason does not say why", detect.SubjectTable, detect.GroundNoReason, warm("ProvisionedThroughputExceededException"), "send_reason"),
	{name: "an on-demand table has nothing provisioned", workloads: warm(""), facts: &detect.TableFacts{Billing: detect.BillingOnDemand, WCU: 1}},
}

// shardingStories are keys that are sharded already.
var shardingStories = slices.Concat(forms(), []story{
	{name: "50,000 writes a second on 10 shards: too few", workloads: keysLike("celebrity#SHARD_%d", 10, workload{units: 5000}), key: "celebrity#SHARD_*",
		says: []string{"more_shards {count:75} leaves 667"}, others: map[any]int{detect.KeyWrites: 10},
		kind: casebook.TooFewShards, severity: detect.Critical, state: detect.Firing, peak: 50_000, over: 3, shards: 75, utilization: 5},
	{name: "each of them is advised as one key", workloads: keysLike("celebrity#SHARD_%d", 10, workload{units: 5000}), key: "celebrity#SHARD_3", share: 0.1,
		says: []string{"more_shards {count:75} leaves 667"}, others: map[any]int{detect.KeyWrites: 9, casebook.TooFewShards: 1},
		kind: detect.KeyWrites, severity: detect.Critical, state: detect.Firing, peak: 5000, over: 3, shards: 75, utilization: 5},
	{name: "ten shards of 600 do", workloads: keysLike("celebrity#SHARD_%d", 10, workload{units: 600})},
	{name: "nine of them have no room left", workloads: keysLike("celebrity#SHARD_%d", 8, workload{units: 700}), key: "celebrity#SHARD_*",
		kind: casebook.TooFewShards, severity: detect.Info, state: detect.Pending, peak: 5600, shards: 9, utilization: 0.7},
	{name: "forty shards of 20 are too many", workloads: keysLike("celebrity#SHARD_%d", 40, workload{units: 20}), key: "celebrity#SHARD_*",
		says: []string{"fewer_shards {count:2} leaves 400"},
		kind: casebook.TooManyShards, severity: detect.Info, state: detect.Pending, peak: 800, shards: 2, utilization: 0.02},
	{name: "one shard has three times the others", workloads: append(keysLike("celebrity#SHARD_%d", 7, workload{units: 300}), workload{key: "celebrity#SHARD_7", units: 900}), key: "celebrity#SHARD_*",
		says: []string{"even_shards {count:8} leaves 375"}, others: map[any]int{detect.KeyWrites: 1},
		holds: func(f *detect.Finding) bool {
			return f.Sharding.Hottest == "celebrity#SHARD_7" && math.Abs(f.Sharding.Deviation-1.4) < 0.01
		}, kind: casebook.UnevenShards, severity: detect.Warning, state: detect.Firing, peak: 3000, shards: 5, utilization: 0.9},
	{name: "a fifth is not uneven", workloads: append(keysLike("celebrity#SHARD_%d", 7, workload{units: 300}), workload{key: "celebrity#SHARD_7", units: 360})},
	{name: "users' numbers are no shards", workloads: []workload{{key: "user#1", units: 1200}, {key: "user#2", units: 600}, {key: "user#3", units: 300}, {key: "user#4", units: 100}, {key: "user#5", units: 50}}, key: "user#1", share: 1200.0 / 2250,
		kind: detect.KeyWrites, severity: detect.Critical, state: detect.Firing, peak: 1200, over: 3, shards: 2, utilization: 1.2},
	{name: "nor are small numbers with little load", workloads: keysLike("25#1768#%d", 8, workload{units: 17})},
	{name: "nor are a hundred devices with the same load", workloads: keysLike("device#%d", 100, workload{units: 200})},
	{name: "nor are a hundred devices with hexadecimal ids", workloads: keysLike("device#%02x", 100, workload{units: 200})},
	{name: "nor are a hundred auctions with the number in the middle", workloads: keysLike("auction#%d#bids", 100, workload{units: 200})},
	{name: "nor are countries whose codes could be numbers", workloads: []workload{{key: "orders#be", units: 1200}, {key: "orders#de", units: 1200}, {key: "orders#ae", units: 1200}}, key: "orders#be", share: 1.0 / 3, others: map[any]int{detect.KeyWrites: 2},
		kind: detect.KeyWrites, severity: detect.Critical, state: detect.Firing, peak: 1200, over: 3, shards: 2, utilization: 1.2},
	{name: "nor are sellers of whom some sell twice as much", workloads: append(keysLike("seller#%d", 7, workload{units: 700}), workload{key: "seller#7", units: 1050}), key: "seller#7", share: 1050.0 / 5950,
		kind: detect.KeyWrites, severity: detect.Warning, state: detect.Firing, peak: 1050, over: 3, shards: 2, utilization: 1.05},
	{name: "nor are two users", workloads: []workload{{key: "user#4711", units: 1200}, {key: "user#4712", units: 1200}}, key: "user#4711", others: map[any]int{detect.KeyWrites: 1},
		kind: detect.KeyWrites, severity: detect.Critical, state: detect.Firing, peak: 1200, over: 3, shards: 2, utilization: 1.2},
	{name: "unless the policy says that such numbers are shards", workloads: keysLike("post#%d", 2, workload{units: 1500}), key: "post#*", policy: suffix(shardkey.HashNumber()), others: map[any]int{detect.KeyWrites: 2},
		kind: casebook.TooFewShards, severity: detect.Critical, state: detect.Firing, peak: 3000, over: 3, shards: 5, utilization: 1.5},
	{name: "an index sharded by bare numbers, the key in its sort key", workloads: keysLike("%d", 10, workload{units: 600, index: "by-status", sk: shuffled})},
	{name: "too few of these", workloads: keysLike("%d", 10, workload{units: 1200, index: "by-status", sk: shuffled}), index: "by-status", key: "*", others: map[any]int{detect.KeyWrites: 10},
		kind: casebook.TooFewShards, severity: detect.Critical, state: detect.Firing, peak: 12_000, over: 3, shards: 18, utilization: 1.2},
})

// forms returns the same key in every form in which shards are named in the field. A number alone
// comes below, in an index.
func forms() (all []story) {
	for _, form := range []string{
		"BASE#SHARD_%d", "BASE#SHARD#%d", "BASE#shard-%d", "BASE#%d", "BASE.%d", "%d#BASE", "%d-BASE",
		"BASE-%d", "BASE_%d", "BASE:%d", "BASE/%d", "BASE|%d", "BASE@%d", "BASE#%03d", "BASE_bucket%d", "BASE?shard=%d", "SHARD#%d#BASE", "%02d_BASE",
		"BASE#%d#events", "BASE|%03d|2025-11-21", "user#42#%d#2025-11-21",
	} {
		all = append(all, story{
			name: "four shards named like " + form, workloads: keysLike(form, 4, workload{units: 1500}),
			others: map[any]int{detect.KeyWrites: 4},
			kind:   casebook.TooFewShards, severity: detect.Critical, state: detect.Firing, peak: 6000, over: 3, shards: 9, utilization: 1.5,
		})
		if strings.HasSuffix(form, "-21") { // tomorrow's shards are new
			all[len(all)-1].ground = detect.GroundPeriod
		}
	}
	for _, form := range []string{"BASE#%x", "BASE-%02x", "BASE_%X", "BASE#SHARD_%x"} {
		all = append(all, story{
			name: "sixteen shards named like " + form, workloads: keysLike(form, 16, workload{units: 1500}),
			others: map[any]int{detect.KeyWrites: 16},
			kind:   casebook.TooFewShards, severity: detect.Critical, state: detect.Firing, peak: 24_000, over: 3, shards: 36, utilization: 1.5,
		})
	}
	return all
}

// statusValues returns five values with so many writes a second each.
func statusValues(units float64, a workload) (all []workload) {
	for _, key := range []string{"open", "paid", "sent", "returned", "closed"} {
		a.key, a.units = key, units
		all = append(all, a)
	}
	return all
}

// fewValueStories are tables with few keys.
var fewValueStories = []story{
	{name: "five status values carry 5,000 WCU at most", workloads: statusValues(400, workload{}), withCensus: true, lasts: 60, share: 0.2,
		says:  []string{"more_values"},
		holds: func(f *detect.Finding) bool { return f.Members.Count.Value == 5 }, kind: casebook.FewValues, severity: detect.Info, state: detect.Pending, peak: 400, shards: 1, utilization: 0.4},
	{name: "and warn when one of them is warm", workloads: statusValues(900, workload{}), withCensus: true, lasts: 60, share: 0.2, others: map[any]int{detect.KeyWrites: 5},
		kind: casebook.FewValues, severity: detect.Warning, state: detect.Firing, peak: 900, shards: 2, utilization: 0.9},
	{name: "also in an index", workloads: statusValues(400, workload{index: "by-status"}), withCensus: true, lasts: 60, share: 0.2, index: "by-status",
		says: []string{"index_shards {count:2} leaves 200"},
		kind: casebook.FewValues, severity: detect.Info, state: detect.Pending, peak: 400, shards: 1, utilization: 0.4},
	{name: "a constant is a catastrophe", workloads: []workload{{key: "ALL", units: 500}}, withCensus: true, lasts: 60, share: 1,
		holds: func(f *detect.Finding) bool { return f.Members.Count.Value == 1 }, kind: casebook.FewValues, severity: detect.Info, state: detect.Pending, peak: 500, shards: 1, utilization: 0.5},
	{name: "many users are none", workloads: keysLike("user#%d", 300, workload{units: 5}), withCensus: true, lasts: 60},
	{name: "nor is a table that hardly anybody uses", workloads: statusValues(1, workload{}), withCensus: true, lasts: 60},
}

// beside adds as much load again on other keys, of which none is hot.
func beside(caller string) func(*story) {
	return func(s *story) {
		s.workloads = append(s.workloads, keysLike("customer#a%d", 20, workload{units: 75, caller: caller})...)
		s.share = 0.5
	}
}

func policyWith(change func(*detect.Policy)) *detect.Policy {
	p := detect.DefaultPolicy()
	change(&p)
	return &p
}

func warnAt(share float64) *detect.Policy {
	return policyWith(func(p *detect.Policy) { p.Warning = share })
}

func headroom(times float64) *detect.Policy {
	return policyWith(func(p *detect.Policy) { p.Headroom = times })
}

func suffix(f shardkey.Form) *detect.Policy {
	return policyWith(func(p *detect.Policy) { p.Suffix = &f })
}

// policyStories are what an operator may decide.
var policyStories = []story{
	{name: "an excluded key", key: "load#7", seconds: demands(5000, 5000), policy: policyWith(func(p *detect.Policy) { p.Exclude = []string{"load#*"} })},
	{name: "a table that never pages", seconds: demands(5000, 5000), policy: policyWith(func(p *detect.Policy) { p.Severest = detect.Info }),
		kind: detect.KeyWrites, severity: detect.Info, state: detect.Pending, peak: 5000, over: 2, shards: 8, utilization: 5},
	{name: "one that is never critical", seconds: demands(5000, 5000), policy: policyWith(func(p *detect.Policy) { p.Severest = detect.Warning }),
		kind: detect.KeyWrites, severity: detect.Warning, state: detect.Firing, peak: 5000, over: 2, shards: 8, utilization: 5},
	{name: "shards named as the operator wants", seconds: demands(5000, 5000), policy: suffix(shardkey.DotNumber()), says: []string{"sharded_key {count:8} leaves 625 named user#42.0"},
		kind: detect.KeyWrites, severity: detect.Critical, state: detect.Firing, peak: 5000, over: 2, shards: 8, utilization: 5},
}
