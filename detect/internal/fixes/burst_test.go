package fixes_test

import (
	"strings"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/internal/fixes"
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
		{"four seconds of two minutes", detect.HotKeyWrite, 4, 120, 100, "What came above that in 4 seconds, at most 4,000 write units, is then written up to 6 seconds later"},
		{"the key is busy besides", detect.HotKeyWrite, 4, 120, 400, "written up to 10 seconds later"},
		{"it takes too long", detect.HotKeyWrite, 12, 300, 100, ""},
		{"it has just begun", detect.HotKeyWrite, 4, 39, 200, ""},
		{"a second more is a burst", detect.HotKeyWrite, 4, 40, 200, "written up to 7 seconds later"},
		{"there is no room between", detect.HotKeyWrite, 1, 120, 401, ""},
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
			if len(steps) == 0 || steps[0].Action != detect.ActionSpread || !strings.Contains(steps[0].Text, c.says) {
				t.Errorf("the first of %d steps is not it: %+v", len(steps), steps)
			}
		})
	}
}
