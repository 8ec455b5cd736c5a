package relate_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/detect/internal/relate"
	"github.com/keyheat/keyheat/sample"
)

var began = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// hot returns a finding about a key of the table orders that is hot from one second to
// another, and has a share of the load then.
func hot(key string, from, to int, share float64) detect.Finding {
	f := detect.NewFinding(detect.KeyWrites, detect.Target{Table: "orders"}, sample.KeyString(key))
	f.Severity, f.State, f.Share, f.Utilization = detect.Critical, detect.Firing, share, 1.2
	f.FirstSeen, f.LastSeen = began.Add(time.Duration(from)*time.Second), began.Add(time.Duration(to)*time.Second)
	return f
}

func policy(detect.Target) detect.Policy { return detect.DefaultPolicy() }

// importOf returns n keys that are hot one after another, each for so many seconds.
func importOf(n, seconds int) (all []detect.Finding) {
	for i := range n {
		all = append(all, hot(fmt.Sprintf("customer-%c", 'a'+i), i*seconds, (i+1)*seconds-1, 0.9))
	}
	return all
}

// TestMoving tells load that goes from key to key from keys that are hot for other
// reasons.
func TestMoving(t *testing.T) {
	t.Parallel()
	rolling := importOf(5, 5)
	for i := range rolling {
		rolling[i].Rolling = &detect.Rolling{Template: "<minute>"}
	}
	shards := importOf(5, 5)
	for i := range shards {
		shards[i].Sharding = &detect.Sharded{Base: "customer"}
	}
	// beside returns n keys that are hot in turn, beside others that are hot meanwhile.
	beside := func(n int, others ...detect.Finding) []detect.Finding { return append(importOf(n, 5), others...) }
	steady, flicker := hot("steady", -600, 600, 0.4), hot("flicker", 3, 13, 0.2)
	for name, c := range map[string]struct {
		found []detect.Finding
		keys  int // that are one moving hot spot
	}{
		"five keys beside a steady one":     {beside(5, steady), 5},
		"twelve keys beside four":           {beside(12, steady, hot("x", -90, 90, 0.1), hot("y", -90, 90, 0.1), hot("z", -90, 90, 0.1)), 12},
		"three keys beside three":           {beside(3, steady, hot("x", -300, 90, 0.1), hot("y", -300, 90, 0.1)), 0},
		"three keys among shorter ones":     {beside(3, steady, flicker), 0},
		"three keys long after others":      {beside(3, hot("x", -400, -300, 0.1), hot("y", -300, -90, 0.1)), 3},
		"five keys of five seconds":         {importOf(5, 5), 5},
		"spikes while others go on":         {[]detect.Finding{hot("a", 36, 43, 0.2), hot("b", 36, 43, 0.2), hot("c", 40, 40, 0.2), hot("d", 47, 48, 0.2), hot("e", 48, 48, 0.2)}, 0},
		"three keys of one second":          {importOf(3, 1), 3},
		"two keys":                          {importOf(2, 5), 0},
		"keys of five minutes":              {importOf(5, 300), 0},
		"keys that are hot at once":         {[]detect.Finding{hot("a", 0, 60, 0.2), hot("b", 0, 60, 0.2), hot("c", 1, 60, 0.2)}, 0},
		"keys that begin one after another": {[]detect.Finding{hot("a", 0, 90, 0.2), hot("b", 10, 90, 0.2), hot("c", 20, 90, 0.2)}, 0},
		"keys minutes apart":                {[]detect.Finding{hot("a", 0, 5, 0.9), hot("b", 120, 125, 0.9), hot("c", 240, 245, 0.9)}, 0},
		"keys that are named after a time":  {rolling, 0},
		"shards":                            {shards, 0},
	} {
		found := relate.Moving(c.found, policy)
		if (len(found) == 1) != (c.keys > 0) {
			t.Errorf("%s: found %+v", name, found)
		}
		if c.keys == 0 {
			continue
		}
		all := append(c.found, found...)
		relate.Assign(all, policy)
		moving := 0
		for i := range all {
			f := &all[i]
			if f.Ground == detect.GroundMoving && f.Subject.OfKey() && !casebook.AdvisesShards(f) && f.Shards == 1 {
				moving++
				if f.Ground != detect.GroundMoving {
					t.Errorf("%s: the ground of %s is %q", name, f.Key, f.Ground)
				}
			}
		}
		if m := found[0].Members; m == nil || m.Count.Value != float64(c.keys) || len(m.Keys) != min(c.keys, detect.NamedKeys) {
			t.Errorf("%s: its keys are %+v", name, m)
		}
		if moving != c.keys {
			t.Errorf("%s: %d of its keys say what the hot spot says, want %d", name, moving, c.keys)
		}
		incidents := casebook.Incidents(all)
		at := slices.IndexFunc(incidents, func(i detect.Incident) bool { return i.Root == found[0].Fingerprint })
		if at < 0 || incidents[at].Case != casebook.MovingSpot || incidents[at].Severity != detect.Critical ||
			incidents[at].State != detect.Firing || len(incidents[at].Findings) != c.keys+1 || len(incidents) != len(c.found)-c.keys+1 {
			t.Errorf("%s: incidents %+v", name, incidents)
		}
	}
}

// TestAShuffledInputIsSpread holds what the fixes of a sorted input leave: five keys of
// 1,200 units for 5 seconds each have 240 a second in 25.
func TestAShuffledInputIsSpread(t *testing.T) {
	t.Parallel()
	keys := importOf(5, 5)
	for i := range keys {
		keys[i].Mean.WCU.Value, keys[i].Peak.WCU.Value, keys[i].Seconds = 1200-float64(i), 1200, 5
	}
	steps := relate.Moving(keys, policy)[0].Advice
	for i, want := range []float64{240, 900} {
		if a := steps[i].After; a == nil || a.Low != want || a.High != want || a.Unit != "wcu" {
			t.Errorf("%s leaves %+v, want %v", steps[i].Action, a, want)
		}
	}
}

// TestCauses holds which findings are one incident, by its cause and the number of its
// findings.
func TestCauses(t *testing.T) {
	t.Parallel()
	related := func(c detect.Case, of detect.Finding) detect.Finding {
		f := casebook.NewRelated(&of, c, of.Key)
		f.Evidence = &detect.Evidence{Callers: []detect.Part{{Text: "role/batch", Low: 0.9, High: 1}}}
		if of.Evidence != nil {
			f.Evidence.Retries = of.Evidence.Retries
		}
		return f
	}
	few := casebook.NewFinding(casebook.FewValues, detect.Target{Table: "orders"}, sample.Key{})
	few.Severity = detect.Warning
	index := detect.NewFinding(detect.KeyWrites, detect.Target{Table: "orders", Index: "by-status"}, sample.KeyString("OPEN"))
	index.Severity, index.State, index.Utilization, index.Share = detect.Warning, detect.Firing, 0.99, 0.5
	pressed := detect.NewFinding(detect.SubjectPartition, detect.Target{Table: "orders"}, sample.Key{})
	pressed.Severity, pressed.State = detect.Critical, detect.Firing
	pressed.Evidence = &detect.Evidence{Refused: map[string]int64{sample.OfIndex.String(): 100}}
	heated := pressed
	heated.Evidence = &detect.Evidence{Refused: map[string]int64{sample.KeyRange.String(): 100}}
	starved := func(index string, cause sample.ThrottleReason, state detect.State) detect.Finding {
		f := detect.NewFinding(detect.SubjectTable, detect.Target{Table: "orders", Index: index}, sample.Key{})
		f.Severity, f.State = detect.Warning, state
		f.Evidence = &detect.Evidence{Refused: map[string]int64{cause.String(): 100}}
		return f
	}
	short, shortIndex := starved("", sample.OfIndexCapacity, detect.Firing), starved("by-day", sample.Provisioned, detect.Firing)
	mixed := starved("", sample.OfIndexCapacity, detect.Firing)
	mixed.Evidence.Refused[sample.Provisioned.String()] = 1
	a, b := hot("a", 0, 60, 0.3), hot("b", 0, 60, 0.3)
	shard := func(key string) detect.Finding {
		f := hot(key, 0, 60, 0.5)
		f.Sharding = &detect.Sharded{Base: "a", Form: "a#*"}
		return f
	}
	day := func(key string, state detect.State) detect.Finding {
		f := hot(key, 0, 60, 0.5)
		f.State, f.Rolling = state, &detect.Rolling{Period: "day", Template: "<date>"}
		return f
	}
	storming := func(f detect.Finding, caller string) detect.Finding {
		f.Evidence = &detect.Evidence{Retries: &detect.Retries{Callers: []detect.CallerRetries{{Caller: sample.Text(caller)}}}, Callers: []detect.Part{{Text: "svc-a", Low: 0.9}}}
		return f
	}
	replicated := func(f detect.Finding, region string) detect.Finding {
		f.Region, f.Replication = region, &detect.Replication{Regions: []string{"eu-west-1", "us-east-1"}}
		return f
	}
	eu, us := replicated(a, "eu-west-1"), replicated(storming(a, "reindex"), "us-east-1")
	sa, sb, sc := storming(a, "reindex"), storming(b, "reindex"), storming(hot("c", 0, 60, 0.1), "import")
	for name, c := range map[string]struct {
		found []detect.Finding
		want  map[detect.Case]int // findings by cause
		all   int                 // incidents
	}{
		"two hot keys":                        {[]detect.Finding{a, b}, map[detect.Case]int{casebook.HotKey: 2}, 2},
		"a key and its large items":           {[]detect.Finding{a, related(casebook.LargeItem, a)}, map[detect.Case]int{casebook.HotKey: 2}, 1},
		"two keys of one caller":              {[]detect.Finding{a, b, related(casebook.OneCaller, a), related(casebook.OneCaller, b)}, map[detect.Case]int{casebook.OneCaller: 4}, 1},
		"two keys of one storm":               {[]detect.Finding{sa, sb, related(casebook.RetryStorm, sa), related(casebook.RetryStorm, sb)}, map[detect.Case]int{casebook.RetryStorm: 4}, 1},
		"storms of two callers":               {[]detect.Finding{sa, sc, related(casebook.RetryStorm, sa), related(casebook.RetryStorm, sc)}, map[detect.Case]int{casebook.RetryStorm: 4}, 2},
		"a storm, and who makes the key hot":  {[]detect.Finding{sa, related(casebook.RetryStorm, sa), related(casebook.OneCaller, sa)}, map[detect.Case]int{casebook.RetryStorm: 3}, 1},
		"few values":                          {[]detect.Finding{a, b, few}, map[detect.Case]int{casebook.FewValues: 3}, 1},
		"two keys with everything":            {[]detect.Finding{hot("true", 0, 60, 0.55), hot("false", 0, 60, 0.45)}, map[detect.Case]int{casebook.HotKey: 2}, 1},
		"a global table's key":                {[]detect.Finding{eu, replicated(a, "us-east-1")}, map[detect.Case]int{casebook.HotKey: 2}, 1},
		"a storm on it in one Region":         {[]detect.Finding{eu, us, related(casebook.RetryStorm, us)}, map[detect.Case]int{casebook.RetryStorm: 3}, 1},
		"few values that are shards":          {[]detect.Finding{shard("a#1"), shard("a#2"), few}, map[detect.Case]int{casebook.HotKey: 3}, 1},
		"few values, some of them shards":     {[]detect.Finding{shard("a#1"), shard("a#2"), b, few}, map[detect.Case]int{casebook.HotKey: 2, casebook.FewValues: 2}, 2},
		"few values that are days":            {[]detect.Finding{day("2026-11-20", detect.Resolved), day("2026-11-21", detect.Firing), few}, map[detect.Case]int{casebook.TimeKey: 3}, 1},
		"one value":                           {[]detect.Finding{hot("ALL", 0, 60, 1), few}, map[detect.Case]int{casebook.HotKey: 2}, 1},
		"an index that holds writes back":     {[]detect.Finding{index, pressed}, map[detect.Case]int{casebook.HotKey: 2}, 1},
		"one whose key nobody sees":           {[]detect.Finding{pressed}, map[detect.Case]int{casebook.SharedPartition: 1}, 1},
		"an index short of capacity":          {[]detect.Finding{short, shortIndex}, map[detect.Case]int{casebook.ShortOfCapacity: 2}, 1},
		"one that is over, and its table":     {[]detect.Finding{starved("", sample.OfIndexCapacity, detect.Resolved), starved("by-day", sample.Provisioned, detect.Resolved)}, map[detect.Case]int{casebook.ShortOfCapacity: 2}, 1},
		"one whose index nobody tells":        {[]detect.Finding{short}, map[detect.Case]int{casebook.ShortOfCapacity: 1}, 1},
		"a table short of both":               {[]detect.Finding{mixed, shortIndex}, map[detect.Case]int{casebook.ShortOfCapacity: 2}, 2},
		"a partition of the table, and a key": {[]detect.Finding{index, heated}, map[detect.Case]int{casebook.HotKey: 1, casebook.SharedPartition: 1}, 2},
	} {
		relate.Assign(c.found, policy)
		got := map[detect.Case]int{}
		incidents := casebook.Incidents(c.found)
		for _, i := range incidents {
			got[casebook.Form(i.Case)] += len(i.Findings)
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) || len(incidents) != c.all {
			t.Errorf("%s: %d incidents, %v, want %d, %v", name, len(incidents), got, c.all, c.want)
		}
	}
}

// TestARootHasWhatItExplains: a pattern is as severe as the worst of its keys, and fires
// while any of them does.
func TestARootHasWhatItExplains(t *testing.T) {
	t.Parallel()
	few := casebook.NewFinding(casebook.FewValues, detect.Target{Table: "orders"}, sample.Key{})
	few.Severity = detect.Info
	found := []detect.Finding{few, hot("a", 0, 60, 0.3), hot("b", 0, 60, 0.2)}
	relate.Assign(found, policy)
	if found[0].Severity != detect.Critical || found[0].State != detect.Firing {
		t.Errorf("the root is %s, %s", found[0].Severity, found[0].State)
	}
	for i := range found[1:] {
		found[i+1].State = detect.Resolved
	}
	found[0].State = detect.Resolved
	relate.Assign(found, policy)
	if found[0].State != detect.Resolved {
		t.Errorf("when all is over the root is %s", found[0].State)
	}
}
