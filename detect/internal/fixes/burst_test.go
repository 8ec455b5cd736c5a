package fixes_test

import (
	"slices"
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
		kind    detect.Subject
		over    int
		seconds int64
		mean    float64
		delay   int // 0 where it is not offered
	}{
		{"four seconds of two minutes", detect.KeyWrites, 4, 120, 100, 6},
		{"the key is busy besides", detect.KeyWrites, 4, 120, 400, 10},
		{"it takes too long", detect.KeyWrites, 12, 300, 100, 0},
		{"it has just begun", detect.KeyWrites, 4, 39, 200, 0},
		{"a second more is a burst", detect.KeyWrites, 4, 40, 200, 7},
		{"there is no room between", detect.KeyWrites, 1, 120, 401, 0},
		{"reads do not wait", detect.KeyReads, 1, 120, 100, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := detect.NewFinding(c.kind, detect.Target{Table: "orders"}, sample.KeyString("k"))
			f.Severity, f.Utilization, f.Shards, f.Seconds = detect.Critical, 1.8, 3, c.seconds
			f.OverSeconds, f.Mean.WCU, f.Mean.RCU = &c.over, detect.Figure{Value: c.mean}, detect.Figure{Value: c.mean}
			f.Evidence = &detect.Evidence{}
			steps := fixes.Steps(&fixes.Case{Finding: &f, Load: 1_800_000, Policy: detect.DefaultPolicy()})
			i := slices.IndexFunc(steps, func(s detect.Step) bool { return s.Fix == detect.FixSpreadBurst })
			switch {
			case c.delay == 0 && i >= 0:
				t.Errorf("it is %+v", steps[i])
			case c.delay > 0 && (i != 0 || steps[0].Arguments.Seconds != c.delay || steps[0].Arguments.Units != 800):
				t.Errorf("the first step is not it: %+v", steps)
			}
		})
	}
}

// TestBurstsAtFixedTimes offers jitter for bursts that come again, however few requests the
// key has between them, for reads too.
func TestBurstsAtFixedTimes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		kind  detect.Subject
		gaps  []int64
		long  int64
		every int
		spare bool
	}{
		{"each minute", detect.KeyWrites, []int64{60, 60, 60}, 1, 60, true},
		{"reads each minute", detect.KeyReads, []int64{60, 60, 60}, 1, 60, true},
		{"each fifth minute, one left out", detect.KeyWrites, []int64{300, 600, 301}, 2, 300, true},
		{"at odd times", detect.KeyWrites, []int64{60, 95, 131}, 1, 0, true},
		{"reads at odd times", detect.KeyReads, []int64{60, 95, 131}, 1, 0, false},
		{"longer than the time between", detect.KeyWrites, []int64{60, 60, 60}, 30, 60, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := detect.NewFinding(c.kind, detect.Target{Table: "orders"}, sample.KeyString("k"))
			at := int64(1_770_000_000)
			f.FirstSeen = detect.TimeOf(at)
			f.Bursts = []detect.Span{{From: at, To: at + c.long - 1}}
			for _, gap := range c.gaps {
				at += gap
				f.Bursts = append(f.Bursts, detect.Span{From: at, To: at + c.long - 1})
			}
			f.LastSeen = detect.TimeOf(at + c.long - 1)
			over := len(f.Bursts) * int(c.long)
			f.Severity, f.Utilization, f.Shards, f.Seconds = detect.Critical, 1.8, 3, int64(over)
			f.OverSeconds, f.Mean.WCU, f.Mean.RCU = &over, detect.Figure{Value: 1800}, detect.Figure{Value: 1800}
			f.Evidence = &detect.Evidence{}
			steps := fixes.Steps(&fixes.Case{Finding: &f, Load: 1_800_000 * detect.Side[sample.Milli](c.kind, 1, 3), Policy: detect.DefaultPolicy()})
			is := len(steps) > 0 && steps[0].Fix == detect.FixSpreadBurst
			if is != c.spare || is && steps[0].Arguments.Every != c.every {
				t.Errorf("the steps are %+v", steps)
			}
		})
	}
}
