package forecast

import (
	"slices"

	"github.com/keyheat/keyheat/detect"
)

// Apply puts a key's growth into its finding, and adds to a sharding step the shards that
// the growth needs. A nil growth is unknown.
func Apply(f *detect.Finding, growth *detect.Forecast, headroom float64) {
	f.Forecast = growth
	if growth == nil || growth.Growth.Low <= 0 {
		return
	}
	i := slices.IndexFunc(f.Advice, func(s detect.Step) bool { return s.Action == detect.ActionShard })
	if i < 0 {
		return
	}
	peak, most := f.Peak.WCU.Value, detect.PartitionWrite
	if growth.Unit == "rcu" {
		peak, most = f.Peak.RCU.Value, detect.PartitionRead
	}
	then := max(peak, growth.Level) + detect.GrowthDays*growth.Growth.Value
	f.Advice = slices.Clone(f.Advice)
	f.Advice[i].Arguments.Grown = detect.Shards(detect.Milli(then), most, headroom)
}
