package diagnosis_test

import (
	"strings"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/internal/diagnosis"
)

// TestWhatSplitsLeaveIsAMean: splits are judged by the load of minutes, so that what they
// leave on a part is no bound of its seconds; and not all sort keys of a second are counted.
func TestWhatSplitsLeaveIsAMean(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		split detect.Split
		says  []string
	}{
		{
			"splits help", detect.Split{Verdict: detect.SplitHelps, Splits: 1, Residual: 673},
			[]string{"is spread over at least 385 sort keys a second", "If the load goes on as in the last 2 minutes, one split would heal it: the fullest part then has about 673 write units a second on average."},
		},
		{
			"splits help but little", detect.Split{Verdict: detect.SplitHelps, Splits: 1, Residual: 968},
			[]string{"If the load goes on as in the last 2 minutes, one split would bring it to just below the limit: the fullest part then has about 968 write units a second on average."},
		},
		{
			"the load moves", detect.Split{Verdict: detect.SplitMoving, Direction: detect.Rising, Splits: 2, Residual: 1500, Refused: 0.33},
			[]string{"after 2 splits the fullest part still has about 1,500 write units a second on average, and 33% of the load is beyond what the parts serve."},
		},
		{
			"nothing is split", detect.Split{Verdict: detect.SplitUnknown, Residual: 600},
			[]string{"the key's items are not split: they have 600 write units a second on average."},
		},
		{
			"where it is split matters", detect.Split{Verdict: detect.SplitUnknown, Splits: 1, Residual: 800, ResidualLow: 600, ResidualHigh: 1100},
			[]string{"splits leave from about 600 to 1,100 write units a second on average on the fullest part"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.split.Seconds = 120
			if c.split.ResidualHigh == 0 {
				c.split.ResidualLow, c.split.ResidualHigh = c.split.Residual, c.split.Residual
			}
			f := &detect.Finding{Kind: detect.HotKeyWrite, Evidence: &detect.Evidence{
				Records: 1000, SortKeys: &detect.SortKeys{Known: 1, Distinct: 385}, Split: &c.split,
			}}
			got := diagnosis.Diagnose(f, nil).Why
			for _, words := range c.says {
				if !strings.Contains(got, words) {
					t.Errorf("it does not say %q: %s", words, got)
				}
			}
		})
	}
}
