package forecast_test

import (
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/forecast"
)

// TestGrowthAsksForMoreShards takes a key that grows by 10 WCU a day: 4,000 now
// are 4,900 in 90 days.
func TestGrowthAsksForMoreShards(t *testing.T) {
	t.Parallel()
	f := detect.Finding{Kind: detect.HotKeyWrite, Advice: []detect.Step{detect.NewStep(detect.FixShardedKey)}}
	f.Peak.WCU.Value = 4000
	forecast.Apply(&f, &detect.Forecast{Unit: "wcu", Level: 3900, Growth: detect.Figure{Value: 10, Low: 8, High: 12}}, 1.5)
	if got := f.Advice[0].Arguments.Grown; got != 8 || f.Forecast == nil {
		t.Errorf("growth asks for %d shards, want 8", got)
	}
	f.Advice[0].Arguments.Grown = 0
	if forecast.Apply(&f, nil, 1.5); f.Advice[0].Arguments.Grown != 0 || f.Forecast != nil {
		t.Errorf("without a forecast the step is %+v", f.Advice[0])
	}
}
