package forecast

import (
	"slices"

	"github.com/keyheat/keyheat/detect"
)

// Apply puts a key's growth into its finding, with the shards that the growth needs if a
// step makes shards. A nil growth is unknown.
func Apply(f *detect.Finding, growth *detect.Forecast, headroom float64) {
	f.Forecast = growth
	if growth == nil || growth.Growth.Low <= 0 || !slices.ContainsFunc(f.Advice, func(s detect.Step) bool { return s.Action == detect.ActionShard }) {
		return
	}
	peak, limit := f.Peak.WCU.Value, detect.PartitionWrite
	if growth.Unit == "rcu" {
		peak, limit = f.Peak.RCU.Value, detect.PartitionRead
	}
	with := *growth
	with.Shards = detect.Shards(detect.Milli(max(peak, growth.Level)+detect.GrowthDays*growth.Growth.Value), limit, headroom)
	f.Forecast = &with
}
