package fixes_test

import (
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/internal/fixes"
	"github.com/keyheat/keyheat/sample"
)

// TestWaitingHasAnEnd says to wait for splits while they may come, and after a quarter
// of an hour to look, if no refused request is seen.
func TestWaitingHasAnEnd(t *testing.T) {
	t.Parallel()
	began := time.Date(2025, 11, 21, 10, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name    string
		seconds int
		refused int64
		ground  detect.Ground
		mean    detect.Figure // of a quarter of an hour
		want    detect.Fix    // empty for none
	}{
		{name: "after two minutes", seconds: 120, refused: 100, ground: detect.GroundSplit, want: detect.FixWaitForSplit},
		{name: "a second before a quarter of an hour", seconds: 899, refused: 100, ground: detect.GroundSplit, want: detect.FixWaitForSplit},
		{name: "after a quarter of an hour", seconds: 900, refused: 100, ground: detect.GroundSplit},
		{name: "where nothing is throttled", seconds: 1800, ground: detect.GroundSplit, want: detect.FixCheckSplit},
		{name: "noticed late, with a mean proven above the limit", seconds: 890, mean: detect.Figure{Value: 1513, Low: 1488, High: 1539}, ground: detect.GroundSplit, want: detect.FixCheckSplit},
		{name: "noticed late, with a mean that is not", seconds: 890, mean: detect.Figure{Value: 1010, Low: 980, High: 1040}, ground: detect.GroundSplit, want: detect.FixWaitForSplit},
		{name: "what no split helps", seconds: 120, ground: detect.GroundItem},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := detect.NewFinding(detect.KeyWrites, detect.Target{Table: "orders"}, sample.KeyString("k"))
			f.Ground, f.Severity, f.Utilization, f.Shards = c.ground, detect.Critical, 1.5, 3
			f.FirstSeen, f.LastSeen = began, began.Add(time.Duration(c.seconds-1)*time.Second)
			f.Mean.WCU, f.Seconds = c.mean, 900
			f.Evidence = &detect.Evidence{Refused: map[string]int64{sample.KeyRange.String(): c.refused}}
			got := detect.Fix("")
			for _, s := range fixes.Steps(&fixes.Case{Finding: &f, Load: 1_500_000, Policy: detect.DefaultPolicy()}) {
				if s.Action == detect.ActionWait {
					got = s.Fix
				}
			}
			if got != c.want {
				t.Errorf("it is %q, want %q", got, c.want)
			}
		})
	}
}
