package causes_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/causes"
	"github.com/keyheat/keyheat/sample"
)

var began = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// hot returns a finding about a key of the table orders that is hot from one second to
// another, and has a share of the load then.
func hot(key string, from, to int, share float64) detect.Finding {
	f := detect.NewFinding(detect.HotKeyWrite, detect.Target{Table: "orders"}, sample.KeyString(key))
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
	for name, c := range map[string]struct {
		found []detect.Finding
		moves bool
	}{
		"five keys of five seconds":         {importOf(5, 5), true},
		"three keys of one second":          {importOf(3, 1), true},
		"two keys":                          {importOf(2, 5), false},
		"keys of five minutes":              {importOf(5, 300), false},
		"keys that are hot at once":         {[]detect.Finding{hot("a", 0, 60, 0.2), hot("b", 0, 60, 0.2), hot("c", 1, 60, 0.2)}, false},
		"keys that begin one after another": {[]detect.Finding{hot("a", 0, 90, 0.2), hot("b", 10, 90, 0.2), hot("c", 20, 90, 0.2)}, false},
		"keys minutes apart":                {[]detect.Finding{hot("a", 0, 5, 0.9), hot("b", 120, 125, 0.9), hot("c", 240, 245, 0.9)}, false},
		"keys that are named after a time":  {rolling, false},
		"shards":                            {shards, false},
	} {
		found := causes.Moving(c.found, policy)
		if (len(found) == 1) != c.moves {
			t.Errorf("%s: found %+v", name, found)
		}
		if !c.moves {
			continue
		}
		all := append(c.found, found...)
		causes.Assign(all, policy)
		incidents := detect.Incidents(all)
		if len(incidents) != 1 || incidents[0].Cause != detect.CauseMovingHotSpot || incidents[0].Severity != detect.Critical ||
			incidents[0].State != detect.Firing || incidents[0].Root != found[0].Fingerprint {
			t.Errorf("%s: incidents %+v", name, incidents)
		}
	}
}

// TestCauses holds which findings are one incident, by its cause and the number of its
// findings.
func TestCauses(t *testing.T) {
	t.Parallel()
	related := func(kind detect.Kind, of detect.Finding) detect.Finding {
		f := detect.NewRelated(&of, kind, of.Key)
		f.Evidence = &detect.Evidence{Callers: []detect.Part{{Text: "role/batch", Low: 0.9, High: 1}}}
		return f
	}
	few := detect.NewFinding(detect.LowCardinalityKey, detect.Target{Table: "orders"}, sample.Key{})
	few.Severity = detect.Warning
	index := detect.NewFinding(detect.HotGSIKey, detect.Target{Table: "orders", Index: "by-status"}, sample.KeyString("OPEN"))
	index.Severity, index.State, index.Utilization, index.Share = detect.Warning, detect.Firing, 0.99, 0.5
	pressed := detect.NewFinding(detect.HotPartition, detect.Target{Table: "orders"}, sample.Key{})
	pressed.Severity, pressed.State = detect.Critical, detect.Firing
	pressed.Evidence = &detect.Evidence{Refused: map[string]int64{sample.OfIndex.String(): 100}}
	heated := pressed
	heated.Evidence = &detect.Evidence{Refused: map[string]int64{sample.KeyRange.String(): 100}}
	a, b := hot("a", 0, 60, 0.3), hot("b", 0, 60, 0.3)
	for name, c := range map[string]struct {
		found []detect.Finding
		want  map[detect.Cause]int // findings by cause
		all   int                  // incidents
	}{
		"two hot keys":                        {[]detect.Finding{a, b}, map[detect.Cause]int{detect.CauseHotKey: 2}, 2},
		"a key and its large items":           {[]detect.Finding{a, related(detect.LargeItem, a)}, map[detect.Cause]int{detect.CauseHotKey: 2}, 1},
		"two keys of one caller":              {[]detect.Finding{a, b, related(detect.SingleCaller, a), related(detect.SingleCaller, b)}, map[detect.Cause]int{detect.CauseSingleCaller: 4}, 1},
		"few values":                          {[]detect.Finding{a, b, few}, map[detect.Cause]int{detect.CauseFewValues: 3}, 1},
		"two keys with everything":            {[]detect.Finding{hot("true", 0, 60, 0.55), hot("false", 0, 60, 0.45)}, map[detect.Cause]int{detect.CauseFewValues: 2}, 1},
		"one value":                           {[]detect.Finding{hot("ALL", 0, 60, 1), few}, map[detect.Cause]int{detect.CauseHotKey: 2}, 1},
		"an index that holds writes back":     {[]detect.Finding{index, pressed}, map[detect.Cause]int{detect.CauseIndexBackPressure: 2}, 1},
		"one whose key nobody sees":           {[]detect.Finding{pressed}, map[detect.Cause]int{detect.CauseIndexBackPressure: 1}, 1},
		"a partition of the table, and a key": {[]detect.Finding{index, heated}, map[detect.Cause]int{detect.CauseHotKey: 1, detect.CauseHotPartition: 1}, 2},
	} {
		causes.Assign(c.found, policy)
		got := map[detect.Cause]int{}
		incidents := detect.Incidents(c.found)
		for _, i := range incidents {
			got[i.Cause] += len(i.Findings)
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
	few := detect.NewFinding(detect.LowCardinalityKey, detect.Target{Table: "orders"}, sample.Key{})
	few.Severity = detect.Info
	found := []detect.Finding{few, hot("a", 0, 60, 0.3), hot("b", 0, 60, 0.2)}
	causes.Assign(found, policy)
	if found[0].Severity != detect.Critical || found[0].State != detect.Firing {
		t.Errorf("the root is %s, %s", found[0].Severity, found[0].State)
	}
	for i := range found[1:] {
		found[i+1].State = detect.Resolved
	}
	found[0].State = detect.Resolved
	causes.Assign(found, policy)
	if found[0].State != detect.Resolved {
		t.Errorf("when all is over the root is %s", found[0].State)
	}
}
