package fixes_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/internal/fixes"
	"github.com/keyheat/keyheat/sample"
)

// hot returns a hot key, of so many units a second at its peak, with operations.
func hot(k detect.Subject, units float64, ops ...detect.Operation) *fixes.Case {
	f := detect.NewFinding(k, detect.Target{Table: "orders"}, sample.KeyString("k"))
	f.Severity, f.Share, f.Seconds = detect.Critical, 0.5, 180
	f.FirstSeen = time.Date(2026, 3, 10, 9, 0, 0, 0, time.UTC)
	f.LastSeen = f.FirstSeen.Add(3 * time.Minute)
	load := detect.Figure{Value: units, Low: units, High: units}
	if k == detect.KeyReads {
		f.Peak.RCU, f.Mean.RCU, f.Consumed.RCU = load, load, units
	} else {
		f.Peak.WCU, f.Mean.WCU, f.Consumed.WCU = load, load, units
	}
	p := detect.DefaultPolicy()
	f.Utilization = units / detect.Units(detect.Limit(k))
	f.Shards = detect.Shards(detect.Milli(units), detect.Limit(k), p.Headroom)
	f.Evidence = &detect.Evidence{Records: 1000, Seconds: 16, Operations: ops, Refused: map[string]int64{}, SortKeys: &detect.SortKeys{Known: 1, Distinct: 200}}
	return &fixes.Case{Finding: &f, Load: detect.Milli(units), Policy: p}
}

func op(of sample.Op, share, requests, units float64) detect.Operation {
	return detect.Operation{Op: of.String(), Share: share, Requests: requests, Units: units}
}

func with(c *fixes.Case, change func(*fixes.Case)) *fixes.Case {
	change(c)
	return c
}

func changed(share float64) *float64 { return &share }

// TestLedger holds each fix to when it applies and to what it leaves, and their order.
func TestLedger(t *testing.T) {
	t.Parallel()
	puts, gets := op(sample.PutItem, 1, 1100, 1), op(sample.GetItem, 1, 7000, 0.5)
	for _, c := range []struct {
		name string
		of   *fixes.Case
		// actions are those of all steps, in order.
		actions string
		// low and high are the load that the first fix with one leaves.
		low, high float64
	}{
		{"a hot key of puts wants shards", hot(detect.KeyWrites, 1100, puts), "shard migrate", 550, 550},
		{"transactions want conditions instead, and no shards", hot(detect.KeyWrites, 1100, op(sample.TransactWriteItems, 1, 550, 2)), "transaction", 550, 550},
		{"half of them save a quarter, which is not enough", hot(detect.KeyWrites, 1200, op(sample.TransactWriteItems, 0.5, 300, 2), op(sample.PutItem, 0.5, 600, 1)), "shard migrate transaction", 600, 600},
		{"an index does not know transactions", with(hot(detect.KeyWrites, 1100, op(sample.TransactWriteItems, 1, 550, 2)), func(c *fixes.Case) { c.Index = "by-status" }), "shard migrate index", 550, 550},
		{"strong reads want eventual ones", with(hot(detect.KeyReads, 3400, op(sample.GetItem, 1, 3400, 1)), func(c *fixes.Case) { c.Evidence.StrongReads = 1 }), "read cache", 1700, 1700},
		{"transactional reads save three quarters", with(hot(detect.KeyReads, 4000, op(sample.TransactGetItems, 1, 2000, 2)), func(c *fixes.Case) { c.Evidence.StrongReads = 1 }), "read cache", 1000, 1000},
		{"eventual reads save nothing", with(hot(detect.KeyReads, 3400, gets), func(c *fixes.Case) { c.Evidence.SortKeys.Repeated = 0.9 }), "cache", 0, 340},
		{"a global index is never read strongly", with(hot(detect.KeyReads, 3400, op(sample.Query, 1, 3400, 1)), func(c *fixes.Case) {
			c.Index, c.Evidence.StrongReads = "by-status", 1
		}), "index cache shard migrate", 0, 3400},
		{"an index whose queries ask for one item, which is read again and again", with(hot(detect.KeyReads, 3400, gets), func(c *fixes.Case) {
			c.Index, c.Evidence.SortKeys.Repeated = "by-status", 0.9
		}), "cache", 0, 340},
		{"a local one may be", with(hot(detect.KeyReads, 3400, op(sample.Query, 1, 3400, 1)), func(c *fixes.Case) {
			c.Index, c.Evidence.StrongReads, c.Facts = "by-date", 1, &detect.TableFacts{LSIs: []string{"by-date"}}
		}), "read cache", 1700, 1700},
		{"reads that do not repeat leave shards", hot(detect.KeyReads, 3400, gets), "cache shard migrate", 0, 3400},
		{"one item's reads all repeat", with(hot(detect.KeyReads, 4000, op(sample.GetItem, 1, 8000, 0.5)), func(c *fixes.Case) {
			c.Ground, c.Facts = detect.GroundItem, &detect.TableFacts{KeySchema: sample.Keys("pk")}
		}), "cache copies", 0, 0.5},
		{"queries of 100 KB want fewer bytes", hot(detect.KeyReads, 3500, op(sample.Query, 1, 280, 12.5)), "query cache shard migrate", 140, 3500},
		{"little changes of large items", with(hot(detect.KeyWrites, 1080, op(sample.UpdateItem, 1, 90, 12)), func(c *fixes.Case) {
			c.Evidence.ItemBytes, c.Evidence.ChangedShare = 12*1024, changed(0.01)
		}), "vertical", 90, 90},
		{"large items that change as a whole", with(hot(detect.KeyWrites, 1500, op(sample.PutItem, 1, 5, 300)), func(c *fixes.Case) {
			c.Evidence.ItemBytes, c.Evidence.ChangedShare = 300*1024, changed(1)
		}), "object compress", 5, 5},
		{"large items of which nothing tells how they change", with(hot(detect.KeyWrites, 1500, op(sample.UpdateItem, 1, 5, 300)), func(c *fixes.Case) {
			c.Evidence.ItemBytes = 300 * 1024
		}), "object compress vertical", 5, 5},
		{"a key of an hour, with new large items: old ones stay", with(hot(detect.KeyWrites, 1200, op(sample.PutItem, 1, 10, 120)), func(c *fixes.Case) {
			c.Ground, c.Rolling, c.Evidence.ItemBytes = detect.GroundPeriod, &detect.Rolling{Period: "hour", Template: "<hour>"}, 120*1024
		}), "rename object compress", 600, 600},
		{"large index entries", with(hot(detect.KeyWrites, 2000, op(sample.PutItem, 1, 500, 4)), func(c *fixes.Case) { c.Index, c.Evidence.ItemBytes = "by-status", 4*1024 }), "shard migrate project index", 2000 / 3.0, 2000 / 3.0},
		{"an index value that nobody reads, while others are", with(hot(detect.KeyWrites, 1100, puts), func(c *fixes.Case) { c.Index, c.TargetRCU = "by-status", 500 }), "sparse shard migrate index", 0, 0},
		{"an index of which no read was seen at all", with(hot(detect.KeyWrites, 1100, puts), func(c *fixes.Case) { c.Index = "by-status" }), "shard migrate index", 550, 550},
		{"a stream shows no reads", with(hot(detect.KeyWrites, 1100, puts), func(c *fixes.Case) {
			c.Index, c.TargetRCU, c.Quality = "by-status", 500, detect.NewQuality(detect.SourceChanges)
		}), "shard migrate index", 550, 550},
		{"what is throttled and tried again", with(hot(detect.KeyWrites, 1700, puts), func(c *fixes.Case) {
			c.Consumed.WCU, c.Evidence.Refused[sample.KeyRange.String()] = 700, 1000
		}), "retry shard migrate", 700, 1700},
		{"throttled above the limit, a back-off alone does not do", with(hot(detect.KeyWrites, 1700, puts), func(c *fixes.Case) {
			c.Consumed.WCU, c.Evidence.Refused[sample.KeyRange.String()] = 1000, 700
		}), "shard migrate retry", 1700 / 3.0, 1700 / 3.0},
		{"a counter", with(hot(detect.KeyWrites, 1100, op(sample.UpdateItem, 1, 1100, 1)), func(c *fixes.Case) {
			c.Ground, c.Evidence.ItemBytes = detect.GroundItem, 100
		}), "gather split", 550, 550},
		{"key shards leave an item, with its part of the rest", with(hot(detect.KeyWrites, 1600, op(sample.UpdateItem, 1, 320, 5)), func(c *fixes.Case) {
			c.Evidence.Items = []detect.Part{{Text: "profile", Low: 0.45, High: 0.55}}
		}), "shard migrate", 720, 1120},
		{"an item near the limit wants to be divided", with(hot(detect.KeyWrites, 1300, op(sample.UpdateItem, 1, 260, 5)), func(c *fixes.Case) {
			c.Evidence.Items, c.Evidence.Split = []detect.Part{{Text: "profile", Low: 0.6, High: 0.81}}, &detect.Split{Item: 925, Seconds: 120}
		}), "gather split", 650, 650},
		{"a divided item leaves the key's others", with(hot(detect.KeyWrites, 2500, op(sample.UpdateItem, 1, 500, 5)), func(c *fixes.Case) {
			c.Ground, c.Evidence.Items = detect.GroundItem, []detect.Part{{Text: "profile", Low: 0.42, High: 0.52}}
		}), "gather split", 1200, 1450},
		{"a load that splits help", with(hot(detect.KeyWrites, 1200, puts), func(c *fixes.Case) {
			c.Ground, c.Evidence.Split = detect.GroundSplit, &detect.Split{Verdict: detect.SplitHelps, Splits: 1, Residual: 620, ResidualLow: 610, ResidualHigh: 640, Seconds: 120}
		}), "wait shard migrate", 610, 640},
		{"nobody waits where few values bound the table", with(hot(detect.KeyWrites, 1200, puts), func(c *fixes.Case) {
			c.FewValues, c.Ground, c.Evidence.Split = true, detect.GroundSplit, &detect.Split{Verdict: detect.SplitHelps, Splits: 1, Residual: 620, ResidualLow: 610, ResidualHigh: 640, Seconds: 120}
		}), "shard migrate wait", 600, 600},
		{"nobody waits where an index holds writes back", with(hot(detect.KeyWrites, 1200, puts), func(c *fixes.Case) {
			c.Index, c.Ground, c.Evidence.Split = "by-status", detect.GroundSplit, &detect.Split{Verdict: detect.SplitHelps, Splits: 1, Residual: 620, ResidualLow: 610, ResidualHigh: 640, Seconds: 120}
		}), "shard migrate index wait", 600, 600},
		{"a key of a day", with(hot(detect.KeyWrites, 1800, puts), func(c *fixes.Case) {
			c.Ground, c.Rolling = detect.GroundPeriod, &detect.Rolling{Period: "day", Template: "<date>"}
		}), "rename shard migrate", 600, 600},
		{"a table that is short of capacity", with(hot(detect.KeyWrites, 900, puts), func(c *fixes.Case) {
			c.Evidence.Refused[sample.Provisioned.String()] = 10
		}), "capacity shard migrate retry", 900, 900},
		{"many shards want room ahead", with(hot(detect.KeyWrites, 5000, puts), func(c *fixes.Case) { c.Share = 0.9 }), "shard prewarm migrate", 625, 625},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			steps := fixes.Steps(c.of)
			var actions []string
			for i, s := range steps {
				actions = append(actions, s.Action)
				if s.Action == "" || s.Guide == "" || !slices.Contains(detect.Efforts(), s.Effort) {
					t.Errorf("step %d is %+v", i, s)
				}
			}
			if got := strings.Join(actions, " "); got != c.actions {
				t.Errorf("the steps are %s, want %s", got, c.actions)
			}
			i := slices.IndexFunc(steps, func(s detect.Step) bool { return s.After != nil })
			if i < 0 {
				t.Fatalf("no step tells what it leaves: %+v", steps)
			}
			limit := detect.Units(detect.Limit(c.of.Subject))
			if a := steps[i].After; math.Abs(a.Low-c.low) > 0.01 || math.Abs(a.High-c.high) > 0.01 ||
				math.Abs(a.LowUtilization-a.Low/limit) > 1e-9 || math.Abs(a.HighUtilization-a.High/limit) > 1e-9 {
				t.Errorf("%s leaves %+v, want %v to %v", steps[i].Action, a, c.low, c.high)
			}
		})
	}
}

// TestOneRegionMigrates holds that the findings of all Regions move old items in the same
// Region.
func TestOneRegionMigrates(t *testing.T) {
	t.Parallel()
	for _, region := range []string{"us-east-1", "eu-west-1"} {
		c := hot(detect.KeyWrites, 2000, op(sample.PutItem, 1, 2000, 1))
		c.Region, c.Facts = region, &detect.TableFacts{Replicas: []string{"us-east-1", "eu-west-1"}}
		steps := fixes.Steps(c)
		i := slices.IndexFunc(steps, func(s detect.Step) bool { return s.Action == detect.ActionMigrate })
		if i < 0 || steps[i].Arguments.Region != "eu-west-1" {
			t.Errorf("in %s: the steps are %+v", region, steps)
		}
	}
}

// TestReplicatedWritesAreNoCallersHere holds that requests of one Region explain only
// the writes that are made there.
func TestReplicatedWritesAreNoCallersHere(t *testing.T) {
	t.Parallel()
	for wcu, want := range map[float64]bool{0: true, 50: true, 500: false} {
		c := hot(detect.KeyWrites, 1000, op(sample.TransactWriteItems, 1, 500, 2))
		c.Evidence.Callers = []detect.Part{{Text: "batch", Low: 0.95, High: 1}}
		c.Callers = map[string]float64{"batch": 0.5}
		c.Replication = &detect.Replication{Regions: []string{"eu-west-1", "us-east-1"}, WCU: wcu}
		if makes := fixes.MakesHot(c.Finding, c.Callers); makes != want {
			t.Errorf("with %v units of other Regions a caller here makes the key hot: %v", wcu, makes)
		}
		for _, s := range fixes.Steps(c) {
			if s.Action == detect.ActionTransaction && math.Abs(s.After.Low-(1000-(1000-wcu)/2)) > 0.01 {
				t.Errorf("with %v units of other Regions conditional writes leave %+v", wcu, s.After)
			}
			if s.Action == detect.ActionCaller && math.Abs(s.After.Low-wcu) > 0.01 {
				t.Errorf("with %v units of other Regions the caller leaves %+v", wcu, s.After)
			}
		}
	}
}

// TestAnIndexMayHaveAKeyWithMoreValues holds what is said of it: where it helps, and
// that what it leaves is open.
func TestAnIndexMayHaveAKeyWithMoreValues(t *testing.T) {
	t.Parallel()
	for units, want := range map[float64]bool{1100: true, 500: false} {
		c := hot(detect.KeyWrites, units, op(sample.PutItem, 1, units, 1))
		c.Index, c.Key = "by-status", "OPEN"
		i := slices.IndexFunc(fixes.Steps(c), func(s detect.Step) bool {
			return s.Fix == detect.FixIndexKeyOfWrites && s.Effort == detect.EffortKeys && s.After.Low == 0 && s.After.High == units
		})
		if (i >= 0) != want {
			t.Errorf("at %v units a key with more values is step %d", units, i)
		}
	}
}

// TestANumberTakesANewTable holds that what takes a new table, or a new index, is not called
// a change of code.
func TestANumberTakesANewTable(t *testing.T) {
	t.Parallel()
	rolling := &detect.Rolling{Template: "<minute>", Period: "minute"}
	for _, c := range []struct {
		keyType, index string
		rolling        *detect.Rolling
		takes          detect.Effort
	}{
		{"S", "", rolling, detect.EffortCode},
		{"N", "", rolling, detect.EffortKeys},
		{"N", "by-minute", rolling, detect.EffortKeys},
		{"N", "", nil, detect.EffortKeys},
	} {
		of := hot(detect.KeyWrites, 1100, op(sample.PutItem, 1, 1100, 1))
		of.KeyType, of.Index, of.Rolling = c.keyType, c.index, c.rolling
		first := fixes.Steps(of)[0]
		if first.Effort != c.takes {
			t.Errorf("for a key of type %s of index %q, rolling %t, %s takes %s", c.keyType, c.index, c.rolling != nil, first.Fix, first.Effort)
		}
	}
}

// TestCapacityForCopies says what a provisioned table needs while old items are copied:
// 2,200 for the whole, and 100 to copy.
func TestCapacityForCopies(t *testing.T) {
	t.Parallel()
	for wcu, want := range map[float64]bool{2299: true, 2300: false, 0: false} {
		c := hot(detect.KeyWrites, 1100, op(sample.PutItem, 1, 1100, 1))
		c.Facts = &detect.TableFacts{Billing: detect.BillingProvisioned, WCU: wcu}
		units := 0.0
		for _, s := range fixes.Steps(c) {
			if s.Fix == detect.FixCapacityForCopies {
				units = s.Arguments.Units
			}
		}
		if (units == 2300) != want || !want && units != 0 {
			t.Errorf("provisioned with %v it needs %v", wcu, units)
		}
	}
}

// TestCapacityAfterAChange says what the table or index as a whole needs after a fix. The
// key has half of the load.
func TestCapacityAfterAChange(t *testing.T) {
	t.Parallel()
	puts := op(sample.PutItem, 1, 1100, 1)
	wcu := func(now, low, high float64) *detect.Need {
		return &detect.Need{Unit: "wcu", Now: now, Low: low, High: high}
	}
	provisioned := func(n *detect.Need, units float64) *detect.Need { n.Provisioned = units; return n }
	newIndex := func(n *detect.Need) *detect.Need { n.NewIndex = true; return n }
	for _, c := range []struct {
		name string
		fix  detect.Fix
		of   *fixes.Case
		want *detect.Need
	}{
		{"half of the key's units are spared", detect.FixConditionalWrite, hot(detect.KeyWrites, 1100, op(sample.TransactWriteItems, 1, 550, 2)), wcu(2200, 1650, 1650)},
		{"the table is provisioned", detect.FixConditionalWrite, with(hot(detect.KeyWrites, 1100, op(sample.TransactWriteItems, 1, 550, 2)), func(c *fixes.Case) {
			c.Facts = &detect.TableFacts{Billing: detect.BillingProvisioned, WCU: 3000}
		}), provisioned(wcu(2200, 1650, 1650), 3000)},
		{"how much compression spares is open", detect.FixCompression, with(hot(detect.KeyWrites, 1500, op(sample.PutItem, 1, 5, 300)), func(c *fixes.Case) {
			c.Evidence.ItemBytes, c.Evidence.ChangedShare = 300*1024, changed(1)
		}), wcu(3000, 1505, 3000)},
		{"a cache", detect.FixCache, with(hot(detect.KeyReads, 3400, op(sample.GetItem, 1, 7000, 0.5)), func(c *fixes.Case) { c.Evidence.SortKeys.Repeated = 0.9 }),
			&detect.Need{Unit: "rcu", Now: 6800, Low: 3400, High: 3740}},
		{"shards spare nothing", detect.FixShardedKey, hot(detect.KeyWrites, 1100, puts), wcu(2200, 2200, 2200)},
		{"a burst bounds no table", detect.FixShardedKey, with(hot(detect.KeyWrites, 1820, puts), func(c *fixes.Case) {
			c.Mean.WCU, c.Share = detect.Figure{Value: 80, Low: 80, High: 80}, 80./280
		}), wcu(2020, 2020, 2020)},
		{"copies spare nothing", detect.FixCopies, with(hot(detect.KeyReads, 4000, op(sample.GetItem, 1, 8000, 0.5)), func(c *fixes.Case) {
			c.Ground, c.Peak.WCU.Value = detect.GroundItem, 10
		}), &detect.Need{Unit: "rcu", Now: 8000, Low: 8000, High: 8000}},
		{"a new index stands beside the old one", detect.FixShardedIndex, with(hot(detect.KeyWrites, 1100, puts), func(c *fixes.Case) { c.Index = "by-status" }),
			newIndex(wcu(2200, 2200, 2200))},
		{"also with fewer attributes", detect.FixProjection, with(hot(detect.KeyWrites, 2000, puts), func(c *fixes.Case) { c.Index, c.Evidence.ItemBytes = "by-status", 4*1024 }),
			newIndex(wcu(4000, 2500, 4000))},
		{"to wait changes nothing", detect.FixWaitForSplit, with(hot(detect.KeyWrites, 1200, puts), func(c *fixes.Case) {
			c.Ground, c.Evidence.Split = detect.GroundSplit, &detect.Split{Verdict: detect.SplitHelps, Splits: 1, Residual: 620, ResidualLow: 610, ResidualHigh: 640, Seconds: 120}
		}), nil},
		{"without the key's share nothing is known of the table", detect.FixShardedKey, with(hot(detect.KeyWrites, 1100, puts), func(c *fixes.Case) { c.Share = 0 }), nil},
	} {
		steps := fixes.Steps(c.of)
		i := slices.IndexFunc(steps, func(s detect.Step) bool { return s.Fix == c.fix })
		if i < 0 {
			t.Errorf("%s: no step is %s", c.name, c.fix)
			continue
		}
		got := steps[i].Need
		if (got == nil) != (c.want == nil) || got != nil && !isNear(got, c.want) {
			t.Errorf("%s: it needs %+v, want %+v", c.name, got, c.want)
		}
	}
}

// isNear reports whether two needs differ by rounding only.
func isNear(a, b *detect.Need) bool {
	near := func(x, y float64) bool { return math.Abs(x-y) < 0.01 }
	return near(a.Now, b.Now) && near(a.Low, b.Low) && near(a.High, b.High) && a.Unit == b.Unit && a.Provisioned == b.Provisioned && a.NewIndex == b.NewIndex
}

// TestStrongReadsPassThrough counts what is read eventually as answered by DAX. A cache in the
// application may answer all.
func TestStrongReadsPassThrough(t *testing.T) {
	t.Parallel()
	c := hot(detect.KeyReads, 4000, op(sample.GetItem, 1, 5000, 0.8))
	c.Evidence.StrongReads, c.Evidence.SortKeys.Repeated = 0.25, 0.9
	for _, s := range fixes.Steps(c) {
		if s.Action != detect.ActionCache {
			continue
		}
		if s.After.Low != 0 || math.Abs(s.After.High-1300) > 0.01 {
			t.Errorf("it leaves %+v", s.After)
		}
		return
	}
	t.Error("no cache is advised")
}

// TestMigrations holds the way to shards: a queue is not copied, since each job would be
// there twice. An item of a queue is found by whoever has read it.
func TestMigrations(t *testing.T) {
	t.Parallel()
	puts, deletes := op(sample.PutItem, 0.5, 600, 1), op(sample.DeleteItem, 0.5, 600, 1)
	moving := func(direction string) func(*fixes.Case) {
		return func(c *fixes.Case) {
			c.Evidence.Split = &detect.Split{Verdict: detect.SplitUnknown, Direction: direction}
		}
	}
	for _, c := range []struct {
		name   string
		of     *fixes.Case
		want   detect.Fix
		effort detect.Effort
		suffix detect.Suffix
	}{
		{"items that are put and deleted anywhere", with(hot(detect.KeyWrites, 1200, puts, deletes), moving(detect.Wandering)), detect.FixMigrateWrites, detect.EffortKeys, detect.SuffixCalculated},
		{"items that are only put", hot(detect.KeyWrites, 1500, op(sample.PutItem, 1, 1500, 1)), detect.FixMigrateWrites, detect.EffortKeys, detect.SuffixRandom},
		{"a queue", with(hot(detect.KeyWrites, 1200, puts, deletes), moving(detect.Rising)), detect.FixMigrateQueue, detect.EffortCode, detect.SuffixRandom},
		{"reads", hot(detect.KeyReads, 3900, op(sample.Query, 1, 7800, 0.5)), detect.FixMigrateReads, detect.EffortKeys, detect.SuffixRandom},
		{"an index", with(hot(detect.KeyWrites, 1500, op(sample.PutItem, 1, 1500, 1)), func(c *fixes.Case) { c.Index = "by-status" }), detect.FixMigrateIndex, detect.EffortKeys, detect.SuffixRandom},
		{"a key that is a shard", with(hot(detect.KeyWrites, 1500, op(sample.PutItem, 1, 1500, 1)), func(c *fixes.Case) { c.Key = "user#1#SHARD_3" }), detect.FixMigrateShards, detect.EffortCode, detect.SuffixRandom},
	} {
		steps := fixes.Steps(c.of)
		i := slices.IndexFunc(steps, func(s detect.Step) bool { return s.Action == detect.ActionMigrate })
		if i < 0 {
			t.Errorf("%s: no migration among %+v", c.name, steps)
			continue
		}
		shards := steps[i-1]
		if s := steps[i]; s.Fix != c.want || s.Effort != c.effort || shards.Effort != c.effort || s.Arguments.Units != 100 || s.Arguments.Count != c.of.Shards {
			t.Errorf("%s: %+v", c.name, s)
		}
		if shards.Names == nil || shards.Names.Suffix != c.suffix {
			t.Errorf("%s: its shards are named %+v", c.name, shards.Names)
		}
	}
}

// TestATimeNeedsNoMigration holds that the keys of past times stay as they are, except
// in an index, which has its key for good.
func TestATimeNeedsNoMigration(t *testing.T) {
	t.Parallel()
	for index, want := range map[string]detect.Effort{"": detect.EffortCode, "by-day": detect.EffortKeys} {
		c := hot(detect.KeyWrites, 1800, op(sample.PutItem, 1, 1800, 1))
		c.Index, c.Ground, c.Rolling = index, detect.GroundPeriod, &detect.Rolling{Period: "day", Template: "<date>"}
		found := false
		for _, s := range fixes.Steps(c) {
			switch s.Action {
			case detect.ActionRename, detect.ActionShard, detect.ActionMigrate:
				found = true
				if s.Effort != want {
					t.Errorf("of index %q %s takes %q, want %q", index, s.Action, s.Effort, want)
				}
			}
		}
		if !found {
			t.Errorf("of index %q no step divides it", index)
		}
	}
}

// TestAWholeItemIsNotDivided holds that nobody is told to divide what is written as a whole,
// such as a session or a record of idempotency.
func TestAWholeItemIsNotDivided(t *testing.T) {
	t.Parallel()
	for _, whole := range []sample.Op{sample.PutItem, sample.DeleteItem} {
		c := hot(detect.KeyWrites, 1200, op(whole, 1, 1200, 1))
		c.Ground = detect.GroundItem
		if steps := fixes.Steps(c); len(steps) != 1 || steps[0].Fix != detect.FixFewerWrites {
			t.Errorf("the steps of %s are %+v", whole, steps)
		}
	}
}

// TestAPlaceholderIsNoKey: what stands in place of a value is mended where the key is built, or
// sampled, and is neither divided nor waited for. Words that only contain one are keys.
func TestAPlaceholderIsNoKey(t *testing.T) {
	t.Parallel()
	for fix, keys := range map[detect.Fix][]string{
		detect.FixMissingValue: {"cust#undefined", "null", "user:None", "order#<nil>", "tenant#[object Object]", "NaN#2026"},
		detect.FixMaskedKey:    {"REDACTED", "card#***", "user#[FILTERED]", "masked"},
		detect.FixShardedKey:   {"nullable#1", "user#annul", "session#none", "x*y", "mask#7", "Nonesuch"},
	} {
		for _, key := range keys {
			c := hot(detect.KeyWrites, 1200, op(sample.PutItem, 1, 1200, 1))
			c.Key, c.Ground = sample.Text(key), detect.GroundSplit
			steps := fixes.Steps(c)
			if i := slices.IndexFunc(steps, func(s detect.Step) bool { return s.Fix == fix }); i < 0 || fix != detect.FixShardedKey && len(steps) != 1 {
				t.Errorf("the steps of %s are %+v, want %s", key, steps, fix)
			}
		}
	}
}

// TestACounterNeedsNoMigration holds that the old item is one more of those that are
// summed, so that a counter asks only for other code. It may be a lock, so writing it less
// often comes first.
func TestACounterNeedsNoMigration(t *testing.T) {
	t.Parallel()
	c := hot(detect.KeyWrites, 1100, op(sample.UpdateItem, 1, 1100, 1))
	c.Ground, c.Evidence.ItemBytes = detect.GroundItem, 100
	steps := fixes.Steps(c)
	step := steps[1]
	if steps[0].Fix != detect.FixFewerWrites || step.Fix != detect.FixDividedCounter || step.Effort != detect.EffortCode || step.Arguments.Count != 2 || step.Names.Suffix != detect.SuffixCounter {
		t.Errorf("the steps are %+v", steps)
	}
}

// TestQueriesOfAllShards: a query of all shards costs as much at each of them, and so each
// shard may have the load that the key has now.
func TestQueriesOfAllShards(t *testing.T) {
	t.Parallel()
	for _, s := range fixes.Steps(hot(detect.KeyReads, 3500, op(sample.Query, 1, 7000, 0.5))) {
		if s.Fix == detect.FixShardedKey {
			if s.Cost == nil || s.Cost.RCU != 3500 || s.After.Low != 1750 || s.After.High != 3500 {
				t.Errorf("it is %+v, and leaves %+v", s, s.After)
			}
			return
		}
	}
	t.Error("no shards are advised")
}
