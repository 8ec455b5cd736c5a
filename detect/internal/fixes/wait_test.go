package fixes_test

import (
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/internal/fixes"
	"github.com/keyheat/keyheat/sample"
)

// TestWaitingHasAnEnd says to wait for splits while they may come, and after a quarter
// of an hour that DynamoDB did not heal the key, or that nothing throttled is seen.
func TestWaitingHasAnEnd(t *testing.T) {
	t.Parallel()
	began := time.Date(2025, 11, 21, 10, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name     string
		seconds  int
		refused  int64
		says     string
		saysNot  string
		reason   detect.Diagnosis
		isSilent bool
		mean     detect.Figure // of a quarter of an hour
	}{
		{name: "after two minutes", seconds: 120, refused: 100, reason: detect.Splittable, says: "Wait some minutes", saysNot: "did not heal"},
		{name: "a second before a quarter of an hour", seconds: 899, refused: 100, reason: detect.Splittable, says: "Wait some minutes", saysNot: "did not heal"},
		{name: "after a quarter of an hour", seconds: 900, refused: 100, reason: detect.Splittable, says: "still throttles. DynamoDB did not heal it", saysNot: "Wait some"},
		{name: "where nothing is throttled", seconds: 1800, reason: detect.Splittable, says: "hot for 30 min, longer than splits are expected to take. The samples show no throttled request", saysNot: "Wait some"},
		{name: "where it comes first to look", seconds: 900, reason: detect.Splittable, says: "WriteKeyRangeThroughputThrottleEvents shows that DynamoDB throttles; if it does, do not wait any longer but spread the key over 3 shards: the key has been hot", saysNot: "Wait some"},
		{name: "noticed late, with a mean proven above the limit", seconds: 890, mean: detect.Figure{Value: 1513, Low: 1488, High: 1539}, reason: detect.Splittable, says: "hot for 15 min, longer than splits are expected to take", saysNot: "Wait some"},
		{name: "noticed late, with a mean that is not", seconds: 890, mean: detect.Figure{Value: 1010, Low: 980, High: 1040}, reason: detect.Splittable, says: "Wait some", saysNot: "do not wait"},
		{name: "what no split helps", seconds: 120, reason: detect.HotItem, isSilent: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := detect.NewFinding(detect.HotKeyWrite, detect.Target{Table: "orders"}, sample.KeyString("k"))
			f.Reason, f.Severity, f.Utilization, f.Shards = c.reason, detect.Critical, 1.5, 3
			f.FirstSeen, f.LastSeen = began, began.Add(time.Duration(c.seconds-1)*time.Second)
			f.Mean.WCU, f.Seconds = c.mean, 900
			f.Evidence = &detect.Evidence{Refused: map[string]int64{sample.KeyRange.String(): c.refused}}
			text := ""
			for _, s := range fixes.New().Steps(&fixes.Case{Finding: &f, Load: 1_500_000, Policy: detect.DefaultPolicy()}) {
				if s.Action == detect.ActionWait {
					text += s.Text
				}
			}
			if c.isSilent != (text == "") || !strings.Contains(text, c.says) || c.saysNot != "" && strings.Contains(text, c.saysNot) {
				t.Errorf("it says %q", text)
			}
		})
	}
}

// TestLookingNamesTheNextStep only where that is shards, of which a few words say what it is.
func TestLookingNamesTheNextStep(t *testing.T) {
	t.Parallel()
	for kind, says := range map[detect.Kind]string{
		detect.HotKeyWrite: "do not wait any longer but spread the key over 2 shards:",
		detect.HotKeyRead:  "do not wait any longer but go on with the next step:",
	} {
		c := hot(kind, 1.3*detect.Units(detect.Limit(kind)), op(detect.Side(kind, sample.PutItem, sample.GetItem), 1, 1300, 1))
		c.Reason, c.LastSeen = detect.Splittable, c.FirstSeen.Add(time.Hour)
		steps := fixes.New().Steps(c)
		if first, _, _ := strings.Cut(steps[0].Text, ". "); !strings.Contains(first, says) {
			t.Errorf("%s: %s", kind, first)
		}
		if shards := steps[1].Action == detect.ActionShard; shards != (kind == detect.HotKeyWrite) {
			t.Errorf("%s: the next step is %s", kind, steps[1].Text)
		}
	}
}
