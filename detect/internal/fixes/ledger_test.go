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
func hot(k detect.Kind, units float64, ops ...detect.Operation) *fixes.Case {
	f := detect.NewFinding(k, detect.Target{Table: "orders"}, sample.KeyString("k"))
	f.Severity, f.Share, f.Seconds, f.Reason = detect.Critical, 0.5, 180, detect.Undetermined
	f.FirstSeen = time.Date(2026, 3, 10, 9, 0, 0, 0, time.UTC)
	f.LastSeen = f.FirstSeen.Add(3 * time.Minute)
	load := detect.Figure{Value: units, Low: units, High: units}
	if k == detect.HotKeyRead {
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
		{"a hot key of puts wants shards", hot(detect.HotKeyWrite, 1100, puts), "shard migrate capacity", 550, 550},
		{"transactions want conditions instead, and no shards", hot(detect.HotKeyWrite, 1100, op(sample.TransactWriteItems, 1, 550, 2)), "transaction capacity", 550, 550},
		{"half of them save a quarter, which is not enough", hot(detect.HotKeyWrite, 1200, op(sample.TransactWriteItems, 0.5, 300, 2), op(sample.PutItem, 0.5, 600, 1)), "shard migrate transaction capacity", 600, 600},
		{"an index does not know transactions", with(hot(detect.HotGSIKey, 1100, op(sample.TransactWriteItems, 1, 550, 2)), func(c *fixes.Case) { c.Index = "by-status" }), "shard migrate index index capacity", 550, 550},
		{"strong reads want eventual ones", with(hot(detect.HotKeyRead, 3400, op(sample.GetItem, 1, 3400, 1)), func(c *fixes.Case) { c.Evidence.StrongReads = 1 }), "read cache capacity", 1700, 1700},
		{"transactional reads save three quarters", with(hot(detect.HotKeyRead, 4000, op(sample.TransactGetItems, 1, 2000, 2)), func(c *fixes.Case) { c.Evidence.StrongReads = 1 }), "read cache capacity", 1000, 1000},
		{"eventual reads save nothing", with(hot(detect.HotKeyRead, 3400, gets), func(c *fixes.Case) { c.Evidence.SortKeys.Repeated = 0.9 }), "cache capacity", 0, 340},
		{"a global index is never read strongly", with(hot(detect.HotKeyRead, 3400, op(sample.Query, 1, 3400, 1)), func(c *fixes.Case) {
			c.Index, c.Evidence.StrongReads = "by-status", 1
		}), "index cache shard migrate capacity", 0, 3400},
		{"an index whose queries ask for one item, which is read again and again", with(hot(detect.HotKeyRead, 3400, gets), func(c *fixes.Case) {
			c.Index, c.Evidence.SortKeys.Repeated = "by-status", 0.9
		}), "cache capacity", 0, 340},
		{"a local one may be", with(hot(detect.HotKeyRead, 3400, op(sample.Query, 1, 3400, 1)), func(c *fixes.Case) {
			c.Index, c.Evidence.StrongReads, c.Facts = "by-date", 1, &detect.TableFacts{LSIs: []string{"by-date"}}
		}), "read cache capacity", 1700, 1700},
		{"reads that do not repeat leave shards", hot(detect.HotKeyRead, 3400, gets), "cache shard migrate capacity", 0, 3400},
		{"one item's reads all repeat", with(hot(detect.HotKeyRead, 4000, op(sample.GetItem, 1, 8000, 0.5)), func(c *fixes.Case) {
			c.Reason, c.Facts = detect.HotItem, &detect.TableFacts{KeySchema: sample.Keys("pk")}
		}), "cache copies capacity", 0, 0.5},
		{"queries of 100 KB want fewer bytes", hot(detect.HotKeyRead, 3500, op(sample.Query, 1, 280, 12.5)), "query cache shard migrate capacity", 140, 3500},
		{"little changes of large items", with(hot(detect.HotKeyWrite, 1080, op(sample.UpdateItem, 1, 90, 12)), func(c *fixes.Case) {
			c.Evidence.ItemBytes, c.Evidence.ChangedShare = 12*1024, changed(0.01)
		}), "vertical capacity", 90, 90},
		{"large items that change as a whole", with(hot(detect.HotKeyWrite, 1500, op(sample.PutItem, 1, 5, 300)), func(c *fixes.Case) {
			c.Evidence.ItemBytes, c.Evidence.ChangedShare = 300*1024, changed(1)
		}), "object compress capacity", 5, 5},
		{"large items of which nothing tells how they change", with(hot(detect.HotKeyWrite, 1500, op(sample.UpdateItem, 1, 5, 300)), func(c *fixes.Case) {
			c.Evidence.ItemBytes = 300 * 1024
		}), "object compress vertical capacity", 5, 5},
		{"a key of an hour, with new large items: old ones stay", with(hot(detect.HotKeyWrite, 1200, op(sample.PutItem, 1, 10, 120)), func(c *fixes.Case) {
			c.Reason, c.Rolling, c.Evidence.ItemBytes = detect.RollingKey, &detect.Rolling{Period: "hour", Template: "<hour>"}, 120*1024
		}), "rename object compress capacity", 600, 600},
		{"large index entries", with(hot(detect.HotGSIKey, 2000, op(sample.PutItem, 1, 500, 4)), func(c *fixes.Case) { c.Index, c.Evidence.ItemBytes = "by-status", 4*1024 }), "shard migrate project index index capacity", 2000 / 3.0, 2000 / 3.0},
		{"an index value that nobody reads, while others are", with(hot(detect.HotGSIKey, 1100, puts), func(c *fixes.Case) { c.Index, c.TargetRCU = "by-status", 500 }), "sparse shard migrate index index capacity", 0, 0},
		{"an index of which no read was seen at all", with(hot(detect.HotGSIKey, 1100, puts), func(c *fixes.Case) { c.Index = "by-status" }), "shard migrate index index capacity", 550, 550},
		{"a stream shows no reads", with(hot(detect.HotGSIKey, 1100, puts), func(c *fixes.Case) {
			c.Index, c.TargetRCU, c.Quality = "by-status", 500, detect.NewQuality(detect.SourceChanges)
		}), "shard migrate index index capacity", 550, 550},
		{"what is throttled and tried again", with(hot(detect.HotKeyWrite, 1700, puts), func(c *fixes.Case) {
			c.Consumed.WCU, c.Evidence.Refused[sample.KeyRange.String()] = 700, 1000
		}), "retry shard migrate capacity", 700, 1700},
		{"throttled above the limit, a back-off alone does not do", with(hot(detect.HotKeyWrite, 1700, puts), func(c *fixes.Case) {
			c.Consumed.WCU, c.Evidence.Refused[sample.KeyRange.String()] = 1000, 700
		}), "shard migrate retry capacity", 1700 / 3.0, 1700 / 3.0},
		{"a counter", with(hot(detect.HotKeyWrite, 1100, op(sample.UpdateItem, 1, 1100, 1)), func(c *fixes.Case) {
			c.Reason, c.Evidence.ItemBytes = detect.HotItem, 100
		}), "split capacity", 550, 550},
		{"a load that splits help", with(hot(detect.HotKeyWrite, 1200, puts), func(c *fixes.Case) {
			c.Reason, c.Evidence.Split = detect.Splittable, &detect.Split{Verdict: detect.SplitHelps, Splits: 1, Residual: 620, Seconds: 120}
		}), "wait shard migrate capacity", 620, 620},
		{"nobody waits where few values bound the table", with(hot(detect.HotKeyWrite, 1200, puts), func(c *fixes.Case) {
			c.FewValues, c.Reason, c.Evidence.Split = true, detect.Splittable, &detect.Split{Verdict: detect.SplitHelps, Splits: 1, Residual: 620, Seconds: 120}
		}), "shard migrate wait capacity", 600, 600},
		{"nobody waits where an index holds writes back", with(hot(detect.HotGSIKey, 1200, puts), func(c *fixes.Case) {
			c.Index, c.Reason, c.Evidence.Split = "by-status", detect.Splittable, &detect.Split{Verdict: detect.SplitHelps, Splits: 1, Residual: 620, Seconds: 120}
		}), "shard migrate index wait index capacity", 600, 600},
		{"a key of a day", with(hot(detect.HotKeyWrite, 1800, puts), func(c *fixes.Case) {
			c.Reason, c.Rolling = detect.RollingKey, &detect.Rolling{Period: "day", Template: "<date>"}
		}), "rename shard migrate capacity", 600, 600},
		{"a table that is short of capacity", with(hot(detect.HotKeyWrite, 900, puts), func(c *fixes.Case) {
			c.Evidence.Refused[sample.Provisioned.String()] = 10
		}), "capacity shard migrate retry", 900, 900},
		{"many shards want room ahead", with(hot(detect.HotKeyWrite, 5000, puts), func(c *fixes.Case) { c.Share = 0.9 }), "shard prewarm migrate capacity", 625, 625},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			steps := fixes.New().Steps(c.of)
			var actions []string
			for i, s := range steps {
				actions = append(actions, s.Action)
				if s.Text == "" || s.Guide == "" || s.Effort != "" && (!slices.Contains(detect.Efforts(), s.Effort) || s.After == nil && s.Basis == "") || s.Action == detect.ActionMigrate && s.Effort == "" {
					t.Errorf("step %d is %+v", i, s)
				}
			}
			if got := strings.Join(actions, " "); got != c.actions {
				t.Errorf("the steps are %s, want %s", got, c.actions)
			}
			if steps[0].Effort == "" {
				t.Errorf("the first step is nothing to do: %s", steps[0].Text)
			}
			i := slices.IndexFunc(steps, func(s detect.Step) bool { return s.After != nil })
			if i < 0 {
				t.Fatalf("no step tells what it leaves: %+v", steps)
			}
			limit := detect.Units(detect.Limit(c.of.Kind))
			if a := steps[i].After; math.Abs(a.Low-c.low) > 0.01 || math.Abs(a.High-c.high) > 0.01 ||
				math.Abs(a.LowUtilization-a.Low/limit) > 1e-9 || math.Abs(a.HighUtilization-a.High/limit) > 1e-9 {
				t.Errorf("%s leaves %+v, want %v to %v", steps[i].Action, a, c.low, c.high)
			}
		})
	}
}

// TestAKeyThatMayBeOneItem: the first sentence, which is all that lists show, says what is
// done if it is one, and the suffix is for several.
func TestAKeyThatMayBeOneItem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind        detect.Kind
		sorted      bool
		first, then string
	}{
		{detect.HotKeyWrite, false, "Spread the key over 2 shards or, if it is one item, divide its value: ceil(1,100", " If it has several items, calculate the suffix from"},
		{detect.HotKeyRead, false, "Spread the key over 2 shards or, if it is one item, keep copies of it: ceil(3,300", " If it has several items, calculate the suffix from"},
		{detect.HotKeyWrite, true, "Spread the key over 2 shards: ceil(1,100", ". Calculate the suffix from"},
	} {
		of := hot(c.kind, 1.1*detect.Units(detect.Limit(c.kind)), op(sample.UpdateItem, 0.5, 550, 1), op(sample.GetItem, 0.5, 3300, 1))
		if !c.sorted {
			of.Evidence.SortKeys = nil
		}
		steps := fixes.New().Steps(of)
		i := slices.IndexFunc(steps, func(s detect.Step) bool { return s.Action == detect.ActionShard })
		if i < 0 || !strings.HasPrefix(steps[i].Text, c.first) || !strings.Contains(steps[i].Text, c.then) {
			t.Errorf("%s, sort keys %t: %+v", c.kind, c.sorted, steps)
		}
	}
}

// TestReplicatedWritesAreNoCallersHere holds that requests of one Region explain only
// the writes that are made there.
func TestReplicatedWritesAreNoCallersHere(t *testing.T) {
	t.Parallel()
	for wcu, want := range map[float64]bool{0: true, 50: true, 500: false} {
		c := hot(detect.HotKeyWrite, 1000, op(sample.TransactWriteItems, 1, 500, 2))
		c.Evidence.Callers = []detect.Part{{Text: "batch", Low: 0.95, High: 1}}
		c.Callers = map[string]float64{"batch": 0.5}
		c.Replication = &detect.Replication{Regions: []string{"eu-west-1", "us-east-1"}, WCU: wcu}
		if makes := fixes.MakesHot(c.Finding, c.Callers); makes != want {
			t.Errorf("with %v units of other Regions a caller here makes the key hot: %v", wcu, makes)
		}
		for _, s := range fixes.New().Steps(c) {
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
		c := hot(detect.HotGSIKey, units, op(sample.PutItem, 1, units, 1))
		c.Index, c.Key = "by-status", "OPEN"
		i := slices.IndexFunc(fixes.New().Steps(c), func(s detect.Step) bool {
			return s.Action == detect.ActionIndex && strings.Contains(s.Text, "such as OPEN#<customer>") &&
				s.Effort == detect.EffortKeys && s.After.Low == 0 && s.After.High == units && s.Basis != ""
		})
		if (i >= 0) != want {
			t.Errorf("at %v units a key with more values is step %d", units, i)
		}
	}
}

// TestNamesFollowTheKeysType holds that a key that is a number needs a new attribute.
func TestNamesFollowTheKeysType(t *testing.T) {
	t.Parallel()
	for keyType, says := range map[string]string{
		"S": "named “k#SHARD_0” to “k#SHARD_1”", "N": "a new attribute of type S", "B": "one or two bytes before it", "SN": "made of several attributes",
	} {
		c := hot(detect.HotKeyWrite, 1100, op(sample.PutItem, 1, 1100, 1))
		c.KeyType = keyType
		if text := fixes.New().Steps(c)[0].Text; !strings.Contains(text, says) {
			t.Errorf("of type %s it says %s", keyType, text)
		}
	}
}

// TestANumberTakesANewTable holds that what takes a new table, or a new index, is not called
// a change of code.
func TestANumberTakesANewTable(t *testing.T) {
	t.Parallel()
	rolling := &detect.Rolling{Template: "<minute>", Period: "minute"}
	for _, c := range []struct {
		keyType, index, says string
		rolling              *detect.Rolling
		takes                detect.Effort
	}{
		{"S", "", "<minute>#SHARD_0", rolling, detect.EffortCode},
		{"N", "", "and so a new table. A shard's number as decimals of the key, such as <minute>.1, needs neither.", rolling, detect.EffortKeys},
		{"N", "by-minute", "and so a new index. A shard's number as decimals of the key, such as <minute>.1, needs neither.", rolling, detect.EffortKeys},
		{"N", "", "and so a new table. A shard's number as decimals of the key, such as k.1, needs neither.", nil, detect.EffortKeys},
	} {
		of := hot(detect.HotKeyWrite, 1100, op(sample.PutItem, 1, 1100, 1))
		of.KeyType, of.Index, of.Rolling = c.keyType, c.index, c.rolling
		first := fixes.New().Steps(of)[0]
		if !strings.Contains(first.Text, c.says) || first.Effort != c.takes {
			t.Errorf("a key of type %s of index %q, rolling %t, takes %s: %s", c.keyType, c.index, c.rolling != nil, first.Effort, first.Text)
		}
	}
}

// TestOnlyAWholeNumberTakesDecimals holds that no shard is offered that is no number.
func TestOnlyAWholeNumberTakesDecimals(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]bool{"17": true, "-17": true, "17.5": false, "~5f2c": false} {
		c := hot(detect.HotKeyWrite, 1100, op(sample.PutItem, 1, 1100, 1))
		c.KeyType, c.Key = "N", key
		if text := fixes.New().Steps(c)[0].Text; strings.Contains(text, "as decimals of the key, such as "+key+".1,") != want {
			t.Errorf("of %s it says %s", key, text)
		}
	}
}

// TestAQuotaIsNamed holds that more than a table's default quota has to be asked for.
func TestAQuotaIsNamed(t *testing.T) {
	t.Parallel()
	for units, want := range map[float64]bool{20_000: false, 30_000: true} {
		c := hot(detect.HotKeyWrite, units, op(sample.PutItem, 1, units, 1))
		c.Share = 0.9
		step := fixes.New().Steps(c)[1]
		if step.Action != detect.ActionPrewarm || strings.Contains(step.Text, "default quota of a table, 40,000") != want {
			t.Errorf("at %v units it says %s", units, step.Text)
		}
	}
}

// TestCapacityForCopies says what a provisioned table needs while old items are copied:
// 2,200 for the whole, and 100 to copy.
func TestCapacityForCopies(t *testing.T) {
	t.Parallel()
	for wcu, want := range map[float64]bool{2299: true, 2300: false, 0: false} {
		c := hot(detect.HotKeyWrite, 1100, op(sample.PutItem, 1, 1100, 1))
		c.Facts = &detect.TableFacts{Billing: detect.BillingProvisioned, WCU: wcu}
		said := ""
		for _, s := range fixes.New().Steps(c) {
			if s.Action == detect.ActionCapacity && s.Effort == detect.EffortSetting {
				said = s.Text
			}
		}
		if (said != "") != want || want && !strings.Contains(said, "at least 2,300 write units a second: about 2,200 that") {
			t.Errorf("provisioned with %v it says %q", wcu, said)
		}
	}
}

// TestCapacityAfterAChange says what the table or index as a whole needs after a fix. The
// key has half of the load.
func TestCapacityAfterAChange(t *testing.T) {
	t.Parallel()
	puts := op(sample.PutItem, 1, 1100, 1)
	onDemand := &detect.TableFacts{Billing: detect.BillingOnDemand}
	for _, c := range []struct {
		name, action string
		of           *fixes.Case
		says         []string // nothing when empty
	}{
		{"half of the key's units are spared", detect.ActionTransaction, hot(detect.HotKeyWrite, 1100, op(sample.TransactWriteItems, 1, 550, 2)),
			[]string{"The table as a whole then takes about 1,650 write units a second at such a peak, and about 2,200 now."}},
		{"on demand that is not billed", detect.ActionTransaction, with(hot(detect.HotKeyWrite, 1100, op(sample.TransactWriteItems, 1, 550, 2)), func(c *fixes.Case) { c.Facts = onDemand }),
			[]string{"On demand, only what is used is billed."}},
		{"what is provisioned can be given back", detect.ActionTransaction, with(hot(detect.HotKeyWrite, 1100, op(sample.TransactWriteItems, 1, 550, 2)), func(c *fixes.Case) {
			c.Facts = &detect.TableFacts{Billing: detect.BillingProvisioned, WCU: 3000}
		}), []string{"Of the 3,000 provisioned up to 1,350 are then not needed at such a peak"}},
		{"how much compression spares is open", detect.ActionCompress, with(hot(detect.HotKeyWrite, 1500, op(sample.PutItem, 1, 5, 300)), func(c *fixes.Case) {
			c.Evidence.ItemBytes, c.Evidence.ChangedShare = 300*1024, changed(1)
		}), []string{"as little as about 1,510 write units", "and about 3,000 now"}},
		{"a cache", detect.ActionCache, with(hot(detect.HotKeyRead, 3400, op(sample.GetItem, 1, 7000, 0.5)), func(c *fixes.Case) { c.Evidence.SortKeys.Repeated = 0.9 }),
			[]string{"about 3,400 to 3,740 read units a second", "A DAX cluster is paid for by the hour"}},
		{"shards spare nothing", detect.ActionShard, hot(detect.HotKeyWrite, 1100, puts), []string{"As now, the table as a whole is asked for about 2,200 write units a second at such a peak."}},
		{"a share is no sum that was counted", detect.ActionShard, with(hot(detect.HotKeyWrite, 1500, puts), func(c *fixes.Case) { c.Share = 0.8329 }), []string{"is asked for about 1,800 write units a second"}},
		{"and more may be asked for than is provisioned", detect.ActionShard, with(hot(detect.HotKeyWrite, 1100, puts), func(c *fixes.Case) {
			c.Facts = &detect.TableFacts{Billing: detect.BillingProvisioned, WCU: 2000}
		}), []string{"It is provisioned with 2,000: raise that first."}},
		{"or than the default quota", detect.ActionShard, with(hot(detect.HotKeyWrite, 25_000, puts), func(c *fixes.Case) { c.Facts = onDemand }),
			[]string{"50,000 write units", "more than the default quota of a table, 40,000"}},
		{"shards cost queries", detect.ActionShard, hot(detect.HotKeyRead, 3500, op(sample.Query, 1, 3500, 1)), []string{"and for what more queries cost"}},
		{"copies cost writes", detect.ActionCopies, with(hot(detect.HotKeyRead, 4000, op(sample.GetItem, 1, 8000, 0.5)), func(c *fixes.Case) {
			c.Reason, c.Peak.WCU.Value = detect.HotItem, 10
		}), []string{"A write of the item is 2 writes: up to 20 write units where it is 10 now."}},
		{"a new index stands beside the old one", detect.ActionShard, with(hot(detect.HotGSIKey, 1100, puts), func(c *fixes.Case) { c.Index, c.Facts = "by-status", onDemand }),
			[]string{"The new index takes about 2,200 write units a second at such a peak, beside the old one's until that is deleted. Both are billed until then."}},
		{"also of fewer attributes", detect.ActionProject, with(hot(detect.HotGSIKey, 2000, puts), func(c *fixes.Case) { c.Index, c.Evidence.ItemBytes = "by-status", 4*1024 }),
			[]string{"The new index takes at most about 4,000 write units"}},
		{"to wait changes nothing", detect.ActionWait, with(hot(detect.HotKeyWrite, 1200, puts), func(c *fixes.Case) {
			c.Reason, c.Evidence.Split = detect.Splittable, &detect.Split{Verdict: detect.SplitHelps, Splits: 1, Residual: 620, Seconds: 120}
		}), nil},
		{"without the key's share nothing is known of the table", detect.ActionShard, with(hot(detect.HotKeyWrite, 1100, puts), func(c *fixes.Case) { c.Share = 0 }), nil},
	} {
		steps := fixes.New().Steps(c.of)
		i := slices.IndexFunc(steps, func(s detect.Step) bool { return s.Action == c.action })
		if i < 0 {
			t.Errorf("%s: no step is %s", c.name, c.action)
			continue
		}
		if got := steps[i].Capacity; c.says == nil && got != "" {
			t.Errorf("%s: it says %q", c.name, got)
		}
		for _, part := range c.says {
			if !strings.Contains(steps[i].Capacity, part) {
				t.Errorf("%s: it says %q, want %q", c.name, steps[i].Capacity, part)
			}
		}
	}
}

// TestStrongReadsPassThrough counts only what is read eventually as answered by a cache.
func TestStrongReadsPassThrough(t *testing.T) {
	t.Parallel()
	c := hot(detect.HotKeyRead, 4000, op(sample.GetItem, 1, 5000, 0.8))
	c.Evidence.StrongReads, c.Evidence.SortKeys.Repeated = 0.25, 0.9
	for _, s := range fixes.New().Steps(c) {
		if s.Action != detect.ActionCache {
			continue
		}
		if !strings.Contains(s.Text, "passes strongly consistent reads through") || math.Abs(s.After.Low-1000) > 0.01 || math.Abs(s.After.High-1300) > 0.01 {
			t.Errorf("it leaves %+v: %s", s.After, s.Text)
		}
		return
	}
	t.Error("no cache is advised")
}

// TestMigrationsSayWhatTheyAdd holds that copies to a key that is full already are said
// with their rate, and that nothing is said to throttle that was not seen to.
func TestMigrationsSayWhatTheyAdd(t *testing.T) {
	t.Parallel()
	text := func(c *fixes.Case) string {
		steps := fixes.New().Steps(c)
		i := slices.IndexFunc(steps, func(s detect.Step) bool { return s.Action == detect.ActionMigrate })
		if i < 0 {
			t.Fatalf("no migration among %+v", steps)
		}
		return steps[i].Text
	}
	index := with(hot(detect.HotGSIKey, 1000, op(sample.PutItem, 1, 500, 2)), func(c *fixes.Case) {
		c.Index, c.Evidence.ItemBytes = "by-status", 2000
	})
	if got := text(index); !strings.Contains(got, "up to 100 write units a second on top of the 1,000") {
		t.Errorf("of an index: %s", got)
	}
	quiet := hot(detect.HotKeyRead, 3400, op(sample.Query, 1, 3400, 1))
	throttled := with(hot(detect.HotKeyRead, 3400, op(sample.Query, 1, 3400, 1)), func(c *fixes.Case) {
		c.Evidence.Refused = map[string]int64{sample.KeyRange.String(): 100}
	})
	if got := text(quiet); strings.Contains(got, "throttles as it does now") || !strings.Contains(got, "the table takes the key's writes twice") {
		t.Errorf("nothing was throttled: %s", got)
	}
	if got := text(throttled); !strings.Contains(got, "throttles as it does now") {
		t.Errorf("it throttles: %s", got)
	}
}

// TestAMigrationRelievesAtOnce holds that a key full of writes has none of the new items
// while old ones are moved, that no delete is lost, and that a queue is not copied: each
// job would be there twice. What is moved may be in its shard by the time that it is
// deleted, so that deletes go to both; what is never moved is where it was read.
func TestAMigrationRelievesAtOnce(t *testing.T) {
	t.Parallel()
	puts, deletes := op(sample.PutItem, 0.5, 600, 1), op(sample.DeleteItem, 0.5, 600, 1)
	for _, c := range []struct {
		name      string
		direction string
		moves     bool
		says      []string
	}{
		{"items that are put and deleted anywhere", detect.Wandering, true,
			[]string{"delete an item from both, the old key first;", "has only updates of old items and deletes, which until (d) are those of new items, too."}},
		{"a queue", detect.Rising, false,
			[]string{"delete an item where it was read: from both where both have it;", "has only updates and deletes of old items."}},
	} {
		of := hot(detect.HotKeyWrite, 1200, puts, deletes)
		of.Evidence.Split = &detect.Split{Verdict: detect.SplitUnknown, Direction: c.direction}
		steps := fixes.New().Steps(of)
		i := slices.IndexFunc(steps, func(s detect.Step) bool { return s.Action == detect.ActionMigrate })
		if i < 0 {
			t.Fatalf("%s: no migration among %+v", c.name, steps)
		}
		text := steps[i].Text
		for _, says := range append(c.says, "put items in their shards only", "From (b) on the old key has only") {
			if !strings.Contains(text, says) {
				t.Errorf("%s: it does not say %q: %s", c.name, says, text)
			}
		}
		if moves := strings.Contains(text, "Else move them at"); moves != c.moves || strings.Contains(text, "drain") == c.moves {
			t.Errorf("%s: %s", c.name, text)
		}
		if drawn := strings.Contains(steps[i-1].Text, "A random suffix does: a job"); drawn == c.moves || (steps[i-1].Names.Suffix == detect.SuffixRandom) == c.moves {
			t.Errorf("%s: how an item finds its shard: %s", c.name, steps[i-1].Text)
		}
		if moves := steps[i].Effort == detect.EffortKeys; moves != c.moves || steps[i-1].Effort != steps[i].Effort {
			t.Errorf("%s: the shards take %s, their migration %s", c.name, steps[i-1].Effort, steps[i].Effort)
		}
	}
}

// TestATimeNeedsNoMigration holds that the keys of past times stay as they are, except
// in an index, which has its key for good.
func TestATimeNeedsNoMigration(t *testing.T) {
	t.Parallel()
	for index, want := range map[string]detect.Effort{"": detect.EffortCode, "by-day": detect.EffortKeys} {
		c := hot(detect.HotKeyWrite, 1800, op(sample.PutItem, 1, 1800, 1))
		c.Index, c.Reason, c.Rolling = index, detect.RollingKey, &detect.Rolling{Period: "day", Template: "<date>"}
		found := false
		for _, s := range fixes.New().Steps(c) {
			switch s.Action {
			case detect.ActionRename, detect.ActionShard, detect.ActionMigrate:
				found = true
				if s.Effort != want {
					t.Errorf("of index %q %s takes %q, want %q", index, s.Action, s.Effort, want)
				}
				if s.Action == detect.ActionRename && !strings.Contains(s.Text, "3 names are not 3 partitions") {
					t.Errorf("of index %q new keys may share a partition: %s", index, s.Text)
				}
			}
		}
		if !found {
			t.Errorf("of index %q no step divides it", index)
		}
	}
}

// TestACounterNeedsNoMigration holds that the old item is one more of those that are
// summed, so that a counter asks only for other code.
func TestACounterNeedsNoMigration(t *testing.T) {
	t.Parallel()
	c := hot(detect.HotKeyWrite, 1100, op(sample.UpdateItem, 1, 1100, 1))
	c.Reason, c.Evidence.ItemBytes = detect.HotItem, 100
	step := fixes.New().Steps(c)[0]
	if step.Action != detect.ActionSplit || step.Effort != detect.EffortCode || !strings.Contains(step.Text, "one of 2 items") || !strings.Contains(step.Text, "A sum costs 1.5 RCU") {
		t.Errorf("the first step is %s, %s: %s", step.Action, step.Effort, step.Text)
	}
}

// TestShardsThatFillAPartitionExactlyAreFull holds that shards which fill a partition
// exactly count as full: 2 of 500 do.
func TestShardsThatFillAPartitionExactlyAreFull(t *testing.T) {
	t.Parallel()
	c := hot(detect.HotKeyWrite, 1500, op(sample.PutItem, 1, 1500, 1))
	if text := fixes.New().Steps(c)[0].Text; !strings.Contains(text, "that 2 or more share one") {
		t.Errorf("of 3 shards of 500: %s", text)
	}
}

// TestTheRestOfACallersLoad holds that a caller without any other load is not given 1% of it.
func TestTheRestOfACallersLoad(t *testing.T) {
	t.Parallel()
	for share, want := range map[float64]string{0: "less than 1%", 0.006: "less than 1%", 0.034: "about 3%"} {
		if got := fixes.OfRest(share); got != want {
			t.Errorf("a share of %v is %q, want %q", share, got, want)
		}
	}
}

// TestABurstBoundsNoTable gives a key of 80 units a second a burst of 1,820, beside 200 of the
// others: at that peak the table takes 2,020, and its share of all the time, 28.6%, is not
// that of the burst, from which a ceiling could follow.
func TestABurstBoundsNoTable(t *testing.T) {
	t.Parallel()
	c := with(hot(detect.HotKeyWrite, 1820, op(sample.PutItem, 1, 1820, 1)), func(c *fixes.Case) {
		c.Mean.WCU, c.Share = detect.Figure{Value: 80, Low: 80, High: 80}, 80./280
	})
	steps := fixes.New().Steps(c)
	if shards := steps[0]; !strings.Contains(shards.Capacity, "asked for about 2,020 write units") {
		t.Errorf("%s: %s", shards.Text, shards.Capacity)
	}
	if last := steps[len(steps)-1]; last.Action != detect.ActionCapacity || strings.Contains(last.Text, "as a whole can take") {
		t.Errorf("%s: %s", last.Action, last.Text)
	}
}

// TestQueriesOfAllShards: shards divide no load of queries that ask all of them and cost the
// least already, and of others what they read beyond that.
func TestQueriesOfAllShards(t *testing.T) {
	t.Parallel()
	for units, says := range map[float64]string{
		0.5:  "one that asks all of them is 2 queries, and these cost the least that there is already",
		12.5: "one that asks all of them is 2 queries, which divide what it reads beyond that least if it reads the whole key",
	} {
		text := ""
		for _, s := range fixes.New().Steps(hot(detect.HotKeyRead, 3500, op(sample.Query, 1, 3500/units, units))) {
			if s.Action == detect.ActionShard {
				text += s.Text
			}
		}
		if !strings.Contains(text, "Shards for reads help as far as a query knows its shard: "+says) {
			t.Errorf("of %g units: %q", units, text)
		}
	}
}

// TestAMigrationSaysWhenLoadLeaves: readers of an index leave the old one before it is deleted,
// writers do not; and of a key that may be one item it says what is done with the item.
func TestAMigrationSaysWhenLoadLeaves(t *testing.T) {
	t.Parallel()
	index := func(c *fixes.Case) { c.Index = "by-status" }
	for _, c := range []struct {
		name           string
		of             *fixes.Case
		says, saysNot  string
		withoutSortKey bool
	}{
		{"reads of an index", with(hot(detect.HotKeyRead, 3900, op(sample.Query, 1, 7800, 0.5)), index), "Until (c) the old key has all of its reads still", "Until (d) a write goes to both indexes, and", false},
		{"writes of an index", with(hot(detect.HotGSIKey, 1500, op(sample.PutItem, 1, 1500, 1)), index), "Until (d) a write goes to both indexes, and the old key has all of its load still", "Until (c)", false},
		{"items of a table", hot(detect.HotKeyWrite, 1500, op(sample.PutItem, 1, 1500, 1)), "Where the shard has an item, that is the newer: delete the old one alone", "nothing is moved", false},
		{"items that change meanwhile", hot(detect.HotKeyWrite, 1500, op(sample.PutItem, 1, 1500, 1)), "deletes it from “k”, only if it has not changed since it was read, and puts it in its shard, only if that has none", "nothing is moved", false},
		{"what may be one item", hot(detect.HotKeyWrite, 1500, op(sample.UpdateItem, 1, 1500, 1)), "If it is one item, of which the value is divided, nothing is moved", "Until (c)", true},
	} {
		if c.withoutSortKey {
			c.of.Evidence.SortKeys = nil
		}
		text := ""
		for _, s := range fixes.New().Steps(c.of) {
			if s.Action == detect.ActionMigrate {
				text += s.Text
			}
		}
		if !strings.Contains(text, c.says) || strings.Contains(text, c.saysNot) {
			t.Errorf("%s: it says %q", c.name, text)
		}
	}
}
