package forecast_test

import (
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/forecast"
)

// TestGrowthAsksForMoreShards takes a key that grows by 10 WCU a day: 4,000 now are 4,900
// in 90 days.
func TestGrowthAsksForMoreShards(t *testing.T) {
	t.Parallel()
	f := detect.Finding{Kind: detect.HotKeyWrite, Advice: []detect.Step{{Action: detect.ActionShard}}}
	f.Peak.WCU.Value = 4000
	growth := detect.Forecast{Unit: "wcu", Level: 3900, Growth: detect.Figure{Value: 10, Low: 8, High: 12}}
	if forecast.Apply(&f, &growth, 1.5); f.Forecast == nil || f.Forecast.Shards != 8 || growth.Shards != 0 {
		t.Errorf("the forecast is %+v, of %+v", f.Forecast, growth)
	}
	f.Advice[0].Action = detect.ActionCaller
	if forecast.Apply(&f, &growth, 1.5); f.Forecast == nil || f.Forecast.Shards != 0 {
		t.Errorf("without a step that makes shards it is %+v", f.Forecast)
	}
	if forecast.Apply(&f, nil, 1.5); f.Forecast != nil {
		t.Errorf("without growth it is %+v", f.Forecast)
	}
}
