package corroboration_test

import (
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/corroboration"
	"github.com/keyheat/keyheat/internal/testsupport/hostile"
)

// TestNoCorroborationShowsATextRaw draws minutes of tables and indexes of which every name is
// an attack, until each finding and verdict was given.
func TestNoCorroborationShowsATextRaw(t *testing.T) {
	t.Parallel()
	m := hostile.New(8)
	check := func(what, text string) {
		t.Helper()
		if wrong := hostile.FaultOfSentence(text); wrong != "" {
			t.Fatalf("%s lets %s through: %q", what, wrong, text)
		}
	}
	causes := []detect.Metric{
		corroboration.WriteKeyRangeThrottles, corroboration.ReadKeyRangeThrottles, corroboration.ReadProvisionedThrottles,
		corroboration.WriteAccountThrottles, corroboration.WriteThrottles,
	}
	kinds, verdicts := map[detect.Kind]int{}, map[detect.Corroborated]int{}
	for drawn := range 300 {
		of := detect.Target{Account: m.Text(), Region: m.Text(), Table: m.Text()}
		if m.Odds(2) {
			of.Index = m.Text()
		}
		r := reading(120, func(i int) map[detect.Metric]float64 {
			minute := consumed(60_000 + 1000*float64(i%7))
			for n, cause := range causes {
				if drawn%4 > 0 && (n > 0 || drawn%4 > 1) && i > 100 && i%len(causes) >= n && m.Odds(2) {
					minute[cause] = 9
				}
			}
			return minute
		})
		if m.Odds(2) {
			for i := range r.Minutes[105:] {
				r.Minutes[105+i].Sampled.Write /= 2
			}
		}
		for _, f := range corroboration.Findings(of, r) {
			kinds[f.Kind]++
			check(string(f.Kind), f.Why)
		}
		if m.Odds(5) {
			r = &corroboration.Reading{State: corroboration.NoData}
		}
		f := m.Finding(detect.HotKeyWrite)
		f.Target = of
		f.Mean.WCU.Low, f.Seconds = m.Number(), 480
		f.FirstSeen, f.LastSeen, f.Peak.At = minuteAt(102), minuteAt(110).Add(-time.Second), minuteAt(105)
		c := corroboration.Assess(&f, r)
		corroboration.Scale(&c, &f)
		verdicts[c.Verdict]++
		check(string(c.Verdict), c.Why)
		whole := corroboration.Judge(of, r)
		check("a table", whole.Why)
	}
	for _, k := range []detect.Kind{detect.HotPartition, detect.TableStarvation, detect.CoverageFell} {
		if kinds[k] == 0 {
			t.Errorf("there is no finding %s: %v", k, kinds)
		}
	}
	for _, v := range []detect.Corroborated{detect.CloudWatchConfirms, detect.CloudWatchOtherCause, detect.CloudWatchContradicts, detect.CloudWatchNotAssessed} {
		if verdicts[v] == 0 {
			t.Errorf("no finding is %s: %v", v, verdicts)
		}
	}
}
