package keypatterns_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/keypatterns"
	"github.com/keyheat/keyheat/sample"
)

// TestOfEqualKeysTheLongest gives a pattern three days of which the second was seen for
// longest: the figures of the hottest key are those of that day, where all are as hot.
func TestOfEqualKeysTheLongest(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 3, 10, 0, 0, 0, 0, time.UTC)
	var days []detect.Finding
	for i, seconds := range []int64{120, 900, 300} {
		at := began.AddDate(0, 0, i)
		f := detect.NewFinding(detect.KeyWrites, detect.Target{Table: "log"}, sample.KeyString("log#"+at.Format("2006-01-02")))
		f.Rolling = keypatterns.MatchTime(string(f.Key), at)
		f.Severity, f.State, f.Utilization, f.Peak.At, f.Seconds = detect.Critical, detect.Resolved, 1.2, at, seconds
		f.FirstSeen, f.LastSeen = at, at.Add(time.Duration(seconds-1)*time.Second)
		days = append(days, f)
	}
	found := keypatterns.Rolling{}.Findings(days, func(detect.Target) detect.Policy { return detect.DefaultPolicy() })
	if len(found) != 1 || found[0].Seconds != 900 {
		t.Errorf("found %+v, want the figures of 900 seconds", found)
	}
}

// TestAPatternIsAsOldAsItsFirstKey gives a pattern of minutes more keys than are kept, in any
// order: it is hot since the first of them was, and over the limit in the seconds of all.
func TestAPatternIsAsOldAsItsFirstKey(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 3, 10, 9, 0, 0, 0, time.UTC)
	var minutes []detect.Finding
	for i := range 30 {
		at := began.Add(time.Duration(i) * time.Minute)
		f := detect.NewFinding(detect.KeyWrites, detect.Target{Table: "log"}, sample.KeyString("log#"+at.Format("2006-01-02T15:04")))
		f.Rolling = keypatterns.MatchTime(string(f.Key), at)
		f.Severity, f.State, f.Utilization, f.Peak.At, f.Seconds = detect.Critical, detect.Resolved, 1.2, at, 60
		f.FirstSeen, f.LastSeen = at, at.Add(59*time.Second)
		over := 60
		f.OverSeconds, f.OverIn = &over, []detect.Span{{From: at.Unix(), To: at.Unix() + 59}}
		minutes = append(minutes, f)
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(minutes), func(i, j int) { minutes[i], minutes[j] = minutes[j], minutes[i] })
	found := keypatterns.Rolling{}.Findings(minutes, func(detect.Target) detect.Policy { return detect.DefaultPolicy() })
	if len(found) != 1 || !found[0].FirstSeen.Equal(began) || found[0].SecondsOver() != 1800 || len(found[0].Rolling.Keys) != 8 || found[0].Ground != detect.GroundPeriod {
		t.Errorf("found %+v, want one since %s, over in 1,800 seconds", found, began)
	}
}

// TestSizeIsACauseOfThePattern: where each hour's items are large, the pattern has the
// steps that make them smaller, behind the step for its key.
func TestSizeIsACauseOfThePattern(t *testing.T) {
	t.Parallel()
	var hours []detect.Finding
	for i := range 2 {
		at := time.Date(2026, 3, 10, 9+i, 0, 0, 0, time.UTC)
		f := detect.NewFinding(detect.KeyWrites, detect.Target{Table: "log"}, sample.KeyString("log#"+at.Format("2006-01-02T15")))
		f.Rolling = keypatterns.MatchTime(string(f.Key), at)
		f.Severity, f.State, f.Utilization, f.Peak.At, f.FirstSeen, f.LastSeen = detect.Critical, detect.Resolved, 1.2, at, at, at
		f.Evidence = &detect.Evidence{ItemBytes: 122_880}
		f.Advice = []detect.Step{{Action: detect.ActionRename}, {Action: detect.ActionCompress}, {Action: detect.ActionWait}, {Action: detect.ActionObject}}
		hours = append(hours, f)
	}
	found := keypatterns.Rolling{}.Findings(hours, func(detect.Target) detect.Policy { return detect.DefaultPolicy() })
	if len(found) != 1 {
		t.Fatalf("found %+v, want one", found)
	}
	var actions []string
	for _, s := range found[0].Advice {
		actions = append(actions, s.Action)
	}
	if want := []string{detect.ActionRename, detect.ActionCompress, detect.ActionObject}; !slices.Equal(actions, want) {
		t.Errorf("it advises %v, want %v", actions, want)
	}
}
