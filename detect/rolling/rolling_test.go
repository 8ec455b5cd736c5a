package rolling_test

import (
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/rolling"
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
		f := detect.NewFinding(detect.HotKeyWrite, detect.Target{Table: "log"}, sample.KeyString("log#"+at.Format("2006-01-02")))
		f.Rolling = rolling.Of(f.Key, at)
		f.Severity, f.State, f.Utilization, f.Peak.At, f.Seconds = detect.Critical, detect.Resolved, 1.2, at, seconds
		f.FirstSeen, f.LastSeen = at, at.Add(time.Duration(seconds-1)*time.Second)
		days = append(days, f)
	}
	found := rolling.Patterns{}.Findings(days, func(detect.Target) detect.Policy { return detect.DefaultPolicy() })
	if len(found) != 1 || found[0].Seconds != 900 {
		t.Errorf("found %+v, want the figures of 900 seconds", found)
	}
}
