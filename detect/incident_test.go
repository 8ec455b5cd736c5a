package detect_test

import (
	"slices"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/testsupport/hostile"
	"github.com/keyheat/keyheat/sample"
)

func hotKey(kind detect.Kind, target detect.Target, key string) detect.Finding {
	f := detect.NewFinding(kind, target, sample.Key{Type: "S", Text: key})
	f.Severity, f.State = detect.Critical, detect.Firing
	f.FirstSeen = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	f.LastSeen = f.FirstSeen.Add(time.Minute)
	f.Advice = []detect.Step{detect.NewStep(detect.FixMendCaller), detect.NewStep(detect.FixShardedKey)}
	return f
}

// incidentOf is the incident of one finding.
func incidentOf(f detect.Finding) detect.Incident { return detect.Incidents([]detect.Finding{f})[0] }

// TestEveryKindHasACause: an incident without a cause could be neither routed nor
// told apart.
func TestEveryKindHasACause(t *testing.T) {
	t.Parallel()
	for _, kind := range []detect.Kind{
		detect.HotKeyWrite, detect.HotKeyRead, detect.HotGSIKey, detect.HotPartition, detect.TableStarvation,
		detect.RollingHotKey, detect.LowCardinalityKey, detect.TooFewShards, detect.TooManyShards, detect.UnevenShards,
		detect.LargeItem, detect.SingleCaller, detect.TestKey, detect.RetryStorm, detect.LargeCollection, detect.MovingHotSpot,
	} {
		f := hotKey(kind, detect.Target{Table: "orders"}, "k")
		if i := incidentOf(f); i.Cause == "" {
			t.Errorf("%s has no cause", kind)
		}
	}
}

func TestAnIncidentIsItsFindings(t *testing.T) {
	t.Parallel()
	f := hotKey(detect.HotKeyWrite, detect.Target{Table: "orders", Index: "by-status"}, "OPEN")
	i := incidentOf(f)
	if i.Root != f.Fingerprint || len(i.Findings) != 1 || i.Findings[0] != f.Fingerprint || i.Severity != f.Severity || i.State != f.State {
		t.Errorf("the incident %+v is not that of its finding", i)
	}
	if !i.OpenedAt.Equal(f.FirstSeen) || !i.LastSeen.Equal(f.LastSeen) || i.FiredAt != nil {
		t.Errorf("the incident %+v has other times than its finding", i)
	}
}

// TestIncidentsAreToldApart: by cause and key, and by every part of the target, whose
// limits hold for each alone. That a key is hot by reads and by writes, and that its
// items are large, is one incident.
func TestIncidentsAreToldApart(t *testing.T) {
	t.Parallel()
	seen := map[string]detect.Finding{}
	for _, target := range []detect.Target{
		{Table: "orders"}, {Table: "orders", Index: "i"}, {Region: "eu-west-1", Table: "orders"}, {Account: "1", Table: "orders"}, {Table: "ordersi"},
	} {
		for _, kind := range []detect.Kind{detect.HotKeyWrite, detect.RollingHotKey, detect.UnevenShards} {
			for _, key := range []string{"a", "b"} {
				f := hotKey(kind, target, key)
				id := incidentOf(f).ID
				if other, twice := seen[id]; twice {
					t.Errorf("%v %s %s and %v %s %s are one incident", f.Target, f.Kind, f.Key, other.Target, other.Kind, other.Key)
				}
				seen[id] = f
			}
		}
	}
	for _, kind := range []detect.Kind{detect.HotKeyRead, detect.LargeItem} {
		f := hotKey(kind, detect.Target{Table: "orders"}, "a")
		if of, same := seen[incidentOf(f).ID]; !same || of.Kind != detect.HotKeyWrite {
			t.Errorf("%s of a hot key is another incident", kind)
		}
	}
	again := hotKey(detect.HotKeyWrite, detect.Target{Table: "orders"}, "a")
	if _, same := seen[incidentOf(again).ID]; !same {
		t.Error("the same finding is another incident")
	}
}

// TestNotificationIDsAreOfWhatIsTold: the same transition, written again after a
// rollback, has the same ID; anything else has another.
func TestNotificationIDsAreOfWhatIsTold(t *testing.T) {
	t.Parallel()
	opened := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	id := detect.NotificationID("i", opened, 1, detect.EventFiring, "ops")
	if id != detect.NotificationID("i", opened.In(time.FixedZone("", 3600)), 1, detect.EventFiring, "ops") {
		t.Error("the same moment in another zone makes another notification")
	}
	for name, other := range map[string]string{
		"incident": detect.NotificationID("j", opened, 1, detect.EventFiring, "ops"),
		"episode":  detect.NotificationID("i", opened.Add(time.Second), 1, detect.EventFiring, "ops"),
		"revision": detect.NotificationID("i", opened, 2, detect.EventFiring, "ops"),
		"event":    detect.NotificationID("i", opened, 1, detect.EventResolved, "ops"),
		"route":    detect.NotificationID("i", opened, 1, detect.EventFiring, "tickets"),
	} {
		if other == id {
			t.Errorf("another %s has the same notification", name)
		}
	}
}

// TestRootsComeFirst holds that what explains others stands above them, also where it is the
// least utilised, and that incidents keep the order of their first findings.
func TestRootsComeFirst(t *testing.T) {
	t.Parallel()
	of := func(kind detect.Kind, key, incident string) detect.Finding {
		f := detect.NewFinding(kind, detect.Target{Table: "orders"}, sample.KeyString(key))
		f.Incident = incident
		return f
	}
	found := []detect.Finding{
		of(detect.HotKeyWrite, "a#0", "shards"), of(detect.HotKeyWrite, "b", "alone"), of(detect.HotKeyWrite, "a#1", "shards"), of(detect.TooFewShards, "a#*", "shards"),
	}
	var keys []string
	for _, f := range slices.Concat(detect.Roots(found)...) {
		keys = append(keys, string(f.Key))
	}
	if keys[0] != "a#*" || keys[3] != "b" || len(keys) != 4 {
		t.Errorf("the order is %v", keys)
	}
}

// TestKindsAndCauses: the lists by which words of routes, silences and requests are checked have
// every kind of the findings' schema, and a cause for each.
func TestKindsAndCauses(t *testing.T) {
	t.Parallel()
	var kinds []string
	for _, kind := range hostile.Kinds() {
		kinds = append(kinds, string(kind))
		f := detect.NewFinding(kind, detect.Target{Table: "orders"}, sample.KeyString("a"))
		if i := detect.Incidents([]detect.Finding{f}); len(i) != 1 || !slices.Contains(detect.Causes(), string(i[0].Cause)) {
			t.Errorf("%s has the incidents %+v, whose cause is not among %q", kind, i, detect.Causes())
		}
	}
	if slices.Sort(kinds); !slices.Equal(detect.Kinds(), kinds) {
		t.Errorf("the kinds are %q, want %q", detect.Kinds(), kinds)
	}
}
