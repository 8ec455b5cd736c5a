package detect_test

import (
	"slices"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/testsupport/hostile"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
	"github.com/keyheat/keyheat/sample"
)

func hotKey(about any, target detect.Target, key string) detect.Finding {
	f := scenario.NewFinding(about, target, sample.Key{Type: "S", Text: key})
	f.Severity, f.State = detect.Critical, detect.Firing
	f.FirstSeen = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	f.LastSeen = f.FirstSeen.Add(time.Minute)
	f.Advice = []detect.Step{detect.NewStep(detect.FixMendCaller), detect.NewStep(detect.FixShardedKey)}
	return f
}

// incidentOf is the incident of one finding.
func incidentOf(f detect.Finding) detect.Incident { return casebook.Incidents([]detect.Finding{f})[0] }

func TestAnIncidentIsItsFindings(t *testing.T) {
	t.Parallel()
	f := hotKey(detect.KeyWrites, detect.Target{Table: "orders", Index: "by-status"}, "OPEN")
	i := incidentOf(f)
	if i.Root != f.Fingerprint || len(i.Findings) != 1 || i.Findings[0] != f.Fingerprint || i.Severity != f.Severity || i.State != f.State {
		t.Errorf("the incident %+v is not that of its finding", i)
	}
	if !i.OpenedAt.Equal(f.FirstSeen) || !i.LastSeen.Equal(f.LastSeen) || i.FiredAt != nil {
		t.Errorf("the incident %+v has other times than its finding", i)
	}
}

// TestIncidentsAreToldApart: by case and key, and by every part of the target, whose
// limits hold for each alone. That a key is hot by reads and by writes, and that its
// items are large, is one incident.
func TestIncidentsAreToldApart(t *testing.T) {
	t.Parallel()
	seen := map[string]detect.Finding{}
	for _, target := range []detect.Target{
		{Table: "orders"}, {Table: "orders", Index: "i"}, {Region: "eu-west-1", Table: "orders"}, {Account: "1", Table: "orders"}, {Table: "ordersi"},
	} {
		for _, about := range []any{detect.KeyWrites, casebook.TimeKey, casebook.UnevenShards} {
			for _, key := range []string{"a", "b"} {
				f := hotKey(about, target, key)
				id := incidentOf(f).ID
				if other, twice := seen[id]; twice {
					t.Errorf("%v %s %s and %v %s %s are one incident", f.Target, f.About(), f.Key, other.Target, other.About(), other.Key)
				}
				seen[id] = f
			}
		}
	}
	for _, about := range []any{detect.KeyReads, casebook.LargeItem} {
		f := hotKey(about, detect.Target{Table: "orders"}, "a")
		if of, same := seen[incidentOf(f).ID]; !same || of.Subject != detect.KeyWrites {
			t.Errorf("%v of a hot key is another incident", about)
		}
	}
	again := hotKey(detect.KeyWrites, detect.Target{Table: "orders"}, "a")
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
	of := func(about any, key, incident string) detect.Finding {
		f := scenario.NewFinding(about, detect.Target{Table: "orders"}, sample.KeyString(key))
		f.Incident = incident
		return f
	}
	found := []detect.Finding{
		of(detect.KeyWrites, "a#0", "shards"), of(detect.KeyWrites, "b", "alone"), of(detect.KeyWrites, "a#1", "shards"), of(casebook.TooFewShards, "a#*", "shards"),
	}
	var keys []string
	for _, f := range slices.Concat(casebook.Roots(found)...) {
		keys = append(keys, string(f.Key))
	}
	if keys[0] != "a#*" || keys[3] != "b" || len(keys) != 4 {
		t.Errorf("the order is %v", keys)
	}
}

// TestEveryFindingMakesAnIncident: the lists by which words of silences and requests are checked
// have the case and the subject of each.
func TestEveryFindingMakesAnIncident(t *testing.T) {
	t.Parallel()
	for _, about := range hostile.Abouts() {
		f := scenario.NewFinding(about, detect.Target{Table: "orders"}, sample.KeyString("a"))
		i := incidentOf(f)
		if !slices.Contains(casebook.Names(), string(i.Case)) || !slices.Contains(detect.Subjects(), string(i.Subject)) || i.Case != f.Case {
			t.Errorf("%v has the incident %+v", about, i)
		}
	}
}
