package fixes_test

import (
	"strings"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/fixes"
	"github.com/keyheat/keyheat/sample"
)

// TestShortBurstsMayWait offers to write a burst over the seconds behind it, before new keys,
// where that makes writes late by some seconds only.
func TestShortBurstsMayWait(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		kind    detect.Kind
		over    int
		seconds int64
		mean    float64
		says    string // empty where it is not offered
	}{
		{"four seconds of two minutes", detect.HotKeyWrite, 4, 120, 100, "above the limit in 4 seconds, at most 3,200 write units, takes some 5 seconds more"},
		{"the table is busy besides", detect.HotKeyWrite, 4, 120, 480, "takes some 10 seconds more"},
		{"it takes too long", detect.HotKeyWrite, 20, 300, 100, ""},
		{"it has just begun", detect.HotKeyWrite, 4, 12, 600, ""},
		{"it is no burst", detect.HotKeyWrite, 12, 120, 650, ""},
		{"reads do not wait", detect.HotKeyRead, 1, 120, 100, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := detect.NewFinding(c.kind, detect.Target{Table: "orders"}, sample.KeyString("k"))
			f.Reason, f.Severity, f.Utilization, f.Shards, f.Seconds = detect.Undetermined, detect.Critical, 1.8, 3, c.seconds
			f.OverSeconds, f.Mean.WCU, f.Mean.RCU = &c.over, detect.Figure{Value: c.mean}, detect.Figure{Value: c.mean}
			f.Evidence = &detect.Evidence{}
			steps := fixes.New().Steps(&fixes.Case{Finding: &f, Load: 1_800_000, Policy: detect.DefaultPolicy()})
			if c.says == "" {
				for _, s := range steps {
					if strings.Contains(s.Text, "If the burst comes again") {
						t.Errorf("it says %q", s.Text)
					}
				}
				return
			}
			if len(steps) == 0 || steps[0].Action != detect.ActionRetry || !strings.Contains(steps[0].Text, c.says) {
				t.Errorf("the first of %d steps is not it: %+v", len(steps), steps)
			}
		})
	}
}
