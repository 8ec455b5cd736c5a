package forecast_test

import (
	"strings"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/forecast"
)

// TestGrowthAsksForMoreShards takes a key that grows by 10 WCU a day: 4,000 now
// are 4,900 in 90 days.
func TestGrowthAsksForMoreShards(t *testing.T) {
	t.Parallel()
	f := detect.Finding{Kind: detect.HotKeyWrite, Advice: []detect.Step{{Action: detect.ActionShard, Text: "Spread the key over 6 shards."}}}
	f.Peak.WCU.Value = 4000
	before := f.Advice[0].Text
	forecast.Apply(&f, &detect.Forecast{Unit: "wcu", Level: 3900, Growth: detect.Figure{Value: 10, Low: 8, High: 12}}, 1.5)
	if want := "ceil(4,900 / 1,000 × 1.5) = 8 shards"; !strings.Contains(f.Advice[0].Text, want) || f.Forecast == nil {
		t.Errorf("%q does not say %q", f.Advice[0].Text, want)
	}
	f.Advice[0].Text = before
	if forecast.Apply(&f, nil, 1.5); f.Advice[0].Text != before || f.Forecast != nil {
		t.Errorf("without a forecast the advice is %q", f.Advice[0].Text)
	}
}
